"""The compiled walk of the ring-local reference. Its slow twin recomputes every energy, in the tests."""

from typing import Any

import numpy as np
from numba import njit

from biselect.solvers.kernels import next_below, next_unit


@njit(cache=True, nogil=True)
def ring_walk(
    W: Any,
    weight: float,
    a: Any,
    b: Any,
    in_s: Any,
    in_f: Any,
    temperature: float,
    steps: int,
    state: Any,
    best: float,
    best_s: Any,
    best_f: Any,
    improved: Any,
) -> Any:
    """Exchange neighbours on either ring; occupations are booleans and hold the state.

    Returns the best score and how many improvements (step, score) were written to `improved`.
    """
    n, d = W.shape
    score, noted = 0.0, 0
    for i in range(n):
        if in_s[i]:
            score += a[i]
            for j in range(d):
                if in_f[j]:
                    score += weight * W[i, j]
    for j in range(d):
        if in_f[j]:
            score += b[j]
    for step in range(steps + 1):
        if score > best:
            best = score
            best_s[:] = in_s
            best_f[:] = in_f
            if noted < improved.shape[0]:
                improved[noted, 0] = step
                improved[noted, 1] = score
                noted += 1
        if step == steps:
            break
        edge = next_below(state, n + d)
        gain = 0.0
        if edge < n:
            x, y = edge, (edge + 1) % n
            if in_s[x] == in_s[y]:
                continue
            if in_s[y]:
                x, y = y, x
            gain = a[y] - a[x]
            for j in range(d):
                if in_f[j]:
                    gain += weight * (np.float64(W[y, j]) - W[x, j])
        else:
            x, y = edge - n, (edge - n + 1) % d
            if in_f[x] == in_f[y]:
                continue
            if in_f[y]:
                x, y = y, x
            gain = b[y] - b[x]
            for i in range(n):
                if in_s[i]:
                    gain += weight * (np.float64(W[i, y]) - W[i, x])
        if gain < 0 and next_unit(state) > np.exp(gain / temperature):
            continue
        score += gain
        if edge < n:
            in_s[x], in_s[y] = False, True
        else:
            in_f[x], in_f[y] = False, True
    return best, noted
