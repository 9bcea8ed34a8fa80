"""One-sided enumeration: for every subset of the cheaper side, the best response on the other.

With a threshold τ, no subset scores more than keep · τ plus what its values rise above τ, plus its line scores. Few
rows can rise above the smallest value in a good choice, so most subsets are screened out by those few rows alone, and
whole families of them by the most that further lines can add. The others are scored in whole units of a `Grid`, where
nothing is rounded. Of an exclusive group, such as the directions of a column, a subset holds one line at most.

Little work is done in NumPy blocks, before compiled code would have loaded; more by a compiled loop, whose screen in
single precision is wider by all that it may round. Both let the same subsets through.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biselect.solvers._branch_and_bound import RemainingProblem
from biselect.solvers._incumbent import Grid
from biselect.solvers.registry import Run
from biselect.solvers.response import SideProblem, best_response

HOME = Path(__file__).parent / "__pycache__"  # of compiled code, unless NUMBA_CACHE_DIR names another
NUMPY_CELLS = 150_000_000  # screened by NumPy in less time than it takes to compile the loop
SUBSET_CELLS = 100  # what a subset costs NumPy beside its cells
MOST_CELLS = 22_000_000  # looked at behind the screen; where ties let more through, searching is quicker
MOST_TABLE = 10_000_000  # numbers in the table of what further lines can add
BLOCK_CELLS = 65_536  # cells a block holds at once: temporaries stay in cache, and cost no page faults
CELLS_PER_CALL = 50_000_000  # screened by the loop between two looks at the clock
FEW_PASSED, MOST_PASSED = 16, 4096  # subsets that the first and a late call of the loop hand back
MOST_CANDIDATES = 2048  # subsets that may be left to exact arithmetic
SINGLE = 2.0**-23  # twice what an addition in single precision rounds, as a share of the sum
NEVER = -1e300  # in place of what no subset reaches, for compiled code that knows no infinity

_screened_by_numpy = [0]  # cells, in this process

Passed = Iterator[tuple[NDArray[np.int64], int, int]]
"""Subsets that pass the screen, a row of lines each; how many were screened, and the cells that were looked at."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SubsetScan:
    """What enumeration saw.

    Attributes:
        candidates: the subsets that can be the best one, in lexicographic order.
        highest: no visited subset scores more than this many units.
        visited: how many subsets were seen.
        complete: whether those are all.
        certain: whether every subset that can be the best one is among the candidates.
    """

    candidates: list[NDArray[np.int64]]
    highest: float
    visited: int
    complete: bool
    certain: bool


def count_subsets(rest: RemainingProblem, choose: int) -> int:
    """How many subsets of the lines that are left hold at most one of each exclusive group."""
    counts = [1] + [0] * choose
    for size, times in Counter(np.unique(rest.ends, return_counts=True)[1].tolist()).items():
        ways = [comb(times, q) * size**q for q in range(choose + 1)]
        counts = [sum(counts[r - q] * ways[q] for q in range(r + 1)) for r in range(choose + 1)]
    return counts[choose]


@dataclass(frozen=True, kw_only=True, eq=False)
class SubsetTree:
    """What is left of a problem, and what further lines can add.

    Attributes:
        rest: the lines and rows that are left.
        base: what each row has before any line, less τ.
        reach: [r, j], what each row gains at most from r lines from j on; -inf if there are fewer.
        price_reach: [r, j], what r lines from j on add at most beside the rows, likewise.
        paid: what every subset has beside that.
        choose: how many lines a subset holds.
    """

    rest: RemainingProblem
    base: NDArray[np.float64]
    reach: NDArray[np.float64]
    price_reach: NDArray[np.float64]
    paid: float
    choose: int


def subset_tree(task: SideProblem, rest: RemainingProblem) -> SubsetTree | None:
    """The tree of what is left; None if its table would be larger than MOST_TABLE."""
    (d, width), choose = rest.weights.shape, task.choose
    if (choose + 1) * (d + 1) * (width + 1) > MOST_TABLE:
        return None
    reach = rest.reach(choose)
    return SubsetTree(
        rest=rest,
        base=rest.grid.up(task.base[rest.rows]) - rest.tau,
        reach=np.ascontiguousarray(reach[:, :, :width]),
        price_reach=reach[:, :, width].copy(),
        paid=task.keep * rest.tau,
        choose=choose,
    )


def loop_is_ready() -> bool:
    """Whether the compiled loop is in memory, or in Numba's cache.

    Either way gives the same answer, so this may depend on what the process and the machine have done before.
    """
    if "biselect.solvers._subset_loop" in sys.modules:
        return True
    folder = os.environ.get("NUMBA_CACHE_DIR")
    files = Path(folder).glob("**/_subset_loop.*.nbi") if folder else HOME.glob("_subset_loop.*.nbi")
    return next(files, None) is not None


def scan_subsets(
    task: SideProblem, run: Run, rest: RemainingProblem, *, floor: float, most: float, exact: bool = True
) -> SubsetScan:
    """Visit every subset of the lines that are left, or as many as the deadline, `most` and MOST_CELLS allow.

    Args:
        task: what to enumerate.
        run: deadline and progress.
        rest: the lines, and the rows that most subsets are judged by.
        floor: a score known to be reachable, in units; subsets that cannot reach it are screened out.
        most: cells that the screen may look at.
        exact: whether the task's own numbers are the true ones; otherwise they are rounded up.
    """
    tree = subset_tree(task, rest) if most > 0 else None
    if tree is None:
        return SubsetScan(candidates=[], highest=np.inf, visited=0, complete=False, certain=False)
    number = count_subsets(rest, task.choose)
    scorer = _Scorer(task, run, rest.grid, floor, exact)
    for screen in [_screen_in_loop] if loop_is_ready() else [_screen_in_blocks, _screen_in_loop]:
        limit = most if screen is _screen_in_loop else min(most / 2, NUMPY_CELLS - _screened_by_numpy[0])
        visited, cells, complete = 0, 0, True
        for positions, count, looked_at in screen(tree, scorer.level) if number else ():
            within = scorer.take(np.sort(rest.columns[positions], axis=1), visited)
            visited, cells = visited + count, cells + looked_at
            run.report(min(1.0, visited / number), -float(np.ldexp(scorer.level[0], rest.grid.exponent)))
            if not within or run.expired() or cells > limit:
                complete = False
                break
        if screen is _screen_in_blocks:
            _screened_by_numpy[0] += cells
        if complete or cells <= limit:
            break
    return scorer.result(visited, complete)


class _Scorer:
    """Scores the subsets that pass the screen, and keeps those that can be the best one.

    Attributes:
        level: a score that is reached, in units; the screens read it as it rises.
    """

    def __init__(self, task: SideProblem, run: Run, grid: Grid, floor: float, exact: bool) -> None:
        self.task, self.run, self.exponent = task, run, grid.exponent
        self.lines, self.base = grid.weights(task, slice(None)), grid.up(task.base)
        self.line_scores = grid.up(task.line_scores)
        self.loss = 0 if exact and grid.holds(task, self.lines, slice(None)) else grid.loss
        self.level = np.array([floor])
        self.highest, self.evaluated, self.certain = floor, 0, True
        self.candidates: dict[tuple[int, ...], float] = {}

    def take(self, subsets: NDArray[np.int64], visited: int) -> bool:
        """Score subsets, ascending each; False where that takes too long."""
        at_once = max(1, BLOCK_CELLS // self.task.base.size)
        for begin in range(0, len(subsets), at_once):
            if self.evaluated > MOST_CELLS or (begin and self.run.expired()):
                return False
            part = subsets[begin : begin + at_once]
            self.evaluated += part.shape[0] * self.task.base.size
            scores = _largest(_values(self.base, self.lines, part), self.task).sum(axis=1)
            scores += self.line_scores[part].sum(axis=1)
            if scores.max() > self.highest:
                self.highest = float(scores.max())
                if self.highest - self.loss > self.level[0]:
                    self.level[0] = self.highest - self.loss
                    self.run.improved(visited, -float(np.ldexp(self.level[0], self.exponent)))
            reaching = np.flatnonzero(scores >= self.level[0])
            self.candidates.update((tuple(part[q].tolist()), float(scores[q])) for q in reaching)
            if not self.loss and reaching.size:  # scores are true ones: the first of the best wins
                first = min(self.candidates.items(), key=lambda one: (-one[1], one[0]))
                self.candidates = dict([first])
            if len(self.candidates) > MOST_CANDIDATES:
                reached = [(subset, score) for subset, score in self.candidates.items() if score >= self.level[0]]
                self.certain = self.certain and len(reached) <= MOST_CANDIDATES
                self.candidates = dict(reached[:MOST_CANDIDATES])
        return True

    def result(self, visited: int, complete: bool) -> SubsetScan:
        """What was seen."""
        best = sorted(subset for subset, score in self.candidates.items() if score >= self.level[0])
        return SubsetScan(
            candidates=[np.array(subset) for subset in best],
            highest=self.highest,
            visited=visited,
            complete=complete,
            certain=self.certain,
        )


def _screen_in_blocks(tree: SubsetTree, level: NDArray[np.float64]) -> Passed:
    """Screen by NumPy: beginnings of subsets are continued many at once, the first ones first."""
    rest, d, width = tree.rest, *tree.rest.weights.shape
    ones = np.ones(width)
    at_once = max(1, BLOCK_CELLS // max(1, width))
    begun = [(np.empty((1, 0), dtype=np.int64), np.array([tree.paid]), tree.base[None])]
    while begun:
        positions, paid, sums = begun.pop()
        left = tree.choose - 1 - positions.shape[1]
        first = rest.ends[positions[:, -1]] if positions.shape[1] else np.zeros(1, dtype=np.int64)
        behind = np.cumsum(d - first)
        if behind[-1] > at_once and len(positions) > 1:
            cut = max(1, int(np.searchsorted(behind, at_once)))
            begun.append((positions[cut:], paid[cut:], sums[cut:]))
            positions, paid, sums, first, behind = positions[:cut], paid[:cut], sums[:cut], first[:cut], behind[:cut]
        own = np.repeat(np.arange(len(positions)), d - first)
        line = np.arange(behind[-1]) - np.repeat(behind - d, d - first)
        values, spent = sums[own], paid[own] + rest.prices[line]
        values += rest.weights[line]
        reached = np.maximum(values + tree.reach[left, rest.ends[line]] if left else values, 0.0) @ ones
        passed = reached + (tree.price_reach[left, rest.ends[line]] + spent) >= level[0]
        own, line = own[passed], line[passed]
        positions, values, spent = np.column_stack([positions[own], line]), values[passed], spent[passed]
        if rest.limits:
            inside = np.array([rest.limits.allow(subset) for subset in positions], dtype=bool)
            positions, values, spent = positions[inside], values[inside], spent[inside]
        if left and len(positions):
            begun.append((positions, spent, values))
        looked_at = passed.size * (width + SUBSET_CELLS)
        yield (positions, passed.size, looked_at) if left == 0 else (np.empty((0, tree.choose), int), 0, looked_at)


def _screen_in_loop(tree: SubsetTree, level: NDArray[np.float64]) -> Passed:
    """Screen by the compiled loop in single precision, then what it lets through as NumPy does."""
    from biselect.solvers._subset_loop import screen_subsets  # loads numba, and compiles on first use

    rest, width, choose = tree.rest, tree.base.size, tree.choose
    largest = np.abs(tree.base).max(initial=0.0) + choose * np.abs(rest.weights).max(initial=0.0)
    scale = np.ldexp(1.0, -int(np.frexp(largest)[1]))  # what a row adds up to is then below 1
    few = np.isneginf(tree.price_reach)  # lines that are left
    reach = (scale * np.where(few[:, :, None], 0.0, tree.reach)).astype(np.float32)
    lines, price_reach = (scale * rest.weights).astype(np.float32), np.where(few, NEVER, scale * tree.price_reach)
    # what the loop may round: each number and each addition in each row, their sum over the rows, and what is paid
    slack = width * (choose + 3) * SINGLE
    slack += 2.0**-48 * scale * (choose * np.abs(rest.prices).max(initial=0.0) + abs(tree.paid) + abs(level[0]))
    growth = 1 + 2 * width * SINGLE
    positions, size = np.zeros(choose + 1, dtype=np.int64), FEW_PASSED
    sums, paid = np.empty((choose, width), dtype=np.float32), np.zeros(choose)
    sums[0] = scale * tree.base
    while positions[choose] >= 0:
        passed = np.empty((size, choose), dtype=np.int64)
        needed = (level[0] - tree.paid) * scale - slack
        count, screened, cells = screen_subsets(
            lines,
            reach,
            scale * rest.prices,
            price_reach,
            rest.ends,
            rest.limits.of,
            rest.limits.room,
            needed,
            growth,
            CELLS_PER_CALL,
            sums,
            paid,
            positions,
            passed,
        )
        these, size = passed[:count], min(2 * size, MOST_PASSED)
        reached = np.maximum(_values(tree.base, rest.weights, these), 0.0).sum(axis=1)
        reached += rest.prices[these].sum(axis=1) + tree.paid
        yield these[reached >= level[0]], screened, cells


def _values(base: NDArray[np.float64], lines: NDArray[np.float64], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each row adds, given each subset."""
    values = np.tile(base, (len(chosen), 1))
    for position in range(chosen.shape[1]):
        values += lines[chosen[:, position]]
    return values


def _largest(values: NDArray[np.float64], task: SideProblem) -> NDArray[np.float64]:
    """Values of the best response to each subset."""
    if task.base_limits:
        return np.take_along_axis(values, best_response(values, task.keep, task.base_limits), axis=1)
    width = values.shape[1]
    return np.partition(values, width - task.keep, axis=1)[:, width - task.keep :]
