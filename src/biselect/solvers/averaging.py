"""The averaging bound: strong where few of many lines are chosen.

The sum of the k largest is convex. So the score of a choice F of m lines is at most the mean, over the sets T of t
lines inside F, of what m/t times the sum of T scores. The largest such mean is bounded line by line: nested means of
the largest values. The larger t, the better the bound and the more sets there are.

Only rows that rise above τ count, with τ for all others; τ is so high that it costs the bound nothing, and then few
rows are looked at in any one set.

Rounding is outward: values that count lie above τ, so none of their terms is larger in size than what is added here.
"""

import math
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.solvers.one_sided import OneSided
from biselect.solvers.registry import Run
from biselect.solvers.thread_pool import ThreadPool, stop_flag

MOST_SETS = 20_000_000  # in one table
PAIR_CELLS = 2_000_000_000  # cells that pairs of lines are worth
MOST_BLOCK = 1 << 26  # bytes that a thread may gather
BLOCK_SHARE = 0.05  # of the table, where that is more
FLOOR_SHARE = 0.4  # of the gap left by smaller sets: where sets score less than that, it does not matter how much less
ROWS_AT_ONCE = 1 << 18


def averaging_bound(task: OneSided, run: Run, *, floor: float, bound: float, workers: int | None) -> tuple[float, int]:
    """The lowest bound there is time for, at most `bound`, and the size of the sets that gave it (0: none).

    Args:
        task: what is bounded.
        run: the deadline.
        floor: the score of a known choice.
        bound: the best bound so far.
        workers: threads at most; None for one per core.
    """
    best, size = bound, 0
    d, n = task.lines.shape
    for t in (2, 3, 4):
        if t == 2 < task.choose and n * comb(d, 2) > PAIR_CELLS:
            continue  # larger sets have fewer rows that matter
        if t > task.choose or comb(d, t) > MOST_SETS or best <= floor or run.expired():
            break
        raised = floor + FLOOR_SHARE * (best - floor) if t > 2 and math.isfinite(best) else floor
        reached = _at(task, t, run, raised, best, workers)
        if reached < best:
            best, size = reached, t
        if reached == math.inf:
            break
    return best, size


def _at(task: OneSided, t: int, run: Run, floor: float, ceiling: float, workers: int | None) -> float:
    """The bound of sets of t lines, no lower than `floor`; inf where time was up or it would reach `ceiling`."""
    from biselect.solvers.averaging_kernel import count_rows, fill_sets, first_rows, pair_means  # loads numba

    d, k, m = task.lines.shape[0], task.keep, task.choose
    top_lines = float(np.sort(task.line_scores)[-m:].sum())
    factor = task.scale * m / t
    reach = _reach(task, t, factor, run)
    if reach is None:
        return math.inf
    most_rows = max(MOST_BLOCK, int(BLOCK_SHARE * task.lines.nbytes)) // (d * task.lines.itemsize)
    for raised in np.linspace(floor, ceiling, 16)[:-1] if math.isfinite(ceiling) else [floor]:
        tau = (float(raised) - top_lines) / k  # k·τ with the best line scores is at most the floor
        counts = [count_rows(task.lines, factor, task.base, reach[t - 1], a, tau) for a in (0, d // 3, d // 2)]
        if max(counts) <= 0.8 * most_rows or run.expired():
            break
    else:
        return math.inf
    binomial = np.array([[comb(j, size) for size in range(5)] for j in range(d + 1)], dtype=np.int64)
    table = np.empty(comb(d, t))

    with stop_flag(run) as stop, ThreadPool(workers) as pool:

        def fill(a: int) -> bool:
            if stop[0]:
                return False
            rows = first_rows(task.lines, factor, task.base, reach[t - 1], a, tau)
            if rows.size > most_rows:
                return False
            block = np.empty((d, rows.size), dtype=task.lines.dtype)
            for j in range(a, d):
                block[j] = task.lines[j, rows]
            fill_sets(block, factor, task.base[rows], reach[:, rows], t, k, a, tau, binomial, table, stop)
            return not stop[0]

        if not all(pool.map(fill, range(d - t + 1))):
            return math.inf
        if task.line_scores.any():
            table += _line_scores_of_sets(task, t)
        pairs = pair_means(table, binomial, d, m, t, stop)
        if stop[0]:
            return math.inf
    by_line = np.sort(pairs, axis=1)[:, d - m + 1 :].mean(axis=1)
    mean = float(np.sort(by_line)[d - m :].mean())
    size = abs(tau) + 2 * m * max(abs(task.highest[0]), 0.0) + 2 * task.largest_base
    size += m * max(task.highest[2], -task.lowest[2]) / k
    return mean + (k + m + 32) * float(np.finfo(np.float64).eps) * 4 * k * size + 1e-320


def _reach(task: OneSided, t: int, factor: float, run: Run) -> NDArray[np.floating[Any]] | None:
    """[q, row], the sum of a row's q largest numbers m/t·λW, for q < t; None where the deadline struck first."""
    n = task.base.size
    dtype = task.lines.dtype
    reach = np.zeros((t, n), dtype=dtype)
    for begin in range(0, n, ROWS_AT_ONCE):
        if run.expired():
            return None
        rows = slice(begin, begin + ROWS_AT_ONCE)
        largest = np.full((t, min(n - begin, ROWS_AT_ONCE)), -np.inf)
        for line in task.lines:
            new = line[rows].astype(np.float64)
            for q in range(t - 1):
                new, largest[q] = np.minimum(new, largest[q]), np.maximum(new, largest[q])
        with np.errstate(over="ignore"):
            sums = (factor * np.cumsum(largest[: t - 1], axis=0)).astype(dtype)
            reach[1:, rows] = np.nextafter(np.nextafter(sums, dtype.type(np.inf)), dtype.type(np.inf))
    return reach


def _line_scores_of_sets(task: OneSided, t: int) -> NDArray[np.float64]:
    """m/t times the line scores of every set, by its number."""
    from biselect.core.sector import unrank

    sets = unrank(np.arange(comb(task.lines.shape[0], t)), task.lines.shape[0], t)
    return task.choose / t * task.line_scores[sets].sum(axis=1)
