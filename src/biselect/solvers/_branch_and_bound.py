"""Branch and bound on the lines, in the prices β of the Lagrangian bound.

The root bound drops rows and lines that no better choice can use. What is left is put on a grid, where no sum is
rounded, and searched best bound first; a subtree that is small enough is finished in one depth-first dive. Nodes are
taken in rounds of fixed size that share one incumbent, so the search is the same for any number of threads. Full
choices that the grid cannot tell from the best one are compared in exact arithmetic.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import comb
from threading import local
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biselect.core.threads import ThreadPool
from biselect.solvers._incumbent import Grid, Incumbent
from biselect.solvers._lagrangian import EPS, Root, best_of_groups
from biselect.solvers.registry import Run
from biselect.solvers.response import Limits, SideProblem, largest

if TYPE_CHECKING:
    from biselect.solvers._branch_kernel import Tree

NODES_PER_ROUND = 64  # fixed, so that the search does not depend on the number of threads
DIVE_CELLS = 1_000_000_000  # leaves times rows of a subtree that is finished in one go; most of them are never seen
MOST_FAMILIES = 200_000  # beyond this the deepest are finished first, so that the queue stops growing
TABLE_BYTES = 1 << 29  # reach tables beyond this are not built
MOST_LEAVES = 4096  # full choices of one dive that may be left to exact arithmetic
MOST_NOTED = 1 << 18  # nodes of one dive that a proof can list
MOST_LISTED = 4_000_000  # nodes of all dives

Open = tuple[float, tuple[int, ...]]  # a bound, and the node that it holds for

Nodes = list[tuple[tuple[int, ...], NDArray[np.int16], NDArray[np.int32], NDArray[np.float64]]]
"""Prefixes that were opened, each with the depths, last columns and bounds of what was opened below it in a dive."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RemainingProblem:
    """What the root bound leaves to search, in whole units of a grid.

    Attributes:
        grid: the unit.
        beta: the price of each line.
        tau: the smallest value in the best choice so far, at these prices.
        rows: rows that can rise above τ in a better choice.
        columns: lines that a better choice can use, the most useful first, those of an exclusive group side by side.
        ends: for each of them where its group ends, so that the next line of a choice stands there or later.
        limits: of these lines, beside the exclusive groups.
        weights: priced weights, one contiguous row for each of `columns`, one column for each of `rows`.
        prices: what each line adds beside the rows.
        loss: how far a choice can score above its true score here.
    """

    grid: Grid
    beta: NDArray[np.float64]
    tau: float
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    ends: NDArray[np.int64]
    limits: Limits
    weights: NDArray[np.float64]
    prices: NDArray[np.float64]
    loss: int

    def reach(self, choose: int) -> NDArray[np.float64]:
        """[r, j], what each row, and last the score beside the rows, gain at most from r lines from j on.

        One of an exclusive group at most; -inf if there are fewer.
        """
        added = np.column_stack([self.weights, self.prices])
        reach = np.full((choose + 1, len(added) + 1, added.shape[1]), -np.inf)
        reach[0] = 0.0
        for j in range(len(added) - 1, -1, -1):
            reach[1:, j] = np.maximum(reach[1:, j + 1], added[j] + reach[:-1, self.ends[j]])
        return reach


@dataclass(kw_only=True, eq=False)
class Search:
    """What the search found, and where it stopped.

    Attributes:
        bound: no choice scores more than this many units, beside those that were settled; None where nothing is open.
        rest: what was searched; None where it did not fit into memory.
        raw: the bound before the search.
        nodes: nodes opened.
        listed: those nodes for a proof; None where they are too many.
        batch: the nodes to open next; none where the search is over.
        queue: the families to take nodes from after that, as a heap.
        unsettled: the largest bound of those nodes that have too many doubtful leaves.
    """

    bound: float | None
    rest: RemainingProblem | None
    raw: float = np.inf
    nodes: int = 0
    listed: Nodes | None = field(default_factory=list)
    batch: list[Open] = field(default_factory=list)
    queue: list[Family] = field(default_factory=list)
    unsettled: float = -np.inf


def eliminate(task: SideProblem, root: Root, best: Incumbent) -> RemainingProblem | None:
    """Drop the rows and lines that no choice better than the incumbent can use.

    None where the tables over what is left would not fit into TABLE_BYTES.
    """
    subset, score, grid = best.subset, best.floor, root.grid
    beta = np.ldexp(root.beta, -grid.exponent)
    values = task.values(subset)
    values -= root.beta[subset].sum()
    tau = float(largest(values, task.keep).min())
    del values
    lowest = root.threshold - (root.score - score)
    lowest -= 8 * EPS * (abs(root.threshold) + abs(root.score) + abs(score))
    rows = np.flatnonzero(~((root.row_values <= tau) | (root.row_values < lowest)))
    if rows.size * task.lines.shape[0] * (task.choose + 1) * 8 > TABLE_BYTES:
        return None
    weights = grid.weights(task, rows)
    loss = 0 if best.reduced.exact and grid.holds(task, weights, rows) else grid.loss
    weights -= beta[:, None]
    tau = float(np.ceil(np.ldexp(tau, -grid.exponent)))
    prices = grid.up(task.line_scores) + task.keep * beta
    columns = _useful_lines(weights, grid.up(task.base[rows]), prices, task, best, grid, tau)
    limits = task.line_limits.keep(columns)
    order, ends = limits.side_by_side(columns.size)
    return RemainingProblem(
        grid=grid,
        beta=beta,
        tau=tau,
        rows=rows,
        columns=columns[order],
        ends=ends,
        limits=limits.beside_exclusive().keep(order),
        weights=weights[columns[order]],
        prices=prices[columns[order]],
        loss=loss,
    )


def _useful_lines(
    weights: NDArray[np.float64],
    base: NDArray[np.float64],
    prices: NDArray[np.float64],
    task: SideProblem,
    best: Incumbent,
    grid: Grid,
    tau: float,
) -> NDArray[np.int64]:
    """Lines that a better choice can use, the most useful first.

    With line j forced in, a row gives up its choose-th largest weight for the one at j, where that is smaller.
    """
    choose, keep = task.choose, task.keep
    own = best_of_groups(weights, task)
    own = np.partition(own, len(own) - choose, axis=0)[len(own) - choose :]
    forced = base + own.sum(axis=0) - np.maximum(own[0] - weights, 0.0)
    falling = np.sort(best_of_groups(prices[:, None], task)[:, 0])[::-1]
    reached = _top_sums(forced, keep, tau) + falling[: choose - 1].sum() + np.minimum(prices, falling[choose - 1])
    useful = np.flatnonzero(reached > grid.floor(best.units))
    usefulness = _top_sums(base / choose + weights[useful], keep, tau / choose) + prices[useful]
    return useful[np.argsort(-usefulness, kind="stable")]


def _top_sums(values: NDArray[np.float64], keep: int, fill: float) -> NDArray[np.float64]:
    """For each row of values the sum of its `keep` largest, with any number of `fill` beside them."""
    width = values.shape[1]
    if width > keep:
        values = np.partition(values, width - keep, axis=1)[:, width - keep :]
    return np.maximum(values, fill).sum(axis=1) + max(0, keep - width) * fill


def search_tree(root: Root, rest: RemainingProblem | None, best: Incumbent, run: Run, workers: int | None) -> Search:
    """Improve the incumbent, and prove that there is nothing better or say how much better it could be."""
    if rest is None:
        return Search(bound=np.inf, rest=None)
    if rest.columns.size < best.task.choose:
        return Search(bound=None, rest=rest)
    raw = float(np.ceil(np.ldexp(root.score, -root.grid.exponent))) if np.isfinite(root.score) else np.inf
    progress = Search(bound=None, rest=rest, raw=raw, batch=[(raw, ())])
    search_on(progress, rest, best, run, workers)
    return progress


def _tree(task: SideProblem, rest: RemainingProblem) -> Tree:
    """Tables over the rows and columns that are left."""
    from biselect.solvers._branch_kernel import Tree  # loads numba, and compiles on first use

    row_limits = task.base_limits.keep(rest.rows)
    reach = np.column_stack([rest.weights, rest.prices]) + rest.reach(task.choose)[:-1, rest.ends]
    return Tree(
        weights=np.ascontiguousarray(rest.weights.T),
        base=rest.grid.up(task.base[rest.rows]),
        reach=np.ascontiguousarray(reach[:, :, :-1].transpose(0, 2, 1)),
        prices=rest.prices,
        price_reach=reach[:, :, -1].copy(),
        ends=rest.ends,
        column_limits=rest.limits.of,
        column_room=rest.limits.room,
        row_group=row_limits.of[:, 0],
        row_room=row_limits.room,
        keep=task.keep,
        tau=rest.tau,
        loss=float(rest.loss),
    )


Family = tuple[float, tuple[int, ...], NDArray[np.int64], NDArray[np.float64]]
"""Minus the largest bound, a node, those of its children that are still open by falling bound, their bounds."""


def search_on(state: Search, rest: RemainingProblem, best: Incumbent, run: Run, workers: int | None) -> None:
    """Go on with a search where it stopped, until nothing is open or the run has expired."""
    queue, closed = state.queue, rest.grid.floor(best.units)
    with ThreadPool(workers) as pool, run.stop_flag() as stop:
        explore = _explorer(_tree(best.task, rest), best.task.choose, stop)
        while state.batch:
            answers = pool.map(partial(explore, closed), [node for _, node in state.batch])
            left_open: list[Open] = []
            for (bound, node), result in zip(state.batch, answers, strict=True):
                if result is None or (result.leaves is None and stop[0]):  # not begun, or broken off
                    left_open.append((bound, node))
                    continue
                for leaf in np.argsort(-result.leaf_scores, kind="stable"):
                    if result.leaves is None or result.leaf_scores[leaf] <= closed:
                        continue
                    if stop[0]:  # there may be thousands of them, each some milliseconds of exact arithmetic
                        left_open.append((bound, node))
                        break
                    if best.offer(np.sort(rest.columns[result.leaves[leaf]])):
                        closed = rest.grid.floor(best.units)
                        run.improved(1 + state.nodes + result.opened, -best.floor)
                else:
                    state.nodes += result.opened
                    _list(state, node, bound, result)
                    if result.leaves is None:
                        state.unsettled = max(state.unsettled, bound)
                        continue
                    bounds = np.minimum(result.bounds, bound)
                    order = np.argsort(-bounds, kind="stable")
                    order = order[: np.count_nonzero(bounds > closed)]
                    if order.size:
                        heapq.heappush(queue, (-float(bounds[order[0]]), node, order, bounds[order]))
            raw, bounds_left = state.raw, [bound for bound, _ in left_open] + [-family[0] for family in queue[:1]]
            state.bound = max([closed, state.unsettled, *bounds_left])
            run.report(float(raw - state.bound) / max(raw - closed, 1.0) if np.isfinite(raw) else 0.0, -best.floor)
            state.batch = left_open or _next_nodes(queue, closed)
            if run.expired():
                break
    if not state.batch:
        state.bound = max(closed, state.unsettled) if state.unsettled > -np.inf else None


def _list(state: Search, node: tuple[int, ...], bound: float, result: NodeResult) -> None:
    """Keep what was opened, for a proof."""
    if state.listed is None or result.depths is None or len(state.listed) + result.depths.size > MOST_LISTED:
        state.listed = None
        return
    last = node[-1] if node else -1
    state.listed.append(
        (
            node,
            np.insert(result.depths, 0, len(node)),
            np.insert(result.columns, 0, last),
            np.insert(result.node_bounds, 0, bound),
        )
    )


def _next_nodes(queue: list[Family], closed_at: float) -> list[Open]:
    """The nodes to open next, with their bounds: those with the largest bounds, or a deepest family of a long queue."""
    if len(queue) > MOST_FAMILIES:
        deepest = max(range(len(queue)), key=lambda position: len(queue[position][1]))
        queue[deepest], queue[-1] = queue[-1], queue[deepest]
        _, parent, order, bounds = queue.pop()
        heapq.heapify(queue)
        return [(float(bound), (*parent, int(child))) for child, bound in zip(order, bounds, strict=True)]
    batch: list[Open] = []
    while queue and len(batch) < NODES_PER_ROUND and -queue[0][0] > closed_at:
        minus_bound, parent, order, bounds = heapq.heappop(queue)
        batch.append((-minus_bound, (*parent, int(order[0]))))
        if order.size > 1:
            heapq.heappush(queue, (-float(bounds[1]), parent, order[1:], bounds[1:]))
    return batch


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeResult:
    """What opening a node showed: its open children's bounds, or the doubtful leaves and the nodes of a dive."""

    bounds: NDArray[np.float64]
    opened: int
    leaves: NDArray[np.int64] | None
    leaf_scores: NDArray[np.float64]
    depths: NDArray[np.int16] | None
    columns: NDArray[np.int32]
    node_bounds: NDArray[np.float64]


def _explorer(
    tree: Tree, choose: int, stop: NDArray[np.uint8]
) -> Callable[[float, tuple[int, ...]], NodeResult | None]:
    """A function that opens one node, each thread with its own scratch space."""
    from biselect.solvers._branch_kernel import Space, explore

    n, d = tree.weights.shape
    own = local()

    def open_node(closed: float, prefix: tuple[int, ...]) -> NodeResult | None:
        if stop[0]:
            return None
        remaining = choose - len(prefix)
        beyond = d - 1 - prefix[-1] if prefix else d
        if not hasattr(own, "space"):
            own.space = Space(
                rows=np.empty((choose + 1, n), dtype=np.int64),
                sums=np.empty((choose + 1, n)),
                leaves=np.empty((MOST_LEAVES, choose), dtype=np.int64),
                leaf_scores=np.empty(MOST_LEAVES),
                depths=np.empty(MOST_NOTED, dtype=np.int16),
                columns=np.empty(MOST_NOTED, dtype=np.int32),
                bounds=np.empty(MOST_NOTED),
                stop=stop,
            )
        space = own.space
        to_the_end = remaining == 1 or comb(beyond, remaining) * n <= DIVE_CELLS
        bounds, node_count, noted, leaves = explore(tree, np.array(prefix, dtype=np.int64), to_the_end, closed, space)
        return NodeResult(
            bounds=bounds,
            opened=node_count,
            leaves=None if leaves < 0 else space.leaves[:leaves].copy(),
            leaf_scores=space.leaf_scores[: max(leaves, 0)].copy(),
            depths=None if noted < 0 else space.depths[:noted].copy(),
            columns=space.columns[: max(noted, 0)].copy(),
            node_bounds=space.bounds[: max(noted, 0)].copy(),
        )

    return open_node
