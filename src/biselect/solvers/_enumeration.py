"""One-sided enumeration: for every subset of the cheaper side, the best response on the other.

With a threshold τ, no subset scores more than keep · τ plus what its values rise above τ, plus its line scores. Few
rows can rise above the smallest value in a good choice, so most subsets are screened out by those few rows alone; the
others are scored in whole units of a `Grid`, where nothing is rounded.

Little work is done in NumPy blocks, before compiled code would have loaded; more by a compiled loop, whose screen in
single precision is wider by all that it may round. Both let the same subsets through.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biselect.core.sector import subsets
from biselect.solvers._branch_and_bound import RemainingProblem, line_prices
from biselect.solvers._incumbent import Grid
from biselect.solvers.registry import Run
from biselect.solvers.response import SideProblem, best_response

PARENT_CELLS = 100  # what a step to the next subset, but for its last line, costs the loop beside its cells
NUMPY_CELLS = 300_000_000  # screened by NumPy in less time than it takes to compile the loop
SUBSET_CELLS = 100  # what a subset costs NumPy beside its cells
LIMITED_CELLS = 5_000_000  # as NUMPY_CELLS, where NumPy looks at group limits subset by subset
MOST_CELLS = 22_000_000  # looked at behind the screen; where ties let more through, searching is quicker
BLOCK_CELLS = 65_536  # cells a block holds at once: temporaries stay in cache, and cost no page faults
CELLS_PER_CALL = 50_000_000  # screened by the loop between two looks at the clock
FEW_PASSED, MOST_PASSED = (
    16,
    4096,
)  # subsets that the first and a late call of the loop hand back: the next have more to reach
MOST_CANDIDATES = 2048  # subsets that may be left to exact arithmetic
SINGLE = 2.0**-23  # twice what an addition in single precision rounds, as a share of the sum

_screened_by_numpy = [0]  # cells, in this process

Passed = Iterator[tuple[NDArray[np.int64], int]]
"""Subsets that pass the screen, a row each of positions among the lines that are left; and how many were screened."""


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


def unpriced(task: SideProblem, grid: Grid, subset: NDArray[np.int64], *, exact: bool = True) -> RemainingProblem:
    """All lines, and the rows that can rise above τ, the smallest value in the best response to these lines.

    Args:
        task: what is enumerated.
        grid: its unit.
        subset: lines of a good choice.
        exact: whether the task's own numbers are the true ones; otherwise they are rounded up.
    """
    lines, base = grid.weights(task, slice(None)), grid.up(task.base)
    values = base + lines[subset].sum(axis=0)
    tau = float(np.partition(values, values.size - task.keep)[values.size - task.keep])
    n = lines.shape[0]
    highest = base + np.partition(lines, n - task.choose, axis=0)[n - task.choose :].sum(axis=0)
    rows = np.flatnonzero(highest > tau)
    columns = np.argsort(-lines[:, rows].sum(axis=1), kind="stable")  # a proof in this order is checked in fewer steps
    return RemainingProblem(
        grid=grid,
        beta=np.zeros(n),
        tau=tau,
        rows=rows,
        columns=columns,
        weights=np.ascontiguousarray(lines[np.ix_(columns, rows)].T),
        loss=0 if exact and grid.holds(task, lines, slice(None)) else grid.loss,
    )


def is_quick(task: SideProblem, lines: int, rows: int, most: int) -> bool:
    """Whether the loop screens all subsets of so many lines, by so many rows, within `most` cells."""
    parents = comb(lines, task.choose - 1) * (rows + PARENT_CELLS)
    return parents + comb(lines, task.choose) * rows <= most


def uses_loop(task: SideProblem, rest: RemainingProblem) -> bool:
    """Whether to screen by the compiled loop: it lies ready, or there is enough work to wait for it.

    Either way gives the same answer, so this may depend on what the process and the machine have done before.
    """
    from_cache = "numba" in sys.modules and any(Path(__file__).parent.glob("__pycache__/_subset_loop.*.nbi"))
    if from_cache or "biselect.solvers._subset_loop" in sys.modules:
        return True
    cells = comb(rest.columns.size, task.choose) * (rest.rows.size + SUBSET_CELLS)
    _screened_by_numpy[0] += cells
    most = LIMITED_CELLS if task.line_limits or task.base_limits else NUMPY_CELLS
    return cells > most or _screened_by_numpy[0] > NUMPY_CELLS


def scan_subsets(
    task: SideProblem, run: Run, rest: RemainingProblem, *, floor: float, exact: bool = True
) -> SubsetScan:
    """Visit every subset of the lines that are left, or as many as the deadline and MOST_CELLS allow.

    Args:
        task: what to enumerate.
        run: deadline and progress.
        rest: the lines, and the rows that most subsets are judged by.
        floor: a score known to be reachable, in units; subsets that cannot reach it are screened out.
        exact: whether the task's own numbers are the true ones; otherwise they are rounded up.
    """
    grid, at_once, number = rest.grid, max(1, BLOCK_CELLS // task.base.size), comb(rest.columns.size, task.choose)
    lines, base, line_scores = grid.weights(task, slice(None)), grid.up(task.base), grid.up(task.line_scores)
    loss = 0 if exact and grid.holds(task, lines, slice(None)) else grid.loss
    level = np.array([floor])  # a score that is reached; the screens read it as it rises
    highest, evaluated, visited = floor, 0, 0  # a score that is not exceeded
    candidates: list[tuple[float, NDArray[np.int64]]] = []
    certain = True

    def result(complete: bool) -> SubsetScan:
        best = sorted((subset for score, subset in candidates if score >= level[0]), key=tuple)
        return SubsetScan(candidates=best, highest=highest, visited=visited, complete=complete, certain=certain)

    screen = _screen_in_loop if uses_loop(task, rest) else _screen_in_blocks
    for positions, count in screen(task, rest, level) if number else ():  # fewer lines are left than are chosen
        passed = np.sort(rest.columns[positions], axis=1)
        if task.line_limits:
            passed = passed[[task.line_limits.allow(subset) for subset in passed]]
        for begin in range(0, len(passed), at_once):
            if evaluated > MOST_CELLS or (begin and run.expired()):
                return result(False)
            part = passed[begin : begin + at_once]
            evaluated += part.shape[0] * task.base.size
            scores = _largest(_values(base, lines, part), task).sum(axis=1) + line_scores[part].sum(axis=1)
            if scores.max() > highest:
                highest = float(scores.max())
                if highest - loss > level[0]:
                    level[0] = highest - loss
                    run.improved(visited, -float(np.ldexp(level[0], grid.exponent)))
            reaching = [(float(scores[q]), part[q]) for q in np.flatnonzero(scores >= level[0])]
            candidates += reaching
            if not loss and reaching:  # scores are true ones: the first of the best wins
                candidates = [min(candidates, key=lambda one: (-one[0], tuple(one[1])))]
            if len(candidates) > MOST_CANDIDATES:
                candidates = [candidate for candidate in candidates if candidate[0] >= level[0]]
                certain = certain and len(candidates) <= MOST_CANDIDATES
                del candidates[MOST_CANDIDATES:]
        visited += count
        run.report(visited / max(number, 1), -float(np.ldexp(level[0], grid.exponent)))
        if visited < number and run.expired():
            return result(False)
    return result(True)


def _screen_in_blocks(task: SideProblem, rest: RemainingProblem, level: NDArray[np.float64]) -> Passed:
    """Screen by NumPy: the values of both halves of a subset are added up once for each half, not for each subset."""
    d, width = rest.columns.size, rest.rows.size
    begun = task.choose // 2
    ended = task.choose - begun
    first, last = _in_order(d - ended, begun), begun + _in_order(d - begun, ended)
    lines, prices = np.ascontiguousarray(rest.weights.T), line_prices(task, rest)
    above = _values(rest.grid.up(task.base[rest.rows]) - rest.tau, lines, first)
    added = _values(np.zeros(width), lines, last)
    paid = prices[first].sum(axis=1) + task.keep * rest.tau
    further = prices[last].sum(axis=1)
    at_once = max(1, BLOCK_CELLS // max(1, width))
    space, ones = np.empty((at_once, width)), np.ones(width)
    following = first[:, -1] + 1 if begun else np.zeros(1, dtype=np.int64)
    for line in range(begun, d - ended + 1):
        own = np.flatnonzero(following == line)  # these end right before the line, and go with all that begin there
        fitting = slice(len(last) - comb(d - line, ended), None)
        step = max(1, at_once // (len(last) - fitting.start))
        for p in range(0, own.size, step):
            part = own[p : p + step]
            for begin in range(fitting.start, len(last), at_once):
                behind = slice(begin, min(begin + at_once, len(last)))
                count = behind.stop - begin
                values = space[: part.size * count].reshape(part.size, count, width)
                np.add(above[part, None], added[behind], out=values)
                np.maximum(values, 0.0, out=values)
                here, there = np.nonzero(values @ ones + paid[part, None] + further[behind] >= level[0])
                yield np.concatenate([first[part[here]], last[begin + there]], axis=1), part.size * count


def _screen_in_loop(task: SideProblem, rest: RemainingProblem, level: NDArray[np.float64]) -> Passed:
    """Screen by the compiled loop in single precision, then what it lets through as NumPy does."""
    from biselect.solvers._subset_loop import screen_subsets  # loads numba, and compiles on first use

    width, choose, paid = rest.rows.size, task.choose, task.keep * rest.tau
    lines, prices = np.ascontiguousarray(rest.weights.T), line_prices(task, rest)
    base = rest.grid.up(task.base[rest.rows]) - rest.tau
    largest = np.abs(base).max(initial=0.0) + choose * np.abs(lines).max(initial=0.0)
    scale = np.ldexp(1.0, -int(np.frexp(largest)[1]))  # what a row adds up to is then below 1
    narrow, start = (scale * lines).astype(np.float32), (scale * base).astype(np.float32)
    # what the loop may round: each number and each addition in each row, their sum over the rows, and what is paid
    slack = width * (choose + 2) * SINGLE
    slack += 2.0**-48 * scale * (choose * np.abs(prices).max(initial=0.0) + abs(paid) + abs(level[0]))
    growth = 1 + 2 * width * SINGLE
    positions, size, complete = np.arange(choose), FEW_PASSED, False
    while not complete:
        passed = np.empty((size, choose), dtype=np.int64)
        needed = (level[0] - paid) * scale - slack
        count, screened, complete = screen_subsets(
            narrow, start, scale * prices, needed, growth, positions, CELLS_PER_CALL, passed
        )
        these, size = passed[:count], min(2 * size, MOST_PASSED)
        reached = np.maximum(_values(base, lines, these), 0.0).sum(axis=1) + prices[these].sum(axis=1) + paid
        yield these[reached >= level[0]], screened


def _in_order(n: int, size: int) -> NDArray[np.int64]:
    """All subsets of so many of the first n, in lexicographic order."""
    return n - 1 - subsets(n, size)[::-1, ::-1]  # mirrored


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
