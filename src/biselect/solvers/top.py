"""Best response: with one side held, values add up on the other, so the best choice there is a top-c."""

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem


def top(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Positions of the `count` largest values along the last axis, ascending; ties go to the lowest index.

    >>> top(np.array([1.0, 3.0, 3.0, 3.0]), 2).tolist()
    [1, 2]
    """
    n = values.shape[-1]
    if count == n:
        return np.broadcast_to(np.arange(n), values.shape).astype(np.int64)
    threshold = np.partition(values, n - count, axis=-1)[..., n - count, None]
    above = values > threshold
    tied = values == threshold
    missing = count - above.sum(axis=-1, keepdims=True)
    chosen = above | (tied & (np.cumsum(tied, axis=-1) <= missing))
    return np.nonzero(chosen)[-1].reshape(*values.shape[:-1], count)


def sample_values(problem: SelectionProblem, features: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each sample would add, given these features."""
    sums = problem.coupling[:, features].sum(axis=1, dtype=np.float64)
    return problem.sample_scores + problem.coupling_weight * sums


def feature_values(problem: SelectionProblem, samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each feature would add, given these samples."""
    sums = problem.coupling[samples].sum(axis=0, dtype=np.float64)
    return problem.feature_scores + problem.coupling_weight * sums


def folded(problem: SelectionProblem) -> NDArray[np.float64]:
    """W' = λW + a_i/m + b_j/k: inside the budgets its block sums are the whole score."""
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    weights += problem.sample_scores[:, None] / problem.m
    weights += problem.feature_scores / problem.k
    return weights
