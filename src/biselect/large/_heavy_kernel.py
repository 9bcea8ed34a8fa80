"""How heavy a row is: quickly and rather too much, or exactly."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def levels_of(
    x: NDArray[Any],
    lows: NDArray[Any],
    highs: NDArray[Any],
    rises: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> None:
    """Fill `weights` with at least what each x weighs.

    Within the interval [lows[l], highs[l]] that is rises[0] + … + rises[l]; outside all of them, and where x is
    missing, all rises together.
    """
    weights[:] = rises[0]
    for level in range(lows.size):  # the inner loop runs over x, so that it is done in vector registers
        low, high, rise = lows[level], highs[level], rises[level + 1]
        for i in range(x.size):
            weights[i] += np.float32(0.0) if (x[i] >= low) & (x[i] <= high) else rise


@njit(cache=True, nogil=True)
def top_sums(W: NDArray[np.float64], columns: NDArray[np.int64], m: int, sums: NDArray[np.float64]) -> None:
    """Fill sums[i] with what the m largest weights of row i in these columns add up to, the largest added first."""
    held = np.empty(m)
    for i in range(W.shape[0]):
        held[:] = -np.inf
        for j in columns:
            w = W[i, j]
            if w <= held[m - 1]:
                continue
            place = m - 1
            while place > 0 and held[place - 1] < w:
                held[place] = held[place - 1]
                place -= 1
            held[place] = w
        total = 0.0
        for q in range(m):
            total += held[q]
        sums[i] = total
