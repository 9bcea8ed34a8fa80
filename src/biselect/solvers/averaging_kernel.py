"""The compiled part of the averaging bound. Its slow twin, in the tests, looks at every row of every set.

Sets of lines are numbered by their binomial coefficients: a < b < c < e has the number C(a, 1) + C(b, 2) + C(c, 3) +
C(e, 4).
"""

from typing import Any

import numpy as np
from numba import njit

from biselect.solvers.kernels import top_sum


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
    kept = 0
    for q in range(count):
        x = values[q] + factor * line[q]
        out[kept] = x  # no branch: a value that is not kept is overwritten by the next
        kept += 1 if x > tau else 0
    return kept


@njit(cache=True, nogil=True)
def _narrow(values: Any, line: Any, factor: float, reach: Any, count: int, tau: float, own: Any, sums: Any) -> int:
    """Positions and sums of the rows that can still rise above τ, and how many there are."""
    kept = 0
    for q in range(count):
        x = values[q] + factor * line[q]
        own[kept] = q
        sums[kept] = x
        kept += 1 if x + reach[q] > tau else 0
    return kept


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
                kept = _above(sums[1], second[c], factor, count, tau, sums[2])
                table[binomial[a, 1] + binomial[b, 2] + binomial[c, 3]] = _filled(sums[2], kept, keep, tau)
                continue
            if stop[0]:
                return
            kept = _narrow(sums[1], second[c], factor, second_reach, count, tau, own[1], sums[2])
            _gather(second, c + 1, own[1], kept, third)
            number = binomial[a, 1] + binomial[b, 2] + binomial[c, 3]
            for e in range(c + 1, d):
                last = _above(sums[2], third[e], factor, kept, tau, third_reach)
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
            held_c = 0
            for c in range(d):
                if c == a or c == b:
                    continue
                x, y, z = a, b, c
                if z < y:
                    y, z = z, y
                    if y < x:
                        x, y = y, x
                if size == 3:
                    third[held_c] = table[binomial[x, 1] + binomial[y, 2] + binomial[z, 3]]
                    held_c += 1
                    continue
                held = 0
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
                    last[held] = table[number]
                    held += 1
                third[held_c] = _mean_of_top(last, held, choose - 3)
                held_c += 1
            pairs[a, b] = pairs[b, a] = _mean_of_top(third, held_c, choose - 2)
    return pairs
