"""Every schedule at one depth, each trained from the angles of those that it contains."""

from __future__ import annotations

import numpy as np

from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.training import train
from biselect.solvers import solve
from biselect_studies.experiments import by_seed
from biselect_studies.experiments.depth_ladder import instance
from biselect_studies.task import Cell


@by_seed
def work(cell: Cell, seed: int) -> dict[str, float]:
    """For each schedule α, the probability of the optimum, and how far its circuit is from its image in fully grouped.

    That distance is the largest difference of a probability.
    """
    problem = instance(cell, seed)
    largest = Ansatz(problem, cell["p"], "fully-grouped", backend="compiled")
    found = {}
    for stage in train(largest, strategy="continuation", seed=seed).stages:
        ansatz = Ansatz(problem, cell["p"], stage.schedule, backend="compiled")
        state = ansatz.probabilities(stage.angles)
        image = largest.probabilities(ansatz.schedule.embed(stage.angles, into=largest.schedule))
        found[f"{stage.schedule} alpha"] = ansatz.approximation(stage.angles)
        found[f"{stage.schedule} optimum"] = ansatz.optimum_mass(stage.angles)
        found[f"{stage.schedule} distance"] = float(np.abs(state - image).max())
    mean, best = float(largest.energies.mean()), float(largest.energies.min())
    ascent = solve(problem, "coordinate-ascent", seed=seed, starts=1).energy
    return found | {"ascent": (mean - ascent) / (mean - best), "uniform": 1 / problem.sector.size}
