"""The problem seen from one side: choose lines there; on the other side the best response is a top-c.

Features are lines when they are enumerated or branched on, samples when those are. Whatever works on this view
works for both.
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.solvers.response import Limits, best_response, limits_of


@dataclass(frozen=True, kw_only=True, eq=False)
class OneSided:
    """Choose `choose` lines; collect their `line_scores`, and the `keep` largest of base + scale · sum of lines.

    Attributes:
        lines: one contiguous row per item of the chosen side, one column per item of the other.
        scale: λ.
        line_scores: marginals of the chosen side.
        base: marginals of the other side.
        choose: budget of the chosen side.
        keep: budget of the other side.
        line_limits: group limits of the chosen side.
        base_limits: group limits of the other side.
        lines_are: "features" or "samples".
    """

    lines: NDArray[np.floating[Any]]
    scale: float
    line_scores: NDArray[np.float64]
    base: NDArray[np.float64]
    choose: int
    keep: int
    line_limits: Limits
    base_limits: Limits
    lines_are: str

    @property
    def subsets(self) -> int:
        """How many subsets of lines there are."""
        return comb(self.lines.shape[0], self.choose)

    @property
    def cells(self) -> int:
        """Subsets times the length of a line: what visiting them all costs."""
        return self.subsets * int(self.lines.shape[1])

    @cached_property
    def highest(self) -> tuple[float, float, float]:
        """The largest λ·weight, item of `base` and item of `line_scores`."""
        return self.scale * float(self.lines.max()), float(self.base.max()), float(self.line_scores.max())

    @cached_property
    def lowest(self) -> tuple[float, float, float]:
        """The smallest ones."""
        return self.scale * float(self.lines.min()), float(self.base.min()), float(self.line_scores.min())

    @property
    def largest(self) -> float:
        """The largest |λ·weight|."""
        return max(self.highest[0], -self.lowest[0])

    @property
    def largest_base(self) -> float:
        """The largest |base|."""
        return max(self.highest[1], -self.lowest[1])

    @cached_property
    def stored_base(self) -> NDArray[np.floating[Any]]:
        """`base` in the precision of the lines, empty where it is zero."""
        return self.base.astype(self.lines.dtype) if self.largest_base else np.empty(0, dtype=self.lines.dtype)

    def values(self, subset: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each item of the other side adds, given these lines; added in index order."""
        sums = self.lines[subset[0]].astype(np.float64)
        for line in subset[1:]:
            sums += self.lines[line]
        sums *= self.scale
        sums += self.base
        return sums

    def line_values(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each line adds, given these items of the other side."""
        return self.line_scores + self.scale * self.lines[:, chosen].sum(axis=1, dtype=np.float64)

    def respond(self, subset: NDArray[np.int64]) -> NDArray[np.int64]:
        """Best items of the other side, given these lines."""
        return best_response(self.values(subset), self.keep, self.base_limits)

    def best_lines(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """Best lines, given these items of the other side."""
        return best_response(self.line_values(chosen), self.choose, self.line_limits)

    def score(self, subset: NDArray[np.int64], chosen: NDArray[np.int64]) -> float:
        """The score of a whole choice."""
        return float(self.values(subset)[chosen].sum() + self.line_scores[subset].sum())

    def order(
        self, subset: NDArray[np.int64], chosen: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(samples, features) of a choice."""
        return (chosen, subset) if self.lines_are == "features" else (subset, chosen)


def by_features(problem: SelectionProblem) -> OneSided:
    """Features are the lines."""
    return _seen_from("features", problem, problem.columns)


def by_samples(problem: SelectionProblem) -> OneSided:
    """Samples are the lines."""
    return _seen_from("samples", problem, np.ascontiguousarray(problem.coupling))


def _seen_from(side: str, problem: SelectionProblem, lines: NDArray[np.floating[Any]]) -> OneSided:
    sides = [
        (problem.feature_scores, problem.m, limits_of(problem.feature_rules, problem.n_features)),
        (problem.sample_scores, problem.k, limits_of(problem.sample_rules, problem.n_samples)),
    ]
    (line_scores, choose, line_limits), (base, keep, base_limits) = sides if side == "features" else sides[::-1]
    return OneSided(
        lines=lines,
        scale=problem.coupling_weight,
        line_scores=line_scores,
        base=base,
        choose=choose,
        keep=keep,
        line_limits=line_limits,
        base_limits=base_limits,
        lines_are=side,
    )


def cheaper_side(problem: SelectionProblem) -> OneSided:
    """The side that takes fewer cells to enumerate; features on a tie."""
    sector = problem.sector.without_rules
    features_cost = sector.feature_subsets * problem.n_samples
    samples_cost = sector.sample_subsets * problem.n_features
    return by_features(problem) if features_cost <= samples_cost else by_samples(problem)
