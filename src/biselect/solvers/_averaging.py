"""The averaging bound: strong where few of many lines are chosen.

The sum of the k largest is convex. So the score of a choice F of m lines is at most the mean, over the sets T of t
lines inside F, of what m/t times the sum of T scores. The largest such mean is bounded line by line: nested means of
the largest values. The larger t, the better the bound and the more sets there are.

Only rows that rise above τ count, with τ for all others; τ is so high that it costs the bound nothing, and then few
rows are looked at in any one set.

Rounding is outward: values that count lie above τ, so none of their terms is larger in size than what is added here.

The sets are visited by compiled code; its slow twin, in the tests, looks at every row of every set. Sets of lines are
numbered by their binomial coefficients: a < b < c < e has the number C(a, 1) + C(b, 2) + C(c, 3) + C(e, 4).
"""

import math
from math import comb
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biselect.core.threads import BLOCK_SHARE, MOST_BLOCK, ThreadPool
from biselect.solvers.kernels import top_sum
from biselect.solvers.registry import Run
from biselect.solvers.response import SideProblem

MOST_SETS = 20_000_000  # in one table
PAIR_CELLS = 2_000_000_000  # cells that pairs of lines are worth
FLOOR_SHARE = 0.4  # of the gap left by smaller sets: where sets score less than that, it does not matter how much less
ROWS_AT_ONCE = 1 << 18


def averaging_bound(
    task: SideProblem, run: Run, *, floor: float, bound: float, workers: int | None
) -> tuple[float, int]:
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


def _at(task: SideProblem, t: int, run: Run, floor: float, ceiling: float, workers: int | None) -> float:
    """The bound of sets of t lines, no lower than `floor`; inf where time was up or it would reach `ceiling`."""
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

    with run.stop_flag() as stop, ThreadPool(workers) as pool:

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


def _reach(task: SideProblem, t: int, factor: float, run: Run) -> NDArray[np.floating[Any]] | None:
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


def _line_scores_of_sets(task: SideProblem, t: int) -> NDArray[np.float64]:
    """m/t times the line scores of every set, by its number."""
    from biselect.core.sector import unrank

    sets = unrank(np.arange(comb(task.lines.shape[0], t)), task.lines.shape[0], t)
    return task.choose / t * task.line_scores[sets].sum(axis=1)


@njit(cache=True, nogil=True)
def _filled(values: Any, count: int, keep: int, tau: float) -> float:
    """Sum of the `keep` largest, with any number of τ beside them; the values are reordered."""
    if count > keep:
        return top_sum(values, count, keep)[0]
    total = (keep - count) * tau
    for i in range(count):
        total += values[i]
    return total


@njit(cache=True, nogil=True)
def _above(values: Any, line: Any, factor: float, count: int, tau: float, out: Any) -> int:
    """Sums above τ into `out`, and how many there are."""
    count_above = 0
    for q in range(count):
        x = values[q] + factor * line[q]
        out[count_above] = x  # no branch: a value that is not kept is overwritten by the next
        count_above += 1 if x > tau else 0
    return count_above


@njit(cache=True, nogil=True)
def _narrow(values: Any, line: Any, factor: float, reach: Any, count: int, tau: float, own: Any, sums: Any) -> int:
    """Positions and sums of the rows that can still rise above τ, and how many there are."""
    count_open = 0
    for q in range(count):
        x = values[q] + factor * line[q]
        own[count_open] = q
        sums[count_open] = x
        count_open += 1 if x + reach[q] > tau else 0
    return count_open


@njit(cache=True, nogil=True)
def _gather(block: Any, first: int, own: Any, count: int, out: Any) -> None:
    for j in range(first, block.shape[0]):
        source, target = block[j], out[j]
        for q in range(count):
            target[q] = source[own[q]]


@njit(cache=True, nogil=True)
def count_rows(lines: Any, factor: float, base: Any, reach: Any, a: int, tau: float) -> int:
    """How many rows can rise above τ in a set with line a."""
    count = 0
    for i in range(base.size):
        count += 1 if base[i] + factor * lines[a, i] + reach[i] > tau else 0
    return count


@njit(cache=True, nogil=True)
def first_rows(lines: Any, factor: float, base: Any, reach: Any, a: int, tau: float) -> Any:
    """Those rows."""
    rows = np.empty(count_rows(lines, factor, base, reach, a, tau), np.int64)
    count = 0
    for i in range(base.size):
        if base[i] + factor * lines[a, i] + reach[i] > tau:
            rows[count] = i
            count += 1
    return rows


@njit(cache=True, nogil=True)
def fill_sets(
    block: Any,
    factor: float,
    base: Any,
    reach: Any,
    size: int,
    keep: int,
    a: int,
    tau: float,
    binomial: Any,
    table: Any,
    stop: Any,
) -> None:
    """What every set of `size` lines with a as its first scores at most, into `table`.

    `block` holds the lines over the rows that matter, to be multiplied by `factor`, and `reach` [q, row] the sum of a
    row's q largest.
    """
    d, width = block.shape
    own, sums = np.empty((2, width + 1), np.int64), np.empty((3, width + 1))
    second = np.empty((d if size > 2 else 0, width), block.dtype)
    third = np.empty((d if size > 3 else 0, width), block.dtype)
    second_reach, third_reach = np.empty(width + 1), np.empty(width + 1)
    for q in range(width):
        sums[0, q] = base[q] + factor * block[a, q]
    for b in range(a + 1, d):
        if stop[0]:
            return
        if size == 2:
            count = _above(sums[0], block[b], factor, width, tau, sums[1])
            table[binomial[a, 1] + binomial[b, 2]] = _filled(sums[1], count, keep, tau)
            continue
        count = _narrow(sums[0], block[b], factor, reach[size - 2], width, tau, own[0], sums[1])
        _gather(block, b + 1, own[0], count, second)
        if size == 4:
            for q in range(count):
                second_reach[q] = reach[1, own[0, q]]
        for c in range(b + 1, d):
            if size == 3:
                inner_count = _above(sums[1], second[c], factor, count, tau, sums[2])
                table[binomial[a, 1] + binomial[b, 2] + binomial[c, 3]] = _filled(sums[2], inner_count, keep, tau)
                continue
            if stop[0]:
                return
            inner_count = _narrow(sums[1], second[c], factor, second_reach, count, tau, own[1], sums[2])
            _gather(second, c + 1, own[1], inner_count, third)
            number = binomial[a, 1] + binomial[b, 2] + binomial[c, 3]
            for e in range(c + 1, d):
                last = _above(sums[2], third[e], factor, inner_count, tau, third_reach)
                table[number + binomial[e, 4]] = _filled(third_reach, last, keep, tau)


@njit(cache=True, nogil=True)
def _mean_of_top(values: Any, count: int, keep: int) -> float:
    return top_sum(values, count, keep)[0] / keep


@njit(cache=True, nogil=True)
def pair_means(table: Any, binomial: Any, d: int, choose: int, size: int, stop: Any) -> Any:
    """[a, b]: the most that the mean over the sets with both lines can be, the others bounded line by line."""
    pairs = np.full((d, d), -np.inf)
    third, last = np.empty(d), np.empty(d)
    four = np.empty(4, np.int64)
    for b in range(d):
        for a in range(b):
            if stop[0]:
                return pairs
            if size == 2:
                pairs[a, b] = pairs[b, a] = table[binomial[a, 1] + binomial[b, 2]]
                continue
            third_count = 0
            for c in range(d):
                if c == a or c == b:
                    continue
                x, y, z = a, b, c
                if z < y:
                    y, z = z, y
                    if y < x:
                        x, y = y, x
                if size == 3:
                    third[third_count] = table[binomial[x, 1] + binomial[y, 2] + binomial[z, 3]]
                    third_count += 1
                    continue
                last_count = 0
                for e in range(d):
                    if e == a or e == b or e == c:
                        continue
                    four[0], four[1], four[2] = x, y, z
                    q = 3
                    while q > 0 and four[q - 1] > e:
                        four[q] = four[q - 1]
                        q -= 1
                    four[q] = e
                    number = binomial[four[0], 1] + binomial[four[1], 2] + binomial[four[2], 3] + binomial[four[3], 4]
                    last[last_count] = table[number]
                    last_count += 1
                third[third_count] = _mean_of_top(last, last_count, choose - 3)
                third_count += 1
            pairs[a, b] = pairs[b, a] = _mean_of_top(third, third_count, choose - 2)
    return pairs
