"""Of each row the sums of its one, two, three … largest weights."""

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def top_sums(W: NDArray[np.float64], columns: NDArray[np.int64], sums: NDArray[np.float64]) -> None:
    """Fill sums[i, q] with what the q + 1 largest weights of row i in these columns add up to."""
    most = sums.shape[1]
    held = np.empty(most)
    for i in range(W.shape[0]):
        held[:] = -np.inf
        for j in columns:
            w = W[i, j]
            if w <= held[most - 1]:
                continue
            place = most - 1
            while place > 0 and held[place - 1] < w:
                held[place] = held[place - 1]
                place -= 1
            held[place] = w
        total = 0.0
        for q in range(most):
            total += held[q]
            sums[i, q] = total
