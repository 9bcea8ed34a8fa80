"""One-sided enumeration: for every subset of the cheaper side, the best response on the other is a top-c.

Subsets are visited in lexicographic order. A subset's values are the plain sums of its lines in index order, so
they do not depend on how the work is cut up: the answer is the same for any number of threads, and among equal
scores the lexicographically first subset wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.sector import unrank
from biselect.solvers.registry import Run

NUMPY_CELLS = 100_000_000  # below this NumPy is done before a kernel would have compiled
BLOCK_CELLS = 2_000_000  # cells a NumPy block holds at once
CHUNK_CELLS = 50_000_000  # cells between two looks at the clock
CHUNKS_PER_ROUND = 16  # chunks of a round share one starting score, whatever the number of threads


@dataclass(frozen=True, kw_only=True, eq=False)
class OneSided:
    """Choose `choose` lines; collect their `line_scores`, and the `keep` largest of base + sum of lines.

    Attributes:
        lines: one row per item of the enumerated side, one column per item of the other; λ included.
        line_scores: marginals of the enumerated side.
        base: marginals of the other side.
        choose: budget of the enumerated side.
        keep: budget of the other side.
    """

    lines: NDArray[np.float64]
    line_scores: NDArray[np.float64]
    base: NDArray[np.float64]
    choose: int
    keep: int

    @property
    def subsets(self) -> int:
        """How many subsets there are to visit."""
        return comb(self.lines.shape[0], self.choose)

    @property
    def cells(self) -> int:
        """Subsets times the length of a line: what a full visit costs."""
        return self.subsets * int(self.lines.shape[1])

    def subset(self, position: int) -> NDArray[np.int64]:
        """The subset at this lexicographic position: colexicographic order, mirrored."""
        n = self.lines.shape[0]
        mirrored = unrank(self.subsets - 1 - position, n, self.choose)
        return np.ascontiguousarray(n - 1 - mirrored[::-1])


@dataclass(frozen=True, kw_only=True, eq=False)
class Visit:
    """What enumeration saw: the best subset found, and whether it saw all."""

    subset: NDArray[np.int64] | None
    score: float
    visited: int
    complete: bool


def sides(problem: SelectionProblem) -> tuple[OneSided, OneSided]:
    """The problem with features enumerated, and with samples enumerated."""
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    a, b, k, m = problem.sample_scores, problem.feature_scores, problem.k, problem.m
    by_features = OneSided(lines=np.ascontiguousarray(weights.T), line_scores=b, base=a, choose=m, keep=k)
    by_samples = OneSided(lines=weights, line_scores=a, base=b, choose=k, keep=m)
    return by_features, by_samples


def visit(task: OneSided, run: Run, *, floor: float, workers: int | None = None) -> Visit:
    """Visit every subset, or as many as the deadline allows.

    Args:
        task: what to enumerate.
        run: deadline and progress.
        floor: a score known to be reachable (less rounding); subsets that cannot reach it are screened out.
        workers: threads at most; None for one per core.
    """
    if task.cells <= NUMPY_CELLS:
        return _visit_with_numpy(task, run, floor)
    return _visit_with_kernel(task, run, floor, workers)


def _visit_with_numpy(task: OneSided, run: Run, floor: float) -> Visit:
    total, width = task.subsets, task.lines.shape[1]
    block = max(1, BLOCK_CELLS // width)
    best, best_subset, threshold = floor, None, None
    for begin in range(0, total, block):
        if begin and run.expired():
            return Visit(subset=best_subset, score=best, visited=begin, complete=False)
        positions = np.arange(begin, min(begin + block, total))
        n = task.lines.shape[0]
        chosen = n - 1 - unrank(total - 1 - positions, n, task.choose)[:, ::-1]
        values = task.base + task.lines[chosen[:, 0]]
        for position in range(1, task.choose):
            values += task.lines[chosen[:, position]]
        extra = task.line_scores[chosen].sum(axis=1)
        if threshold is not None:
            reach = np.maximum(values - threshold, 0.0).sum(axis=1) * (1 + 2 * width * np.finfo(float).eps)
            open_subsets = np.flatnonzero(reach + task.keep * threshold + extra >= best)
            values, extra, chosen = values[open_subsets], extra[open_subsets], chosen[open_subsets]
        if values.size:
            largest = np.partition(values, width - task.keep, axis=1)[:, width - task.keep :]
            scores = largest.sum(axis=1) + extra
            highest = int(np.argmax(scores))
            if scores[highest] > best or (best_subset is None and scores[highest] >= best):
                best, best_subset = float(scores[highest]), chosen[highest]
            threshold = float(largest[highest].min())
        run.report((begin + positions.size) / total, -best)
    return Visit(subset=best_subset, score=best, visited=total, complete=True)


def _visit_with_kernel(task: OneSided, run: Run, floor: float, workers: int | None) -> Visit:
    from biselect.solvers.enumeration_kernel import scan  # loads numba, and compiles on first use

    total, width = task.subsets, task.lines.shape[1]
    best, best_subset = floor, None
    threshold = _first_threshold(task)
    with ThreadPoolExecutor(workers) as pool:
        for chunks in _rounds(total, max(1, CHUNK_CELLS // width)):
            if chunks[0][0] and run.expired():
                return Visit(subset=best_subset, score=best, visited=chunks[0][0], complete=False)

            def scan_chunk(
                chunk: tuple[int, int], best: float = best, threshold: float = threshold
            ) -> tuple[float, NDArray[np.int64], float]:
                begin, count = chunk
                first = task.subset(begin)
                found: tuple[float, NDArray[np.int64], float] = scan(
                    task.lines, task.line_scores, task.base, first, count, task.keep, best, threshold
                )
                return found

            for score, subset, found_threshold in pool.map(scan_chunk, chunks):  # in lexicographic order
                if subset[0] >= 0 and (score > best or (best_subset is None and score >= best)):
                    best, best_subset, threshold = score, subset, found_threshold
            run.report((chunks[-1][0] + chunks[-1][1]) / total, -best)
    return Visit(subset=best_subset, score=best, visited=total, complete=True)


def _first_threshold(task: OneSided) -> float:
    """A threshold for the first screen: the keep-th largest value under the first subset."""
    values = task.base + task.lines[: task.choose].sum(axis=0)
    return float(np.partition(values, values.size - task.keep)[values.size - task.keep])


def _rounds(total: int, chunk: int) -> Iterator[list[tuple[int, int]]]:
    """(begin, count) of every chunk, a round at a time."""
    chunks: list[tuple[int, int]] = []
    for begin in range(0, total, chunk):
        chunks.append((begin, min(chunk, total - begin)))
        if len(chunks) == CHUNKS_PER_ROUND:
            yield chunks
            chunks = []
    if chunks:
        yield chunks
