"""The Lagrangian bound: no choice scores more than this, whatever solver found the answer.

Hold the lines' indicator twice, once in each row's own choice of m lines and once globally, and price the
disagreement with multipliers β. For every β

    max score ≤ top-k_i [ base_i + top-m_j (λW_ij - β_j) ] + top-m_j (line score_j + k · β_j),

where top-m takes one line of an exclusive group at most. The lowest of these bounds is that at β = -line score / k,
where the last part vanishes: at β + x each of the k rows loses top-m (x) at most, and the last part gains k times that.
Other limits are left out: the bound holds without them, and so with them.

Rounding is outward. A sum of n float64 numbers is off by less than n·eps of the sum of their magnitudes; every row adds
that much to its own value, so a number of -1e14 costs accuracy only in the rows that use it.

`score_bound` takes the better of this and the spectral bound; `certified` gives it to any answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.core.exact_sums import at_most, in_score_units
from biselect.core.threads import ThreadPool
from biselect.solvers._incumbent import Grid, grid_for, lowest_useful
from biselect.solvers._reduction import reduce_problem
from biselect.solvers._spectral import spectral_bound
from biselect.solvers.registry import Run
from biselect.solvers.response import SideProblem, by_features, by_samples, largest, top

NUMPY_CELLS = 2_000_000  # below this NumPy is done before the kernel would have loaded
WORKING_ROWS = 8192  # rows that are looked at in full before a pass over very many says which others to
BLOCK = 65_536  # rows a thread takes at once
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, kw_only=True, eq=False)
class Root:
    """The Lagrangian bound at prices that are whole units of a grid.

    Attributes:
        score: an upper bound on every score.
        grid: for looking for choices that score more than a known one.
        beta: the price of each line.
        row_values: at least what each row could add at these prices on its own.
        threshold: the k-th largest of them.
    """

    score: float
    grid: Grid
    beta: NDArray[np.float64]
    row_values: NDArray[np.float64]
    threshold: float


def root_bound(task: SideProblem, units: int, workers: int | None = None) -> Root:
    """The bound over all rows.

    Args:
        task: what is bounded; its lines are priced.
        units: the exact score of a known choice.
        workers: threads at most; None for one per core.
    """
    scores = np.maximum(task.line_scores, lowest_useful(task, at_most(units)))  # no more than a penalty must be
    grid = grid_for(task, units, scores / task.keep)
    beta = np.ldexp(np.rint(np.ldexp(-scores / task.keep, -grid.exponent)), grid.exponent)
    row_values, paid = row_bounds(task, beta, workers), task.keep * beta
    heaviest = largest(row_values, task.keep)
    prices = task.line_scores + paid + 2 * EPS * (np.abs(task.line_scores) + np.abs(paid)) + 5e-324
    prices = best_of_groups(prices[:, None], task)[:, 0]
    try:
        terms = [*heaviest.tolist(), *prices[top(prices, task.choose)].tolist()]
        score = math.nextafter(math.fsum(terms), math.inf)
    except OverflowError:
        score = math.inf
    return Root(score=score, grid=grid, beta=beta, row_values=row_values, threshold=float(heaviest.min()))


def best_of_groups(weights: NDArray[np.float64], task: SideProblem) -> NDArray[np.float64]:
    """The largest of each exclusive group of lines, for every column of their weights."""
    if not task.line_limits:
        return weights
    order, ends = task.line_limits.side_by_side(weights.shape[0])
    return np.maximum.reduceat(weights[order], np.unique(ends, return_index=True)[1], axis=0)


def _over(task: SideProblem, rows: NDArray[np.int64]) -> SideProblem:
    """The task with only these items on the other side; group limits do not matter here."""
    return replace(task, lines=np.ascontiguousarray(task.lines[:, rows]), base=task.base[rows])


def row_bounds(task: SideProblem, beta: NDArray[np.float64], workers: int | None = None) -> NDArray[np.float64]:
    """For each row at least the sum of its m largest priced weights; next to nothing more where that is largest.

    With very many rows most are seen to be too light in a pass without branches: for every θ, the sum of a row's m
    largest is at most mθ + Σ max(weight - θ, 0). Only rows that this leaves in doubt are looked at in full.
    """
    width, k, m = task.base.size, task.keep, task.choose
    working = WORKING_ROWS + k
    if width <= 4 * working:
        return _row_tops(task, beta)
    sample = _over(task, np.arange(0, width, max(1, width // 256)))
    priced = sample.scale * sample.lines - beta[:, None]
    theta = float(np.partition(priced, priced.shape[0] - m, axis=0)[priced.shape[0] - m].mean())
    bounds = _row_reaches(task, beta, theta, workers)
    first = top(bounds, working)
    bounds[first] = _row_tops(_over(task, first), beta)
    kth = np.partition(bounds[first], working - k)[working - k]
    doubtful = np.setdiff1d(np.flatnonzero(bounds >= kth), first, assume_unique=True)
    if doubtful.size:
        bounds[doubtful] = _row_tops(_over(task, doubtful), beta)
    return bounds


def _row_reaches(
    task: SideProblem, beta: NDArray[np.float64], theta: float, workers: int | None
) -> NDArray[np.float64]:
    """For each row at least base + mθ + Σ max(priced weight - θ, 0); blocks of rows side by side."""
    from biselect.solvers.kernels import row_reaches  # loads numba, and compiles on first use

    reaches = np.empty(task.base.size)
    # only terms above θ are added, and none of their weights is larger than this
    lines, size = task.lines.shape[0], max(abs(task.highest[0]), abs(theta) + float(np.abs(beta).max()))

    def block(begin: int) -> None:
        own = slice(begin, min(begin + BLOCK, reaches.size))
        row_reaches(task.lines, task.scale, -beta, theta, own.start, own.stop, reaches)
        reaches[own] += task.base[own] + task.choose * theta
        reaches[own] += 2 * EPS * (lines * (lines + 8) * size + np.abs(task.base[own])) + 5e-324

    with ThreadPool(workers) as pool:
        list(pool.map(block, range(0, reaches.size, BLOCK)))
    return reaches


def _row_tops(task: SideProblem, beta: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each row its base and its m largest priced weights, rounded up."""
    if task.lines.size > NUMPY_CELLS:
        from biselect.solvers.kernels import row_tops  # loads numba, and compiles on first use

        order, ends = task.line_limits.side_by_side(beta.size)
        values = np.empty(task.base.size)
        row_tops(task.lines, task.scale, task.base, -beta, order, ends, task.choose, values)
        return values
    priced = best_of_groups(task.scale * task.lines.astype(np.float64) - beta[:, None], task)
    own = np.partition(priced, len(priced) - task.choose, axis=0)[len(priced) - task.choose :]
    sizes = np.abs(own).sum(axis=0) + 2 * task.choose * np.abs(beta).max() + np.abs(task.base)
    return own.sum(axis=0) + task.base + (task.choose + 6) * (EPS * sizes + 5e-324)


def certified(selection: Selection, *, time_limit: float = 60.0) -> Selection:
    """The same selection with the best bound that there is time for, where that is better than the bound it has.

    >>> from biselect.solvers import solve
    >>> found = solve(SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2), "feature-first")
    >>> found.gap, certified(found).gap < 0.3
    (inf, True)
    """
    reduced = reduce_problem(selection.problem)
    if reduced.rest is None or selection.proven_optimal:
        return selection
    run = Run(deadline=Run.now() + time_limit)
    units = selection.problem.score_units(selection.samples, selection.features)
    bound = reduced.bound(-score_bound(reduced.rest, run, floor=at_most(units - reduced.units)))
    return replace(selection, bound=max(selection.bound, min(bound, at_most(-units))))


def score_bound(problem: SelectionProblem, run: Run, *, floor: float) -> float:
    """Upper bound on the best score; `floor` is the score of a known choice. The shorter side is priced."""
    task = by_features(problem) if problem.n_features <= problem.n_samples else by_samples(problem)
    return min(root_bound(task, in_score_units(floor)).score, spectral_bound(task, run))
