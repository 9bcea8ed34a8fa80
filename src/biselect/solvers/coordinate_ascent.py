"""Alternate best responses from many starts: top-k rows given the columns, top-m columns given the rows."""

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers.registry import Answer, Run
from biselect.solvers.top import folded, top

BATCH_CELLS = 2_000_000  # values held at once when starts climb side by side


def coordinate_ascent(problem: SelectionProblem, run: Run, *, starts: int = 64) -> Answer:
    """The best local optimum of `starts` climbs.

    Half of the starts are the m best columns of a heavy row (rows by the sum of their m largest weights,
    heaviest first), the rest are random columns.
    """
    if starts < 1:
        raise InputError(f"starts must be at least 1, got {starts}")
    n, d, m = problem.n_samples, problem.n_features, problem.m
    weights = folded(problem)
    columns = np.ascontiguousarray(weights.T)
    first_features = _starts(weights, m, starts, run.rng())
    best_score, best = -np.inf, None
    batch = max(1, BATCH_CELLS // (n + d))
    rounds = 0
    for begin in range(0, starts, batch):
        samples, features, scores, climbed = _climb(weights, columns, problem.k, first_features[begin : begin + batch])
        rounds += climbed
        highest = int(np.argmax(scores))
        if scores[highest] > best_score:
            best_score, best = float(scores[highest]), (samples[highest], features[highest])
        run.report(min(1.0, (begin + batch) / starts), -best_score)
        if run.expired():
            break
    assert best is not None
    return Answer(samples=best[0], features=best[1], info={"starts": min(starts, begin + batch), "rounds": rounds})


def _starts(weights: NDArray[np.float64], m: int, starts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    n, d = weights.shape
    heavy_rows = min(n, (starts + 1) // 2)
    row_weight = np.partition(weights, d - m, axis=1)[:, d - m :].sum(axis=1)
    heaviest = np.argsort(-row_weight, kind="stable")[:heavy_rows]
    from_rows = top(weights[heaviest], m)
    drawn = [np.sort(rng.choice(d, size=m, replace=False)) for _ in range(starts - heavy_rows)]
    return np.concatenate([from_rows, np.array(drawn, dtype=np.int64).reshape(-1, m)])


def _climb(
    weights: NDArray[np.float64], columns: NDArray[np.float64], k: int, features: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]:
    """Climb all starts side by side until none improves."""
    count, m = features.shape
    scores = np.full(count, -np.inf)
    samples = np.zeros((count, k), dtype=np.int64)
    climbing = np.arange(count)
    rounds = 0
    while climbing.size:
        rounds += 1
        new_samples = top(_line_sums(columns, features[climbing]), k)
        column_values = _line_sums(weights, new_samples)
        new_features = top(column_values, m)
        new_scores = np.take_along_axis(column_values, new_features, axis=-1).sum(axis=-1)
        better = new_scores > scores[climbing]
        climbing = climbing[better]
        samples[climbing], features[climbing] = new_samples[better], new_features[better]
        scores[climbing] = new_scores[better]
    return samples, features, scores, rounds


def _line_sums(lines: NDArray[np.float64], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum of the chosen lines, for each start; added in index order, so that equal choices give equal sums."""
    sums = lines[chosen[:, 0]].copy()
    for position in range(1, chosen.shape[1]):
        sums += lines[chosen[:, position]]
    return sums
