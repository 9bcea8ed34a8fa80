"""Greedy: the heaviest columns, the heaviest rows on them, then single swaps while they help."""

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers.registry import Answer, Run
from biselect.solvers.response import feature_values, sample_values, top


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
            chosen, values = self._chosen[side], self._values[side]
            leaves = int(np.argmin(np.where(chosen, values, np.inf)))
            enters = int(np.argmax(np.where(chosen | barred, -np.inf, values)))
            if (chosen | barred)[enters]:
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
