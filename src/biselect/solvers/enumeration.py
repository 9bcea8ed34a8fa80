"""One-sided enumeration: for every subset of the cheaper side, the best response on the other.

Subsets are visited in lexicographic order, in NumPy blocks: this is for problems that are done before a compiled
kernel would have loaded. All numbers are whole units of a `Grid`, so nothing is rounded.

With a threshold τ, no subset scores more than keep · τ plus what its values rise above τ, plus its line scores. Few
rows can rise above the smallest value in a good choice, so most subsets are screened out by those few rows alone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.core.sector import unrank
from biselect.solvers.grid import Grid
from biselect.solvers.one_sided import OneSided
from biselect.solvers.registry import Run
from biselect.solvers.response import best_response

MOST_CELLS = 22_000_000  # looked at behind the screen; where ties let more through, searching is quicker
BLOCK_CELLS = 65_536  # cells a block holds at once: temporaries stay in cache, and cost no page faults
MOST_CANDIDATES = 2048  # subsets that may be left to exact arithmetic


@dataclass(frozen=True, kw_only=True, eq=False)
class Visit:
    """What enumeration saw.

    Attributes:
        candidates: the subsets that can be the best one, in lexicographic order.
        highest: no visited subset scores more than this many units.
        visited: how many subsets were seen.
        complete: whether those are all.
        settled: whether all that can be the best one are among the candidates.
    """

    candidates: list[NDArray[np.int64]]
    highest: float
    visited: int
    complete: bool
    settled: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Screen:
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


def screen(task: OneSided, grid: Grid, subset: NDArray[np.int64], *, exact: bool = True) -> Screen:
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
    return Screen(
        grid=grid,
        loss=0 if exact and grid.holds(task, lines, slice(None)) else grid.loss,
        threshold=threshold,
        rows=np.flatnonzero(highest > threshold),
        base=base,
        line_scores=grid.up(task.line_scores),
        lines=lines,
    )


def visit(task: OneSided, run: Run, sieve: Screen, *, floor: float) -> Visit:
    """Visit every subset, or as many as the deadline and MOST_CELLS allow.

    Args:
        task: what to enumerate.
        run: deadline and progress.
        sieve: the task in whole units, and the rows that most subsets are judged by.
        floor: a score known to be reachable, in units; subsets that cannot reach it are screened out.
    """
    total, n, width = task.subsets, task.lines.shape[0], max(1, sieve.rows.size)
    screened_base, screened_lines = sieve.base[sieve.rows], np.ascontiguousarray(sieve.lines[:, sieve.rows])
    block, whole = (max(1, BLOCK_CELLS // cells) for cells in (max(width, task.choose), task.base.size))
    best, highest, evaluated = floor, floor, 0  # a score that is reached, and one that is not exceeded
    candidates: list[tuple[float, NDArray[np.int64]]] = []
    settled = True

    def seen(visited: int, complete: bool) -> Visit:
        left = [subset for score, subset in candidates if score >= best]
        return Visit(candidates=left, highest=highest, visited=visited, complete=complete, settled=settled)

    for begin in range(0, total, block):
        if begin and run.expired():
            return seen(begin, False)
        positions = np.arange(begin, min(begin + block, total))
        chosen = n - 1 - unrank(total - 1 - positions, n, task.choose)[:, ::-1]  # mirrored: lexicographic
        extra = sieve.line_scores[chosen].sum(axis=1)
        above = np.maximum(_values(screened_base, screened_lines, chosen) - sieve.threshold, 0.0).sum(axis=1)
        chosen = chosen[above + task.keep * sieve.threshold + extra >= best]
        if task.line_limits:
            chosen = chosen[[task.line_limits.allow(subset) for subset in chosen]]
        for part in range(0, len(chosen), whole):
            if evaluated > MOST_CELLS or (part and run.expired()):
                return seen(begin, False)
            subsets = chosen[part : part + whole]
            evaluated += len(subsets) * task.base.size
            scores = _largest(_values(sieve.base, sieve.lines, subsets), task).sum(axis=1)
            scores += sieve.line_scores[subsets].sum(axis=1)
            if scores.max() > highest:
                highest = float(scores.max())
                if highest - sieve.loss > best:
                    best = highest - sieve.loss
                    run.improved(int(positions[0]), -float(np.ldexp(best, sieve.grid.exponent)))
            if sieve.loss:
                candidates += [(float(scores[q]), subsets[q]) for q in np.flatnonzero(scores >= best)]
            elif not candidates or scores.max() > candidates[0][0]:  # scores are true ones: the first of the best wins
                first = int(np.argmax(scores))
                candidates = [(float(scores[first]), subsets[first])] if scores[first] >= best else candidates
            if len(candidates) > MOST_CANDIDATES:
                candidates = [candidate for candidate in candidates if candidate[0] >= best]
                settled = settled and len(candidates) <= MOST_CANDIDATES
                del candidates[MOST_CANDIDATES:]
        run.report((begin + positions.size) / total, -float(np.ldexp(best, sieve.grid.exponent)))
    return seen(total, True)


def _values(base: NDArray[np.float64], lines: NDArray[np.float64], subsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each row adds, given each subset; added in index order."""
    values = base + lines[subsets[:, 0]]
    for position in range(1, subsets.shape[1]):
        values += lines[subsets[:, position]]
    return values


def _largest(values: NDArray[np.float64], task: OneSided) -> NDArray[np.float64]:
    """Values of the best response to each subset."""
    if task.base_limits:
        return np.take_along_axis(values, best_response(values, task.keep, task.base_limits), axis=1)
    width = values.shape[1]
    return np.partition(values, width - task.keep, axis=1)[:, width - task.keep :]
