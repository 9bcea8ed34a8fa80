"""A bound for everyone: no choice scores more than this, whatever solver found the answer.

Hold the features' indicator f twice, once in each sample's own choice of m columns and once globally, and price
the disagreement with multipliers β. For every β

    max score ≤ top-k_i [ top-m_j (W'_ij - β_j) ] + k · top-m_j (β_j)

with W' the folded weights. The right side is convex in β; subgradient steps push it down.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers.registry import Run
from biselect.solvers.top import folded, top

PATIENCE = 8  # steps without progress before the step length is halved
SMALLEST_STEP = 1e-3


@dataclass(frozen=True, kw_only=True)
class Bound:
    """An upper bound on every score, and the steps it took."""

    score: float
    iterations: int


def score_bound(problem: SelectionProblem, run: Run, *, floor: float, iterations: int = 200) -> Bound:
    """Upper bound on the best score, rounding included.

    Args:
        problem: what is bounded.
        run: its deadline ends the steps early; whatever is reached by then is valid.
        floor: score of a known choice; the bound stops falling there, and step lengths aim at it.
        iterations: subgradient steps at most.
    """
    weights, k, m = folded(problem), problem.k, problem.m
    if weights.shape[1] > weights.shape[0]:  # the bound is symmetric: price the shorter side
        weights, k, m = np.ascontiguousarray(weights.T), m, k
    beta = np.zeros(weights.shape[1])
    best, best_beta = np.inf, beta
    step, stuck, done = 1.0, 0, 0
    tolerance = rounding(weights, beta, k, m)
    while done < iterations:
        value, gradient = _lagrangian(weights, beta, k, m)
        done += 1
        if value < best:
            best, best_beta, stuck = value, beta, 0
        else:
            stuck += 1
            if stuck >= PATIENCE:
                step, stuck, beta = step / 2, 0, best_beta
        length = float(gradient @ gradient)
        if best <= floor + tolerance or length == 0 or step < SMALLEST_STEP or run.expired():
            break
        beta = beta - step * (value - floor) / length * gradient
    return Bound(score=best + rounding(weights, best_beta, k, m), iterations=done)


def _lagrangian(
    weights: NDArray[np.float64], beta: NDArray[np.float64], k: int, m: int
) -> tuple[float, NDArray[np.float64]]:
    """The bound at β and a subgradient: k for each globally chosen column, minus the rows that chose it."""
    reduced = weights - beta
    own = np.argpartition(reduced, reduced.shape[1] - m, axis=1)[:, reduced.shape[1] - m :]
    row_values = np.take_along_axis(reduced, own, axis=1).sum(axis=1)
    rows, columns = top(row_values, k), top(beta, m)
    gradient = -np.bincount(own[rows].ravel(), minlength=beta.size).astype(np.float64)
    gradient[columns] += k
    return float(row_values[rows].sum() + k * beta[columns].sum()), gradient


def rounding(weights: NDArray[np.float64], beta: NDArray[np.float64], k: int, m: int) -> float:
    """How far rounding can have moved the bound.

    A block of k·m reduced weights, each below max|W'| + max|β| in size, is summed in two stages of at most m and k
    terms; recursive summation loses at most (terms - 1)·u of the sum of magnitudes (u = eps/2), and folding and
    reducing lose a few u an entry. Doubling it all covers k·top-m(β) as well.
    """
    size = k * m * (float(np.abs(weights).max()) + 2 * float(np.abs(beta).max()))
    return (k + m + 8) * float(np.finfo(np.float64).eps) * size
