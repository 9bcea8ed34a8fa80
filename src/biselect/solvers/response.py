"""Best response: with one side held, values add up on the other, so the best choice there is a top-c.

`SideProblem` is the problem seen from one side: choose items there, and the other side responds. Features are
items when they are enumerated or branched on, samples when those are. Whatever works on this view works for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import Rules, SelectionProblem
from biselect.core.exact_sums import at_least, score_units
from biselect.errors import InfeasibleError

AT_ONCE = 1 << 20  # values that may be copied
GLANCE_CELLS = 1_000_000  # seen in a few milliseconds
MOST_CELLS = 100_000_000  # whose largest numbers are found in a tenth of a second


@dataclass(frozen=True, kw_only=True, eq=False)
class Limits:
    """Limits of one side as arrays; both are empty if there are none.

    Attributes:
        of: for each item the numbers of the limits that it counts towards: its group, then those that overlap; -1 for
            none.
        room: for each limit how many items it allows.
    """

    of: NDArray[np.int64]
    room: NDArray[np.int64]

    def __bool__(self) -> bool:
        return self.room.size > 0

    @property
    def overlap(self) -> bool:
        """Whether an item can count towards several limits; then taking the best that fits is not always optimal."""
        return self.of.shape[1] > 1

    def keep(self, items: NDArray[np.int64]) -> "Limits":
        """The same limits over these items only."""
        return Limits(of=self.of[items], room=self.room) if self else self

    def side_by_side(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """An order of so many items in which those of an exclusive group are neighbours, first ones first.

        An exclusive group allows one item; an item in none is one of its own. With the order comes, for each place in
        it, where the group ends.
        """
        numbers = self.room.size + np.arange(count)
        if not self:
            return np.arange(count), np.arange(1, count + 1)
        alone = self._is_exclusive()
        numbers[alone] = self.of[alone, 0]
        _, first, group = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(first[group], kind="stable")
        return order, np.searchsorted(first[group][order], first[group][order], side="right")

    def beside_exclusive(self) -> "Limits":
        """The limits that are none of these groups."""
        of = self.of.copy()
        if self:
            of[self._is_exclusive(), 0] = -1
        return Limits(of=of, room=self.room if (of >= 0).any() else self.room[:0])

    def _is_exclusive(self) -> NDArray[np.bool_]:
        return (self.of[:, 0] >= 0) & (self.room[self.of[:, 0]] == 1)

    def allow(self, items: NDArray[np.int64]) -> bool:
        """Whether a choice stays inside every limit."""
        if not self:
            return True
        limits = self.of[items]
        return bool((np.bincount(limits[limits >= 0], minlength=self.room.size) <= self.room).all())


def limits_of(rules: Rules, length: int) -> Limits:
    """The limits among the rules of one side."""
    of = rules.memberships(length) if rules.has_limits else np.empty((0, 1), dtype=np.int64)
    return Limits(of=of, room=rules.limits)


def top(values: NDArray[np.floating[Any]], count: int) -> NDArray[np.int64]:
    """Positions of the `count` largest values along the last axis, ascending; ties go to the lowest index.

    >>> top(np.array([1.0, 3.0, 3.0, 3.0]), 2).tolist()
    [1, 2]
    """
    n = values.shape[-1]
    if count == n:
        return np.broadcast_to(np.arange(n), values.shape).astype(np.int64)
    if values.ndim == 1 and n > AT_ONCE:
        lowest = largest(values, count).min()
        larger = np.flatnonzero(values > lowest)
        return np.sort(np.concatenate([larger, np.flatnonzero(values == lowest)[: count - larger.size]]))
    threshold = np.partition(values, n - count, axis=-1)[..., n - count, None]
    above = values > threshold
    tied = values == threshold
    missing = count - above.sum(axis=-1, keepdims=True)
    mask = above | (tied & (np.cumsum(tied, axis=-1) <= missing))
    return np.nonzero(mask)[-1].reshape(*values.shape[:-1], count)


def largest(values: NDArray[np.floating[Any]], count: int) -> NDArray[np.floating[Any]]:
    """The `count` largest of a row of values, in any order; of a long one no copy is made.

    >>> np.sort(largest(np.array([1.0, 3.0, 2.0]), 2)).tolist()
    [2.0, 3.0]
    """
    candidates = values[:0]
    at_once = max(AT_ONCE, 2 * count)
    for begin in range(0, values.size, at_once):
        part = values[begin : begin + at_once]
        candidates = np.concatenate([candidates, part[part > candidates.min()] if candidates.size == count else part])
        if candidates.size > count:
            candidates = np.partition(candidates, candidates.size - count)[candidates.size - count :].copy()
    return candidates


def best_response(values: NDArray[np.floating[Any]], count: int, limits: Limits) -> NDArray[np.int64]:
    """The `count` items of the largest total value inside the limits, ascending; ties go to the lowest index.

    Disjoint groups form a matroid: taking the best item that still has room is optimal. With overlapping limits it is
    a good choice that obeys, but not always the best.

    >>> pairs = Limits(of=np.array([[0], [0], [1], [1]]), room=np.array([1, 1]))
    >>> best_response(np.array([4.0, 5.0, 1.0, 0.0]), 2, pairs).tolist()
    [1, 2]
    """
    if not limits:
        return top(values, count)
    if values.ndim > 1:
        return np.array([best_response(row, count, limits) for row in values]).reshape(*values.shape[:-1], count)
    items = fitting(np.argsort(-values, kind="stable"), count, limits)
    return np.sort(
        items if items.size == count or not limits.overlap else best_of_cases(values.tolist(), count, limits)
    )


def fitting(order: NDArray[np.int64], count: int, limits: Limits) -> NDArray[np.int64]:
    """The first `count` items of an order, each taken if its limits have room beside the earlier ones; or fewer."""
    if not limits:
        return order[:count]
    if limits.overlap:
        room: list[int] = limits.room.tolist()
        items: list[int] = []
        for item, numbers in zip(order.tolist(), limits.of[order].tolist(), strict=True):
            numbers = [number for number in numbers if number >= 0]
            if len(items) < count and all(room[number] for number in numbers):
                items.append(item)
                for number in numbers:
                    room[number] -= 1
        return np.array(items, dtype=np.int64)
    groups = limits.of[order, 0]
    by_group = np.argsort(groups, kind="stable")
    sorted_groups = groups[by_group]
    first = np.searchsorted(sorted_groups, sorted_groups, side="left")
    earlier = np.empty(order.size, dtype=np.int64)
    earlier[by_group] = np.arange(order.size) - first
    return order[(groups < 0) | (earlier < limits.room[groups])][:count]


def best_of_cases(values: Sequence[Any], count: int, limits: Limits) -> NDArray[np.int64]:
    """The best choice inside overlapping limits, exact for whole numbers, by all ways to use these limits up.

    Raises:
        InfeasibleError: if no choice of so many items obeys.
    """
    of, room = limits.of, limits.room
    shared = sorted(set(of[:, 1:].ravel().tolist()) - {-1})
    members = (of[:, 1:] >= 0).any(axis=1)
    involved = members | (np.isin(of[:, 0], of[members, 0]) & (of[:, 0] >= 0))
    order = sorted(range(len(values)), key=lambda item: -values[item])  # stable
    free = np.array([item for item in order if not involved[item]], dtype=np.int64)
    rest = fitting(free, count, Limits(of=of[:, :1], room=room)).tolist()
    groups: dict[int, list[int]] = {}
    for item in order:
        if involved[item]:
            group = int(of[item, 0])
            groups.setdefault(group if group >= 0 else ~item - 1, []).append(item)
    cases: dict[tuple[int, ...], tuple[Any, tuple[int, ...]]] = {(0, *(0 for _ in shared)): (0, ())}
    for group, items in groups.items():
        by_number = [cases]
        for item in items:
            steps = [int(number in of[item, 1:]) for number in shared]
            for before in range(min(len(by_number), int(room[group]) if group >= 0 else 1) - 1, -1, -1):
                if before + 1 == len(by_number):
                    by_number.append({})
                for used, (value, choice) in by_number[before].items():
                    after = (used[0] + 1, *(use + step for use, step in zip(used[1:], steps, strict=True)))
                    fits = after[0] <= count and all(
                        use <= room[number] for use, number in zip(after[1:], shared, strict=True)
                    )
                    better = value + values[item]
                    if fits and (after not in by_number[before + 1] or by_number[before + 1][after][0] < better):
                        by_number[before + 1][after] = (better, (*choice, item))
        cases = {}
        for part in by_number:
            for used, case in part.items():
                if used not in cases or cases[used][0] < case[0]:
                    cases[used] = case
    ends = [
        (value + sum(values[item] for item in rest[: count - used[0]]), (*choice, *rest[: count - used[0]]))
        for used, (value, choice) in cases.items()
        if count - used[0] <= len(rest)
    ]
    if not ends:
        raise InfeasibleError(f"no choice of {count} of these items obeys the limits")
    return np.sort(np.array(max(ends, key=itemgetter(0))[1], dtype=np.int64))


def sample_values(problem: SelectionProblem, features: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each sample would add, given these features."""
    sums = problem.coupling[:, features].sum(axis=1, dtype=np.float64)
    return problem.sample_scores + problem.coupling_weight * sums


def feature_values(problem: SelectionProblem, samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """What each feature would add, given these samples."""
    sums = problem.coupling[samples].sum(axis=0, dtype=np.float64)
    return problem.feature_scores + problem.coupling_weight * sums


def best_samples(problem: SelectionProblem, features: NDArray[np.int64]) -> NDArray[np.int64]:
    """Best response of the samples."""
    limits = limits_of(problem.sample_rules, problem.n_samples)
    return best_response(sample_values(problem, features), problem.k, limits)


def best_features(problem: SelectionProblem, samples: NDArray[np.int64]) -> NDArray[np.int64]:
    """Best response of the features."""
    limits = limits_of(problem.feature_rules, problem.n_features)
    return best_response(feature_values(problem, samples), problem.m, limits)


def glance(problem: SelectionProblem) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """A feasible choice from a look at a few rows, and a bound: (samples, features, bound) where time is up.

    No energy lies below the bound, which takes the largest of everything. It is -inf where finding that takes long.
    """
    rows = slice(None, None, 1 + problem.coupling.size // GLANCE_CELLS)
    cells, values = problem.coupling_weight * problem.coupling[rows], np.full(problem.n_samples, -np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        means = problem.k * cells.mean(axis=0, dtype=np.float64)
    features = _inside(means + problem.feature_scores, problem.m, problem.feature_rules)
    values[rows] = problem.sample_scores[rows] + cells[:, features].sum(axis=1, dtype=np.float64)
    samples = _inside(values, problem.k, problem.sample_rules)
    if problem.coupling.size > MOST_CELLS:
        return samples, features, -np.inf
    most = np.tile(largest(problem.coupling.max(axis=0), problem.m), problem.k)
    marginals = largest(problem.sample_scores, problem.k), largest(problem.feature_scores, problem.m)
    return samples, features, -at_least(score_units(*marginals, problem.coupling_weight, most))


def _inside(values: NDArray[np.float64], count: int, rules: Rules) -> NDArray[np.int64]:
    """The best response inside all rules, forced choices included."""
    values = np.nan_to_num(values)  # also without infinities, which say what is forced
    if rules.overlapping:  # sums are compared: let places in the order stand for values, so that none is infinite
        values = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)
    most = values.size**2 if rules.overlapping else np.inf
    values[list(rules.forced_in)], values[list(rules.forced_out)] = most, -most
    return best_response(values, count, limits_of(rules, values.size))


def folded(problem: SelectionProblem) -> NDArray[np.float64]:
    """W' = λW + a_i/m + b_j/k: inside the budgets its block sums are the whole score."""
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    weights += problem.sample_scores[:, None] / problem.m
    weights += problem.feature_scores / problem.k
    return weights


@dataclass(frozen=True, kw_only=True, eq=False)
class SideProblem:
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

    def line_values(self, items: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each line adds, given these items of the other side."""
        return self.line_scores + self.scale * self.lines[:, items].sum(axis=1, dtype=np.float64)

    def respond(self, subset: NDArray[np.int64]) -> NDArray[np.int64]:
        """Best items of the other side, given these lines."""
        return best_response(self.values(subset), self.keep, self.base_limits)

    def best_lines(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """Best lines, given these items of the other side."""
        return best_response(self.line_values(items), self.choose, self.line_limits)

    def score(self, subset: NDArray[np.int64], items: NDArray[np.int64]) -> float:
        """The score of a whole choice."""
        return float(self.values(subset)[items].sum() + self.line_scores[subset].sum())

    def order(self, subset: NDArray[np.int64], items: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(samples, features) of a choice."""
        return (items, subset) if self.lines_are == "features" else (subset, items)


def by_features(problem: SelectionProblem) -> SideProblem:
    """Features are the lines."""
    return _seen_from("features", problem, problem.columns)


def by_samples(problem: SelectionProblem) -> SideProblem:
    """Samples are the lines."""
    return _seen_from("samples", problem, np.ascontiguousarray(problem.coupling))


def _seen_from(side: str, problem: SelectionProblem, lines: NDArray[np.floating[Any]]) -> SideProblem:
    sides = [
        (problem.feature_scores, problem.m, limits_of(problem.feature_rules, problem.n_features)),
        (problem.sample_scores, problem.k, limits_of(problem.sample_rules, problem.n_samples)),
    ]
    (line_scores, choose, line_limits), (base, keep, base_limits) = sides if side == "features" else sides[::-1]
    return SideProblem(
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


def cheaper_side(problem: SelectionProblem) -> SideProblem:
    """The side that takes fewer cells to enumerate; features on a tie, and if they have overlapping limits."""
    if problem.feature_rules.overlapping:
        return by_features(problem)
    sector = problem.sector.without_rules
    features_cost = sector.feature_subsets * problem.n_samples
    samples_cost = sector.sample_subsets * problem.n_features
    return by_features(problem) if features_cost <= samples_cost else by_samples(problem)
