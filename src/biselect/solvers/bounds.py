"""A bound for everyone: no choice scores more than this, whatever solver found the answer.

Hold the lines' indicator twice, once in each row's own choice of m lines and once globally, and price the
disagreement with multipliers β. For every β

    max score ≤ top-k_i [ top-m_j (W'_ij - β_j) ] + k · top-m_j (β_j)

with W' the folded weights. The right side is convex in β; subgradient steps push it down. Only the heaviest rows
are looked at in each step; a pass over all rows then certifies the β that was found, and says which rows to add.
Group limits are left out: the bound holds without them, and so with them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biselect.core import Selection, SelectionProblem
from biselect.solvers.one_sided import OneSided, by_features, by_samples
from biselect.solvers.registry import Run
from biselect.solvers.response import top

PATIENCE = 6  # steps without progress before the step length is halved
SMALLEST_STEP = 1 / 128
STEPS = 200  # subgradient steps over one set of rows
NUMPY_CELLS = 50_000  # below this NumPy is done before the kernel would have loaded
WORKING_ROWS = 8192  # rows looked at in each step, and as many again when they turn out to be too few
ROUNDS = 6  # passes over all rows
BLOCK = 65_536  # rows a thread takes at once


@dataclass(frozen=True, kw_only=True, eq=False)
class Root:
    """The Lagrangian bound at its best β.

    Attributes:
        score: an upper bound on every score, rounding included.
        raw: the same as computed.
        slack: how far rounding can have moved it.
        beta: the price of each line.
        row_values: what each row could add at these prices on its own, or a little more where that is too little.
        threshold: the k-th largest of them.
        iterations: steps taken.
    """

    score: float
    raw: float
    slack: float
    beta: NDArray[np.float64]
    row_values: NDArray[np.float64]
    threshold: float
    iterations: int


def certified(selection: Selection, *, time_limit: float = np.inf) -> Selection:
    """The same selection with the Lagrangian bound, where that is better than the bound it has.

    >>> from biselect.solvers import solve
    >>> found = solve(SelectionProblem(coupling=[[3, 0, 1], [0, 2, 0], [2, 0, 2]], k=2, m=2), "feature-first")
    >>> found.gap, certified(found).gap < 0.3
    (inf, True)
    """
    from biselect.solvers.forced import without_forced

    reduced = without_forced(selection.problem)
    if reduced.rest is None or selection.proven_optimal:
        return selection
    run = Run(deadline=Run.now() + time_limit)
    root = score_bound(reduced.rest, run, floor=selection.score + reduced.energy)
    bound = reduced.bound(-root.score)
    return replace(selection, bound=max(selection.bound, min(bound, selection.energy)))


def score_bound(problem: SelectionProblem, run: Run, *, floor: float) -> Root:
    """Upper bound on the best score; `floor` is the score of a known choice. The shorter side is priced."""
    task = by_features(problem) if problem.n_features <= problem.n_samples else by_samples(problem)
    return root_bound(task, run, floor=floor)


def root_bound(task: OneSided, run: Run, *, floor: float, workers: int | None = None) -> Root:
    """Push the bound down until it meets `floor`, no step helps, or the deadline strikes: it is valid at any time.

    Args:
        task: what is bounded; its lines are priced.
        run: the deadline.
        floor: score of a known choice; step lengths aim at it.
        workers: threads at most; None for one per core.
    """
    width = task.base.size
    beta = np.zeros(task.lines.shape[0])
    best = _certify(task, beta, 0, workers)
    rows = top(best.row_values, min(width, WORKING_ROWS + task.keep))
    steps = 0
    for _ in range(ROUNDS):
        if run.expired() or best.raw <= floor + best.slack:
            break
        beta, taken = _descend(_over(task, rows), best.beta, floor, run)
        steps += taken
        if rows.size == width:  # nothing was left out: the steps saw the true bound
            return _certify(task, beta, steps, workers)
        found = _certify(task, beta, steps, workers)
        if found.raw >= best.raw and steps > taken:
            break
        best = found if found.raw < best.raw else best
        missing = np.setdiff1d(top(found.row_values, min(width, WORKING_ROWS + task.keep)), rows, assume_unique=True)
        if not np.isin(top(found.row_values, task.keep), missing).any():
            break
        rows = np.union1d(rows, missing)
    return replace(best, iterations=steps)


def _over(task: OneSided, rows: NDArray[np.int64]) -> OneSided:
    """The task with only these items on the other side; group limits do not matter here."""
    if rows.size == task.base.size:
        return task
    return replace(task, lines=np.ascontiguousarray(task.lines[:, rows]), base=task.base[rows])


def _certify(task: OneSided, beta: NDArray[np.float64], iterations: int, workers: int | None) -> Root:
    """The bound at β over all rows."""
    row_values = row_bounds(task, beta, workers)
    largest = np.partition(row_values, row_values.size - task.keep)[row_values.size - task.keep :]
    raw = float(largest.sum() + task.keep * beta[top(beta, task.choose)].sum())
    slack = rounding(task, beta)
    return Root(
        score=raw + slack,
        raw=raw,
        slack=slack,
        beta=beta,
        row_values=row_values,
        threshold=float(largest.min()),
        iterations=iterations,
    )


def _descend(task: OneSided, beta: NDArray[np.float64], floor: float, run: Run) -> tuple[NDArray[np.float64], int]:
    """The best β that subgradient steps from this one find."""
    k, m = task.keep, task.choose
    best, best_beta = np.inf, beta
    step, stuck, done = 1.0, 0, 0
    slack = rounding(task, beta)
    while done < STEPS:
        row_values, own = _row_tops(task, beta)
        rows, lines = top(row_values, k), top(beta, m)
        value = float(row_values[rows].sum() + k * beta[lines].sum())
        gradient = -np.bincount(own[rows].ravel(), minlength=beta.size).astype(np.float64)
        gradient[lines] += k
        done += 1
        if value < best:
            best, best_beta, stuck = value, beta, 0
        else:
            stuck += 1
            if stuck >= PATIENCE:
                step, stuck, beta = step / 2, 0, best_beta
        length = float(gradient @ gradient)
        if best <= floor + slack or length == 0 or step < SMALLEST_STEP or run.expired():
            break
        beta = beta - step * (value - floor) / length * gradient
    return best_beta, done


def row_bounds(task: OneSided, beta: NDArray[np.float64], workers: int | None = None) -> NDArray[np.float64]:
    """For each row at least the sum of its m largest priced weights; exactly that for the k rows where it is largest.

    With very many rows most are seen to be too light in a pass without branches: for every θ, the sum of a row's m
    largest is at most mθ + Σ max(weight - θ, 0). Only rows that this leaves in doubt are looked at in full.
    """
    width, k, m = task.base.size, task.keep, task.choose
    working = WORKING_ROWS + k
    if width <= 4 * working:
        return _row_tops(task, beta)[0]
    sample = _over(task, np.arange(0, width, max(1, width // 256)))
    priced = sample.scale * sample.lines + (sample.line_scores / k - beta)[:, None]
    theta = float(np.partition(priced, priced.shape[0] - m, axis=0)[priced.shape[0] - m].mean())
    bounds = _row_reaches(task, beta, theta, workers)
    bounds += task.base + m * theta
    bounds += 2 * task.lines.shape[0] * float(np.finfo(np.float64).eps) * np.abs(bounds).max()  # of sums over all lines
    first = top(bounds, working)
    bounds[first] = _row_tops(_over(task, first), beta)[0]
    kth = np.partition(bounds[first], working - k)[working - k]
    doubtful = np.setdiff1d(np.flatnonzero(bounds >= kth), first, assume_unique=True)
    if doubtful.size:
        bounds[doubtful] = _row_tops(_over(task, doubtful), beta)[0]
    return bounds


def _row_reaches(task: OneSided, beta: NDArray[np.float64], theta: float, workers: int | None) -> NDArray[np.float64]:
    """Σ max(priced weight - θ, 0) of each row, blocks of rows side by side."""
    from biselect.solvers.bounds_kernel import row_reaches  # loads numba, and compiles on first use

    reaches = np.empty(task.base.size)
    offsets = task.line_scores / task.keep - beta

    def block(begin: int) -> None:
        row_reaches(task.lines, task.scale, offsets, theta, begin, min(begin + BLOCK, reaches.size), reaches)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(block, range(0, reaches.size, BLOCK)))
    return reaches


def _row_tops(task: OneSided, beta: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each row the sum of its m largest priced weights, and which lines those are."""
    offsets = task.line_scores / task.keep - beta
    if task.lines.size <= NUMPY_CELLS:
        priced = task.scale * task.lines.T.astype(np.float64) + task.base[:, None] / task.choose + offsets
        own = np.argpartition(priced, priced.shape[1] - task.choose, axis=1)[:, priced.shape[1] - task.choose :]
        return np.take_along_axis(priced, own, axis=1).sum(axis=1), own
    from biselect.solvers.bounds_kernel import row_tops  # loads numba, and compiles on first use

    values, own = np.empty(task.base.size), np.empty((task.base.size, task.choose), dtype=np.int64)
    row_tops(task.lines, task.scale, task.base / task.choose, offsets, values, own)
    return values, own


def rounding(task: OneSided, beta: NDArray[np.float64]) -> float:
    """How far rounding can have moved the bound, or any score.

    A block of k·m reduced weights, each below max|W'| + max|β| in size, is summed in two stages of at most m and k
    terms; recursive summation loses at most (terms - 1)·u of the sum of magnitudes (u = eps/2), and folding and
    reducing lose a few u an entry. Doubling it all covers k·top-m(β) as well. Weights kept as float32 are exact
    float64 numbers, and all arithmetic on them is float64.
    """
    k, m = task.keep, task.choose
    largest = task.scale * task.largest
    largest += task.largest_base / m + float(np.abs(task.line_scores).max()) / k
    size = k * m * (largest + 2 * float(np.abs(beta).max()))
    return (k + m + 8) * float(np.finfo(np.float64).eps) * size
