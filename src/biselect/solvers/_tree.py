"""A tree over lines, and the two bounds that prune it.

A choice of lines scores f(values of the rows) + what its lines hold themselves, where f adds up the best rows inside
their limits. With r lines still to choose, s what the rows hold already and w what lines add to them, two things are
known about f(s + w₁ + … + wᵣ).

**Averaging.** f is convex: it is the largest of many sums. So it is at most the mean, over these r lines, of
f(s + r·w). A_u = f(s + r·w_u) + r·(what line u holds) is one number for each line, and no choice scores more than the
mean of the r largest A, at most one of each group. That bounds a node, drops lines that are no use beside the best
others, and bounds each child: by its own A and the best ones beyond it in the order of the search. Rows that no choice
lifts above τ count as τ, any number of them, which keeps f convex. With τ not far below the smallest value in a good
choice few rows are left, and fewer the deeper the node.

**Reach.** f grows with each value, so it is at most f(s + the r largest w of each row). That alone is far too much, as
each row picks lines of its own. But a part e of the weights may be moved from the rows to the lines (`_split.py`): the
rows then hold w - e, and line u holds the k largest e that it has. Any split gives a valid bound; a good one makes it
the better one where many lines are chosen. Rows that hold less are no longer replaced by τ; those that a better choice
cannot contain are dropped.

All numbers are whole units of a `Grid`, so no sum is rounded. `expand` is plain NumPy; `_tree_kernel.py` does the same,
compiled, with the same results to the bit, so which one runs may depend on what is loaded.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK_CELLS = 250_000  # cells that NumPy holds at once: temporaries stay in cache
MOST_CHOICES = 4096  # choices that one family hands back; one more says that there are others
AT_ONCE = 3  # nodes with at most so many lines to choose are gone through to the end
OWN_LEVEL = 4  # nodes with at least so many lines to choose have a level of their own; others share their family's


class Tree(NamedTuple):
    """What is searched, in whole units. Lines are in search order, those of an exclusive group side by side.

    Attributes:
        weights: w, one contiguous row per line.
        scores: what each line holds itself.
        prices: the same less the prices of its limits.
        ends: for each line, where the next group begins.
        limits: for each line the limits beside its exclusive group, -1 for none; `room` what each allows.
        limit_prices: for each limit what a place in it is worth; any numbers from 0 up give a bound.
        base: what each row holds from the start.
        reach: [r, line, row], the most that r lines from this one on can add to a row, at most one of each group. For
            averaging there is one line: all of them. Otherwise what is moved is left out.
        price_reach: [r, line], the same for prices, with what is moved; -inf if there are no r lines.
        row_groups: group of each row, ascending, -1 for none; `row_room` how many of each may be counted.
        tau: τ; -inf if weights are moved, and reach is the bound.
        keep: how many rows respond.
        choose: how many lines are chosen.
        loss: by how much a choice can score more here than its true score.
    """

    weights: NDArray[np.float64]
    scores: NDArray[np.float64]
    prices: NDArray[np.float64]
    ends: NDArray[np.int64]
    limits: NDArray[np.int64]
    room: NDArray[np.int64]
    limit_prices: NDArray[np.float64]
    base: NDArray[np.float64]
    reach: NDArray[np.float64]
    price_reach: NDArray[np.float64]
    row_groups: NDArray[np.int64]
    row_room: NDArray[np.int64]
    tau: float
    keep: int
    choose: int
    loss: float

    @property
    def averages(self) -> bool:
        """Whether averaging is the bound; otherwise reach is."""
        return self.tau > -np.inf


class Family(NamedTuple):
    """A node with its children.

    Attributes:
        path: lines chosen so far, ascending positions.
        lines: those that can still be chosen, ascending.
        bounds: for each of them, no choice in which it is the next one scores more.
    """

    path: NDArray[np.int64]
    lines: NDArray[np.int64]
    bounds: NDArray[np.float64]


Expansion = tuple[list[Family], list[NDArray[np.int64]]]
"""The families of the children that are open, and choices that may be better; `MOST_CHOICES` of these and one at most."""


class _Rows(NamedTuple):
    """The rows of a node: which of the tree's, their groups, and what they hold."""

    places: NDArray[np.int64]
    groups: NDArray[np.int64]
    values: NDArray[np.float64]


def expand(tree: Tree, family: Family, closed: float) -> Expansion:
    """Open every child of a family that can score more than `closed`.

    Returns:
        The families of these children, and the choices (as paths) that may score more than `closed`.
    """
    path, lines, bounds = family
    if path.size + 1 == tree.choose:
        return [], [np.append(path, line) for line in lines[bounds > closed]]
    values = tree.base + tree.weights[path].sum(axis=0)
    places = useful_rows(tree, path, values, closed)
    if not (places.size or tree.averages):
        return [], []
    rows = _Rows(places, tree.row_groups[places], values[places])
    families, choices, _ = _opened(tree, family, rows, tree.weights[lines[:, None], places], closed)
    return families, choices[: MOST_CHOICES + 1]


def _opened(
    tree: Tree, family: Family, rows: _Rows, weights: NDArray[np.float64], closed: float
) -> tuple[list[Family], list[NDArray[np.int64]], float]:
    """The same with the weights of the family's lines over these rows; and what is closed once these choices are known."""
    path, lines, bounds = family
    left = tree.choose - path.size - 1  # what a child has still to choose
    added, prices = weights, tree.scores[lines]
    if left > 1 and tree.averages:
        added, prices = left * weights, left * tree.prices[lines]
    elif left > 1:
        added = weights + tree.reach[left - 1][tree.ends[lines][:, None], rows.places]
        prices = tree.prices[lines] + tree.price_reach[left - 1, tree.ends[lines]]
    families: list[Family] = []
    choices: list[NDArray[np.int64]] = []
    level: float | None = None
    known = closed
    opened = np.flatnonzero(bounds > closed)
    step = max(1, BLOCK_CELLS // max(1, weights.size))
    for begin in range(0, opened.size, step):
        chunk = opened[begin : begin + step]
        children = lines[chunk]
        first = int(np.searchsorted(lines, tree.ends[children[0]]))
        further = lines[first:]
        fits, paid = _room(tree, path, children, further, left)
        sums = rows.values + weights[chunk]
        if tree.averages and left > 1:
            sums[sums + tree.reach[left, 0, rows.places] <= tree.tau] = -np.inf
        countable = contenders(sums[:, None, :] + added[first:], rows.groups, tree.row_room)
        levels = np.empty(children.size)
        for q in range(children.size):
            if level is None or left >= OWN_LEVEL:
                level = _level(tree, countable[q, int(fits[q].argmax())]) if fits[q].any() else None
            levels[q] = tree.tau if level is None else level
        countable -= levels[:, None, None]
        reached = np.maximum(countable, 0.0, out=countable).sum(axis=2) + prices[first:]
        reached += (tree.keep * levels)[:, None]
        reached[~fits] = -np.inf
        if left > 1 and tree.averages:
            kept, nexts = child_bounds(reached, tree.ends[further], left, paid, closed)
        else:
            nexts = reached + paid[:, None]
            kept = nexts > closed if left == 1 else fits
        if left == 1:
            for q, u in np.argwhere(kept):
                score, reached_score = _scores(tree, sums[q] + weights[first + u], rows.groups)
                if score + prices[first + u] + paid[q] > closed:
                    choices.append(np.array([*path, children[q], further[u]]))
                    known = max(known, reached_score + prices[first + u] + paid[q] - tree.loss)
            continue
        nexts = np.minimum(nexts, bounds[chunk][:, None])
        for q in np.flatnonzero((kept & (nexts > closed)).any(axis=1)):
            if bounds[chunk[q]] <= known or not (kept[q] & (nexts[q] > known)).any():
                continue
            own = np.flatnonzero(kept[q])
            inner = Family(np.append(path, children[q]), further[own], nexts[q][own])
            if left > AT_ONCE:
                families.append(inner)
                continue
            part = weights[first + own]
            _, more, known = _opened(tree, inner, rows._replace(values=sums[q]), part, known)
            choices += more
        if len(choices) > MOST_CHOICES:
            break
    return families, choices, known


def contenders(values: NDArray[np.float64], groups: NDArray[np.int64], room: NDArray[np.int64]) -> NDArray[np.float64]:
    """Along the last axis all values of free rows, and of each group its largest, as many as it has room for."""
    free = int(np.searchsorted(groups, 0))
    if free == groups.size:
        return values
    begins = free + np.flatnonzero(np.diff(groups[free:], prepend=-1))
    if (room[groups[begins]] == 1).all():
        return np.concatenate([values[..., :free], np.maximum.reduceat(values, begins, axis=-1)], axis=-1)
    parts = [values[..., :free]]
    for begin, end in zip(begins, [*begins[1:], groups.size], strict=True):
        spare = max(0, end - begin - int(room[groups[begin]]))
        parts.append(np.partition(values[..., begin:end], spare, axis=-1)[..., spare:] if spare else values[..., begin:end])
    return np.concatenate(parts, axis=-1)


def _scores(tree: Tree, values: NDArray[np.float64], groups: NDArray[np.int64]) -> tuple[float, float]:
    """f of the rows' values, and the same without τ, -inf if there are too few rows."""
    values = contenders(values, groups, tree.row_room)
    spare = values.size - tree.keep
    best = np.partition(values, spare)[spare:] if spare > 0 else values
    filled = float(np.maximum(best, tree.tau).sum()) + (-spare * tree.tau if spare < 0 else 0.0)
    return filled, float(best.sum()) if spare >= 0 else -np.inf


def _level(tree: Tree, values: NDArray[np.float64]) -> float:
    """The smallest of the values that count, or τ: sums above it are next to exact for values like these."""
    spare = values.size - tree.keep
    return tree.tau if spare < 0 else max(tree.tau, float(np.partition(values, spare)[spare]))


def useful_rows(
    tree: Tree, path: NDArray[np.int64], values: NDArray[np.float64], closed: float
) -> NDArray[np.int64]:
    """Rows that can be among the best ones of a better choice, or rise above τ; `values` is what they hold."""
    left = tree.choose - path.size
    if tree.averages:
        return np.flatnonzero(values + tree.reach[left, 0] > tree.tau)
    line = tree.ends[path[-1]] if path.size else 0
    values = values + tree.reach[left, line]
    best = contenders(values, tree.row_groups, tree.row_room)
    best = np.partition(best, best.size - tree.keep)[best.size - tree.keep :]
    bound = best.sum() + tree.scores[path].sum() + tree.price_reach[left, line]
    if tree.limits.shape[1]:
        used = np.bincount(tree.limits[path][tree.limits[path] >= 0], minlength=tree.room.size)
        bound += ((tree.room - used) * tree.limit_prices).sum()
    return np.flatnonzero(values > best.min() - (bound - closed)) if bound > closed else np.empty(0, dtype=np.int64)


def _room(
    tree: Tree, path: NDArray[np.int64], children: NDArray[np.int64], further: NDArray[np.int64], left: int
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which further lines fit beside each child, and what a child's lines and the room in its limits hold."""
    fits = further >= tree.ends[children][:, None]
    paid = tree.scores[path].sum() + tree.scores[children]
    if tree.limits.shape[1]:
        used = np.zeros((children.size, tree.room.size + 1), dtype=np.int64)  # the last column is that of no limit
        for numbers in (*tree.limits[path].ravel(), *tree.limits[children].T):
            used[np.arange(children.size), numbers] += 1
        full = used >= np.append(tree.room, used[:, -1].max() + 1)
        for numbers in tree.limits[further].T:
            fits &= ~full[:, numbers]
        if left > 1:
            paid = paid + ((tree.room - used[:, :-1]) * tree.limit_prices).sum(axis=1)
    return fits, paid


def child_bounds(
    averages: NDArray[np.float64], ends: NDArray[np.int64], left: int, paid: NDArray[np.float64], closed: float
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """For each node (a row) which lines can be part of a better choice, and the bounds of its children.

    Args:
        averages: A of each line, -inf for one that does not fit.
        ends: where the next group begins; equal for lines of one group.
        left: how many lines a node has still to choose.
        paid: what each node's lines hold themselves.
        closed: what a better choice must exceed.

    Returns:
        Whether each line can be chosen, and the bound on choices in which it is the next one, -inf if there is none.
    """
    sizes = np.diff(np.flatnonzero(np.diff(ends, prepend=-1)), append=ends.size)
    begins = np.cumsum(sizes) - sizes
    groups = np.maximum.reduceat(averages, begins, axis=1)
    bounds = np.full(averages.shape, -np.inf)
    if sizes.size < left:
        return np.zeros(averages.shape, dtype=bool), bounds
    top = -np.sort(-groups, axis=1)[:, :left]
    fewer = top[:, : left - 1].sum(axis=1)
    possible = top[:, -1] > -np.inf
    with np.errstate(invalid="ignore"):
        others = np.where(groups >= top[:, left - 2, None], (fewer + top[:, -1])[:, None] - groups, fewer[:, None])
        reached = averages + np.repeat(others, sizes, axis=1)
    kept = possible[:, None] & (reached > (left * (closed - paid))[:, None])
    groups = np.maximum.reduceat(np.where(kept, averages, -np.inf), begins, axis=1)
    best = np.full((left - 1, len(averages)), -np.inf)  # of the groups beyond, the largest first
    for group in range(sizes.size - 1, -1, -1):
        own = slice(begins[group], begins[group] + sizes[group])
        beyond = best.sum(axis=0)
        mean = np.floor((averages[:, own] + beyond[:, None]) / left) + paid[:, None]
        bounds[:, own] = np.where(kept[:, own], mean, -np.inf)
        value = groups[:, group].copy()
        for place in best:
            value, place[:] = np.minimum(value, place), np.maximum(value, place)
    return kept, bounds
