"""Choices drawn uniformly from the sector: the mean and spread of their energy, exactly, and draws themselves."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from biselect.core.problem import SelectionProblem
from biselect.core.rules import Blocks

__all__ = ["uniform_energy"]


def uniform_energy(problem: SelectionProblem) -> tuple[float, float]:
    """Mean μ_RF and standard deviation σ_RF of the energy over all choices inside budgets and rules.

    W is a part by rows within each block of rows, a part by columns likewise, and a rest whose rows and columns add up
    to nought within each block. The first two act as marginals; the three sums that are left are uncorrelated.

    Returns:
        Both in units of the energy; σ_RF is that of a single choice.

    >>> uniform_energy(SelectionProblem(coupling=[[1.0], [3.0]], k=1, m=1))
    (-2.0, 1.0)
    """
    of_samples, of_features = problem.sector.blocks
    n, d = problem.coupling.shape
    coupling = problem.coupling_weight * problem.coupling.astype(np.float64)
    rows, columns = of_samples.chances(n), of_features.chances(d)
    samples = problem.sample_scores + coupling @ columns
    features = problem.feature_scores + rows @ coupling
    mean = -float(rows @ samples + columns @ problem.feature_scores)
    by_row, by_column = _spread(n, of_samples), _spread(d, of_features)
    rest = _centred(_centred(coupling, of_samples).T, of_features).T
    variance = float(by_row @ _centred(samples, of_samples) ** 2 + by_column @ _centred(features, of_features) ** 2)
    return mean, sqrt(variance + float(by_row @ rest**2 @ by_column))


def uniform_choices(
    problem: SelectionProblem, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`count` choices drawn uniformly, (count, k) samples and (count, m) features, ascending."""
    samples, features = (_drawn(side, count, rng) for side in problem.sector.blocks)
    return samples, features


def _drawn(blocks: Blocks, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    parts = [np.tile(np.array(blocks.always, dtype=np.int64), (count, 1))]
    for members, ones in blocks.parts:
        places = np.argpartition(rng.random((count, len(members))), ones - 1, axis=1)[:, :ones]
        parts.append(np.array(members, dtype=np.int64)[places])
    return np.sort(np.hstack(parts), axis=1)


def _spread(length: int, blocks: Blocks) -> NDArray[np.float64]:
    """Var(Σ_{i∈S} c_i) = Σ spread_i c_i² for c that add up to nought within each block, and a uniform S."""
    spread = np.zeros(length)
    for members, ones in blocks.parts:
        size = len(members)
        spread[list(members)] = ones * (size - ones) / (size * (size - 1))
    return spread


def _centred(values: NDArray[np.float64], blocks: Blocks) -> NDArray[np.float64]:
    """Values less their mean in each block, along the first axis."""
    centred = values.copy()
    for members, _ in blocks.parts:
        centred[list(members)] -= centred[list(members)].mean(axis=0)
    return centred
