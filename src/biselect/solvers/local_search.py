"""Climbing: `coordinate_ascent` by best responses from many starts, `greedy` by single swaps.

The first alternates the top-k rows given the columns and the top-m columns given the rows. The second takes the
heaviest columns and the heaviest rows on them, then swaps while that helps.
"""

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers._lagrangian import row_bounds
from biselect.solvers.registry import Answer, Run, keeps_limits
from biselect.solvers.response import (
    SideProblem,
    best_response,
    by_features,
    feature_values,
    sample_values,
    top,
)

BATCH_CELLS = 2_000_000  # values held at once when starts climb side by side
MOST_AT_ONCE = 256  # starts between two looks at the clock
SIDE_BY_SIDE_CELLS = 4_000_000  # weights beyond which starts climb one after the other, compiled


@keeps_limits("all")
def coordinate_ascent(problem: SelectionProblem, run: Run, *, starts: int = 64) -> Answer:
    """The best local optimum of `starts` climbs.

    Half of the starts are the m best columns of a heavy row (rows by the sum of their m largest weights,
    heaviest first), the rest are random columns.
    """
    if starts < 1:
        raise InputError(f"starts must be at least 1, got {starts}")
    task = by_features(problem)
    heaviest, rng = _heaviest(task, starts), run.rng()
    large = task.lines.size > SIDE_BY_SIDE_CELLS
    batch = 1 if large else max(1, min(MOST_AT_ONCE, BATCH_CELLS // sum(task.lines.shape)))
    lines = None if large else task.scale * task.lines.astype(np.float64)
    best_score, best = -np.inf, None
    rounds, climbed = 0, 0
    for begin in range(0, starts, batch):
        features = _starts(task, heaviest, begin, min(begin + batch, starts), rng)
        samples, features, scores, step_count = (
            _climb_large(task, features[0]) if lines is None else _climb(task, lines, features)
        )
        rounds += step_count
        climbed += len(features)
        highest = int(np.argmax(scores))
        if scores[highest] > best_score:
            best_score, best = float(scores[highest]), (samples[highest], features[highest])
            run.improved(begin + highest, -best_score)
        run.report(climbed / starts, -best_score)
        if run.expired():
            break
    assert best is not None
    return Answer(samples=best[0], features=best[1], info={"starts": climbed, "rounds": rounds})


def _heaviest(task: SideProblem, starts: int) -> NDArray[np.int64]:
    """The heaviest rows, one for every second start."""
    row_weight = row_bounds(task, np.zeros(task.lines.shape[0]))
    candidates = top(row_weight, min(row_weight.size, (starts + 1) // 2))
    return candidates[np.argsort(-row_weight[candidates], kind="stable")]


def _starts(
    task: SideProblem, heaviest: NDArray[np.int64], begin: int, end: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Lines of the starts from `begin` to `end`: drawn only now, so that a deadline is kept however many are wanted."""
    rows = heaviest[begin:end]
    weights = task.scale * task.lines[:, rows].T.astype(np.float64) + task.line_scores / task.keep
    from_rows = best_response(weights, task.choose, task.line_limits)
    random_subsets = np.empty((end - begin - rows.size, task.choose), dtype=np.int64)
    for start in random_subsets:
        order = rng.permutation(task.lines.shape[0])
        start[:] = best_response(-np.argsort(order).astype(np.float64), task.choose, task.line_limits)
    return np.concatenate(
        [from_rows.reshape(rows.size, task.choose).astype(np.int64), random_subsets]
    )  # none give floats


def _climb(
    task: SideProblem, lines: NDArray[np.float64], features: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]:
    """Climb all starts side by side until none improves."""
    features = features.copy()
    count = features.shape[0]
    rows = np.ascontiguousarray(lines.T)
    scores = np.full(count, -np.inf)
    samples = np.zeros((count, task.keep), dtype=np.int64)
    climbing = np.arange(count)
    rounds = 0
    while climbing.size:
        rounds += 1
        row_values = task.base + _line_sums(lines, features[climbing])
        new_samples = best_response(row_values, task.keep, task.base_limits)
        column_values = task.line_scores + _line_sums(rows, new_samples)
        new_features = best_response(column_values, task.choose, task.line_limits)
        new_scores = np.take_along_axis(column_values, new_features, axis=-1).sum(axis=-1)
        new_scores += task.base[new_samples].sum(axis=-1)
        better = new_scores > scores[climbing]
        climbing = climbing[better]
        samples[climbing], features[climbing] = new_samples[better], new_features[better]
        scores[climbing] = new_scores[better]
    return samples, features, scores, rounds


def _climb_large(
    task: SideProblem, features: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]:
    """The same climb for one start, with the compiled pass over the rows."""
    from biselect.solvers._row_response import best_rows  # loads numba

    score, best, rounds = -np.inf, (np.empty(0, dtype=np.int64), features), 0
    while True:
        rounds += 1
        samples = best_rows(task, features)
        values = task.line_values(samples)
        features = best_response(values, task.choose, task.line_limits)
        new_score = float(values[features].sum() + task.base[samples].sum())
        if new_score <= score:
            return best[0][None], best[1][None], np.array([score]), rounds
        score, best = new_score, (samples, features)


def _line_sums(lines: NDArray[np.float64], items: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum of the chosen lines, for each start; added in index order, so that equal choices give equal sums."""
    sums = lines[items[:, 0]].copy()
    for position in range(1, items.shape[1]):
        sums += lines[items[:, position]]
    return sums


def greedy(problem: SelectionProblem, run: Run, *, local_search: bool = True) -> Answer:
    """The m columns with the largest sums and their best k rows, improved by the best single swap as long as one helps.

    Args:
        problem: what to solve.
        run: deadline and progress; nothing is drawn.
        local_search: False for the plain start.
    """
    samples, features = greedy_start(problem)
    swaps = Swaps(problem, samples, features)
    run.improved(0, -swaps.score)
    moves = 0
    while local_search and not run.expired():
        gain = swaps.best_gain(np.zeros(problem.n_samples, dtype=bool), np.zeros(problem.n_features, dtype=bool))
        if gain <= swaps.slack:
            break
        swaps.swap()
        moves += 1
        run.improved(moves, -swaps.score)
    run.report(1.0, -swaps.score)
    return Answer(samples=swaps.samples, features=swaps.features, info={"swaps": moves})


def greedy_start(problem: SelectionProblem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Top columns by their sums, then top rows on them."""
    sums = problem.coupling_weight * problem.coupling.sum(axis=0, dtype=np.float64)
    features = top(sums + problem.n_samples / problem.k * problem.feature_scores, problem.m)
    return top(sample_values(problem, features), problem.k), features


class Swaps:
    """A state and its best single swap: the worst item that may leave for the best that may enter, on either side."""

    def __init__(self, problem: SelectionProblem, samples: NDArray[np.int64], features: NDArray[np.int64]) -> None:
        self._problem = problem
        self._chosen = [np.zeros(problem.n_samples, dtype=bool), np.zeros(problem.n_features, dtype=bool)]
        self._chosen[0][samples] = True
        self._chosen[1][features] = True
        self._values = [sample_values(problem, features), feature_values(problem, samples)]
        self._move = (0, 0, 0)
        self.score = problem.score(samples, features)
        self.slack = 1e-12 * max(float(np.abs(values).max()) for values in self._values)

    @property
    def samples(self) -> NDArray[np.int64]:
        """Chosen samples, ascending."""
        return np.flatnonzero(self._chosen[0])

    @property
    def features(self) -> NDArray[np.int64]:
        """Chosen features, ascending."""
        return np.flatnonzero(self._chosen[1])

    def best_gain(self, barred_samples: NDArray[np.bool_], barred_features: NDArray[np.bool_]) -> float:
        """Gain of the best swap in which no barred item enters, -inf if there is none; `swap` then makes it."""
        best = -np.inf
        for side, barred in enumerate((barred_samples, barred_features)):
            members, values = self._chosen[side], self._values[side]
            leaves = int(np.argmin(np.where(members, values, np.inf)))
            enters = int(np.argmax(np.where(members | barred, -np.inf, values)))
            if (members | barred)[enters]:
                continue
            gain = float(values[enters] - values[leaves])
            if gain > best:
                best, self._move = gain, (side, leaves, enters)
        return best

    def swap(self) -> tuple[int, int, int]:
        """Make the swap that `best_gain` found; returns (side, left, entered), side 0 for samples."""
        side, leaves, enters = self._move
        weights = self._problem.coupling if side == 0 else self._problem.columns
        self.score += float(self._values[side][enters] - self._values[side][leaves])
        self._chosen[side][[leaves, enters]] = False, True
        change = weights[enters].astype(np.float64) - weights[leaves]
        self._values[1 - side] += self._problem.coupling_weight * change
        return self._move
