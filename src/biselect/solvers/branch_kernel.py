"""The compiled part of branch and bound. Its slow twin is brute force in the tests.

Rows are items of the side that responds, columns the lines that are branched on, in search order. A node has chosen
`depth` columns, in ascending order, and needs `left` more.

For every τ, Σ of the k largest values ≤ kτ + Σ max(value - τ, 0). Rows that cannot rise above τ add nothing to the
right side, at this node or below it, so a node carries only the others: a handful near the leaves.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from biselect.solvers.select_kernel import has_room, limited_top_sum, top_sum


class Tree(NamedTuple):
    """What the search looks at, all of it arrays and numbers.

    Attributes:
        weights: priced weights of rows that can rise above τ, one contiguous row each.
        reach: [left - 1, i, j], the most row i can gain when column j comes next: its own weight there plus its
            left - 1 largest weights beyond j.
        prices: what each column adds beside the rows.
        price_reach: [left - 1, j], the same as `reach` for prices.
        column_group: group of each column, empty without limits; `column_room` the limits.
        row_group: group of each row, empty without limits; `row_room` the limits.
        columns: the line behind each column.
        lines: all weights as given, with `scale`, `base` and `line_scores` of the one-sided view.
        base_group: group of each item behind `base`, empty without limits.
        keep: how many rows respond.
        tau: τ.
        slack: bounds and scores closer than this are equal up to rounding.
    """

    weights: Any
    reach: Any
    prices: Any
    price_reach: Any
    column_group: Any
    column_room: Any
    row_group: Any
    row_room: Any
    columns: Any
    lines: Any
    scale: Any
    base: Any
    line_scores: Any
    base_group: Any
    keep: Any
    tau: Any
    slack: Any


@njit(cache=True, nogil=True)
def reach_tables(weights: Any, choose: int) -> Any:
    """`Tree.reach` for every left ≤ choose; where fewer than left - 1 columns lie beyond, the entry is not used."""
    n, d = weights.shape
    reach = np.empty((choose, n, d))
    largest = np.empty(choose)
    for i in range(n):
        held = 0
        for j in range(d - 1, -1, -1):
            x = weights[i, j]
            total = x
            reach[0, i, j] = total
            for left in range(1, choose):
                if left <= held:
                    total += largest[left - 1]
                reach[left, i, j] = total
            if held < choose or x > largest[choose - 1]:
                held = min(held + 1, choose)
                q = held - 1
                while q > 0 and largest[q - 1] < x:
                    largest[q] = largest[q - 1]
                    q -= 1
                largest[q] = x
    return reach


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
def _score(tree: Any, chosen: Any) -> float:
    """The score of a full choice of columns with its best response, from the weights as given."""
    values = tree.base.copy()
    extra = 0.0
    for column in chosen:
        line = tree.lines[tree.columns[column]]
        extra += tree.line_scores[tree.columns[column]]
        for i in range(values.size):
            values[i] += tree.scale * line[i]
    if tree.row_room.size:
        total, _, taken = limited_top_sum(values, values.size, tree.keep, tree.base_group, tree.row_room)
        return total + extra if taken == tree.keep else -np.inf
    return top_sum(values, values.size, tree.keep)[0] + extra


@njit(cache=True, nogil=True)
def _descend(
    tree: Any,
    left: int,
    column: int,
    price: float,
    best: float,
    rows: Any,
    sums: Any,
    count: int,
    child_rows: Any,
    child_sums: Any,
    values: Any,
    scratch: Any,
) -> Any:
    """Add a column: how many rows still matter, a bound on the score, the k-th value, and whether that is exact.

    Rows go where they cannot rise above τ, and where any choice with them stays below `best`. `price` is what the
    columns can add beside the rows. The bound is exact at a leaf where k rows rise above τ.
    """
    k, tau = tree.keep, tree.tau
    reach = tree.reach[left - 1]
    kept = 0
    for q in range(count):
        i = rows[q]
        x = sums[q] + reach[i, column]
        if x > tau:
            child_rows[kept] = i
            child_sums[kept] = sums[q] + tree.weights[i, column]
            values[kept] = x
            scratch[kept] = x
            kept += 1
    if kept <= k:
        total, kth = (k - kept) * tau, tau
        for q in range(kept):
            total += values[q]
    else:
        total, kth = top_sum(scratch, kept, k)
    total += price
    full = kept >= k
    if total <= best + tree.slack:
        return kept, total, kth, full
    if tree.row_room.size:
        limited, _, taken = limited_top_sum(values, kept, k, tree.row_group[child_rows[:kept]], tree.row_room)
        return kept, min(total, limited + (k - taken) * tau + price), kth, taken == k
    threshold = kth - (total - best) - tree.slack
    if threshold > tau:
        still = 0
        for q in range(kept):
            if values[q] >= threshold:
                child_rows[still] = child_rows[q]
                child_sums[still] = child_sums[q]
                still += 1
        kept = still
    return kept, total, kth, full


@njit(cache=True, nogil=True)
def explore(tree: Any, prefix: Any, to_the_end: bool, best: float, rows: Any, sums: Any) -> Any:
    """Open the node `prefix`; finish its whole subtree, or only bound its children.

    `rows` and `sums` are scratch space, one line per depth. Returns the best score found above `best`, its columns
    (-1 where there is none), the bounds of the children (-inf for those that are closed) and the nodes opened.
    """
    n, d = tree.weights.shape
    choose = tree.price_reach.shape[0]
    tau, closed = tree.tau, best + tree.slack
    base = prefix.size
    chosen = np.empty(choose, np.int64)
    found = np.full(choose, -1, np.int64)
    bounds = np.full((choose, d), -np.inf)
    paid = np.zeros(choose + 1)
    counts = np.zeros(choose + 1, np.int64)
    following = np.zeros(choose, np.int64)
    values = np.empty(n)
    scratch = np.empty(n)
    opened = 1

    parent = max(base - 1, 0)
    for i in range(n):
        rows[parent, i] = i
        total = 0.0
        for q in range(parent):
            total += tree.weights[i, prefix[q]]
        sums[parent, i] = total
    counts[parent] = n
    for q in range(base):
        chosen[q] = prefix[q]
        paid[q + 1] = paid[q] + tree.prices[prefix[q]]
    bound, kth = np.inf, tau
    if base > 0:
        left, column = choose - parent, prefix[parent]
        price = paid[parent] + tree.price_reach[left - 1, column]
        counts[base], bound, kth, _ = _descend(
            tree, left, column, price, best, rows[parent], sums[parent], n, rows[base], sums[base], values, scratch
        )
        following[base] = column + 1
    if bound <= closed:
        return best, found, bounds[base], opened
    depth = base
    while depth >= base:
        # a node has just been entered: bound its children
        left = choose - depth
        first, stop = following[depth], d - left + 1
        level = tau if left == 1 else max(tau, kth)
        _child_bounds(tree.reach[left - 1], rows[depth], sums[depth], counts[depth], level, first, stop, bounds[depth])
        for j in range(first, stop):
            x = bounds[depth, j] + tree.keep * level + paid[depth] + tree.price_reach[left - 1, j]
            fits = has_room(j, chosen, depth, tree.column_group, tree.column_room)
            bounds[depth, j] = min(x, bound) if fits and x > closed else -np.inf
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
            if bounds[depth, column] <= closed:
                continue
            chosen[depth] = column
            price = paid[depth] + tree.price_reach[left - 1, column]
            counts[depth + 1], bound, kth, exact = _descend(
                tree,
                left,
                column,
                price,
                best,
                rows[depth],
                sums[depth],
                counts[depth],
                rows[depth + 1],
                sums[depth + 1],
                values,
                scratch,
            )
            if bound <= closed:
                continue
            opened += 1
            if left == 1:
                score = bound if exact else _score(tree, chosen)
                if score > closed:
                    best, closed = score, score + tree.slack
                    found[:] = chosen
                continue
            paid[depth + 1] = paid[depth] + tree.prices[column]
            depth += 1
            following[depth] = column + 1
            entered = True
    return best, found, np.full(d, -np.inf), opened
