"""The compiled loop of enumeration: every subset of a few lines, judged by one screen. Its slow twin is NumPy's."""

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath=True)
def screen_subsets(
    lines: Any, base: Any, prices: Any, needed: float, growth: float, positions: Any, most_cells: int, passed: Any
) -> Any:
    """Collect the subsets S of lines with growth · Σ_i max(base_i + Σ_{j∈S} line_ij, 0) + Σ_{j∈S} price_j ≥ needed.

    Subsets are taken in lexicographic order. What rows have from all lines but the last is added up once for all
    subsets that differ in the last one alone.

    Args:
        lines: one contiguous row per line, in single precision.
        base: what each row has before any line, likewise.
        prices: what each line adds beside the rows.
        needed: what a subset must reach.
        growth: by how much rounding may have lowered the sum over the rows, as a factor.
        positions: the first subset that was not screened yet; it moves along.
        most_cells: the loop returns after about so many.
        passed: space for the subsets; once it is full the loop returns.

    Returns:
        How many subsets are in `passed`, how many were screened, and whether those were the last.
    """
    (d, n), choose, zero = lines.shape, positions.size, np.float32(0.0)
    sums, paid = np.empty((choose, n), np.float32), np.zeros(choose)
    for i in range(n):
        sums[0, i] = base[i]
    depth, cells, screened, count = 0, 0, 0, 0
    while True:
        for q in range(depth, choose - 1):
            line = lines[positions[q]]
            for i in range(n):
                sums[q + 1, i] = sums[q, i] + line[i]
            paid[q + 1] = paid[q] + prices[positions[q]]
        row = sums[choose - 1]
        enough = needed - paid[choose - 1]
        for j in range(positions[choose - 1], d):
            line = lines[j]
            total = zero
            for i in range(n):
                x = row[i] + line[i]
                total += x if x > zero else zero
            screened += 1
            if total * growth + prices[j] >= enough:
                for q in range(choose - 1):
                    passed[count, q] = positions[q]
                passed[count, choose - 1] = j
                count += 1
                if count == passed.shape[0]:
                    positions[choose - 1] = j + 1
                    return count, screened, False
        cells += n * (choose + d - positions[choose - 1])
        depth = choose - 2
        while depth >= 0 and positions[depth] >= d - (choose - depth):
            depth -= 1
        if depth < 0:
            return count, screened, True
        positions[depth] += 1
        for q in range(depth + 1, choose):
            positions[q] = positions[q - 1] + 1
        if cells > most_cells:
            return count, screened, False
