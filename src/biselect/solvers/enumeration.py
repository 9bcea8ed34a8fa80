"""One-sided enumeration: for every subset of the cheaper side, the best response on the other.

Subsets are visited in lexicographic order, in NumPy blocks: this is for problems that are done before a compiled
kernel would have loaded. Among equal scores the lexicographically first subset wins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.core.sector import unrank
from biselect.solvers.one_sided import OneSided
from biselect.solvers.registry import Run
from biselect.solvers.response import best_response

BLOCK_CELLS = 65_536  # cells a block holds at once: temporaries stay in cache, and cost no page faults


@dataclass(frozen=True, kw_only=True, eq=False)
class Visit:
    """What enumeration saw: the best subset found, its score, and whether it saw all."""

    subset: NDArray[np.int64] | None
    score: float
    visited: int
    complete: bool


def visit(task: OneSided, run: Run, *, floor: float) -> Visit:
    """Visit every subset, or as many as the deadline allows.

    Args:
        task: what to enumerate.
        run: deadline and progress.
        floor: a score known to be reachable (less rounding); subsets that cannot reach it are screened out.
    """
    total, (n, width) = task.subsets, task.lines.shape
    lines = task.scale * task.lines.astype(np.float64)
    block = max(1, BLOCK_CELLS // width)
    best, best_subset, threshold = floor, None, None
    for begin in range(0, total, block):
        if begin and run.expired():
            return Visit(subset=best_subset, score=best, visited=begin, complete=False)
        positions = np.arange(begin, min(begin + block, total))
        chosen = n - 1 - unrank(total - 1 - positions, n, task.choose)[:, ::-1]  # mirrored: lexicographic
        if task.line_limits:
            chosen = chosen[[task.line_limits.allow(subset) for subset in chosen]]
        values = task.base + lines[chosen[:, 0]]
        for position in range(1, task.choose):
            values += lines[chosen[:, position]]
        extra = task.line_scores[chosen].sum(axis=1)
        if threshold is not None:
            reach = np.maximum(values - threshold, 0.0).sum(axis=1) * (1 + 2 * width * np.finfo(float).eps)
            open_subsets = np.flatnonzero(reach + task.keep * threshold + extra >= best)
            values, extra, chosen = values[open_subsets], extra[open_subsets], chosen[open_subsets]
        if values.size:
            largest = _largest(values, task)
            scores = largest.sum(axis=1) + extra
            highest = int(np.argmax(scores))
            if scores[highest] > best or (best_subset is None and scores[highest] >= best):
                best, best_subset = float(scores[highest]), chosen[highest]
                run.improved(int(positions[0]), -best)
            threshold = float(largest[highest].min())
        run.report((begin + positions.size) / total, -best)
    return Visit(subset=best_subset, score=best, visited=total, complete=True)


def _largest(values: NDArray[np.float64], task: OneSided) -> NDArray[np.float64]:
    """Values of the best response to each subset."""
    if task.base_limits:
        return np.take_along_axis(values, best_response(values, task.keep, task.base_limits), axis=1)
    width = values.shape[1]
    return np.partition(values, width - task.keep, axis=1)[:, width - task.keep :]
