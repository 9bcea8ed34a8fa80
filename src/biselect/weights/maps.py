"""From residuals to weights: what a map is, and those that biselect brings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.columns.distribution import OUTER, Distribution, beyond, fit_scale, outer_length
from biselect.errors import InputError
from biselect.extensions import Registry

__all__ = ["WeightMap", "map_names"]

KERNEL_CELLS = 500_000  # below this NumPy is done before numba has loaded


@runtime_checkable
class WeightMap(Protocol):
    """How unusual a number is, learnt from a reference: what `Weigher(map=...)` takes beside a name.

    Subclass it, or write a class with the same members; `biselect.testing.assert_map_api` checks it. Categories weigh
    by how rare they are, whatever the map.

    Attributes:
        cap: the largest weight unless the caller says otherwise.
        needs_rows: whether `fit` must see the reference row by row. Such a map takes neither a summary nor a table that
            is too large to be held.
    """

    cap: ClassVar[float] = 10.0
    needs_rows: ClassVar[bool] = False

    @abstractmethod
    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Learn from the reference.

        Args:
            columns: the distribution of each column's residuals. Each varies.
            rows: the residuals, rows × columns, NaN where a number is missing; None unless `needs_rows`.
        """

    @abstractmethod
    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weigh each number by itself: no other row of the table counts.

        Args:
            residuals: rows × columns of any table, in the units of `columns`.

        Returns:
            Weights before they are cut to [0, cap], larger for more unusual ones: -log p where there is a probability.
        """

    def weigh_own(self, residuals: NDArray[np.float64], columns: Sequence[Distribution]) -> NDArray[np.float64]:
        """Weigh rows of the reference itself, each against the others.

        Args:
            residuals: some rows of the reference.
            columns: what `fit` learnt from.

        Returns:
            Weights as `weigh` gives them; the same as there unless a map knows better.
        """
        return self.weigh(residuals)

    def interval(self, weight: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Where numbers weigh little, so that most rows of a large table need no closer look.

        Args:
            weight: a level for each column.

        Returns:
            For each column the ends of an interval within which no residual weighs more than its level, 2 × columns;
            the ends are the wrong way round where there is none. None where the map cannot tell: every row is weighed.
        """
        return None


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """levels[r] where r knots lie below x.

    Attributes:
        values: ascending knots.
        levels: one more than there are knots.
        inclusive: whether a knot equal to x counts as below it.
    """

    values: NDArray[np.float64]
    levels: NDArray[np.float64]
    inclusive: bool

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The step function at every x."""
        return self.levels[np.searchsorted(self.values, x, side="right" if self.inclusive else "left")]

    def at_most(self, level: float) -> tuple[float, float]:
        """The ends of an interval within which the function is no higher; the wrong way round where there is none."""
        lowest = int(np.argmin(self.levels))
        if self.levels[lowest] > level:
            return np.inf, -np.inf
        higher = np.flatnonzero(self.levels > level)
        place = np.searchsorted(higher, lowest)
        low = -np.inf if place == 0 else np.nextafter(self.values[higher[place - 1]], np.inf)
        high = np.inf if place == higher.size else np.nextafter(self.values[higher[place] - 1], -np.inf)
        return float(low), float(high)


def apply_steps(steps: Sequence[Steps], Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distribution j of Z through step function j; large matrices through a kernel with the same answer."""
    if Z.size < KERNEL_CELLS:
        return np.stack([step(z) for step, z in zip(steps, Z.T, strict=True)], axis=1)
    from biselect.weights._steps_kernel import look_up

    out = np.empty(Z.shape)

    for j, step in enumerate(steps):
        look_up(Z[:, j], step.values, step.levels, step.inclusive, out[:, j])
    return out


class EcdfMap(WeightMap):
    """-log 2·min(F̂, 1 - F̂), F̂ read off the ranks of the reference (Eq. tail-calibration)."""

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Tabulate the score of every rank."""
        self.steps = [tail_steps(column) for column in columns]

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each residual's rank."""
        return apply_steps(self.steps, residuals)

    def weigh_own(self, residuals: NDArray[np.float64], columns: Sequence[Distribution]) -> NDArray[np.float64]:
        """The score of each residual's rank among the other rows of the reference."""
        scores = np.empty(residuals.shape)
        for j, column in enumerate(columns):
            below, at_most = column.below(residuals[:, j]), column.at_most(residuals[:, j])
            ties = np.maximum(at_most - below - 2, 0)  # of t tied others t - 1 count in the upper tail, as in `weigh`
            scores[:, j] = _score(at_most - 1, column.size - at_most + ties, column.size - 1)
        return scores

    def interval(self, weight: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The steps around the lowest one that are no higher."""
        return np.array([step.at_most(one) for step, one in zip(self.steps, weight, strict=True)]).T


class ReachMap(EcdfMap):
    """The `ecdf` map inside the reference; beyond it the weight goes on growing with the distance.

    Ranks alone saturate at 1/(n + 1): whatever lies beyond the reference weighs alike. Here the tail goes on as
    1/(1 + x), x in lengths of the outer five per cent on that side: so heavy a tail that a far value weighs more, and
    never so much that one cell decides alone.
    """

    cap: ClassVar[float] = 20.0  # a rank weighs log((n + 1) / 2) at most, 13 in a million rows: room beyond it

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Tabulate the score of every rank, and both ends."""
        super().fit(columns)
        ends = np.array([(column.values[0], column.values[-1]) for column in columns]).T
        lengths = [
            [outer_length(abs(end - column.quantile(q)), column) for column, end in zip(columns, side, strict=True)]
            for side, q in zip(ends, (OUTER, 1 - OUTER), strict=True)
        ]
        (self.low, self.high), (self.below, self.above) = ends, lengths

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each residual's rank, and of how far it lies beyond the reference."""
        scores = super().weigh(residuals)
        for j, z in enumerate(residuals.T):
            for outside, excess, length in (
                (np.flatnonzero(z > self.high[j]), z - self.high[j], self.above[j]),
                (np.flatnonzero(z < self.low[j]), self.low[j] - z, self.below[j]),
            ):
                if outside.size:
                    scores[outside, j] += beyond(excess[outside], length)
        return scores

    def weigh_own(self, residuals: NDArray[np.float64], columns: Sequence[Distribution]) -> NDArray[np.float64]:
        """The same among the other rows of the reference, of which the outermost lies beyond the next one."""
        scores = super().weigh_own(residuals, columns)
        for j, (column, z) in enumerate(zip(columns, residuals.T, strict=True)):
            others = column.size - 1
            outer = OUTER * (others - 1)
            for end, place, rank in ((self.low[j], 1, 1 + outer), (self.high[j], others - 1, others - 1 - outer)):
                last = float(column.entry(np.array(place)))
                length = outer_length(abs(last - column.quantile(rank / others)), column)
                scores[z == end, j] += beyond(abs(end - last), length)
        return scores

    def interval(self, weight: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """The same within the reference."""
        ends = super().interval(weight)
        return None if ends is None else np.stack([np.maximum(ends[0], self.low), np.minimum(ends[1], self.high)])


def smoothed_cdf(ranks: ArrayLike, n: int) -> NDArray[np.float64]:
    """F̂ = clip((R + ½)/(n + 1), 1/(n + 1), n/(n + 1)): never 0, never 1."""
    return np.clip((np.asarray(ranks) + 0.5) / (n + 1), 1 / (n + 1), n / (n + 1))


def tail_steps(column: Distribution) -> Steps:
    """-log 2·min(F̂, 1 - F̂) as a function of the residual.

    By the paper's rank alone the most common value of a tied feature would be among the most extreme: of a flag that
    is set in half of the reference, every set one. A value that stands t > 1 times in the reference therefore counts
    t - 1 of these in its upper tail as well. Where nothing is tied the score is the paper's.
    """
    n, values = column.size, column.values
    ranks = np.concatenate([[0], column.counts])
    levels = rank_steps(column).levels
    last_equal = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    first_equal = np.append(0, last_equal[:-1] + 1)
    tied = last_equal > first_equal
    if column.rank_error == 0:  # in a sketch a heavy knot stands for many values, elsewhere for one value many times
        tied |= ranks[last_equal + 1] - ranks[first_equal] > 1
    last, first = last_equal[tied], first_equal[tied]
    others = ranks[last + 1] - ranks[first] - 1
    beyond = levels[last + 1]
    levels[last + 1] = _score(ranks[last + 1], n - ranks[last + 1] + others, n)
    # a knot right above a tied value ends its own level
    return Steps(
        values=np.insert(values, last + 1, np.nextafter(values[last], np.inf)),
        levels=np.insert(levels, last + 2, beyond),
        inclusive=True,
    )


def rank_steps(column: Distribution) -> Steps:
    ranks = np.concatenate([[0], column.counts])
    return Steps(values=column.values, levels=_score(ranks, column.size - ranks, column.size), inclusive=True)


def _score(lower: NDArray[np.int64], upper: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """-log 2·min of both tails, each from its own rank, so that both ends have the very same largest weight."""
    return -np.log(2 * np.minimum(smoothed_cdf(lower, n), smoothed_cdf(upper, n)))


class MadZMap(WeightMap):
    """|x - median| / 1.4826·MAD: a plain distance in units of spread; the standard deviation where the MAD is zero."""

    center: ClassVar[str] = "median"

    def fit(self, columns: Sequence[Distribution], rows: NDArray[np.float64] | None = None) -> None:
        """Fit location and scale."""
        self.scale = fit_scale(columns, self.center)

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distance from the location."""
        return np.abs(self.scale.residuals(residuals))


class GaussianMap(MadZMap):
    """-log P(|N(mean, deviation)| is further out): what ranks of rows in all columns together are made from."""

    center: ClassVar[str] = "mean"

    def weigh(self, residuals: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log 2Φ(-|z|), accurate far beyond where the probability itself underflows."""
        from scipy.special import log_ndtr

        return -(np.log(2) + log_ndtr(-super().weigh(residuals)))


MAPS: Registry[type[WeightMap]] = Registry(
    "biselect.maps",
    "map",
    {
        "reach": ReachMap,
        "ecdf": EcdfMap,
        "ecdf-paper": "biselect.weights.paper:PaperEcdfMap",
        "mad-z": MadZMap,
    },
)
"""Every map; `MAPS.register("mine", MyMap)` adds one for a script, an entry point for a package."""


def map_names() -> list[str]:
    """Names that `Weigher(map=...)` accepts.

    >>> map_names()[:4]
    ['reach', 'ecdf', 'ecdf-paper', 'mad-z']
    """
    return MAPS.names()


def make_map(map: str | WeightMap | type[WeightMap]) -> WeightMap:
    """A map of its own to be fit: of a name, of a class, or a copy of an object."""
    if isinstance(map, str):
        return MAPS.load(map)()
    made: Any = map() if isinstance(map, type) else deepcopy(map)
    if not isinstance(made, WeightMap):
        raise InputError(
            f"map must be one of {', '.join(map_names())}, or an object with the members of "
            f"biselect.weights.maps.WeightMap, got {map!r}"
        )
    return made


def map_name(map: str | WeightMap | type[WeightMap]) -> str:
    """What a person reads: the map's name, or that of its class."""
    if isinstance(map, str):
        return map
    return (map if isinstance(map, type) else type(map)).__name__


def stored_name(map: str | WeightMap | type[WeightMap]) -> str:
    """The name under which a map is written to a file.

    Raises:
        InputError: it has none, so that no other process could load it.
    """
    if not isinstance(map, str):
        raise InputError(
            f"the answer for a table too large to be held is stored with its map's name, and {map_name(map)} has "
            "none: register it, biselect.weights.maps.MAPS.register('my-map', "
            f"{map_name(map)}), and give map='my-map'"
        )
    return map
