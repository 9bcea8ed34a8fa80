"""Forced choices are folded away before any solver starts: what is left is a smaller problem of the same kind.

A forced sample adds its row to the features' marginals, a forced feature its column to the samples'; what they
hold among themselves is a constant. Items that are forced out, or whose group the forced ones fill, are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biselect.core import Group, Rules, SelectionProblem
from biselect.solvers.response import best_response, feature_values, limits_of, sample_values


@dataclass(frozen=True, kw_only=True, eq=False)
class Reduced:
    """The problem without its forced choices.

    Attributes:
        whole: the problem as asked.
        free_samples: samples still open, ascending.
        free_features: features still open, ascending.
        rest: the problem over what is open; None where a budget is used up, or all of `whole` where nothing is forced.
    """

    whole: SelectionProblem
    free_samples: NDArray[np.int64]
    free_features: NDArray[np.int64]
    rest: SelectionProblem | None

    @property
    def energy(self) -> float:
        """What the forced choices hold among themselves."""
        if self.rest is self.whole:
            return 0.0
        return self.whole.energy(self.whole.sample_rules.forced_in, self.whole.feature_rules.forced_in)

    def bound(self, rest_bound: float) -> float:
        """A bound on the rest as a bound on the whole, less what rounding can do to sums of this size."""
        if self.rest is self.whole:
            return rest_bound
        problem = self.whole
        largest = problem.coupling_weight * float(np.abs(problem.coupling).max())
        largest += float(np.abs(problem.sample_scores).max() + np.abs(problem.feature_scores).max())
        slack = 4 * (problem.k + problem.m) * problem.k * problem.m * largest * float(np.finfo(np.float64).eps)
        return rest_bound + self.energy - slack

    def restore(
        self, samples: NDArray[np.int64], features: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """A choice of `rest` as a choice of the whole, ascending."""
        forced_samples, forced_features = self.whole.sample_rules.forced_in, self.whole.feature_rules.forced_in
        whole_samples = np.concatenate([self.free_samples[samples], np.array(forced_samples, dtype=np.int64)])
        whole_features = np.concatenate([self.free_features[features], np.array(forced_features, dtype=np.int64)])
        return np.sort(whole_samples), np.sort(whole_features)

    def only_choice(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The optimum where a budget is used up: one side is given, so the other is a best response."""
        problem = self.whole
        samples = np.array(problem.sample_rules.forced_in, dtype=np.int64)
        features = np.array(problem.feature_rules.forced_in, dtype=np.int64)
        if features.size < problem.m:
            values = feature_values(problem, samples)[self.free_features]
            limits = limits_of(_rules_left(problem.feature_rules, self.free_features), self.free_features.size)
            chosen = best_response(values, problem.m - features.size, limits)
            features = np.sort(np.concatenate([features, self.free_features[chosen]]))
        elif samples.size < problem.k:
            values = sample_values(problem, features)[self.free_samples]
            limits = limits_of(_rules_left(problem.sample_rules, self.free_samples), self.free_samples.size)
            chosen = best_response(values, problem.k - samples.size, limits)
            samples = np.sort(np.concatenate([samples, self.free_samples[chosen]]))
        return samples, features


def without_forced(problem: SelectionProblem) -> Reduced:
    """Fold the forced choices of a problem away."""
    rules = (problem.sample_rules, problem.feature_rules)
    samples, features = _free(rules[0], problem.n_samples), _free(rules[1], problem.n_features)
    if samples.size == problem.n_samples and features.size == problem.n_features:
        return Reduced(whole=problem, free_samples=samples, free_features=features, rest=problem)
    forced_samples, forced_features = (np.array(side.forced_in, dtype=np.int64) for side in rules)
    k, m = problem.k - forced_samples.size, problem.m - forced_features.size
    rest = None
    if k and m:
        rest = replace(
            problem,
            coupling=problem.coupling[np.ix_(samples, features)],
            sample_scores=sample_values(problem, forced_features)[samples],
            feature_scores=feature_values(problem, forced_samples)[features],
            sample_names=None,
            feature_names=None,
            k=k,
            m=m,
            sample_rules=_rules_left(rules[0], samples),
            feature_rules=_rules_left(rules[1], features),
        )
    return Reduced(whole=problem, free_samples=samples, free_features=features, rest=rest)


def _room(rules: Rules, group: Group) -> int:
    return group.at_most - len(set(group.members) & set(rules.forced_in))


def _free(rules: Rules, length: int) -> NDArray[np.int64]:
    free = np.ones(length, dtype=bool)
    free[[*rules.forced_in, *rules.forced_out]] = False
    for group in rules.groups:
        if _room(rules, group) == 0:
            free[list(group.members)] = False
    return np.flatnonzero(free)


def _rules_left(rules: Rules, free: NDArray[np.int64]) -> Rules:
    """The group limits that remain, over the positions of the free items."""
    position = {item: new for new, item in enumerate(free.tolist())} if rules.groups else {}
    left = []
    for group in rules.groups:
        members = tuple(position[item] for item in group.members if item in position)
        if len(members) > _room(rules, group):
            left.append(Group(members=members, at_most=_room(rules, group)))
    return Rules(groups=tuple(left))
