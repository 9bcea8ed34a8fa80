"""The compiled walk of Swap-SA. Its slow twin, in the tests, recomputes the score of every proposal.

Chosen samples stand first in `order_s`, chosen features first in `order_f`. Values of the chosen samples and of all
features are kept up to date; a sample that is not chosen is valued when it is proposed, in m steps.
"""

from typing import Any

import numpy as np
from numba import njit

from biselect.solvers.kernels import next_below, next_unit


@njit(cache=True, nogil=True)
def _sample_value(W: Any, weight: float, a: Any, order_f: Any, m: int, sample: int) -> float:
    row, total = W[sample], 0.0
    for feature in order_f[:m]:
        total += row[feature]
    return a[sample] + weight * total


@njit(cache=True, nogil=True)
def swap_walk(
    W: Any,
    weight: float,
    a: Any,
    b: Any,
    k: int,
    m: int,
    order_s: Any,
    order_f: Any,
    temperatures: Any,
    moves: Any,
    bias: float,
    state: Any,
    best: float,
    best_s: Any,
    best_f: Any,
    improved: Any,
) -> Any:
    """One proposal for each temperature; the state stays in `order_s` and `order_f`.

    `moves` holds the probabilities of a sample swap and of a sample or feature swap; what is left are coupled ones.
    With probability `bias` a draw is the better of two: the higher value enters, the lower one leaves. Returns the
    best score, how many improvements (step, score) were written to `improved`, and how many swaps were accepted.
    """
    n, d = W.shape
    columns = b.copy()
    rows = np.empty(k)
    score = 0.0
    for p in range(k):
        rows[p] = _sample_value(W, weight, a, order_f, m, order_s[p])
        score += rows[p]
        for j in range(d):
            columns[j] += weight * W[order_s[p], j]
    for q in range(m):
        score += b[order_f[q]]
    noted, accepted = 0, 0
    for step in range(temperatures.size + 1):
        if score > best:
            best = score
            best_s[:] = order_s[:k]
            best_f[:] = order_f[:m]
            if noted < improved.shape[0]:
                improved[noted, 0] = step
                improved[noted, 1] = score
                noted += 1
        if step == temperatures.size:
            break
        kind = next_unit(state)
        swap_sample = kind <= moves[0] or kind > moves[1]
        swap_feature = kind > moves[0]
        if (swap_sample and k == n) or (swap_feature and m == d):
            continue
        p, p_in, q, q_in = 0, 0, 0, 0
        value_in, gain = 0.0, 0.0
        if swap_sample:
            p, p_in = next_below(state, k), k + next_below(state, n - k)
            value_in = _sample_value(W, weight, a, order_f, m, order_s[p_in])
            if bias > 0.0 and next_unit(state) <= bias:
                other, other_in = next_below(state, k), k + next_below(state, n - k)
                other_value = _sample_value(W, weight, a, order_f, m, order_s[other_in])
                if rows[other] < rows[p]:
                    p = other
                if other_value > value_in:
                    p_in, value_in = other_in, other_value
            gain += value_in - rows[p]
        if swap_feature:
            q, q_in = next_below(state, m), m + next_below(state, d - m)
            if bias > 0.0 and next_unit(state) <= bias:
                other, other_in = next_below(state, m), m + next_below(state, d - m)
                if columns[order_f[other]] < columns[order_f[q]]:
                    q = other
                if columns[order_f[other_in]] > columns[order_f[q_in]]:
                    q_in = other_in
            gain += columns[order_f[q_in]] - columns[order_f[q]]
        if swap_sample and swap_feature:
            x, y, u, v = order_s[p], order_s[p_in], order_f[q], order_f[q_in]
            gain += weight * (np.float64(W[y, v]) - W[y, u] - W[x, v] + W[x, u])
        if gain < 0 and next_unit(state) > np.exp(gain / temperatures[step]):
            continue
        accepted += 1
        score += gain
        if swap_sample:
            x, y = order_s[p], order_s[p_in]
            order_s[p], order_s[p_in] = y, x
            rows[p] = value_in
            entering, leaving = W[y], W[x]
            for j in range(d):
                columns[j] += weight * (np.float64(entering[j]) - leaving[j])
        if swap_feature:
            u, v = order_f[q], order_f[q_in]
            order_f[q], order_f[q_in] = v, u
            for r in range(k):
                rows[r] += weight * (np.float64(W[order_s[r], v]) - W[order_s[r], u])
    return best, noted, accepted
