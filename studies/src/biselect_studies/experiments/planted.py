"""Planted problems: trained angles by depth and schedule, random splits, hit rates of thresholds, and penalties."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from biselect.core import SelectionProblem
from biselect.solvers import solve
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.cost_groups import split_terms
from biselect_quantum.circuits.mixers import ring
from biselect_quantum.circuits.schedule import SCHEDULES
from biselect_quantum.circuits.thresholds import Threshold
from biselect_quantum.circuits.training import train
from biselect_quantum.circuits.training.records import Stage
from biselect_quantum.simulate.layers import ENERGY, Layers, Observable, energy_table
from biselect_quantum.simulate.program import Classes
from biselect_studies.data.synthetic import MARGINALS, depth_problem, gaussian_qubo, panel_problem, planted_block
from biselect_studies.experiments import by_seed
from biselect_studies.inference import expected_lowest
from biselect_studies.quantum.penalty_x import PenaltyX, candidate_search
from biselect_studies.quantum.small_angle import responses
from biselect_studies.task import Cell

SLICES = 2
"""Symmetric steps of one mixing while angles are searched: at β ≤ 1 energies are then right to about a thousandth. The
library's `continuous` is exact, and takes forty times as long at (14, 10, 3, 3); what is found is read out there."""


class IdealRing(Ansatz):
    """Ring mixers in continuous time: each mixing is cut into symmetric steps, there and back through the classes."""

    def __init__(self, problem: SelectionProblem, depth: int, schedule: Any) -> None:
        mixer = tuple(_there_and_back(count) for count in (problem.n_samples, problem.n_features))
        super().__init__(problem, depth, schedule, mixer, backend="compiled")

    def layers(self, angles: ArrayLike) -> Layers:
        """Phases as they are; of the mixing what one pass through the classes does."""
        found = super().layers(angles)
        return replace(found, mixing=found.mixing / (2 * SLICES))

    def value_and_gradient(
        self, angles: ArrayLike, observable: Observable = ENERGY
    ) -> tuple[float, NDArray[np.float64]]:
        """As the base has it, where β counts in whole mixings."""
        value, found = self._simulator.value_and_gradient(self.layers(angles), self._start, observable)
        by_group = found.pair.reshape(len(found.pair), -1) @ self._by_pair
        return value, self.schedule.pull_back(np.column_stack([by_group, found.mixing / (2 * SLICES)]))

    def exact(self) -> Ansatz:
        """The same ansatz with the mixer itself, for reading out angles that were found."""
        return Ansatz(self.problem, self.schedule.depth, self.schedule.name, backend="continuous")


def _there_and_back(count: int) -> Classes:
    classes = ring(count)
    return (*classes, *reversed(classes)) * SLICES


SHOTS = 4096
GOOD = 0.9  # an α near the optimum
HIT = 1e-9  # 1 - α that counts as none
HEURISTICS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "coordinate-ascent": {},
    "tabu": {"steps": 200},
    "swap-sa": {"workers": 1, "restarts": 4, "steps": 5000},
}
"""The paper's classical baseline is the best of these."""


@by_seed
def depth_ladder(cell: Cell, seed: int) -> dict[str, Any]:
    """By depth 1, 2, …: `tied` and `grouped` α, optimum probability, best α of 4096 shots and probability of α ≥ 0.9.

    Also the same of `uniform` sampling, the best `classical` α, that of `ascent` from one start, and the `range` from
    mean to optimum, which turns α into energy. Beside N, D, k, m, signal and mode a cell has the largest depth of
    either schedule, `tied` and `grouped`, and may have

    - `weight`: λ, 1 unless said;
    - `mixer`: `product`, edge by edge as circuits have it, or `continuous`;
    - `search`: `paper`, in the box [-1, 1] from five and three starts, or `ladder`, without a box; there grouped
      training starts from the tied angles of the same depth, among others, so it can be no worse.
    """
    problem = instance(cell, seed)
    energies = energy_table(problem)
    mean, best = float(energies.mean()), float(energies.min())
    alphas = (mean - energies) / (mean - best)
    answers = [solve(problem, method, seed=seed, **options).energy for method, options in HEURISTICS.items()]
    ascent = solve(problem, "coordinate-ascent", seed=seed, starts=1).energy
    found: dict[str, Any] = {
        "range": mean - best,
        "classical": (mean - min(answers)) / (mean - best),
        "ascent": (mean - ascent) / (mean - best),
    }
    for kind, schedule in (("tied", "layerwise"), ("grouped", "fully-grouped")):
        ansatz = _ansatz(problem, cell[kind], schedule, cell)
        stages = _trained(ansatz, cell, seed)
        ansatz = ansatz.exact() if isinstance(ansatz, IdealRing) else ansatz
        states = [ansatz.at_depth(stage.depth).probabilities(stage.angles) for stage in stages]
        rungs = [_readout(alphas, state) for state in states]
        found |= {f"{kind} {name}": [rung[name] for rung in rungs] for name in rungs[0]}
    uniform = _readout(alphas, np.full_like(alphas, 1 / alphas.size))
    return found | {f"uniform {name}": value for name, value in uniform.items()}


def instance(cell: Cell, seed: int) -> SelectionProblem:
    """The planted problem of a cell and a seed."""
    size = (cell["N"], cell["D"], cell["k"], cell["m"])
    problem = depth_problem(cell["signal"], cell["mode"], seed=own_noise(cell, seed), size=size)
    return replace(problem, coupling_weight=cell.get("weight", 1.0))


def own_noise(cell: Cell, seed: int) -> np.random.Generator:
    """A stream that no other cell shares: of cases with common noise there are fewer than it seems."""
    return np.random.default_rng(
        [seed, *(cell[name] for name in "NDkm"), round(100 * cell["signal"]), *cell["mode"].encode()]
    )


def _ansatz(problem: SelectionProblem, depth: int, schedule: str, cell: Cell) -> Ansatz:
    if cell.get("mixer") != "continuous":
        return Ansatz(problem, depth, schedule, backend="compiled")
    if cell.get("search") == "paper":  # |β| ≤ 1, where few slices suffice
        return IdealRing(problem, depth, schedule)
    return Ansatz(problem, depth, schedule, backend="continuous")


def _trained(ansatz: Ansatz, cell: Cell, seed: int) -> list[Stage]:
    """The angles of every depth, of the ansatz's own schedule."""
    how: dict[str, Any] = {"strategy": "depth-frontier", "objective": "energy", "seed": seed}
    if cell.get("search", "ladder") == "ladder":
        through = ("layerwise",) if ansatz.schedule.name == "fully-grouped" else ()
        how = {"strategy": "ladder", "objective": "energy", "through": through}
    return [stage for stage in train(ansatz, **how).stages if stage.schedule == ansatz.schedule.name]


def _readout(alphas: NDArray[np.float64], probabilities: NDArray[np.float64]) -> dict[str, float]:
    return {
        "alpha": float((alphas * probabilities).sum()),
        "optimum": float(probabilities[alphas >= 1 - HIT].sum()),
        "best": -expected_lowest(-alphas, probabilities, SHOTS),
        "good": float(probabilities[alphas >= GOOD].sum()),
    }


@by_seed
def parameterizations(cell: Cell, seed: int) -> dict[str, float]:
    """For each schedule α, the probability of the optimum, and how far its circuit is from its image in fully grouped.

    That distance is the largest difference of a probability. Each is trained from the angles of those it contains.
    """
    problem = instance(cell, seed)
    largest = Ansatz(problem, cell["p"], "fully-grouped", backend="compiled")
    found = {}
    for stage in train(largest, strategy="continuation", objective="energy", seed=seed).stages:
        ansatz = Ansatz(problem, cell["p"], stage.schedule, backend="compiled")
        state = ansatz.probabilities(stage.angles)
        image = largest.probabilities(ansatz.schedule.embed(stage.angles, into=largest.schedule))
        found[f"{stage.schedule} alpha"] = ansatz.approximation(stage.angles)
        found[f"{stage.schedule} optimum"] = ansatz.optimum_mass(stage.angles)
        found[f"{stage.schedule} distance"] = float(np.abs(state - image).max())
    mean, best = float(largest.energies.mean()), float(largest.energies.min())
    ascent = solve(problem, "coordinate-ascent", seed=seed, starts=1).energy
    return found | {"ascent": (mean - ascent) / (mean - best), "uniform": 1 / problem.sector.size}


DRAWS = 200  # random splits of each instance and kind
GROUPS = 3
CONTROLS = ("type-preserving", "same-size")


@by_seed
def grouping_control(cell: Cell, seed: int) -> dict[str, float]:
    """For each control the percentile of the true split, whether it lies above the 95th, and the mean random gain.

    The true split is by type: sample, feature and coupling terms. Beside N, D, k, m, signal and mode a cell has
    `weight`, λ, and may have `marginals`, one of `MARGINALS` or `maxima` for the largest weight of a row and
    of a column, the paper's unless said; and `absolute`, whether W = |Z| instead of Z.
    """
    problem = _control_problem(cell, seed)
    types = np.repeat(np.arange(GROUPS), (cell["N"], cell["D"], cell["N"] * cell["D"]))
    by_term = responses(problem, split_terms(problem, np.arange(len(types))))
    true = float(gains(by_term, types[None, :])[0])
    found = {"gain": true}
    rng = np.random.default_rng([seed, 1])
    for control in CONTROLS:
        random = gains(by_term, random_splits(control, types, rng))
        # ties count half, so that a split no better or worse than all others stands at 50 %
        found[f"{control} rank"] = float((random < true).mean() + 0.5 * (random == true).mean())
        found[f"{control} above"] = int(true > np.quantile(random, 0.95))
        found[f"{control} mean"] = float(random.mean())
    return found


def random_splits(control: str, types: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """A group for every term in each draw, (draws, terms).

    `type-preserving` deals the terms of each type out to the three groups, a third of them to each, so that every
    group has all types in the proportions of the whole; `same-size` keeps the sizes of the groups only.
    """
    if control == "same-size":
        return rng.permuted(np.broadcast_to(types, (DRAWS, len(types))), axis=1)
    splits = np.empty((DRAWS, len(types)), dtype=np.int64)
    for kind in range(GROUPS):
        own = np.flatnonzero(types == kind)
        # which groups get one more where a third is no whole number is drawn too
        dealt = (np.arange(len(own)) + rng.integers(GROUPS, size=(DRAWS, 1))) % GROUPS
        splits[:, own] = rng.permuted(dealt, axis=1)
    return splits


def gains(by_term: NDArray[np.float64], splits: NDArray[np.int64]) -> NDArray[np.float64]:
    """√3‖r‖ - |1·r| of every split: a group's response is the sum of its terms' (`grouping_gain`, many at once)."""
    response = np.stack([(splits == group) @ by_term for group in range(GROUPS)], axis=1)
    return np.sqrt(GROUPS) * np.linalg.norm(response, axis=1) - np.abs(response.sum(axis=1))


def _control_problem(cell: Cell, seed: int) -> SelectionProblem:
    N, D, k, m = (cell[name] for name in "NDkm")
    noise, kind = own_noise(cell, seed), cell.get("marginals", "paper")
    Z = planted_block(N, D, k, m, cell["signal"], seed=noise, mode=cell["mode"], place="first").residuals
    W = np.abs(Z) if cell.get("absolute") else Z
    a, b = (W.max(axis=1), W.max(axis=0)) if kind == "maxima" else MARGINALS[kind](W, Z)
    return SelectionProblem(coupling=W, sample_scores=a, feature_scores=b, k=k, m=m, coupling_weight=cell["weight"])


GRADIENT_COST = 3  # evaluations that one with its gradient takes
MIXING_GRID = 61  # steps of β in [0, π]
EVIDENCE_ANGLE = np.pi / 4
EVIDENCE_SHOTS = round(0.67 * 40_960)  # the paper's shots of a device that keeps 67 % of them inside the budgets


@by_seed
def threshold_panel(cell: Cell, seed: int) -> dict[str, float | None]:
    """p_BK of every schedule by the `paper`'s search and by `ours`, of `mixing` alone and of `uniform` sampling.

    Also whether coordinate `ascent` hits, and whether the threshold is `optimal`. Ours may evaluate a third as often
    as the paper's did, since each of its evaluations has a gradient.
    """
    problem = panel_problem(seed=seed)
    threshold = evidence_threshold(problem, cell["p"], seed).of(problem)
    energies = Ansatz(problem, 1).energies
    slack = 1e-9 * abs(threshold)
    found: dict[str, float | None] = {
        "uniform": float((energies <= threshold + slack).mean()),
        "ascent": int(solve(problem, "coordinate-ascent", seed=seed, starts=1).energy <= threshold + slack),
        "mixing": mixing_alone(problem, cell["p"], threshold),
        "optimal": int(threshold <= energies.min() + slack),
    }
    for schedule in SCHEDULES:
        ansatz = Ansatz(problem, cell["p"], schedule, start="canonical", backend="compiled")
        goal: dict[str, Any] = {"objective": "hit-rate", "threshold": threshold, "seed": seed}
        paper = train(ansatz, strategy="threshold", **goal)
        ours = train(ansatz, strategy="multistart", evaluations=paper.evaluations // GRADIENT_COST, **goal)
        found |= {f"paper {schedule}": paper.hit_rate, f"ours {schedule}": ours.hit_rate}
    return found


def evidence_threshold(problem: SelectionProblem, depth: int, seed: int) -> Threshold:
    """E_BK, fixed before any angle is trained: the best of the shots of a tied circuit with all angles at π/4."""
    evidence = Ansatz(problem, depth, "tied", start="canonical")
    angles = np.full(evidence.size, EVIDENCE_ANGLE)
    return Threshold.from_shots(evidence, angles, shots=EVIDENCE_SHOTS, seed=seed, pool="untrained tied circuit")


def mixing_alone(problem: SelectionProblem, depth: int, threshold: float) -> float:
    """The highest hit rate of the start and the mixer without any phase: what needs no knowledge of the cost."""
    ansatz = Ansatz(problem, depth, "tied", start="canonical", backend="compiled")
    return max(ansatz.hit_rate([0.0, beta], threshold) for beta in np.linspace(0, np.pi, MIXING_GRID))


STRENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # λ / c_Q
HIT = 1e-9  # relative gap that counts as none


@by_seed
def penalty_baseline(cell: Cell, seed: int) -> dict[str, float]:
    """Probability of the optimum for both, feasibility and strength of penalty-X, `searched` and `trained`.

    Among strengths the one with the highest optimum probability counts, which favours penalty-X.
    """
    problem = gaussian_qubo(cell["N"], cell["D"], cell["k"], cell["m"], seed=seed)
    strict = Ansatz(problem, cell["p"], schedule="layerwise")
    optimum = float(strict.energies.min())
    goal = optimum + HIT * abs(optimum)
    best = strict.energies <= goal
    found = {"ascent": float(solve(problem, "coordinate-ascent", seed=seed, starts=1).energy <= goal)}
    searched = candidate_search(strict.probabilities, strict.energies, strict.size, seed=_stream(seed))
    for stage, angles in (("searched", searched), ("trained", _descend(strict.expectation, searched))):
        found[f"strict {stage}"] = float(strict.probabilities(angles)[best].sum())
    circuits = [PenaltyX(problem, cell["p"], strength) for strength in STRENGTHS]
    starts = [candidate_search(c.probabilities, c.cost, c.size, seed=_stream(seed)) for c in circuits]
    ends = [_descend(circuit.expectation, start) for circuit, start in zip(circuits, starts, strict=True)]
    for stage, vectors in (("searched", starts), ("trained", ends)):
        inside = [c.filtered(c.probabilities(angles)) for c, angles in zip(circuits, vectors, strict=True)]
        chances = [float(mass[best].sum()) for mass in inside]
        chosen = int(np.argmax(chances))
        found[f"penalty {stage}"] = chances[chosen]
        found[f"feasible {stage}"] = float(inside[chosen].sum())
        found[f"strength {stage}"] = STRENGTHS[chosen]
    return found


def _stream(seed: int) -> np.random.Generator:
    """The same candidates for every circuit of an instance, apart from the instance's own draws."""
    return np.random.default_rng([seed, 1])


def _descend(expectation: Callable[[NDArray[np.float64]], float], angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """To the nearest local minimum of the mean cost; the few angles allow differences for gradients."""
    return np.asarray(minimize(expectation, angles, method="L-BFGS-B", options={"maxiter": 100}).x)
