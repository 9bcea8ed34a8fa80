"""Branch and bound on the lines, in the prices β of the Lagrangian bound.

The root bound drops rows and lines that no better choice can use. What is left is searched best bound first; a
subtree that is small enough is finished in one depth-first dive. Nodes are taken in rounds of fixed size that share
one incumbent, so the search is the same for any number of threads.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import comb
from threading import local
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.solvers.bounds import Root
from biselect.solvers.one_sided import OneSided
from biselect.solvers.registry import Run

if TYPE_CHECKING:
    from biselect.solvers.branch_kernel import Tree

NODES_PER_ROUND = 64  # fixed, so that the search does not depend on the number of threads
DIVE_CELLS = 1_000_000_000  # leaves times rows of a subtree that is finished in one go; most of them are never seen
TABLE_BYTES = 1 << 30  # reach tables beyond this are not built


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """What the search found.

    Attributes:
        subset: lines of a better choice than the one it started from, None where there is none.
        bound: no choice scores more than this.
        complete: whether that was proven; else the deadline or the memory ended it.
        info: rows and lines left after elimination, nodes opened.
    """

    subset: NDArray[np.int64] | None
    bound: float
    complete: bool
    info: dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Rest:
    """What the root bound leaves to search.

    Attributes:
        tau: the smallest value in the best choice so far, in priced weights.
        rows: rows that can rise above τ in a better choice.
        columns: lines that a better choice can use, the most useful first.
        weights: priced weights, one contiguous row for each of `rows`, one column for each of `columns`.
    """

    tau: float
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    weights: NDArray[np.float64]


def eliminate(task: OneSided, root: Root, subset: NDArray[np.int64], score: float) -> Rest | None:
    """Drop the rows and lines that no choice better than `score`, that of `subset`, can use.

    None where the tables over what is left would not fit into TABLE_BYTES.
    """
    values = task.values(subset) + task.line_scores[subset].sum() / task.keep - root.beta[subset].sum()
    tau = float(np.partition(values, values.size - task.keep)[values.size - task.keep])
    lowest = root.threshold - (root.raw - score) - root.slack
    rows = np.flatnonzero((root.row_values > tau) & (root.row_values >= lowest))
    if rows.size * task.lines.shape[0] * (task.choose + 1) * 8 > TABLE_BYTES:
        return None
    weights = np.ascontiguousarray(task.lines[:, rows].T, dtype=np.float64)
    weights *= task.scale
    weights += task.base[rows, None] / task.choose
    weights += task.line_scores / task.keep - root.beta
    columns = _useful_lines(weights, root, task, score, tau)
    return Rest(tau=tau, rows=rows, columns=columns, weights=np.ascontiguousarray(weights[:, columns]))


def _useful_lines(
    weights: NDArray[np.float64], root: Root, task: OneSided, score: float, tau: float
) -> NDArray[np.int64]:
    """Lines that a better choice can use, the most useful first.

    With line j forced in, a row gives up its choose-th largest weight for the one at j, where that is smaller.
    """
    d, choose, keep = weights.shape[1], task.choose, task.keep
    used = np.partition(weights, d - choose, axis=1)[:, d - choose :]
    smallest_used, row_values = used[:, 0], used.sum(axis=1)
    prices = np.sort(root.beta)[::-1]
    useful, usefulness = [], []
    for j in range(d):
        forced = row_values - np.maximum(smallest_used - weights[:, j], 0.0)
        price = keep * (prices[: choose - 1].sum() + min(root.beta[j], prices[choose - 1]))
        if _top_sum(forced, keep, tau) + price > score + root.slack:
            useful.append(j)
            usefulness.append(_top_sum(weights[:, j], keep, tau / choose) + keep * root.beta[j])
    return np.array(useful, dtype=np.int64)[np.argsort(-np.array(usefulness), kind="stable")]


def _top_sum(values: NDArray[np.float64], keep: int, fill: float) -> float:
    """Sum of the `keep` largest values, with any number of `fill` beside them."""
    if values.size > keep:
        values = np.partition(values, values.size - keep)[values.size - keep :]
    return float(np.maximum(values, fill).sum() + (keep - values.size) * fill)


def search(
    task: OneSided, root: Root, subset: NDArray[np.int64], score: float, run: Run, workers: int | None
) -> Search:
    """Find a better choice than `subset` with its `score`, or prove that there is none.

    Args:
        task: what to solve.
        root: its Lagrangian bound.
        subset: lines of the best choice so far.
        score: what it scores.
        run: deadline and progress.
        workers: threads at most; None for one per core.
    """
    rest = eliminate(task, root, subset, score)
    if rest is None:
        return Search(subset=None, bound=root.score, complete=False, info={"nodes": 0})
    info: dict[str, Any] = {"rows": int(rest.rows.size), "lines": int(rest.columns.size), "nodes": 0}
    if rest.columns.size < task.choose:
        return Search(subset=None, bound=score, complete=True, info=info)
    best, found, bound, nodes = _best_first(_tree(task, root, rest), task.choose, root, score, run, workers)
    info["nodes"] = nodes
    better = None if found is None else np.sort(rest.columns[found])
    complete = bound <= best + root.slack
    return Search(subset=better, bound=best if complete else bound + root.slack, complete=complete, info=info)


def _tree(task: OneSided, root: Root, rest: Rest) -> Tree:
    """Tables over the rows and columns that are left."""
    from biselect.solvers.branch_kernel import Tree, reach_tables  # loads numba, and compiles on first use

    column_limits, row_limits = task.line_limits.keep(rest.columns), task.base_limits.keep(rest.rows)
    prices = task.keep * root.beta[rest.columns]
    return Tree(
        weights=rest.weights,
        reach=reach_tables(rest.weights, task.choose),
        prices=prices,
        price_reach=reach_tables(prices[None, :], task.choose)[:, 0],
        column_group=column_limits.group_of,
        column_room=column_limits.room,
        row_group=row_limits.group_of,
        row_room=row_limits.room,
        columns=rest.columns,
        lines=task.lines,
        scale=task.scale,
        base=task.base,
        line_scores=task.line_scores,
        base_group=task.base_limits.group_of,
        keep=task.keep,
        tau=rest.tau,
        slack=root.slack,
    )


Family = tuple[float, tuple[int, ...], NDArray[np.int64], NDArray[np.float64]]
"""Minus the largest bound, a node, those of its children that are still open by falling bound, their bounds."""


def _best_first(
    tree: Tree, choose: int, root: Root, score: float, run: Run, workers: int | None
) -> tuple[float, NDArray[np.int64] | None, float, int]:
    """Best score, its columns if they are new, the bound that is left, and the nodes opened."""
    explore = _explorer(tree, choose, run)
    best, found, nodes = score, None, 0
    queue: list[Family] = []
    batch: list[tuple[float, tuple[int, ...]]] = [(root.raw, ())]
    with ThreadPoolExecutor(workers) as pool:
        while batch:
            answers = pool.map(explore, [node for _, node in batch], [best] * len(batch))
            left_open: list[float] = []
            for (bound, node), seen in zip(batch, answers, strict=True):
                if seen is None:
                    left_open.append(bound)
                    continue
                child_best, columns, bounds, opened = seen
                nodes += opened
                if child_best > best:
                    best, found = child_best, columns
                order = np.argsort(-bounds, kind="stable")
                order = order[: np.count_nonzero(bounds > best + tree.slack)]
                if order.size:
                    heapq.heappush(queue, (-float(bounds[order[0]]), node, order, bounds[order]))
            open_bound = max([best, *left_open, *(-family[0] for family in queue[:1])])
            run.report((root.raw - open_bound) / max(root.raw - best, tree.slack), -best)
            if left_open or run.expired():
                return best, found, open_bound, nodes
            batch = _most_promising(queue, best + tree.slack)
    return best, found, best, nodes


def _most_promising(queue: list[Family], closed_at: float) -> list[tuple[float, tuple[int, ...]]]:
    """The next nodes to open, with their bounds: the largest bounds of all families."""
    batch: list[tuple[float, tuple[int, ...]]] = []
    while queue and len(batch) < NODES_PER_ROUND and -queue[0][0] > closed_at:
        minus_bound, parent, order, bounds = heapq.heappop(queue)
        batch.append((-minus_bound, (*parent, int(order[0]))))
        if order.size > 1:
            heapq.heappush(queue, (-float(bounds[1]), parent, order[1:], bounds[1:]))
    return batch


Explored = tuple[float, NDArray[np.int64], NDArray[np.float64], int]


def _explorer(tree: Tree, choose: int, run: Run) -> Callable[[tuple[int, ...], float], Explored | None]:
    """A function that opens one node, each thread with its own scratch space."""
    from biselect.solvers.branch_kernel import explore

    n, d = tree.weights.shape
    own = local()

    def open_node(prefix: tuple[int, ...], best: float) -> Explored | None:
        if run.expired():
            return None
        left = choose - len(prefix)
        beyond = d - 1 - prefix[-1] if prefix else d
        if not hasattr(own, "space"):
            own.space = np.empty((choose + 1, n), dtype=np.int64), np.empty((choose + 1, n))
        to_the_end = left == 1 or comb(beyond, left) * n <= DIVE_CELLS
        seen: Explored = explore(tree, np.array(prefix, dtype=np.int64), to_the_end, best, *own.space)
        return seen

    return open_node
