"""The compiled loop of enumeration: every subset of a few lines, judged by one screen. Its slow twin is NumPy's."""

from typing import Any

import numpy as np
from numba import njit

from biselect.solvers.kernels import has_room_beside

STEP_CELLS = 100  # what a step costs beside its cells


@njit(cache=True, nogil=True, fastmath=True)
def screen_subsets(
    lines: Any,
    reach: Any,
    prices: Any,
    price_reach: Any,
    ends: Any,
    limits: Any,
    room: Any,
    needed: float,
    growth: float,
    most_cells: int,
    sums: Any,
    paid: Any,
    positions: Any,
    passed: Any,
) -> Any:
    """Collect the subsets S of lines with growth · Σ_i max(base_i + Σ_{j∈S} line_ij, 0) + Σ_{j∈S} price_j ≥ needed.

    Subsets are taken in lexicographic order. Where even the most that further lines can add is too little, all subsets
    that begin alike are left out together.

    Args:
        lines: one contiguous row per line, in single precision.
        reach: [r, j], what each row gains at most from r lines from j on, likewise.
        prices: what each line adds beside the rows.
        price_reach: [r, j], what r lines from j on add at most beside them.
        ends: for each line where the next one may stand.
        limits: limits that each line counts towards, -1 for none; `room` what they allow, empty without any.
        room: see `limits`.
        needed: what a subset must reach.
        growth: by how much rounding may have lowered a sum over the rows, as a factor.
        most_cells: the loop returns after about so many.
        sums: space for what rows have from the first lines of a subset; the first row is what they have before any.
        paid: the same for prices.
        positions: the lines to look at next, and how many come before the last of them; it moves along, to -1.
        passed: space for the subsets; once it is full the loop returns.

    Returns:
        How many subsets are in `passed`, how many were screened, and the cells that were looked at.
    """
    (d, n), choose, zero = lines.shape, positions.size - 1, np.float32(0.0)
    depth, cells, screened, count = positions[choose], 0, 0, 0
    while depth >= 0 and cells <= most_cells:
        row, left = sums[depth], choose - 1 - depth
        if left == 0:
            enough = needed - paid[depth]
            for j in range(positions[depth], d):
                line = lines[j]
                total = zero
                for i in range(n):
                    x = row[i] + line[i]
                    total += x if x > zero else zero
                screened += 1
                cells += n + STEP_CELLS
                if total * growth + prices[j] >= enough and has_room_beside(j, positions, depth, -1, limits, room):
                    for q in range(depth):
                        passed[count, q] = positions[q]
                    passed[count, depth] = j
                    count += 1
                    if count == passed.shape[0]:
                        positions[depth], positions[choose] = j + 1, depth
                        return count, screened, cells
        elif positions[depth] < d:
            j = positions[depth]
            line, further, target = lines[j], reach[left, ends[j]], sums[depth + 1]
            total = zero
            for i in range(n):
                x = row[i] + line[i]
                target[i] = x
                x += further[i]
                total += x if x > zero else zero
            cells += n + STEP_CELLS
            paid[depth + 1] = paid[depth] + prices[j]
            if total * growth + (price_reach[left, ends[j]] + paid[depth + 1]) >= needed:
                if has_room_beside(j, positions, depth, -1, limits, room):
                    depth += 1
                    positions[depth] = ends[j]
                else:
                    positions[depth] += 1
                continue
            positions[depth] += 1
            further = reach[left + 1, j + 1]
            total = zero
            for i in range(n):
                x = row[i] + further[i]
                total += x if x > zero else zero
            cells += n + STEP_CELLS
            if total * growth + (price_reach[left + 1, j + 1] + paid[depth]) >= needed:
                continue
        depth -= 1  # nothing more begins like this
        positions[max(depth, 0)] += 1
    positions[choose] = depth
    return count, screened, cells
