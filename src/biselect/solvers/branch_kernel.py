"""The compiled part of branch and bound. Its slow twin is brute force in the tests.

Notation: rows are items of the side that responds, columns the lines that are branched on, in search order. A node
has chosen `depth` columns, in ascending order, and needs `left` more. `reach[left - 1, i, j]` is the most row i can
gain when column j comes next: its own weight there plus its left - 1 largest weights beyond j.

For every τ, Σ of the k largest values ≤ kτ + Σ max(value - τ, 0). Rows whose reach does not exceed τ add nothing to
the right side, at this node or below it, so a node carries only the rows above τ: a handful near the leaves.
"""

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def reach_tables(weights: Any, choose: int) -> Any:
    """reach[left - 1, i, j] for every left ≤ choose; columns with fewer than left - 1 beyond them are not used."""
    n, d = weights.shape
    reach = np.empty((choose, n, d))
    largest = np.empty(choose)
    for i in range(n):
        held = 0
        for j in range(d - 1, -1, -1):
            total = weights[i, j]
            reach[0, i, j] = total
            for left in range(1, choose):
                total += largest[left - 1] if left <= held else 0.0
                reach[left, i, j] = total
            x = weights[i, j]
            if held < choose or x > largest[choose - 1]:
                held = min(held + 1, choose)
                q = held - 1
                while q > 0 and largest[q - 1] < x:
                    largest[q] = largest[q - 1]
                    q -= 1
                largest[q] = x
    return reach


@njit(cache=True, nogil=True)
def _top_sum(values: Any, count: int, k: int, fill: float) -> Any:
    """Sum of the k largest of values[:count] with any number of `fill` beside them, and the smallest that counts."""
    if count <= k:
        return values[:count].sum() + (k - count) * fill, fill
    largest = np.partition(values[:count], count - k)[count - k :]
    return largest.sum(), largest[0]


@njit(cache=True, nogil=True)
def _child_bounds(reach: Any, rows: Any, sums: Any, count: int, tau: float, first: int, stop: int, out: Any) -> None:
    """out[j] = Σ_i max(sums_i + reach_ij - τ, 0) for first ≤ j < stop."""
    target = out[first:stop]
    target[:] = 0.0
    for q in range(count):
        line = reach[rows[q], first:stop]
        x = sums[q] - tau
        for j in range(target.size):
            y = x + line[j]
            target[j] += y if y > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _fits(column: int, chosen: Any, depth: int, group: Any, room: Any) -> bool:
    """Whether the column's group has room beside the chosen ones."""
    if room.size == 0 or group[column] < 0:
        return True
    taken = 0
    for q in range(depth):
        if group[chosen[q]] == group[column]:
            taken += 1
    return taken < room[group[column]]


@njit(cache=True, nogil=True)
def _limited_sum(values: Any, count: int, k: int, group: Any, room: Any, fill: float) -> float:
    """Largest sum of k values inside the limits; `fill` stands in for each that is missing."""
    used = np.zeros(room.size, np.int64)
    total, taken = 0.0, 0
    for q in np.argsort(-values[:count], kind="mergesort"):
        if taken == k:
            break
        if group[q] >= 0:
            if used[group[q]] == room[group[q]]:
                continue
            used[group[q]] += 1
        total += values[q]
        taken += 1
    return total + (k - taken) * fill if taken < k else total


@njit(cache=True, nogil=True)
def _leaf_score(weights: Any, chosen: Any, k: int, row_group: Any, row_room: Any) -> float:
    """The best response to a full choice of columns, from scratch."""
    n = weights.shape[0]
    values = np.empty(n)
    for i in range(n):
        total = 0.0
        for column in chosen:
            total += weights[i, column]
        values[i] = total
    if row_room.size:
        return _limited_sum(values, n, k, row_group, row_room, -np.inf)
    return np.partition(values, n - k)[n - k :].sum()


@njit(cache=True, nogil=True)
def _descend(
    weights: Any,
    reach: Any,
    row_group: Any,
    row_room: Any,
    k: int,
    tau: float,
    slack: float,
    best: float,
    price: float,
    column: int,
    rows: Any,
    sums: Any,
    count: int,
    child_rows: Any,
    child_sums: Any,
    values: Any,
) -> Any:
    """Add a column: rows that still matter, their sums, an upper bound on what the rows hold, and the k-th of them.

    Rows go where they cannot rise above τ, and where any choice with them stays below `best`. `price` is what the
    columns can add beside the rows.
    """
    kept = 0
    for q in range(count):
        i = rows[q]
        x = sums[q] + reach[i, column]
        if x > tau:
            child_rows[kept] = i
            child_sums[kept] = sums[q] + weights[i, column]
            values[kept] = x
            kept += 1
    total, kth = _top_sum(values, kept, k, tau)
    gap = total + price - best + slack
    if row_room.size:
        if gap > 2 * slack:
            total = _limited_sum(values, kept, k, row_group[child_rows[:kept]], row_room, tau)
    elif kth - gap > tau:
        still = 0
        for q in range(kept):
            if values[q] >= kth - gap:
                child_rows[still] = child_rows[q]
                child_sums[still] = child_sums[q]
                still += 1
        kept = still
    return kept, total, kth


@njit(cache=True, nogil=True)
def explore(
    weights: Any,
    reach: Any,
    prices: Any,
    price_reach: Any,
    column_group: Any,
    column_room: Any,
    row_group: Any,
    row_room: Any,
    k: int,
    tau: float,
    slack: float,
    prefix: Any,
    to_the_end: bool,
    best: float,
    rows: Any,
    sums: Any,
) -> Any:
    """Open the node `prefix`; finish its whole subtree, or only bound its children.

    `rows` and `sums` are scratch space, one line per depth. Returns the best score found above `best`, its columns
    (-1 where there is none), the bounds of the children (-inf for those that are closed) and the nodes opened.
    """
    n, d = weights.shape
    choose = price_reach.shape[0]
    base = prefix.size
    chosen = np.empty(choose, np.int64)
    chosen[:base] = prefix
    found = np.full(choose, -1, np.int64)
    bounds = np.full((choose, d), -np.inf)
    paid = np.zeros(choose + 1)
    counts = np.zeros(choose + 1, np.int64)
    following = np.zeros(choose, np.int64)
    values = np.empty(n)
    opened = 1

    parent = max(base - 1, 0)
    for i in range(n):
        rows[parent, i] = i
        total = 0.0
        for q in range(parent):
            total += weights[i, prefix[q]]
        sums[parent, i] = total
    counts[parent] = n
    for q in range(base):
        paid[q + 1] = paid[q] + prices[prefix[q]]
    total, kth = np.inf, tau
    if base > 0:
        left, column = choose - parent, prefix[parent]
        price = paid[parent] + price_reach[left - 1, column]
        counts[base], total, kth = _descend(
            weights,
            reach[left - 1],
            row_group,
            row_room,
            k,
            tau,
            slack,
            best,
            price,
            column,
            rows[parent],
            sums[parent],
            n,
            rows[base],
            sums[base],
            values,
        )
        total += price
        following[base] = column + 1
    if total <= best + slack:
        return best, found, bounds[base], opened
    depth = base
    while True:
        # a node has just been entered: bound its children
        left = choose - depth
        first, stop = following[depth], d - left + 1
        level = tau if left == 1 else max(tau, kth)
        _child_bounds(reach[left - 1], rows[depth], sums[depth], counts[depth], level, first, stop, bounds[depth])
        for j in range(first, stop):
            bound = bounds[depth, j] + k * level + paid[depth] + price_reach[left - 1, j]
            open_child = bound > best + slack and _fits(j, chosen, depth, column_group, column_room)
            bounds[depth, j] = min(bound, total) if open_child else -np.inf
        if not to_the_end:
            return best, found, bounds[depth], opened
        # go to the next open child, here or further up
        entered = False
        while not entered and depth >= base:
            left = choose - depth
            column = following[depth]
            if column > d - left:
                depth -= 1
                continue
            following[depth] += 1
            if bounds[depth, column] <= best + slack:
                continue
            chosen[depth] = column
            price = paid[depth] + price_reach[left - 1, column]
            counts[depth + 1], total, kth = _descend(
                weights,
                reach[left - 1],
                row_group,
                row_room,
                k,
                tau,
                slack,
                best,
                price,
                column,
                rows[depth],
                sums[depth],
                counts[depth],
                rows[depth + 1],
                sums[depth + 1],
                values,
            )
            total += price
            if total <= best + slack:
                continue
            opened += 1
            if left == 1:
                score = _leaf_score(weights, chosen, k, row_group, row_room) + price
                if score > best:
                    best = score
                    found[:] = chosen
                continue
            paid[depth + 1] = paid[depth] + prices[column]
            depth += 1
            following[depth] = column + 1
            bounds[depth, :] = -np.inf
            entered = True
        if not entered:
            return best, found, np.full(d, -np.inf), opened
