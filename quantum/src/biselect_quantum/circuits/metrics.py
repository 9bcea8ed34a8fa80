"""What researchers ask of trained circuits: exact figures over depth, and time to solution beside classical methods."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.checks import check_integer, number
from biselect.errors import InputError
from biselect_quantum.simulate.layers import Observable, energy_scale, energy_table, rounding_slack
from biselect_quantum.uniform import uniform_choices

if TYPE_CHECKING:
    from biselect_quantum.circuits.ansatz import Ansatz
    from biselect_quantum.circuits.training.records import Training

DRAWS = 100_000  # uniform choices drawn at once when one is timed


class DepthFigures(NamedTuple):
    """Exact figures of a trained circuit at one depth; depth 0 is the start state.

    Attributes:
        depth: p, how many layers.
        energy: expected energy.
        approximation: α, 0 for uniform sampling and 1 for the optimum.
        optimum_mass: p_opt, the probability of the optimum in one shot.
        uniform_mass: the same for a uniform feasible choice.
    """

    depth: int
    energy: float
    approximation: float
    optimum_mass: float
    uniform_mass: float


class TimeToSolution(NamedTuple):
    """One way to the optimum, and how long it takes until it was seen with the probability asked for.

    Attributes:
        method: for people.
        success: probability that one run, shot or draw gives the optimum.
        seconds: of one of them, measured here.
        runs: how many are needed; infinite where none succeeded.
        total: seconds of all these runs.
        with_training: the same, and what has to be done once before: training, for a circuit.
    """

    method: str
    success: float
    seconds: float
    runs: float
    total: float
    with_training: float

    @classmethod
    def of(cls, method: str, success: float, seconds: float, confidence: float, before: float = 0.0) -> TimeToSolution:
        """From what was measured."""
        runs = runs_needed(success, confidence)
        return cls(method, success, seconds, runs, runs * seconds, before + runs * seconds)


def runs_needed(success: float, confidence: float = 0.99) -> float:
    """Runs until one succeeds with this confidence: ln(1 - confidence) / ln(1 - success), at least one.

    >>> round(runs_needed(0.1), 1), runs_needed(1.0), runs_needed(0.0)
    (43.7, 1.0, inf)
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence}")
    if success <= 0:
        return float("inf")
    return 1.0 if success >= confidence else float(np.log1p(-confidence) / np.log1p(-success))


def by_depth(ansatz: Ansatz, trained: Training) -> list[DepthFigures]:
    """Exact energy, α and p_opt of every depth of a training, the start state first.

    A training with `strategy="ladder"` has all depths from 1 on, any other one its own.

    Returns:
        One figure for each depth, depth 0 first; p_opt from 0 to 1, energies in units of the problem.
    """
    energies = ansatz.energies
    mean, best = float(energies.mean()), float(energies.min())
    hits = Observable(kind="hit", threshold=best)
    uniform = float(hits.of(energies, energy_scale(ansatz.problem)).mean())
    stages = {stage.depth: stage.angles for stage in trained.stages if stage.schedule == trained.schedule}
    figures = []
    for depth, angles in sorted({0: None, **stages}.items()):
        circuit = ansatz if angles is None else ansatz.at_depth(depth, trained.schedule)
        vector = np.zeros(circuit.size) if angles is None else angles
        energy = circuit.expectation(vector)
        alpha = (mean - energy) / (mean - best) if mean > best else 1.0
        rate = min(1.0, max(0.0, circuit.expectation(vector, hits)))
        figures.append(DepthFigures(depth, energy, alpha, rate, uniform))
    return figures


def time_to_solution(
    ansatz: Ansatz,
    trained: Training,
    *,
    confidence: float = 0.99,
    runs: int = 100,
    shot_seconds: float | None = None,
    seed: int = 0,
) -> list[TimeToSolution]:
    """How long until the optimum was seen: this circuit, every choice, random choice, `annealing` and `exact`.

    Seconds are measured here and now on one thread. For a simulated circuit they include its state, which takes longer
    than looking at every choice once.

    Args:
        ansatz: the circuit.
        trained: the angles, and how long training took.
        confidence: with which the optimum is to be seen.
        runs: walks of `annealing` whose successes are counted.
        shot_seconds: of one shot on a device; adds a line.
        seed: of shots, draws and walks.
    """
    from biselect.solvers import solve

    problem, runs = ansatz.problem, check_integer("runs", runs)
    optimum = float(ansatz.energies.min())
    slack = rounding_slack(energy_scale(problem), np.float64)
    p_opt, before = ansatz.hit_rate(trained.angles, optimum), trained.seconds or float("nan")
    shots = runs_needed(p_opt, confidence)
    rows = []
    if np.isfinite(shots):
        ansatz.sample(trained.angles, 1)  # whatever is compiled or made at first use is not counted
        spent = _seconds(lambda: ansatz.sample(trained.angles, ceil(shots), seed))
        rows.append(TimeToSolution.of("circuit, simulated", p_opt, spent / shots, confidence, before))
    if shot_seconds is not None:
        rows.append(
            TimeToSolution.of("circuit, device", p_opt, number("shot_seconds", shot_seconds), confidence, before)
        )
    looked = _seconds(lambda: float(energy_table(problem).min()))
    rows.append(TimeToSolution.of("looking at every choice", 1.0, looked, confidence))
    share = float(np.mean(ansatz.energies <= optimum + slack))
    draw = _seconds(lambda: _draw(problem, np.random.default_rng(seed)))
    rows.append(TimeToSolution.of("random choice", share, draw / DRAWS, confidence))
    alone: dict[str, Any] = {"restarts": 1, "workers": 1, "progress": False}
    solve(problem, "annealing", seed=seed, **alone)
    walks = [solve(problem, "annealing", seed=seed + walk, **alone) for walk in range(1, runs + 1)]
    success = float(np.mean([walk.energy <= optimum + slack for walk in walks]))
    mean = float(np.mean([walk.seconds for walk in walks]))
    rows.append(TimeToSolution.of("annealing, one walk", success, mean, confidence))
    solve(problem, "exact", workers=1, progress=False)
    proven = solve(problem, "exact", workers=1, progress=False)
    rows.append(TimeToSolution.of("exact, with proof", float(proven.proven_optimal), proven.seconds, confidence))
    return rows


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _draw(problem: SelectionProblem, rng: np.random.Generator) -> float:
    """The lowest energy of some uniform feasible choices."""
    return float(problem.energies(*uniform_choices(problem, DRAWS, rng)).min())
