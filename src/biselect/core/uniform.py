"""The energy of a choice drawn uniformly from the sector: its mean and spread, exactly."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from biselect.core.problem import SelectionProblem


def uniform_energy(problem: SelectionProblem) -> tuple[float, float]:
    """Mean μ_RF and standard deviation σ_RF over all choices inside the budgets.

    W is a constant plus a part by rows, a part by columns and a rest whose rows and columns add up to nought. Within
    the budgets the first two act as marginals; the three sums that are left are uncorrelated.

    >>> uniform_energy(SelectionProblem(coupling=[[1.0], [3.0]], k=1, m=1))
    (-2.0, 1.0)
    """
    k, m, weight = problem.k, problem.m, problem.coupling_weight
    coupling = problem.coupling.astype(np.float64)
    middle, rows, columns = coupling.mean(), coupling.mean(axis=1), coupling.mean(axis=0)
    rest = coupling - rows[:, None] - columns + middle
    samples = problem.sample_scores + weight * m * rows
    features = problem.feature_scores + weight * k * columns
    mean = -float(k * samples.mean() + m * features.mean() - weight * k * m * middle)
    of_rows, of_columns = _spread(problem.n_samples, k), _spread(problem.n_features, m)
    variance = of_rows * _squares(samples) + of_columns * _squares(features)
    variance += weight**2 * of_rows * of_columns * float((rest**2).sum())
    return mean, sqrt(variance)


def _spread(n: int, chosen: int) -> float:
    """Var(Σ_{i∈S} c_i) = spread · Σ c_i² for c that add up to nought and a uniform S."""
    return 0.0 if n == 1 else chosen * (n - chosen) / (n * (n - 1))


def _squares(values: NDArray[np.float64]) -> float:
    return float(((values - values.mean()) ** 2).sum())
