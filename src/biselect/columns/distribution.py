"""Distribution of one reference column, exact or sketched, and the location and scale taken from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

TAIL_SHARE = 8  # one knot in so many is kept at either end when a distribution is thinned
MAD_TO_SIGMA = 1.4826  # makes the median absolute deviation agree with σ under a normal model
LARGEST_RESIDUAL = 1e100  # of the reference; a MAD so small that one would be larger counts as zero


@dataclass(frozen=True, kw_only=True, eq=False)
class Distribution:
    """Ascending knots and how many reference entries lie at or below each.

    Attributes:
        values: the knots; every entry where the column is exact.
        counts: entries at or below each knot; the last is n.
        mean: over all entries.
        deviation: standard deviation over all entries.
        rank_error: no count is wrong by more than this many entries; 0 where the column is exact.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    mean: float
    deviation: float
    rank_error: int = 0

    @property
    def size(self) -> int:
        """How many entries, n."""
        return int(self.counts[-1])

    @property
    def varies(self) -> bool:
        """Whether the reference holds more than one value, apart enough for a float to tell."""
        return bool(self.values[0] < self.values[-1]) and self.deviation > 0

    @property
    def weights(self) -> NDArray[np.int64]:
        """How many entries each knot stands for."""
        return np.diff(self.counts, prepend=0)

    @property
    def tied_share(self) -> float:
        """Share of entries that equal another one."""
        same = self.values[1:] == self.values[:-1]
        tied = np.append(same, False) | np.append(False, same)
        if self.rank_error == 0:
            tied |= self.weights > 1
        return float(self.weights[tied].sum() / self.size)

    def below(self, x: ArrayLike) -> NDArray[np.int64]:
        """Entries strictly below x."""
        return self._counted(np.searchsorted(self.values, x, side="left"))

    def at_most(self, x: ArrayLike) -> NDArray[np.int64]:
        """Entries at or below x: the paper's R_j(x)."""
        return self._counted(np.searchsorted(self.values, x, side="right"))

    def entry(self, position: NDArray[np.int64]) -> NDArray[np.float64]:
        """The entries at these positions of the ascending order, counted from 0."""
        return self.values[np.searchsorted(self.counts, position, side="right")]

    def quantile(self, q: float) -> float:
        """The q-quantile, linear between neighbouring entries.

        >>> exact_distribution(np.array([4.0, 1.0, 2.0])).quantile(0.75)
        3.0
        """
        position = q * (self.size - 1)
        first, second = int(np.floor(position)), int(np.ceil(position))
        low, high = self.values[np.searchsorted(self.counts, [first + 1, second + 1])]
        return float(low + (position - first) * (high - low))

    def scaled(self, location: float, scale: float) -> Distribution:
        """The distribution of (x - location) / scale."""
        return replace(
            self,
            values=(self.values - location) / scale,
            mean=(self.mean - location) / scale,
            deviation=self.deviation / scale,
        )

    def folded(self, center: float) -> Distribution:
        """The distribution of `|x - center|`; a count there is a difference of two counts here."""
        distances = np.abs(self.values - center)
        order = np.argsort(distances, kind="stable")
        weights = self.weights
        mean = float(np.average(distances, weights=weights))
        return Distribution(
            values=distances[order],
            counts=np.cumsum(weights[order]),
            mean=mean,
            deviation=float(np.sqrt(np.average((distances - mean) ** 2, weights=weights))),
            rank_error=2 * self.rank_error,
        )

    def with_entries(self, value: float, number: int) -> Distribution:
        """The distribution after `number` more entries of one value."""
        if number == 0:
            return self
        place = int(np.searchsorted(self.values, value, side="right"))
        counts = np.insert(self.counts, place, self.at_most(value))
        counts[place:] += number
        share = number / (self.size + number)
        return replace(
            self,
            values=np.insert(self.values, place, value),
            counts=counts,
            mean=self.mean + share * (value - self.mean),
            deviation=float(np.sqrt((1 - share) * (self.deviation**2 + share * (value - self.mean) ** 2))),
        )

    @classmethod
    def merged(cls, parts: Sequence[Distribution]) -> Distribution:
        """The distribution of the entries of all; rank errors add up.

        >>> halves = [exact_distribution(np.array(half)) for half in ([1.0, 4.0], [2.0, 2.0])]
        >>> Distribution.merged(halves).at_most([1, 2, 4]).tolist()
        [1, 3, 4]
        """
        if len(parts) == 1:
            return parts[0]
        values = np.concatenate([part.values for part in parts])
        order = np.argsort(values, kind="stable")
        sizes = [part.size for part in parts]
        mean = float(np.average([part.mean for part in parts], weights=sizes))
        squares = [part.deviation**2 + (part.mean - mean) ** 2 for part in parts]
        return cls(
            values=values[order],
            counts=np.cumsum(np.concatenate([part.weights for part in parts])[order]),
            mean=mean,
            deviation=float(np.sqrt(np.average(squares, weights=sizes))),
            rank_error=sum(part.rank_error for part in parts),
        )

    def thinned(self, knots: int) -> Distribution:
        """The same with about so many knots: both tails stay exact, neighbouring knots between them become one.

        The knot in the middle of each run of neighbours stands for all of them, which moves no rank by more than what
        lies on either side of it; `rank_error` grows by the most of that.

        >>> rough = exact_distribution(np.arange(100_000.0)).thinned(2_000)
        >>> rough.values.size < 2_000, rough.rank_error < 100, rough.quantile(0.0), rough.below(99_990.0)
        (True, True, 0.0, array(99990))
        """
        if self.values.size <= knots:
            return self
        firsts = np.flatnonzero(np.append(True, self.values[1:] != self.values[:-1]))
        values, sizes = self.values[firsts], np.add.reduceat(self.weights, firsts)
        tied = (np.diff(firsts, append=self.values.size) > 1) | ((self.rank_error == 0) & (sizes > 1))
        before = np.append(0, np.cumsum(sizes))
        starts = np.arange(values.size)
        if values.size + tied.sum() > knots:
            tail = max(1, knots // TAIL_SHARE)
            inside = slice(min(tail, values.size), max(values.size - tail, tail))
            bins = knots - 2 * tail
            ranks = before[inside] + sizes[inside] // 2
            places = ranks * bins // max(1, self.size)
            starts = np.concatenate(
                [
                    starts[: inside.start],
                    inside.start + np.flatnonzero(np.diff(places, prepend=-1)),
                    starts[inside.stop :],
                ]
            )
        stops = np.append(starts[1:], values.size)
        middle = np.searchsorted(before[1:], (before[starts] + before[stops]) / 2)
        error = max((before[middle] - before[starts]).max(), (before[stops] - before[middle + 1]).max())
        twice = 1 + (tied[middle] & (stops - starts == 1))  # two knots of one value say that it is tied
        weights = np.repeat(before[stops] - before[starts] - (twice - 1), twice)
        weights[np.cumsum(twice)[twice == 2] - 1] = 1
        return replace(
            self,
            values=np.repeat(values[middle], twice),
            counts=np.cumsum(weights),
            rank_error=self.rank_error + int(error),
        )

    def _counted(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(positions > 0, self.counts[positions - 1], 0)


def exact_distribution(entries: NDArray[np.float64]) -> Distribution:
    """The column of all these entries; mean and deviation are infinite where a float cannot hold them."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = float(entries.mean()), float(entries.std())
    return Distribution(values=np.sort(entries), counts=np.arange(1, entries.size + 1), mean=mean, deviation=deviation)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """Feature-wise μ̂ and σ̂, fit on the reference alone (Eq. zscore).

    Attributes:
        location: μ̂, the median or the mean.
        scale: σ̂, 1.4826·MAD or the standard deviation; 0 only where the feature is constant.
    """

    location: NDArray[np.float64]
    scale: NDArray[np.float64]

    def residuals(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Z = (X - μ̂) / σ̂; a value too far away for a float becomes infinite, and its weight the cap."""
        with np.errstate(over="ignore"):
            Z = X - self.location
            Z /= self.scale
        return Z


def robust_scale(column: Distribution) -> tuple[float, float, bool]:
    """Median and 1.4826·MAD.

    Returns:
        The median, the scale, and whether that is the standard deviation because the MAD is zero, or next to it,
        although the column varies.
    """
    location = column.quantile(0.5)
    folded = column.folded(location)
    mad = MAD_TO_SIGMA * folded.quantile(0.5)
    fell_back = column.varies and mad <= float(folded.values[-1]) / LARGEST_RESIDUAL
    return location, column.deviation if fell_back else mad, fell_back


def fit_scale(columns: Sequence[Distribution], center: str) -> Scale:
    """Fit by `median` and MAD, or by `mean` and standard deviation."""
    if center == "mean":
        pairs = [(column.mean, column.deviation if column.varies else 0.0) for column in columns]
    else:
        pairs = [robust_scale(column)[:2] for column in columns]
    location, scale = np.array(pairs).reshape(-1, 2).T
    return Scale(location=location, scale=scale)


OUTER = 0.05  # share of the reference at either end, whose length is the unit beyond it
LEAST_LENGTH = 1e-6  # of a standard deviation; a shorter end is one of ties


def beyond(excess: ArrayLike, length: float) -> NDArray[np.float64]:
    """What a value weighs for lying beyond the whole reference, by how far it does: the tail goes on as 1/(1 + x)."""
    return np.log1p(np.maximum(excess, 0.0) / length)


def outer_length(length: float, column: Distribution) -> float:
    """The length of the outer five per cent; the standard deviation where that is next to nothing."""
    spread = column.deviation or 1.0
    return length if length > LEAST_LENGTH * spread else spread


def upper_surprise(column: Distribution, x: NDArray[np.float64], *, own: bool = False) -> NDArray[np.float64]:
    """How surprising a large value is.

    Args:
        column: the reference.
        x: values.
        own: whether these are entries of the reference themselves; each is then compared with the others.

    Returns:
        -log of the share of the reference at or above x, which goes on growing beyond its largest value.

    >>> from biselect.columns.distribution import exact_distribution
    >>> upper_surprise(exact_distribution(np.arange(9.0)), np.array([0.0, 8.0, 20.0])).round(2).tolist()
    [0.0, 1.61, 5.74]
    """
    n = column.size - own
    last = float(column.entry(np.array(n - 1)))  # of the others, for the one entry that can lie beyond them
    outer = (1 - OUTER) * ((n - 1) / n if own else 1.0)  # where their outer share begins among all
    length = outer_length(last - column.quantile(outer), column)
    return beyond(x - last, length) - np.log((1 + n - column.below(x)) / (n + 1))
