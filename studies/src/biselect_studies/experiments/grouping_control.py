"""The split into sample, feature and coupling terms, held against random splits into three groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.data.synthetic import planted_block
from biselect.qaoa.cost_groups import split_terms
from biselect.qaoa.small_angle import responses
from biselect_studies.experiments import by_seed
from biselect_studies.experiments.depth_ladder import own_noise
from biselect_studies.task import Cell

DRAWS = 200  # random splits of each instance and kind
GROUPS = 3
CONTROLS = ("type-preserving", "same-size")


@by_seed
def work(cell: Cell, seed: int) -> dict[str, float]:
    """For each control the percentile of the true split, whether it lies above the 95th, and the mean random gain.

    Beside N, D, k, m, signal and mode a cell has `strength`, by which both marginals are multiplied.
    """
    problem = _instance(cell, seed)
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

    `type-preserving` scatters the terms of each type over the three groups; `same-size` keeps the sizes of the groups
    only.
    """
    if control == "type-preserving":
        return rng.integers(GROUPS, size=(DRAWS, len(types)))
    return rng.permuted(np.broadcast_to(types, (DRAWS, len(types))), axis=1)


def gains(by_term: NDArray[np.float64], splits: NDArray[np.int64]) -> NDArray[np.float64]:
    """√3‖r‖ - |1·r| of every split: a group's response is the sum of its terms' (`grouping_gain`, many at once)."""
    response = np.stack([(splits == group) @ by_term for group in range(GROUPS)], axis=1)
    return np.sqrt(GROUPS) * np.linalg.norm(response, axis=1) - np.abs(response.sum(axis=1))


def _instance(cell: Cell, seed: int) -> SelectionProblem:
    N, D, k, m = (cell[name] for name in "NDkm")
    noise = own_noise(cell, seed)
    W = planted_block(N, D, k, m, cell["signal"], seed=noise, mode=cell["mode"], place="first").weights
    samples, features = (cell["strength"] * W.max(axis=axis) for axis in (1, 0))
    return SelectionProblem(coupling=W, sample_scores=samples, feature_scores=features, k=k, m=m)
