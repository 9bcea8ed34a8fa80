"""The Lagrangian bound: no choice scores more than this, whatever solver found the answer.

Hold the lines' indicator twice, once in each row's own choice of m lines and once globally, and price the
disagreement with multipliers β. For every β

    max score ≤ top-k_i [ base_i + top-m_j (λW_ij - β_j) ] + top-m_j (line score_j + k · β_j).

The right side is convex in β; subgradient steps push it down. Only the heaviest rows are looked at in each step; a pass
over all rows then certifies the β that was found, and says which rows to add. Group limits are left out: the bound
holds without them, and so with them.

Rounding is outward. A sum of n float64 numbers is off by less than n·eps of the sum of their magnitudes; every row adds
that much to its own value, so a number of -1e14 costs accuracy only in the rows that use it.

`score_bound` takes the best of this and the other bounds; `certified` gives it to any answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.core.exact_sums import at_most
from biselect.core.threads import ThreadPool
from biselect.solvers._incumbent import lowest_useful
from biselect.solvers._reduction import reduce_problem
from biselect.solvers._spectral import spectral_bound
from biselect.solvers.registry import Run
from biselect.solvers.response import SideProblem, by_features, by_samples, largest, top

PATIENCE = 6  # steps without progress before the step length is halved
SMALLEST_STEP = 1 / 128
STEPS = 200  # subgradient steps over one set of rows
NUMPY_CELLS = 50_000  # below this NumPy is done before the kernel would have loaded
WORKING_ROWS = 8192  # rows looked at in each step, and as many again when they turn out to be too few
ROUNDS = 6  # passes over all rows
BLOCK = 65_536  # rows a thread takes at once
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, kw_only=True, eq=False)
class Root:
    """The Lagrangian bound at its best β.

    Attributes:
        score: an upper bound on every score.
        beta: the price of each line.
        row_values: at least what each row could add at these prices on its own.
        threshold: the k-th largest of them.
        iterations: steps taken.
    """

    score: float
    beta: NDArray[np.float64]
    row_values: NDArray[np.float64]
    threshold: float
    iterations: int


def root_bound(task: SideProblem, run: Run, *, floor: float, rounds: int = ROUNDS, workers: int | None = None) -> Root:
    """Push the bound down until it meets `floor`, no step helps, or the deadline strikes: it is valid at any time.

    Args:
        task: what is bounded; its lines are priced.
        run: the deadline.
        floor: score of a known choice; step lengths aim at it.
        rounds: passes over all rows that steps are taken between; 0 for the bound where line scores are spread evenly.
        workers: threads at most; None for one per core.
    """
    width = task.base.size
    scores = np.maximum(task.line_scores, lowest_useful(task, floor))  # a price as high as a penalty helps nobody
    best = certify(task, -scores / task.keep, workers)
    rows = top(best.row_values, min(width, WORKING_ROWS + task.keep))
    steps = 0
    for _ in range(rounds):
        if run.expired() or best.score <= floor:
            break
        beta, step_count = _descend(_over(task, rows), best.beta, floor, run)
        steps += step_count
        candidate = certify(task, beta, workers)
        if candidate.score >= best.score:
            break
        best = candidate
        missing = np.setdiff1d(
            top(candidate.row_values, min(width, WORKING_ROWS + task.keep)), rows, assume_unique=True
        )
        if not np.isin(top(candidate.row_values, task.keep), missing).any():
            break
        rows = np.union1d(rows, missing)
    return replace(best, iterations=steps)


def certify(task: SideProblem, beta: NDArray[np.float64], workers: int | None) -> Root:
    """The bound at β over all rows."""
    row_values = row_bounds(task, beta, workers)
    heaviest = largest(row_values, task.keep)
    prices = _prices(task, beta)
    terms = [*heaviest.tolist(), *prices[top(prices, task.choose)].tolist()]
    try:
        score = math.nextafter(math.fsum(terms), math.inf)
    except OverflowError:
        score = math.inf
    return Root(score=score, beta=beta, row_values=row_values, threshold=float(heaviest.min()), iterations=0)


def _prices(task: SideProblem, beta: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each line adds beside the rows, rounded up."""
    paid = task.keep * beta
    return task.line_scores + paid + 2 * EPS * (np.abs(task.line_scores) + np.abs(paid)) + 5e-324


def _over(task: SideProblem, rows: NDArray[np.int64]) -> SideProblem:
    """The task with only these items on the other side; group limits do not matter here."""
    if rows.size == task.base.size:
        return task
    return replace(task, lines=np.ascontiguousarray(task.lines[:, rows]), base=task.base[rows])


def _descend(task: SideProblem, beta: NDArray[np.float64], floor: float, run: Run) -> tuple[NDArray[np.float64], int]:
    """The best β that subgradient steps from this one find."""
    k, m = task.keep, task.choose
    best, best_beta = np.inf, beta
    step, stuck, iterations = 1.0, 0, 0
    while iterations < STEPS:
        row_values, own = _row_tops(task, beta)
        prices = task.line_scores + k * beta
        rows, lines = top(row_values, k), top(prices, m)
        value = float(row_values[rows].sum() + prices[lines].sum())
        gradient = -np.bincount(own[rows].ravel(), minlength=beta.size).astype(np.float64)
        gradient[lines] += k
        iterations += 1
        if value < best:
            best, best_beta, stuck = value, beta, 0
        else:
            stuck += 1
            if stuck >= PATIENCE:
                step, stuck, beta = step / 2, 0, best_beta
        length = float(gradient @ gradient)
        if best <= floor or length == 0 or step < SMALLEST_STEP or run.expired():
            break
        beta = beta - step * (value - floor) / length * gradient
    return best_beta, iterations


def row_bounds(task: SideProblem, beta: NDArray[np.float64], workers: int | None = None) -> NDArray[np.float64]:
    """For each row at least the sum of its m largest priced weights; next to nothing more where that is largest.

    With very many rows most are seen to be too light in a pass without branches: for every θ, the sum of a row's m
    largest is at most mθ + Σ max(weight - θ, 0). Only rows that this leaves in doubt are looked at in full.
    """
    width, k, m = task.base.size, task.keep, task.choose
    working = WORKING_ROWS + k
    if width <= 4 * working:
        return _row_tops(task, beta)[0]
    sample = _over(task, np.arange(0, width, max(1, width // 256)))
    priced = sample.scale * sample.lines - beta[:, None]
    theta = float(np.partition(priced, priced.shape[0] - m, axis=0)[priced.shape[0] - m].mean())
    bounds = _row_reaches(task, beta, theta, workers)
    first = top(bounds, working)
    bounds[first] = _row_tops(_over(task, first), beta)[0]
    kth = np.partition(bounds[first], working - k)[working - k]
    doubtful = np.setdiff1d(np.flatnonzero(bounds >= kth), first, assume_unique=True)
    if doubtful.size:
        bounds[doubtful] = _row_tops(_over(task, doubtful), beta)[0]
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


def _row_tops(task: SideProblem, beta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each row its base and its m largest priced weights, rounded up, and which lines those are."""
    if task.lines.size <= NUMPY_CELLS:
        priced = task.scale * task.lines.T.astype(np.float64) - beta
        own = np.argpartition(priced, priced.shape[1] - task.choose, axis=1)[:, priced.shape[1] - task.choose :]
        top_weights = np.take_along_axis(priced, own, axis=1)
        sizes = (np.abs(top_weights) + 2 * np.abs(beta)[own]).sum(axis=1) + np.abs(task.base)
        return top_weights.sum(axis=1) + task.base + (task.choose + 6) * (EPS * sizes + 5e-324), own
    from biselect.solvers.kernels import row_tops  # loads numba, and compiles on first use

    values, own = np.empty(task.base.size), np.empty((task.base.size, task.choose), dtype=np.int64)
    row_tops(task.lines, task.scale, task.base, -beta, values, own)
    return values, own


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
    from biselect.solvers._averaging import averaging_bound  # loads numba

    task = by_features(problem) if problem.n_features <= problem.n_samples else by_samples(problem)
    bound = min(root_bound(task, run, floor=floor).score, spectral_bound(task, run))
    return averaging_bound(task, run, floor=floor, bound=bound, workers=None)[0]
