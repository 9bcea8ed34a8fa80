"""One-sided enumeration: for every subset of the cheaper side, the best response on the other.

Subsets are visited in lexicographic order, in NumPy blocks: this is for problems that are done before a compiled
kernel would have loaded. Among equal scores the lexicographically first subset wins.

With a threshold τ, no subset scores more than keep · τ plus what its values rise above τ, plus its line scores. Few
rows can rise above the smallest value in a good choice, so most subsets are screened out by those few rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.core.sector import unrank
from biselect.solvers.one_sided import OneSided
from biselect.solvers.registry import Run
from biselect.solvers.response import best_response

MOST_CELLS = 22_000_000  # looked at behind the screen; where ties let more through, searching is quicker
BLOCK_CELLS = 65_536  # cells a block holds at once: temporaries stay in cache, and cost no page faults


@dataclass(frozen=True, kw_only=True, eq=False)
class Visit:
    """What enumeration saw: the best subset found, its score, and whether it saw all."""

    subset: NDArray[np.int64] | None
    score: float
    visited: int
    complete: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Screen:
    """The rows that can rise above τ; the others never add to what a subset has beyond it.

    Attributes:
        threshold: τ.
        base: their marginals.
        lines: λW of them alone, one contiguous row per line.
    """

    threshold: float
    base: NDArray[np.float64]
    lines: NDArray[np.float64]


def screen(task: OneSided, subset: NDArray[np.int64]) -> Screen:
    """The screen whose τ is the smallest value in the best response to these lines."""
    values = task.values(subset)
    threshold = float(np.partition(values, values.size - task.keep)[values.size - task.keep])
    lines = task.scale * task.lines.astype(np.float64)
    n = lines.shape[0]
    highest = task.base + np.partition(lines, n - task.choose, axis=0)[n - task.choose :].sum(axis=0)
    rows = np.flatnonzero(highest > threshold - 2 * task.choose * np.finfo(float).eps * np.abs(highest).max())
    return Screen(threshold=threshold, base=task.base[rows], lines=np.ascontiguousarray(lines[:, rows]))


def visit(task: OneSided, run: Run, sieve: Screen, *, floor: float) -> Visit:
    """Visit every subset, or as many as the deadline and MOST_CELLS allow.

    Args:
        task: what to enumerate.
        run: deadline and progress.
        sieve: rows that most subsets are judged by.
        floor: a score known to be reachable (less rounding); subsets that cannot reach it are screened out.
    """
    total, n, width = task.subsets, task.lines.shape[0], max(1, sieve.base.size)
    lines = task.scale * task.lines.astype(np.float64)
    block, whole = (max(1, BLOCK_CELLS // cells) for cells in (max(width, task.choose), task.base.size))
    rounded_up = 1 + 2 * (width + task.choose) * np.finfo(float).eps
    best, best_subset, evaluated = floor, None, 0
    for begin in range(0, total, block):
        if begin and run.expired():
            return Visit(subset=best_subset, score=best, visited=begin, complete=False)
        positions = np.arange(begin, min(begin + block, total))
        chosen = n - 1 - unrank(total - 1 - positions, n, task.choose)[:, ::-1]  # mirrored: lexicographic
        extra = task.line_scores[chosen].sum(axis=1)
        above = np.maximum(_values(sieve.base, sieve.lines, chosen) - sieve.threshold, 0.0).sum(axis=1) * rounded_up
        chosen = chosen[above + task.keep * sieve.threshold + extra >= best]
        if task.line_limits:
            chosen = chosen[[task.line_limits.allow(subset) for subset in chosen]]
        for part in range(0, len(chosen), whole):
            if evaluated > MOST_CELLS or (part and run.expired()):
                return Visit(subset=best_subset, score=best, visited=begin, complete=False)
            subsets = chosen[part : part + whole]
            evaluated += len(subsets) * task.base.size
            scores = _largest(_values(task.base, lines, subsets), task).sum(axis=1)
            scores += task.line_scores[subsets].sum(axis=1)
            highest = int(np.argmax(scores))
            if scores[highest] > best or (best_subset is None and scores[highest] >= best):
                best, best_subset = float(scores[highest]), subsets[highest]
                run.improved(int(positions[0]), -best)
        run.report((begin + positions.size) / total, -best)
    return Visit(subset=best_subset, score=best, visited=total, complete=True)


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
