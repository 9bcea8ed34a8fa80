"""The compiled passes of the Lagrangian bound: what each row holds in its m largest priced weights.

NumPy's partition is their slow twin.
"""

from typing import Any

import numpy as np
from numba import njit

EPS = float(np.finfo(np.float64).eps)
TILE = 512  # rows whose running tops stay in cache while the lines stream past


@njit(cache=True, nogil=True)
def row_tops(lines: Any, scale: float, base: Any, offsets: Any, values: Any, own: Any) -> None:
    """For each row its base and its largest priced weights, rounded up, into `values`, and their lines into `own`."""
    choose = own.shape[1]
    largest = np.empty((TILE, choose))
    for tile in range(0, values.size, TILE):
        count = min(TILE, values.size - tile)
        largest[:] = -np.inf
        for j in range(lines.shape[0]):
            line = lines[j, tile : tile + count]
            for i in range(count):
                x = scale * line[i] + offsets[j]
                if x > largest[i, choose - 1]:
                    q = choose - 1
                    while q > 0 and largest[i, q - 1] < x:
                        largest[i, q] = largest[i, q - 1]
                        own[tile + i, q] = own[tile + i, q - 1]
                        q -= 1
                    largest[i, q] = x
                    own[tile + i, q] = j
        for i in range(count):
            total = base[tile + i]
            size = abs(total)
            for q in range(choose):
                total += largest[i, q]
                size += abs(largest[i, q]) + 2.0 * abs(offsets[own[tile + i, q]])
            values[tile + i] = total + (choose + 6) * (EPS * size + 5e-324)


@njit(cache=True, nogil=True)
def row_reaches(lines: Any, scale: float, offsets: Any, theta: float, begin: int, end: int, out: Any) -> None:
    """For rows begin..end: Σ_j max(priced weight - θ, 0), a pass without a branch."""
    for tile in range(begin, end, TILE):
        stop = min(tile + TILE, end)
        sums = out[tile:stop]
        sums[:] = 0.0
        for j in range(lines.shape[0]):
            line = lines[j, tile:stop]
            offset = offsets[j] - theta
            for i in range(sums.size):
                x = scale * line[i] + offset
                sums[i] += x if x > 0.0 else 0.0
