"""One-sided enumeration: for every subset of the cheaper side, the best response on the other.

Subsets are visited in NumPy blocks: this is for problems that are done before a compiled kernel would have loaded.
All numbers are whole units of a `Grid`, so nothing is rounded.

With a threshold τ, no subset scores more than keep · τ plus what its values rise above τ, plus its line scores. Few
rows can rise above the smallest value in a good choice, so most subsets are screened out by those few rows alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from biselect.core.sector import subsets
from biselect.solvers._incumbent import Grid
from biselect.solvers.registry import Run
from biselect.solvers.response import SideProblem, best_response

MOST_CELLS = 22_000_000  # looked at behind the screen; where ties let more through, searching is quicker
BLOCK_CELLS = 65_536  # cells a block holds at once: temporaries stay in cache, and cost no page faults
MOST_CANDIDATES = 2048  # subsets that may be left to exact arithmetic


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Screening:
    """The task in whole units, and the rows that can rise above τ; the others never add to what a subset has beyond it.

    Attributes:
        grid: the unit.
        loss: how far a subset's score can lie above its true score.
        threshold: τ.
        rows: those rows.
        base: marginals of the other side.
        line_scores: marginals of the lines.
        lines: λW, one contiguous row per line.
    """

    grid: Grid
    loss: int
    threshold: float
    rows: NDArray[np.int64]
    base: NDArray[np.float64]
    line_scores: NDArray[np.float64]
    lines: NDArray[np.float64]


def screen(task: SideProblem, grid: Grid, subset: NDArray[np.int64], *, exact: bool = True) -> Screening:
    """The screen whose τ is the smallest value in the best response to these lines.

    Args:
        task: what is enumerated.
        grid: its unit.
        subset: lines of a good choice.
        exact: whether the task's own numbers are the true ones; otherwise they are rounded up.
    """
    lines, base = grid.weights(task, slice(None)), grid.up(task.base)
    values = base + lines[subset].sum(axis=0)
    threshold = float(np.partition(values, values.size - task.keep)[values.size - task.keep])
    n = lines.shape[0]
    highest = base + np.partition(lines, n - task.choose, axis=0)[n - task.choose :].sum(axis=0)
    return Screening(
        grid=grid,
        loss=0 if exact and grid.holds(task, lines, slice(None)) else grid.loss,
        threshold=threshold,
        rows=np.flatnonzero(highest > threshold),
        base=base,
        line_scores=grid.up(task.line_scores),
        lines=lines,
    )


def scan_subsets(task: SideProblem, run: Run, sieve: Screening, *, floor: float) -> SubsetScan:
    """Visit every subset, or as many as the deadline and MOST_CELLS allow.

    Args:
        task: what to enumerate.
        run: deadline and progress.
        sieve: the task in whole units, and the rows that most subsets are judged by.
        floor: a score known to be reachable, in units; subsets that cannot reach it are screened out.
    """
    at_once = max(1, BLOCK_CELLS // task.base.size)
    best, highest, evaluated, visited = floor, floor, 0, 0  # a score that is reached, and one that is not exceeded
    candidates: list[tuple[float, NDArray[np.int64]]] = []
    certain = True

    def result(complete: bool) -> SubsetScan:
        contenders = sorted((subset for score, subset in candidates if score >= best), key=tuple)
        return SubsetScan(candidates=contenders, highest=highest, visited=visited, complete=complete, certain=certain)

    for first, last, reached in _screened(task, sieve):
        if visited and run.expired():
            return result(False)
        here, there = np.nonzero(reached >= best)
        line_sets = np.concatenate([first[here], last[there]], axis=1)
        if task.line_limits:
            line_sets = line_sets[[task.line_limits.allow(subset) for subset in line_sets]]
        for part in range(0, len(line_sets), at_once):
            if evaluated > MOST_CELLS or (part and run.expired()):
                return result(False)
            passed = line_sets[part : part + at_once]
            evaluated += passed.shape[0] * task.base.size
            scores = _largest(_values(sieve.base, sieve.lines, passed), task).sum(axis=1)
            scores += sieve.line_scores[passed].sum(axis=1)
            if scores.max() > highest:
                highest = float(scores.max())
                if highest - sieve.loss > best:
                    best = highest - sieve.loss
                    run.improved(visited, -float(np.ldexp(best, sieve.grid.exponent)))
            if sieve.loss:
                candidates += [(float(scores[q]), passed[q]) for q in np.flatnonzero(scores >= best)]
            elif scores.max() >= best:  # scores are true ones: the first of the best wins
                new = (float(scores.max()), passed[int(np.argmax(scores))])
                candidates = [min([*candidates, new], key=lambda one: (-one[0], tuple(one[1])))]
            if len(candidates) > MOST_CANDIDATES:
                candidates = [candidate for candidate in candidates if candidate[0] >= best]
                certain = certain and len(candidates) <= MOST_CANDIDATES
                del candidates[MOST_CANDIDATES:]
        visited += reached.size
        run.report(visited / task.subsets, -float(np.ldexp(best, sieve.grid.exponent)))
    return result(True)


def _screened(
    task: SideProblem, sieve: Screening
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """Blocks of subsets: their first lines, their last ones, and [p, q] what the two together reach at most.

    The values of both halves are added up once for each half, not for each subset. A block is in lexicographic order.
    """
    d, width = task.lines.shape[0], sieve.rows.size
    begun = task.choose // 2
    ended = task.choose - begun
    first, last = _in_order(d - ended, begun), begun + _in_order(d - begun, ended)
    lines = np.ascontiguousarray(sieve.lines[:, sieve.rows])
    above = _values(sieve.base[sieve.rows] - sieve.threshold, lines, first)
    added = _values(np.zeros(width), lines, last)
    paid = sieve.line_scores[first].sum(axis=1) + task.keep * sieve.threshold
    further = sieve.line_scores[last].sum(axis=1)
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
                rest = slice(begin, min(begin + at_once, len(last)))
                count = rest.stop - begin
                values = space[: part.size * count].reshape(part.size, count, width)
                np.add(above[part, None], added[rest], out=values)
                np.maximum(values, 0.0, out=values)
                yield first[part], last[rest], values @ ones + paid[part, None] + further[rest]


def _in_order(n: int, size: int) -> NDArray[np.int64]:
    """All subsets of so many of the first n, in lexicographic order."""
    return n - 1 - subsets(n, size)[::-1, ::-1]  # mirrored


def _values(base: NDArray[np.float64], lines: NDArray[np.float64], line_sets: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each row adds, given each subset."""
    values = np.tile(base, (len(line_sets), 1))
    for position in range(line_sets.shape[1]):
        values += lines[line_sets[:, position]]
    return values


def _largest(values: NDArray[np.float64], task: SideProblem) -> NDArray[np.float64]:
    """Values of the best response to each subset."""
    if task.base_limits:
        return np.take_along_axis(values, best_response(values, task.keep, task.base_limits), axis=1)
    width = values.shape[1]
    return np.partition(values, width - task.keep, axis=1)[:, width - task.keep :]
