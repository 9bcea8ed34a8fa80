"""The root of the tree: rows and lines that no better choice can use are dropped, until nothing more goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.solvers._incumbent import Grid, Incumbent, grid_for
from biselect.solvers._tree import Family, Tree, child_bounds, contenders
from biselect.solvers.response import SideProblem

ROUNDS = 3  # of dropping rows and lines in turn
TABLE_BYTES = 1 << 30  # trees over more weights are not built
ROWS_AT_ONCE = 4_000_000  # cells of rows that are looked at together
CHILDLESS = Family(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
LIMIT_STEPS = 60  # towards the best prices of limits


class Split(NamedTuple):
    """What is moved from rows to lines, in whole units.

    Attributes:
        levels: what every row moves to each of the tree's lines.
        lines: positions in the task, one for each pair with more.
        rows: the same for the rows.
        extra: how much more.
    """

    levels: NDArray[np.float64]
    lines: NDArray[np.int64]
    rows: NDArray[np.int64]
    extra: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Root:
    """What a better choice can use, as a tree.

    Attributes:
        grid: the unit of its numbers.
        tree: over the lines and rows that are left.
        lines: where its lines stand in the task.
        family: its root, whose children are one line each.
        split: what is moved from the rows to the lines; None if nothing is.
    """

    grid: Grid
    tree: Tree
    lines: NDArray[np.int64]
    family: Family
    split: Split | None = None


def root_of(best: Incumbent) -> Root | None:
    """The root with τ, the smallest value in the best choice so far; None if the tree would not fit into memory."""
    task = best.task
    grid = grid_for(task, best.units)
    scores, base = grid.up(task.line_scores), grid.up(task.base)
    tau = float((base[best.items] + grid.weights(task, best.items)[best.subset].sum(axis=0)).min())
    groups, limits = _separated(task)
    order = np.argsort(groups, kind="stable")
    row_groups = task.base_limits.of[:, 0] if task.base_limits else np.full(base.size, -1)
    tree = Tree(
        weights=np.empty((order.size, 0)),
        scores=scores[order],
        prices=scores[order],
        ends=ends_of(groups[order]),
        limits=limits[order],
        room=task.line_limits.room,
        limit_prices=np.zeros(task.line_limits.room.size),
        base=base,
        reach=np.empty((0, 0, 0)),
        price_reach=np.empty((0, 0)),
        row_groups=row_groups,
        row_room=task.base_limits.room,
        tau=tau,
        keep=task.keep,
        choose=task.choose,
        loss=grid.loss,
    )
    rows, below = _rows_above(task, float(np.ldexp(tau, grid.exponent)))
    below = float(np.ceil(np.ldexp(below, -grid.exponent)))
    step = max(1, ROWS_AT_ONCE // order.size)
    parts, kept_rows, cells = [], [], 0
    for begin in range(0, rows.size, step):
        part = rows[begin : begin + step]
        weights = grid.weights(task, part)[order]
        reach = base[part] + reaches(weights, tree.ends, task.choose)[-1]
        above = reach > tau
        below = max(below, float(reach[~above].max(initial=-np.inf)))
        parts.append(weights[:, above])
        kept_rows.append(part[above])
        cells += parts[-1].size
        if 8 * cells > TABLE_BYTES:
            return None
    rows = np.concatenate(kept_rows)
    by_group = np.argsort(row_groups[rows], kind="stable")
    rows, weights = rows[by_group], np.concatenate(parts, axis=1)[:, by_group]
    tree = tree._replace(weights=weights, base=base[rows], row_groups=row_groups[rows])
    if below > -np.inf:  # as low as it can be without more rows
        tree = tree._replace(tau=below)
    return settled(Root(grid=grid, tree=tree, lines=order, family=CHILDLESS), grid.floor(best.units))


def settled(root: Root, closed: float) -> Root:
    """Drop what no choice of more than `closed` can use, and put the most useful groups of lines first."""
    tree, lines = root.tree, root.lines
    for _ in range(ROUNDS):
        tree = over_rows(tree, tree.base + reaches(tree.weights, tree.ends, tree.choose)[-1] > tree.tau)
        averages = _line_averages(tree)
        if tree.room.size and tree.choose > 1:
            tree = _with_limit_prices(tree, averages)
        averages += tree.choose * (tree.scores if tree.choose == 1 else tree.prices)
        paid = (tree.room * tree.limit_prices).sum(keepdims=True)
        useful = averages + paid > closed
        if tree.choose > 1:
            useful = child_bounds(averages[None], tree.ends, tree.choose, paid, closed)[0][0]
        tree, lines, averages = over_lines(tree, useful), lines[useful], averages[useful]
        if useful.all() or lines.size < tree.choose:
            break
    if lines.size < tree.choose:
        return replace(root, tree=tree, lines=lines, family=CHILDLESS)
    order = search_order(averages, tree.ends)
    tree, lines, averages = over_lines(tree, order), lines[order], averages[order]
    bounds = averages + paid
    if tree.choose > 1:
        bounds = child_bounds(averages[None], tree.ends, tree.choose, paid, closed)[1][0]
    reach = reaches(tree.weights, tree.ends, tree.choose)[:, None]
    tree = tree._replace(reach=reach, price_reach=np.zeros((tree.choose + 1, 1)))
    return replace(root, tree=tree, lines=lines, family=Family(CHILDLESS.path, np.arange(lines.size), bounds))


def search_order(usefulness: NDArray[np.float64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Lines by falling usefulness, those of a group side by side where its best one stands."""
    begins = begins_of(ends)
    best = np.repeat(np.maximum.reduceat(usefulness, begins), np.diff(begins, append=ends.size))
    return np.lexsort((-usefulness, ends, -best))


def over_rows(tree: Tree, rows: NDArray[np.bool_]) -> Tree:
    """The tree over some of its rows."""
    if rows.all():
        return tree
    weights = np.ascontiguousarray(tree.weights[:, rows])
    return tree._replace(weights=weights, base=tree.base[rows], row_groups=tree.row_groups[rows])


def over_lines(tree: Tree, lines: NDArray[np.bool_] | NDArray[np.int64]) -> Tree:
    """The tree over some of its lines, or over all in another order; groups stay side by side."""
    return tree._replace(
        weights=tree.weights[lines],
        scores=tree.scores[lines],
        prices=tree.prices[lines],
        ends=ends_of(tree.ends[lines]),
        limits=tree.limits[lines],
    )


def begins_of(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each run of equal numbers begins."""
    return np.flatnonzero(np.diff(groups, prepend=groups[0] - 1)) if groups.size else groups


def ends_of(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each item where the next run of equal numbers begins."""
    begins = begins_of(groups)
    return np.repeat(np.append(begins[1:], groups.size), np.diff(begins, append=groups.size))


def reaches(weights: NDArray[np.float64], ends: NDArray[np.int64], choose: int) -> NDArray[np.float64]:
    """[r, row], the most that r lines can add to a row, at most one of each group."""
    groups = np.maximum.reduceat(weights, begins_of(ends), axis=0)
    spare = max(0, len(groups) - choose)
    top = -np.sort(-np.partition(groups, spare, axis=0)[spare:], axis=0) if spare else -np.sort(-groups, axis=0)
    reach = np.zeros((choose + 1, weights.shape[1]))
    np.cumsum(top, axis=0, out=reach[1 : len(top) + 1])
    reach[len(top) + 1 :] = reach[len(top)]
    return reach


def _line_averages(tree: Tree) -> NDArray[np.float64]:
    """f(base + m·w) of each line."""
    values = contenders(tree.base + tree.choose * tree.weights, tree.row_groups, tree.row_room)
    spare = values.shape[1] - tree.keep
    if spare > 0:
        values = np.partition(values, spare, axis=1)[:, spare:]
    return np.asarray(np.maximum(values, tree.tau).sum(axis=1) + max(0, -spare) * tree.tau)


def _with_limit_prices(tree: Tree, averages: NDArray[np.float64]) -> Tree:
    """Prices of limits that make the root's bound low: what a place in a limit is worth."""
    members = np.zeros((tree.room.size, tree.ends.size))
    for numbers in tree.limits.T:
        members[numbers[numbers >= 0], np.flatnonzero(numbers >= 0)] = 1.0
    begins = begins_of(tree.ends)
    size = float(np.abs(averages).max()) / tree.choose
    prices, best, lowest = np.zeros(tree.room.size), np.zeros(tree.room.size), np.inf
    for step in range(LIMIT_STEPS):
        values = averages + tree.choose * (tree.scores - prices @ members)
        top = np.maximum.reduceat(values, begins)
        groups = np.argsort(-top, kind="stable")[: tree.choose]
        bound = top[groups].sum() / tree.choose + prices @ tree.room
        if bound < lowest:
            lowest, best = bound, prices
        taken = np.array([begins[g] + int(values[begins[g] : tree.ends[begins[g]]].argmax()) for g in groups])
        slope = tree.room - members[:, taken].sum(axis=1)
        prices = np.maximum(0.0, prices - 0.3 * size * 0.9**step / tree.choose * slope)
    best = np.rint(best)
    return tree._replace(limit_prices=best, prices=tree.prices - (best - tree.limit_prices) @ members)


def _separated(task: SideProblem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each line the number of its exclusive group, alone if it has none, and its other limits."""
    count = task.lines.shape[0]
    of, room = task.line_limits.of, task.line_limits.room
    groups = room.size + np.arange(count)
    if not room.size:
        return groups, np.empty((count, 0), dtype=np.int64)
    alone = (of[:, 0] >= 0) & (room[of[:, 0]] == 1)
    groups[alone] = of[alone, 0]
    others = of.copy()
    others[alone, 0] = -1
    return groups, others[:, (others >= 0).any(axis=0)]


def _rows_above(task: SideProblem, tau: float) -> tuple[NDArray[np.int64], float]:
    """Rows that some choice of lines may lift above τ, by a pass over the weights if there are very many.

    Beside them the most that any other row can be lifted to.

    For every θ the m largest weights of a row add up to at most mθ + Σ max(weight - θ, 0).
    """
    count, width = task.lines.shape
    if task.lines.size <= ROWS_AT_ONCE or tau == -np.inf:
        return np.arange(width), -np.inf
    sample = np.sort(task.scale * task.lines[:, :: max(1, width // 256)].astype(np.float64), axis=0)
    theta = float(sample[count - task.choose].mean())
    above = np.zeros(width, dtype=task.lines.dtype)
    for line in task.lines:
        above += np.maximum(line - above.dtype.type(theta / task.scale if task.scale else 0.0), 0)
    unit = float(np.finfo(task.lines.dtype).eps)
    size = task.largest + abs(theta)
    margin = unit * (count * (count + 8) * size + (count + 8) * task.largest_base)
    most = task.base + task.choose * theta + task.scale * above.astype(np.float64) + margin
    return np.flatnonzero(most > tau), float(most[most <= tau].max(initial=-np.inf))
