"""The compiled pass of the Lagrangian bound: each row's m largest priced weights. NumPy is its slow twin."""

from typing import Any

import numpy as np
from numba import njit

TILE = 256  # rows whose running tops stay in cache while the lines stream past


@njit(cache=True, nogil=True)
def row_tops(lines: Any, scale: float, base: Any, offsets: Any, begin: int, end: int, values: Any, own: Any) -> None:
    """For rows begin..end: the sum of the largest priced weights, and their lines where `own` has rows."""
    choose = own.shape[1]
    want_lines = own.shape[0] > 0
    largest = np.empty((TILE, choose))
    which = np.empty((TILE, choose), np.int64)
    for tile in range(begin, end, TILE):
        count = min(TILE, end - tile)
        largest[:] = -np.inf
        for j in range(lines.shape[0]):
            line = lines[j, tile : tile + count]
            offset = offsets[j]
            for i in range(count):
                x = scale * line[i] + offset
                if x > largest[i, choose - 1]:
                    q = choose - 1
                    while q > 0 and largest[i, q - 1] < x:
                        largest[i, q] = largest[i, q - 1]
                        which[i, q] = which[i, q - 1]
                        q -= 1
                    largest[i, q] = x
                    which[i, q] = j
        for i in range(count):
            total = 0.0
            for q in range(choose):
                total += largest[i, q]
            values[tile + i] = total + choose * base[tile + i]
            if want_lines:
                own[tile + i] = which[i]
