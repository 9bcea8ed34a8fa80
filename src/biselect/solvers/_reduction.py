"""Forced choices are folded away before any solver starts: what is left is a smaller problem of the same kind.

A forced sample adds its row to the features' marginals, a forced feature its column to the samples'; what they
hold among themselves is a constant. Items that are forced out, or whose group the forced ones fill, are dropped.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Group, Rules, SelectionProblem
from biselect.core.exact_sums import (
    NUMBER_BITS,
    at_least,
    at_most,
    in_score_units,
    number_units,
    sum_units,
)
from biselect.core.proof import Proof
from biselect.solvers.response import best_of_cases, best_response, limits_of


@dataclass(frozen=True, kw_only=True, eq=False)
class ReducedProblem:
    """The problem without its forced choices.

    Attributes:
        whole: the problem as asked.
        free_samples: samples still open, ascending; empty where all are, of which there may be very many.
        free_features: features still open, in the same way.
        rest: the problem over what is open; None where a budget is used up, or all of `whole` where nothing is forced.
            Its marginals are rounded up, so that bounds on it hold for the whole.
        exact: whether none of them had to be.
    """

    whole: SelectionProblem
    free_samples: NDArray[np.int64]
    free_features: NDArray[np.int64]
    rest: SelectionProblem | None
    exact: bool = True

    @property
    def units(self) -> int:
        """What the forced choices hold among themselves, an exact score."""
        if self.rest is self.whole:
            return 0
        return self.whole.score_units(self.whole.sample_rules.forced_in, self.whole.feature_rules.forced_in)

    def bound(self, rest_bound: float) -> float:
        """A lower bound on the energies of the rest as one on the whole."""
        if self.rest is self.whole or not np.isfinite(rest_bound):
            return rest_bound
        return at_most(in_score_units(rest_bound) - self.units)

    def exact_score(self, samples: NDArray[np.int64], features: NDArray[np.int64]) -> int:
        """The exact score of a choice of `rest`, without what is forced on both sides."""
        return self.whole.score_units(*self.restore(samples, features)) - self.units

    def exact_sums(self, partner_side: str, items: NDArray[np.int64], partner: NDArray[np.int64]) -> list[int]:
        """What items of one side add exactly, given the other side's choice in `rest`, in units of 2⁻²¹⁴⁸.

        Only the numbers of the whole problem are looked at: those of `rest` were rounded where something is forced in.
        """
        nothing = np.empty(0, dtype=np.int64)
        problem, weight = self.whole, number_units(self.whole.coupling_weight)
        if partner_side == "features":
            others, scores = self.restore(nothing, partner)[1], problem.sample_scores
            own = self.places("samples", items)
            cells = problem.coupling[np.ix_(own, others)]
        else:
            others, scores = self.restore(partner, nothing)[0], problem.feature_scores
            own = self.places("features", items)
            cells = problem.coupling[np.ix_(others, own)].T
        # equal rows are summed once
        numbers, same_as = np.unique(np.column_stack([scores[own], cells]), axis=0, return_inverse=True)
        sums = [(number_units(row[0]) << NUMBER_BITS) + weight * sum_units(row[1:]) for row in numbers]
        return [sums[place] for place in same_as.ravel().tolist()]

    def places(self, side: str, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where items of `rest` stand in the whole."""
        if self.rest is self.whole:
            return items
        return (self.free_samples if side == "samples" else self.free_features)[items]

    def restore(
        self, samples: NDArray[np.int64], features: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A choice of `rest` as a choice of the whole, ascending."""
        forced_samples, forced_features = self.whole.sample_rules.forced_in, self.whole.feature_rules.forced_in
        whole_samples = np.concatenate([self.places("samples", samples), np.array(forced_samples, dtype=np.int64)])
        whole_features = np.concatenate([self.places("features", features), np.array(forced_features, dtype=np.int64)])
        return np.sort(whole_samples), np.sort(whole_features)

    def inside(
        self, samples: NDArray[np.int64], features: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A choice of the whole as a choice of `rest`: the inverse of `restore`."""
        if self.rest is self.whole:
            return samples, features
        return np.flatnonzero(np.isin(self.free_samples, samples)), np.flatnonzero(
            np.isin(self.free_features, features)
        )

    def only_choice(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The optimum where a budget is used up: one side is given, so the other is a best response."""
        problem = self.whole
        choice = [np.array(rules.forced_in, dtype=np.int64) for rules in (problem.sample_rules, problem.feature_rules)]
        sides = (
            (0, problem.k, problem.sample_rules, self.free_samples),
            (1, problem.m, problem.feature_rules, self.free_features),
        )
        for side, budget, rules, free in sides:
            missing = budget - choice[side].size
            if missing:
                sums, limits = self._free_sums(side), limits_of(_rules_left(rules, free), free.size)
                if limits.overlap:
                    best = best_of_cases(sums, missing, limits)
                else:
                    best = best_response(ranks_of(sums), missing, limits)
                choice[side] = np.sort(np.concatenate([choice[side], free[best]]))
        return choice[0], choice[1]

    def _free_sums(self, side: int) -> list[int]:
        """What the free samples (side 0) or features (1) add exactly where the other side is given."""
        free = (self.free_samples, self.free_features)[side]
        return self.exact_sums(("features", "samples")[side], np.arange(free.size), np.empty(0, dtype=np.int64))

    def only_proof(self) -> Proof:
        """The proof of that: nothing is left to choose on one side, or a tree over the features if limits overlap."""
        rules = self.whole.feature_rules
        searched = bool(_rules_left(rules, self.free_features).overlapping) and len(rules.forced_in) < self.whole.m
        side = "samples" if len(self.whole.sample_rules.forced_in) == self.whole.k and not searched else "features"
        free = self.free_samples if side == "samples" else self.free_features
        order = free[np.argsort(-ranks_of(self._free_sums(1)), kind="stable")] if searched else free
        return Proof(
            lines=side, exponent=0, prices=[0] * int(free.size), tau=0, order=order.tolist(), closed=0.0, dives=None
        )


def ranks_of(sums: list[int]) -> NDArray[np.float64]:
    """Places of exact sums among each other, 0 for the lowest; equal sums have equal ranks."""
    rank = {value: place for place, value in enumerate(sorted(set(sums)))}
    return np.array([rank[value] for value in sums], dtype=np.float64)


def reduce_problem(problem: SelectionProblem) -> ReducedProblem:
    """Fold the forced choices of a problem away."""
    rules = (problem.sample_rules, problem.feature_rules)
    if not any(rules):
        none = np.empty(0, dtype=np.int64)
        return ReducedProblem(whole=problem, free_samples=none, free_features=none, rest=problem)
    samples, features = _free(rules[0], problem.n_samples), _free(rules[1], problem.n_features)
    if samples.size == problem.n_samples and features.size == problem.n_features:
        return ReducedProblem(whole=problem, free_samples=samples, free_features=features, rest=problem)
    forced_samples, forced_features = (np.array(side.forced_in, dtype=np.int64) for side in rules)
    k, m = problem.k - forced_samples.size, problem.m - forced_features.size
    rest, exact = None, True
    if k and m:
        folded = (
            _folded(problem.sample_scores, problem.coupling[:, forced_features], problem.coupling_weight, samples),
            _folded(problem.feature_scores, problem.coupling[forced_samples].T, problem.coupling_weight, features),
        )
        exact = folded[0][1] and folded[1][1]
        rest = replace(
            problem,
            coupling=problem.coupling[np.ix_(samples, features)],
            sample_scores=folded[0][0],
            feature_scores=folded[1][0],
            sample_names=None,
            feature_names=None,
            directions=None,
            k=k,
            m=m,
            sample_rules=_rules_left(rules[0], samples),
            feature_rules=_rules_left(rules[1], features),
        )
    return ReducedProblem(whole=problem, free_samples=samples, free_features=features, rest=rest, exact=exact)


def _folded(
    scores: NDArray[np.float64], forced: NDArray[np.floating[Any]], weight: float, free: NDArray[np.int64]
) -> tuple[NDArray[np.float64], bool]:
    """Marginals of the free items with the forced cells added, rounded up once, and whether they are exact."""
    if not forced.shape[1]:
        return scores[free], True
    scale = number_units(weight)
    sums = [(number_units(scores[item]) << NUMBER_BITS) + scale * sum_units(forced[item]) for item in free]
    rounded = [at_least(units) for units in sums]
    exact = all(in_score_units(value) == units for value, units in zip(rounded, sums, strict=True))
    return np.array(rounded), exact


def _room(rules: Rules, group: Group) -> int:
    return group.at_most - len(set(group.members) & set(rules.forced_in))


def _free(rules: Rules, length: int) -> NDArray[np.int64]:
    free = np.ones(length, dtype=bool)
    free[[*rules.forced_in, *rules.forced_out]] = False
    for group in rules.groups + rules.overlapping:
        if _room(rules, group) == 0:
            free[list(group.members)] = False
    return np.flatnonzero(free)


def _rules_left(rules: Rules, free: NDArray[np.int64]) -> Rules:
    """The group limits that remain, over the positions of the free items."""
    position = {item: new for new, item in enumerate(free.tolist())} if rules.has_limits else {}

    def left(groups: tuple[Group, ...]) -> list[Group]:
        over = [
            (_room(rules, group), [position[item] for item in group.members if item in position]) for group in groups
        ]
        return [Group(members=members, at_most=room) for room, members in over if len(members) > room]

    return Rules(groups=left(rules.groups), overlapping=left(rules.overlapping))
