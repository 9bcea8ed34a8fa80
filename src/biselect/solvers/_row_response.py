"""The best rows for given lines, where there are very many rows: one pass at the speed of memory.

The pass sums in the precision the weights are stored in and keeps every row that could be among the best; those few
are summed again in float64, so the response is exact. With u the unit roundoff of the stored precision, M ≥ |weight|,
λ the scale and B ≥ |base|, a row's value λ·Σw + base is computed with an error of at most

    δ = (m + 4)·u·(λ·m·M + B)·(1 + 2⁻¹⁰),

since summing m terms in any order loses at most (m - 1)·u of m·M to first order, storing λ and base, multiplying
and adding lose one u each, and the last factor covers the higher orders while (m + 4)·u < 2⁻¹¹. The k-th largest exact
value is at least the k-th largest computed one less δ, so every row of the true top-k was computed as at least that
one less 2δ.

The pass is compiled; its slow twin is a full sort in the tests.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biselect.solvers.kernels import top_sum
from biselect.solvers.response import SideProblem, top

TILE = 4096  # rows whose sums stay in cache
STRIP = 128  # rows that are looked at one by one once any of them is a candidate


def best_rows(task: SideProblem, subset: NDArray[np.int64]) -> NDArray[np.int64]:
    """What `task.respond` gives, for many rows; group limits take the plain way."""
    if task.base_limits:
        return task.respond(subset)
    dtype = task.lines.dtype
    margin = dtype.type(2 * rounding_of_pass(task))
    rows = candidates(task.lines, subset, dtype.type(task.scale), task.stored_base, task.keep, margin)
    if rows.size < task.keep:  # too many near-ties to hold
        return task.respond(subset)
    values = task.base[rows] + task.scale * task.lines[subset[:, None], rows].sum(axis=0, dtype=np.float64)
    return rows[top(values, task.keep)]


def rounding_of_pass(task: SideProblem) -> float:
    """δ of the module's docstring."""
    unit = float(np.finfo(task.lines.dtype).eps) / 2
    size = task.choose * task.largest + task.largest_base
    return (task.choose + 4) * unit * size * (1 + 2**-10)


@njit(cache=True, nogil=True)
def _add(sums: Any, line: Any) -> None:
    for i in range(sums.size):
        sums[i] += line[i]


@njit(cache=True, nogil=True)
def _add_four(sums: Any, a: Any, b: Any, c: Any, d: Any) -> None:
    for i in range(sums.size):
        sums[i] += (a[i] + b[i]) + (c[i] + d[i])


@njit(cache=True, nogil=True)
def _any_above(sums: Any, low: Any) -> bool:
    """Whether any sum reaches `low`; without a branch inside, so that it runs over whole vectors."""
    count = 0
    for i in range(sums.size):
        count += 1 if sums[i] >= low else 0
    return count > 0


@njit(cache=True, nogil=True)
def candidates(lines: Any, subset: Any, scale: Any, base: Any, keep: int, margin: Any) -> Any:
    """Rows, ascending, whose computed value is within `margin` of the keep-th largest; none if they are too many."""
    width = lines.shape[1]
    capacity = 2 * keep + 4 * TILE
    rows = np.empty(capacity, np.int64)
    values = np.empty(capacity, lines.dtype)
    sums = np.empty(TILE, lines.dtype)
    count = 0
    low = values.dtype.type(-np.inf)
    for begin in range(0, width, TILE):
        end = min(begin + TILE, width)
        tile = sums[: end - begin]
        tile[:] = 0
        q = 0
        while q + 4 <= subset.size:
            _add_four(
                tile,
                lines[subset[q], begin:end],
                lines[subset[q + 1], begin:end],
                lines[subset[q + 2], begin:end],
                lines[subset[q + 3], begin:end],
            )
            q += 4
        while q < subset.size:
            _add(tile, lines[subset[q], begin:end])
            q += 1
        if scale != 1:
            for i in range(tile.size):
                tile[i] *= scale
        if base.size:
            _add(tile, base[begin:end])
        for first in range(0, tile.size, STRIP):
            strip = tile[first : first + STRIP]
            if not _any_above(strip, low):
                continue
            for i in range(strip.size):
                if strip[i] >= low:
                    rows[count] = begin + first + i
                    values[count] = strip[i]
                    count += 1
        if count > 2 * keep or end == width:
            if count > keep:
                low = top_sum(values[:count].copy(), count, keep)[1] - margin
            above = 0
            for q in range(count):
                if values[q] >= low:
                    rows[above] = rows[q]
                    values[above] = values[q]
                    above += 1
            count = above
            if count > capacity - TILE:
                return rows[:0]
    return rows[:count]
