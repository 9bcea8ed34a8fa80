"""The compiled part of branch and bound. Its slow twin is brute force in the tests.

Rows are items of the side that responds, columns the lines that are branched on, in search order. A node has chosen
`depth` columns, in ascending order, and needs `left` more. All numbers are whole units of a `Grid`, so nothing is
rounded.

Two bounds close nodes. For every τ, Σ of the k largest values ≤ kτ + Σ max(value - τ, 0), with each row's own best
completion for its value. Rows that cannot rise above τ add nothing to the right side, at this node or below it, so a
node carries only the others: a handful near the leaves. And, the right side being convex, what it is for `left` more
columns is at most the mean, over those columns u, of what it is for `left` times u alone: the averaging bound.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from biselect.solvers.kernels import copy_into, has_room_beside, limited_top_sum, top_sum


class Tree(NamedTuple):
    """What the search looks at, all of it arrays and numbers.

    Attributes:
        weights: priced weights of rows that can rise above τ, one contiguous row each.
        base: what each row has from the start.
        reach: [left - 1, i, j], the most row i can gain when column j comes next: its own weight there plus its
            left - 1 largest weights beyond j, one of an exclusive group at most; -inf if there are fewer.
        prices: what each column adds beside the rows.
        price_reach: [left - 1, j], the same as `reach` for prices.
        ends: where the exclusive group of each column ends, so that the next one may stand.
        column_limits: other limits of each column, empty without any; `column_room` what they allow.
        row_group: group of each row, empty without limits; `row_room` the limits.
        keep: how many rows respond.
        tau: τ.
        loss: how far the score of a choice can lie above its true score.
    """

    weights: Any
    base: Any
    reach: Any
    prices: Any
    price_reach: Any
    ends: Any
    column_limits: Any
    column_room: Any
    row_group: Any
    row_room: Any
    keep: Any
    tau: Any
    loss: Any


class Space(NamedTuple):
    """Scratch space and results of one thread.

    Attributes:
        rows: one line per depth: the rows that a node carries; `sums` their values.
        leaves: full choices that exact arithmetic must judge; `leaf_scores` what they score at most.
        depths: of the nodes opened in a dive, in preorder; `columns` their last column, `bounds` their bounds.
        stop: turns to 1 when time is up.
    """

    rows: Any
    sums: Any
    leaves: Any
    leaf_scores: Any
    depths: Any
    columns: Any
    bounds: Any
    stop: Any


@njit(cache=True, nogil=True)
def _child_bounds(reach: Any, rows: Any, sums: Any, count: int, tau: float, first: int, stop: int, out: Any) -> None:
    """out[j] = Σ_i max(sums_i + reach_ij - τ, 0) for first ≤ j < stop."""
    target = out[first:stop]
    for j in range(target.size):
        target[j] = 0.0
    for q in range(count):
        line = reach[rows[q], first:stop]
        x = sums[q] - tau
        for j in range(target.size):
            y = x + line[j]
            target[j] += y if y > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _few_left(means: Any, first: int, needed: float) -> bool:
    """Whether less than a quarter of the columns from `first` on reach a value."""
    count = 0
    for j in range(first, means.size):
        count += 1 if means[j] > needed else 0
    return 4 * count < means.size - first


@njit(cache=True, nogil=True)
def _some_leaves(
    weights: Any, rows: Any, sums: Any, count: int, tau: float, means: Any, needed: float, first: int, out: Any
) -> None:
    """The same as `_child_bounds` for the last column; -inf where averaging closes it."""
    for j in range(first, means.size):
        out[j] = -np.inf
        if means[j] > needed:
            total = 0.0
            for q in range(count):
                x = sums[q] + weights[rows[q], j] - tau
                total += x if x > 0.0 else 0.0
            out[j] = total


@njit(cache=True, nogil=True)
def _average(
    weights: Any,
    prices: Any,
    ends: Any,
    rows: Any,
    sums: Any,
    count: int,
    remaining: int,
    tau: float,
    first: int,
    means: Any,
    out: Any,
) -> None:
    """Lower out[j] to the averaging bound of the children j ≥ first; `means` is scratch space for the columns.

    With `left` columns to choose, j the first of them, the bound is the mean of column j's value and the left - 1
    largest values beyond it, one of an exclusive group at most, where a column's value is the bound for `left` times
    that column.
    """
    d = weights.shape[1]
    target = means[first:d]
    for j in range(target.size):
        target[j] = 0.0
    for q in range(count):
        line = weights[rows[q], first:d]
        x = sums[q] - tau
        for j in range(target.size):
            y = x + remaining * line[j]
            target[j] += y if y > 0.0 else 0.0
    largest = np.empty(remaining)
    filled, beyond, value = 0, 0.0, -np.inf
    for j in range(d - 1, first - 1, -1):
        means[j] += remaining * prices[j]
        value = max(value, means[j])  # of those of its group
        if filled == remaining - 1 and out[j] > -np.inf:
            out[j] = min(out[j], np.floor((means[j] + beyond) / remaining))
        if j > first and ends[j - 1] == j:  # the first of its group
            if filled < remaining - 1 or value > largest[filled - 1]:
                if filled < remaining - 1:
                    q = filled
                    filled += 1
                else:
                    q = filled - 1
                    beyond -= largest[q]
                beyond += value
                while q > 0 and largest[q - 1] < value:
                    largest[q] = largest[q - 1]
                    q -= 1
                largest[q] = value
            value = -np.inf


@njit(cache=True, nogil=True)
def _descend(
    tree: Any,
    remaining: int,
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
    reach = tree.reach[remaining - 1]
    open_count = 0
    for q in range(count):
        i = rows[q]
        x = sums[q] + reach[i, column]
        if x > tau:
            child_rows[open_count] = i
            child_sums[open_count] = sums[q] + tree.weights[i, column]
            values[open_count] = x
            scratch[open_count] = x
            open_count += 1
    if open_count <= k:
        total, kth = (k - open_count) * tau, tau
        for q in range(open_count):
            total += values[q]
    else:
        total, kth = top_sum(scratch, open_count, k)
    total += price
    full = open_count >= k
    if total <= best:
        return open_count, total, kth, full
    if tree.row_room.size:
        limited, _, limited_count = limited_top_sum(
            values, open_count, k, tree.row_group[child_rows[:open_count]], tree.row_room
        )
        return open_count, min(total, limited + (k - limited_count) * tau + price), kth, limited_count == k
    threshold = kth - (total - best)
    if threshold >= tau:
        closer_count = 0
        for q in range(open_count):
            if values[q] > threshold:
                child_rows[closer_count] = child_rows[q]
                child_sums[closer_count] = child_sums[q]
                closer_count += 1
        open_count = closer_count
    return open_count, total, kth, full


@njit(cache=True, nogil=True)
def _note_leaf(space: Any, count: int, leaf: Any, score: float, closed: float) -> int:
    """Keep a leaf for exact arithmetic; those that cannot win any more make room. The count, -1 where there is none."""
    if count == space.leaf_scores.size:
        open_count = 0
        for q in range(count):
            if space.leaf_scores[q] > closed:
                space.leaf_scores[open_count] = space.leaf_scores[q]
                copy_into(space.leaves[open_count], space.leaves[q], leaf.size)
                open_count += 1
        count = open_count
        if count == space.leaf_scores.size:
            return -1
    space.leaf_scores[count] = score
    copy_into(space.leaves[count], leaf, leaf.size)
    return count + 1


@njit(cache=True, nogil=True)
def explore(tree: Any, prefix: Any, to_the_end: bool, closed: float, space: Any) -> Any:
    """Open the node `prefix`; finish its whole subtree, or only bound its children.

    Nodes with a bound of at most `closed` are closed. Returns the bounds of the children (-inf for those that are
    closed), the nodes opened, how many of them are noted in `space` (-1 where they did not fit), and how many leaves
    are (-1 where there are more than fit, or time was up: then the subtree is not settled).
    """
    n, d = tree.weights.shape
    choose = tree.price_reach.shape[0]
    tau = tree.tau
    rows, sums = space.rows, space.sums
    base = prefix.size
    path = np.empty(choose, np.int64)
    bounds = np.empty((choose + 1, d))
    closed_children = bounds[choose]
    for q in range(choose + 1):
        for j in range(d):
            bounds[q, j] = -np.inf
    means = np.empty(d)  # of the last node with two columns to choose: what each of them can lead to
    enough = 0.0  # two such columns lead to something only if theirs add up to more than this
    paid = np.zeros(choose + 1)
    counts = np.zeros(choose + 1, np.int64)
    following = np.zeros(choose, np.int64)
    values = np.empty(n)
    scratch = np.empty(n)
    node_count, noted, leaves = 1, 0, 0

    parent = max(base - 1, 0)
    for i in range(n):
        rows[parent, i] = i
        total = tree.base[i]
        for q in range(parent):
            total += tree.weights[i, prefix[q]]
        sums[parent, i] = total
    counts[parent] = n
    for q in range(base):
        path[q] = prefix[q]
        paid[q + 1] = paid[q] + tree.prices[prefix[q]]
    bound, kth = np.inf, tau
    if base > 0:
        remaining, column = choose - parent, prefix[parent]
        price = paid[parent] + tree.price_reach[remaining - 1, column]
        counts[base], bound, kth, _ = _descend(
            tree,
            remaining,
            column,
            price,
            closed,
            rows[parent],
            sums[parent],
            n,
            rows[base],
            sums[base],
            values,
            scratch,
        )
        following[base] = tree.ends[column]
    if bound <= closed:
        return bounds[base], node_count, noted, leaves
    depth = base
    while depth >= base:
        # a node has just been entered: bound its children
        if space.stop[0]:
            return closed_children, node_count, noted, -1
        remaining = choose - depth
        first, stop = following[depth], d - remaining + 1
        level = tau if remaining == 1 else max(tau, kth)
        children = bounds[depth]
        still_open = stop - first
        if (
            remaining <= 3 and remaining > 1 and to_the_end
        ):  # averaging alone: a child that it leaves open is bounded when it is entered
            for j in range(first, stop):
                fits = has_room_beside(j, path, depth, -1, tree.column_limits, tree.column_room)
                children[j] = bound if fits else -np.inf
        else:
            needed = enough - means[path[depth - 1]] if remaining == 1 and depth > base else 0.0
            if remaining == 1 and depth > base and _few_left(means, first, needed):
                _some_leaves(tree.weights, rows[depth], sums[depth], counts[depth], tau, means, needed, first, children)
            else:
                _child_bounds(
                    tree.reach[remaining - 1], rows[depth], sums[depth], counts[depth], level, first, stop, children
                )
            still_open = 0
            for j in range(first, stop):
                x = children[j] + tree.keep * level + paid[depth] + tree.price_reach[remaining - 1, j]
                fits = has_room_beside(j, path, depth, -1, tree.column_limits, tree.column_room)
                children[j] = min(x, bound) if fits and x > closed else -np.inf
                still_open += 1 if children[j] > closed else 0
        if remaining > 1 and still_open > 0:
            level = tau
            if counts[depth] > tree.keep:  # the best level for one column is good for the others
                for q in range(counts[depth]):
                    scratch[q] = sums[depth, q] + remaining * tree.weights[rows[depth, q], first]
                level = max(tau, top_sum(scratch, counts[depth], tree.keep)[1])
            for j in range(first, stop):
                children[j] -= tree.keep * level + paid[depth]
            _average(
                tree.weights,
                tree.prices,
                tree.ends,
                rows[depth],
                sums[depth],
                counts[depth],
                remaining,
                level,
                first,
                means,
                children,
            )
            for j in range(first, stop):
                children[j] += tree.keep * level + paid[depth]
            enough = 2.0 * (closed - tree.keep * level - paid[depth])
        if not to_the_end:
            for j in range(first, stop):
                if children[j] <= closed:
                    children[j] = -np.inf
            return children, node_count, noted, leaves
        # go to the next open child, here or further up
        entered = False
        while not entered and depth >= base:
            remaining = choose - depth
            column = following[depth]
            if column > d - remaining:
                depth -= 1
                continue
            following[depth] += 1
            if bounds[depth, column] <= closed:
                continue
            path[depth] = column
            price = paid[depth] + tree.price_reach[remaining - 1, column]
            counts[depth + 1], bound, kth, achieved = _descend(
                tree,
                remaining,
                column,
                price,
                closed,
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
            node_count += 1
            if remaining == 1:
                if achieved:
                    closed = max(closed, bound - tree.loss)
                leaves = _note_leaf(space, leaves, path, bound, closed)
                if leaves < 0:
                    return closed_children, node_count, noted, leaves
                continue
            bound = min(bound, bounds[depth, column])
            if noted == space.depths.size:
                noted = -1
            if noted >= 0:
                space.depths[noted] = depth + 1
                space.columns[noted] = column
                space.bounds[noted] = bound
                noted += 1
            paid[depth + 1] = paid[depth] + tree.prices[column]
            depth += 1
            following[depth] = tree.ends[column]
            entered = True
    return closed_children, node_count, noted, leaves
