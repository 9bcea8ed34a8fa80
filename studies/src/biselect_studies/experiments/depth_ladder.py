"""Layerwise XY-QAOA and fully grouped angles by depth, trained on the expected energy to convergence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.metrics import expected_lowest
from biselect.data.planted import depth_problem
from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.training import train
from biselect.simulate.layers import energy_table
from biselect.solvers import solve
from biselect_studies.experiments import by_seed
from biselect_studies.task import Cell

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
def work(cell: Cell, seed: int) -> dict[str, Any]:
    """By depth 1, 2, …: `tied` and `grouped` α, optimum probability, best α of 4096 shots and probability of α ≥ 0.9.

    Also the same of `uniform` sampling, the best `classical` α, that of `ascent` from one start, and the `range` from
    mean to optimum, which turns α into energy. Beside N, D, k, m, signal and mode a cell has the largest depth of
    either schedule, `tied` and `grouped`. Grouped training starts from the tied angles of the same depth, among
    others, so it can be no worse.
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
    for kind, schedule, through in (("tied", "layerwise", ()), ("grouped", "fully-grouped", ("layerwise",))):
        stages = train(_ansatz(problem, cell[kind], schedule), strategy="ladder", through=through).stages
        own = [stage for stage in stages if stage.schedule == schedule]
        states = [_ansatz(problem, stage.depth, schedule).probabilities(stage.angles) for stage in own]
        rungs = [_readout(alphas, state) for state in states]
        found |= {f"{kind} {name}": [rung[name] for rung in rungs] for name in rungs[0]}
    uniform = _readout(alphas, np.full_like(alphas, 1 / alphas.size))
    return found | {f"uniform {name}": value for name, value in uniform.items()}


def instance(cell: Cell, seed: int) -> SelectionProblem:
    """The planted problem of a cell and a seed."""
    size = (cell["N"], cell["D"], cell["k"], cell["m"])
    return depth_problem(cell["signal"], cell["mode"], seed=own_noise(cell, seed), size=size)


def own_noise(cell: Cell, seed: int) -> np.random.Generator:
    """A stream that no other cell shares: of cases with common noise there are fewer than it seems."""
    return np.random.default_rng(
        [seed, *(cell[name] for name in "NDkm"), round(100 * cell["signal"]), *cell["mode"].encode()]
    )


def _ansatz(problem: SelectionProblem, depth: int, schedule: str) -> Ansatz:
    return Ansatz(problem, depth, schedule, backend="compiled")


def _readout(alphas: NDArray[np.float64], probabilities: NDArray[np.float64]) -> dict[str, float]:
    return {
        "alpha": float((alphas * probabilities).sum()),
        "optimum": float(probabilities[alphas >= 1 - HIT].sum()),
        "best": -expected_lowest(-alphas, probabilities, SHOTS),
        "good": float(probabilities[alphas >= GOOD].sum()),
    }
