"""Ranks by a bucket index: one multiplication finds the bucket, a short search the place in it."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

OUTSIDE = 0.001  # share of knots beyond either end of the grid, so that a stray outlier cannot stretch it


@njit(cache=True, nogil=True)
def _bucket(x: float, low: float, buckets_per_unit: float, last: int) -> int:
    """Never decreases with x, rounding included: knots in lower buckets are below x, those in higher ones above."""
    place = (x - low) * buckets_per_unit
    if not place >= 0.0:  # also 0 · inf, where the grid is a single bucket
        return 0
    if place >= last:
        return last
    return int(place)


@njit(cache=True, nogil=True)
def look_up(
    x: NDArray[np.float64],
    values: NDArray[np.float64],
    levels: NDArray[np.float64],
    inclusive: bool,
    out: NDArray[np.float64],
) -> None:
    """Out = levels[number of knots below x], as `Steps` says it. No x may be NaN."""
    n = values.size
    last = max(1, min(n, 1 << 20))
    edge = int(OUTSIDE * n)
    low, high = values[edge], values[n - 1 - edge]
    buckets_per_unit = (last - 1) / (high - low) if high > low else 0.0
    if not np.isfinite(buckets_per_unit) or not np.isfinite(low):
        low, buckets_per_unit = 0.0, 0.0

    starts = np.zeros(last + 2, dtype=np.int64)
    for r in range(n):
        starts[_bucket(values[r], low, buckets_per_unit, last) + 1] += 1
    for b in range(last + 1):
        starts[b + 1] += starts[b]

    for i in range(x.size):
        b = _bucket(x[i], low, buckets_per_unit, last)
        left, right = starts[b], starts[b + 1]
        while left < right:
            middle = (left + right) >> 1
            if values[middle] < x[i] or (inclusive and values[middle] == x[i]):
                left = middle + 1
            else:
                right = middle
        out[i] = levels[left]
