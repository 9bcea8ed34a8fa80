"""How much of each weight moves from the rows to the lines, so that reach becomes a good bound.

With e moved, no choice of k rows S and m lines F scores more than

    max_S Σ_{i∈S} (base_i + the m largest w - e of row i)  +  max_F Σ_{j∈F} (what line j holds + its k largest e).

Both parts are largest of many sums, so the whole is convex in e. Steps along subgradients, each remembering those
before, push it down; wherever they end, the bound is valid.

What is moved can be written briefly. With β_j the k-th largest e of line j, every row may have at least β_j moved from
that line, since the line's k largest stay what they are. So e is β_j for all rows but less than k, which have more.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from biselect.solvers._incumbent import Incumbent
from biselect.solvers._root import CHILDLESS, Root, Split, begins_of, over_lines, over_rows, reaches, search_order
from biselect.solvers._tree import Family, Tree, contenders, useful_rows
from biselect.solvers.registry import Run

STEPS = 400
SHORTER, PATIENCE = 1.5, 8  # steps become shorter by this after so many without progress
MEMORY = 0.7  # of earlier subgradients in a step
MOST_CELLS = 4_000_000  # weights beyond which nothing is moved
TABLE_BYTES = 1 << 30  # reach tables beyond this are not built
DIGITS = 20  # binary digits of what is moved


def split_root(best: Incumbent, root: Root, run: Run) -> Root | None:
    """The root over all rows with weights moved to the lines; None where that does not pay or does not fit."""
    task, grid, lines = best.task, root.grid, root.lines
    count, keep, choose = task.base.size, task.keep, task.choose
    if lines.size * count > MOST_CELLS or choose < 2 or keep == count or lines.size < choose:
        return None
    row_groups = task.base_limits.of[:, 0] if task.base_limits else np.full(count, -1)
    rows = np.argsort(row_groups, kind="stable")
    tree = root.tree._replace(
        weights=grid.weights(task, rows)[lines], base=grid.up(task.base)[rows], row_groups=row_groups[rows], tau=-np.inf
    )
    closed = grid.floor(best.units)
    if 8 * (choose + 1) * (lines.size + 1) * count > TABLE_BYTES or begins_of(tree.ends).size < choose:
        return None
    moved = _moved(tree, closed, run)
    unit = 2.0 ** max(0, int(np.frexp(np.abs(moved).max())[1]) - DIGITS)
    moved = unit * np.rint(moved / unit)
    level = np.partition(moved, count - keep, axis=1)[:, count - keep]
    extra = np.maximum(moved - level[:, None], 0.0)
    where = np.nonzero(extra)
    split = Split(levels=level, lines=lines[where[0]], rows=rows[where[1]], extra=extra[where])
    held = keep * level + extra.sum(axis=1)
    root = replace(root, tree=tree, split=split)
    return _planted(root, tree.weights - level[:, None] - extra, tree.prices + held, closed)


def _planted(root: Root, rest: NDArray[np.float64], prices: NDArray[np.float64], closed: float) -> Root:
    """The root with reach as its bound, over the rows that a better choice can have.

    Args:
        root: all rows.
        rest: what stays with the rows, one row per line.
        prices: what the lines hold, with what is moved to them.
        closed: what a better choice must exceed.
    """
    tree, choose = root.tree, root.tree.choose
    order = search_order(_best_sums(tree, tree.base / choose + rest) + prices, tree.ends)
    tree, rest, prices = over_lines(tree, order), rest[order], prices[order]
    root = replace(root, lines=root.lines[order], split=root.split._replace(levels=root.split.levels[order]))
    whole = tree._replace(
        reach=np.tile(reaches(rest, tree.ends, choose)[-1], (choose + 1, 1, 1)),
        price_reach=np.tile(reaches(prices[:, None], tree.ends, choose)[-1], (choose + 1, 1)),
    )
    rows = useful_rows(whole, CHILDLESS.path, tree.base, closed)
    if not rows.size:
        return replace(root, tree=tree, family=CHILDLESS)
    reach = _reach_beyond(rest[:, rows], tree.ends, choose)
    tree = over_rows(tree, np.isin(np.arange(tree.base.size), rows))._replace(
        reach=np.where(np.isfinite(reach), reach, 0.0),
        price_reach=_reach_beyond(prices[:, None], tree.ends, choose)[:, :, 0],
    )
    bounds = _best_sums(tree, tree.base + tree.weights + tree.reach[choose - 1, tree.ends])
    bounds += tree.prices + tree.price_reach[choose - 1, tree.ends] + (tree.room * tree.limit_prices).sum()
    return replace(root, tree=tree, family=Family(CHILDLESS.path, np.arange(order.size), bounds))


def _best_sums(tree: Tree, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """f of each row of values."""
    values = contenders(values, tree.row_groups, tree.row_room)
    spare = values.shape[1] - tree.keep
    return np.asarray(np.partition(values, spare, axis=1)[:, spare:].sum(axis=1))


def _reach_beyond(values: NDArray[np.float64], ends: NDArray[np.int64], choose: int) -> NDArray[np.float64]:
    """[r, line, row], the most that r lines from this one on add, where a group begins; -inf if there are less."""
    reach = np.zeros((choose + 1, ends.size + 1, values.shape[1]))
    reach[1:, ends.size] = -np.inf
    best = np.full((choose, values.shape[1]), -np.inf)  # of the groups from here on, the largest first
    for begin in begins_of(ends)[::-1]:
        value = values[begin : ends[begin]].max(axis=0)
        for place in best:
            value, place[:] = np.minimum(value, place), np.maximum(value, place)
        np.cumsum(best, axis=0, out=reach[1:, begin])
    return reach


def _moved(tree: Tree, closed: float, run: Run) -> NDArray[np.float64]:
    """e, one row per line; half of each weight to begin with."""
    weights, begins = np.ascontiguousarray(tree.weights.T), begins_of(tree.ends)
    rest, best, lowest = weights / 2, weights / 2, np.inf
    memory, length, stuck = np.zeros_like(weights), 0.5, 0
    for _ in range(STEPS):
        bound, slope = _bound_and_slope(tree, weights, rest, begins)
        if bound < lowest:
            lowest, best, stuck = bound, rest.copy(), 0
        else:
            stuck += 1
        if bound <= closed or run.expired():
            break
        if stuck == PATIENCE:
            rest, memory, length, stuck = best.copy(), np.zeros_like(weights), length / SHORTER, 0
        memory = MEMORY * memory + (1 - MEMORY) * slope
        size = float((memory * memory).sum())
        if size == 0:
            break
        rest -= length * (bound - closed) / size * memory
    return np.ascontiguousarray((weights - best).T)


def _bound_and_slope(
    tree: Tree, weights: NDArray[np.float64], rest: NDArray[np.float64], begins: NDArray[np.int64]
) -> tuple[float, NDArray[np.float64]]:
    """The bound with `rest` left to the rows, one row each, and its subgradient; limits of rows are left out."""
    keep, choose = tree.keep, tree.choose
    tops = np.maximum.reduceat(rest, begins, axis=1)
    spare = begins.size - choose
    values = tree.base + np.partition(tops, spare, axis=1)[:, spare:].sum(axis=1)
    rows = np.argpartition(values, values.size - keep)[values.size - keep :]
    groups = np.argpartition(tops[rows], spare, axis=1)[:, spare:]
    moved = weights - rest
    held = np.argpartition(moved, values.size - keep, axis=0)[values.size - keep :]
    worth = tree.prices + np.take_along_axis(moved, held, axis=0).sum(axis=0)
    best = np.maximum.reduceat(worth, begins)
    lines = [_line_of(worth, tree.ends, begins[group]) for group in np.argpartition(best, spare)[spare:]]
    slope = np.zeros_like(rest)
    for row, own in zip(rows, groups, strict=True):
        slope[row, [_line_of(rest[row], tree.ends, begins[group]) for group in own]] += 1
    for line in lines:
        slope[held[:, line], line] -= 1
    return float(values[rows].sum() + worth[lines].sum()), slope


def _line_of(values: NDArray[np.float64], ends: NDArray[np.int64], begin: int) -> int:
    """The best line of the group that begins here."""
    return int(begin + values[begin : ends[begin]].argmax())
