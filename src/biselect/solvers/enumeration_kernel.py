"""The compiled inner loop of one-sided enumeration. Its slow twin is `itertools.combinations` in the tests."""

from typing import Any

import numpy as np
from numba import njit

EPS = float(np.finfo(np.float64).eps)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _reach(values: Any, line: Any, threshold: float) -> float:
    """Σ max(values + line - τ, 0): with keep·τ added it bounds the sum of the keep largest."""
    total = 0.0
    for i in range(values.size):
        total += max(values[i] + line[i] - threshold, 0.0)
    return total


@njit(cache=True, nogil=True)
def scan(
    lines: Any, line_scores: Any, base: Any, first: Any, count: int, keep: int, best: float, threshold: float
) -> Any:
    """Visit `count` subsets in lexicographic order from `first`; return the best score, its subset and its τ.

    The subset is all -1 where none beats `best` (or equals it, while none has been found).
    """
    n, width = lines.shape
    choose = first.size
    subset = first.copy()
    found = np.full(choose, -1, np.int64)
    # sums[d] holds base plus the first d lines of the subset; only the levels that changed are summed anew
    sums = np.empty((choose + 1, width))
    sums[0] = base
    extras = np.zeros(choose + 1)
    changed = 0
    slack = 1.0 + 2 * width * EPS
    last = choose - 1
    for _ in range(count):
        for d in range(changed, last):
            for i in range(width):
                sums[d + 1, i] = sums[d, i] + lines[subset[d], i]
            extras[d + 1] = extras[d] + line_scores[subset[d]]
        extra = extras[last] + line_scores[subset[last]]
        reach = _reach(sums[last], lines[subset[last]], threshold) * slack + keep * threshold + extra
        if reach >= best:
            values = sums[last] + lines[subset[last]]
            largest = np.partition(values, width - keep)[width - keep :]
            score = largest.sum() + extra
            if score > best or (found[0] < 0 and score >= best):
                best = score
                found[:] = subset
            threshold = largest.min()
        changed = last
        while changed >= 0 and subset[changed] == n - choose + changed:
            changed -= 1
        if changed < 0:
            break
        subset[changed] += 1
        for d in range(changed + 1, choose):
            subset[d] = subset[d - 1] + 1
    return best, found, threshold
