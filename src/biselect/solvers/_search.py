"""Best-first search: the families with the highest bounds are expanded, a fixed number of them at a time.

NumPy does little work at once; compiled code takes over where it lies ready, or NumPy has worked for so long that
compiling pays. Both give the same results, so the answer and its proof do not depend on which one ran.
"""

from __future__ import annotations

import heapq
import os
import sys
import time
from contextlib import nullcontext
from functools import cache, partial
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biselect.core.threads import NEVER, Stop, ThreadPool
from biselect.solvers import _tree
from biselect.solvers._incumbent import Incumbent
from biselect.solvers._root import Root
from biselect.solvers._tree import MOST_CHOICES, Expansion, Family, Tree
from biselect.solvers.registry import Run

KERNEL = "biselect.solvers._tree_kernel"
FAMILIES_PER_ROUND = 64  # fixed, so that the search does not depend on the number of threads
MOST_FAMILIES = 200_000  # beyond this the search goes deep first, so that the queue stops growing
FAMILY_CELLS = 20_000  # what a family costs beside its cells
LARGE = 50_000_000  # cells of a family from which on the clock must be looked at on the way
LOADING, COMPILING = 0.3, 3.0  # seconds of NumPy's work that pay for loading the compiled kernel, or for compiling it

Item = tuple[float, int, Family]  # minus the highest bound, a number, a family

_seconds_of_numpy = [0.0]  # in this process


class Search:
    """A tree, and what of it is still open.

    Attributes:
        root: the tree and its root.
        nodes: nodes opened.
    """

    def __init__(self, root: Root) -> None:
        self.root = root
        self.nodes = 0
        self._numbers = count()
        self._queue: list[Item] = []
        self._stack: list[Item] = []
        self._unsettled = -np.inf  # the highest bound of families with too many choices for exact arithmetic
        self._push(root.family)

    @property
    def is_open(self) -> bool:
        """Whether anything is left to look at."""
        return bool(self._queue or self._stack)

    def bound(self, closed: float) -> float:
        """No choice scores more than this many units, where `closed` is reached by a known one."""
        return max([closed, self._unsettled, *(-bound for bound, _, _ in self._queue[:1] + self._stack)])

    def advance(self, best: Incumbent, run: Run, cells: float, workers: int | None) -> None:
        """Improve the incumbent until nothing better is open, so many cells were looked at, or time is up."""
        tree, grid = self.root.tree, self.root.grid
        large = tree.base.size * tree.ends.size**2 > LARGE
        with ThreadPool(workers) as pool, run.stop_flag() if large else nullcontext(NEVER) as stop:
            while cells > 0 and not run.expired() and (batch := self._pop(grid.floor(best.units))):
                expansions = _expanded(tree, [family for _, _, family in batch], grid.floor(best.units), run, pool, stop)
                for item, expansion in zip(batch, expansions, strict=True):
                    family, before = item[2], best.units
                    opened = int((family.bounds > grid.floor(before)).sum())
                    cells -= FAMILY_CELLS + opened * family.lines.size * tree.base.size
                    if expansion is None or not self._offered(expansion[1], best, run):
                        self._put(item)
                    elif len(expansion[1]) <= MOST_CHOICES:
                        self.nodes += 1 + len(expansion[0])
                        for inner in expansion[0]:
                            self._push(inner)
                    elif best.units > before:
                        self._put(item)  # with a better choice known there may be fewer
                    else:
                        self._unsettled = max(self._unsettled, -item[0])

    def _push(self, family: Family) -> None:
        if family.lines.size:
            self._put((-float(family.bounds.max()), next(self._numbers), family))

    def _put(self, item: Item) -> None:
        if len(self._queue) < MOST_FAMILIES:
            heapq.heappush(self._queue, item)
        else:
            self._stack.append(item)

    def _pop(self, closed: float) -> list[Item]:
        """The families to expand next, those of a long queue's end first; none if nothing is open."""
        batch: list[Item] = []
        while self._stack and len(batch) < FAMILIES_PER_ROUND:
            batch.append(self._stack.pop())
        while self._queue and len(batch) < FAMILIES_PER_ROUND and -self._queue[0][0] > closed:
            batch.append(heapq.heappop(self._queue))
        if not batch:
            self._queue.clear()  # what is left cannot be better
        return batch

    def _offered(self, choices: list[NDArray[np.int64]], best: Incumbent, run: Run) -> bool:
        """Compare choices with the incumbent exactly, the best first; False if time was up."""
        for choice in choices[::-1]:  # later ones were held against what earlier ones reach
            if run.expired():
                return False
            if best.offer(np.sort(self.root.lines[choice])):
                run.improved(1 + self.nodes, -best.floor)
        return True


def _expanded(
    tree: Tree, families: list[Family], closed: float, run: Run, pool: ThreadPool, stop: Stop
) -> list[Expansion | None]:
    """What the children of these families are, by whichever code is ready; None for those there was no time for."""
    if _is_worth_loading():
        from biselect.solvers._tree_kernel import expand  # loads numba, and compiles on first use

        return list(pool.map(partial(expand, tree, closed=closed, stop=stop), families))
    begin = time.perf_counter()
    opened = [None if run.expired() else _tree.expand(tree, family, closed) for family in families]
    _seconds_of_numpy[0] += time.perf_counter() - begin
    return opened


def _is_worth_loading() -> bool:
    if KERNEL in sys.modules:
        return True
    if not _is_cached():
        return _seconds_of_numpy[0] > COMPILING
    return "numba" in sys.modules or _seconds_of_numpy[0] > LOADING


@cache
def _is_cached() -> bool:
    """Whether the kernel was compiled here before."""
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parent / "__pycache__")
    return any(folder.rglob("_tree_kernel._expand*.nbi"))
