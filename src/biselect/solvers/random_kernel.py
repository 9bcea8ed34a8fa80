"""Random numbers inside compiled kernels: SplitMix64 on a state of one uint64, the same on every machine.

Public-domain constants of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
"""

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def next_bits(state: Any) -> Any:
    """64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def next_unit(state: Any) -> float:
    """Uniform in (0, 1]."""
    return (np.float64(next_bits(state) >> np.uint64(11)) + 1.0) * 2.0**-53


@njit(cache=True, nogil=True)
def next_below(state: Any, n: int) -> Any:
    """Uniform in 0..n-1; the bias of the scaled draw is below n·2⁻⁵³."""
    return min(n - 1, np.int64(np.float64(next_bits(state) >> np.uint64(11)) * 2.0**-53 * n))
