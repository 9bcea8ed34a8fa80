"""Distribution of one reference column, exact or sketched, and the location and scale taken from it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SLOTS = 24  # sorted buffers of a sketch kept at a time
FEWEST_ENTRIES = 64  # in a buffer
MAD_TO_SIGMA = 1.4826  # makes the median absolute deviation agree with σ under a normal model
CENTERS = ("median", "mean")
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

    def _counted(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(positions > 0, self.counts[positions - 1], 0)


def exact_distribution(entries: NDArray[np.float64]) -> Distribution:
    """The column of all these entries; mean and deviation are infinite where a float cannot hold them."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = float(entries.mean()), float(entries.std())
    return Distribution(values=np.sort(entries), counts=np.arange(1, entries.size + 1), mean=mean, deviation=deviation)


class RankSketch:
    """Sorted buffers, each entry of which stands for a power of two of entries.

    When all slots are taken, the two lightest buffers of equal weight are merged and every second entry is kept
    with double weight. That moves any count by at most the old weight, upwards or downwards in turn; the sums of
    both are `rank_error`. Up to `SLOTS` buffers nothing is merged and the sketch is exact. The smallest and the
    largest entries, a quarter buffer of each, are kept apart and stay exact, as weights hang on them most. Sketches
    of several streams make one of all (`merged`), and what a sketch holds can be stored (`state`).

    Args:
        entries: how many numbers the sketch may hold (a few more while it merges); None keeps them all.

    >>> sketch = RankSketch(entries=24_000)
    >>> for start in range(0, 1_000_000, 10_000):
    ...     sketch.add(np.arange(start, start + 10_000, dtype=float))
    >>> column = sketch.column()
    >>> column.size, abs(column.quantile(0.5) - 499_999.5) <= column.rank_error < 0.01 * column.size
    (1000000, True)
    """

    def __init__(self, entries: int | None):
        self.buffer = sys.maxsize if entries is None else max(FEWEST_ENTRIES, entries // SLOTS)
        self.tail = self.buffer // 4
        self._pending: list[NDArray[np.float64]] = []
        self._levels: list[list[NDArray[np.float64]]] = [[]]
        self._over = self._under = 0
        self._low = self._high = np.empty(0)
        self.size, self._mean, self._squares = 0, 0.0, 0.0

    def add(self, entries: NDArray[np.float64]) -> None:
        """Take in more entries; none may be NaN."""
        if entries.size == 0:
            return
        self._count(entries)
        self._pending.append(entries.copy())
        self._fill_buffers()

    @classmethod
    def merged(cls, parts: Sequence[RankSketch]) -> RankSketch:
        """One sketch of the entries of all; rank errors add up, and tails are as long as the shortest."""
        whole = cls(None)
        whole.buffer, whole.tail = min(part.buffer for part in parts), min(part.tail for part in parts)
        whole._levels = [[] for _ in range(max(len(part._levels) for part in parts))]
        for part in parts:
            whole._combine(part.size, part._mean, part._squares)
            whole._over += part._over
            whole._under += part._under
            for level, buffers in enumerate(part._levels):
                whole._levels[level] += buffers
            whole._low, whole._high = (
                np.sort(np.concatenate([whole._low, part._low]))[: whole.tail],
                np.sort(np.concatenate([whole._high, part._high]))[-whole.tail :],
            )
            whole._pending += part._pending
        whole._settle()
        whole._fill_buffers()
        return whole

    @classmethod
    def of_entries(
        cls,
        values: NDArray[np.float64],
        levels: NDArray[np.int64],
        *,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        mean: float,
        deviation: float,
        rank_error: int,
        entries: int | None,
    ) -> RankSketch:
        """A sketch whose entries are known: each value stands for two to the power of its level of them.

        `low` and `high` are the smallest and the largest entries, ascending, as many as are known one by one.
        """
        found = cls(entries)
        found._levels = [[np.sort(values[levels == level])] for level in range(int(levels.max()) + 1)]
        found._over = found._under = rank_error
        found.tail = min(found.tail, low.size, high.size)
        found._low, found._high = low[: found.tail], high[high.size - found.tail :]
        found.size = int((1 << levels).sum())
        found._mean, found._squares = mean, deviation**2 * found.size
        return found

    def state(self) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """All numbers held, in one array, and plain data that tell which is which."""
        buffers = [buffer for level in self._levels for buffer in level]
        numbers = np.concatenate([*self._pending, self._low, self._high, *buffers, np.empty(0)])
        lengths = {
            "pending": sum(part.size for part in self._pending),
            "extremes": self._low.size,
            "levels": [[buffer.size for buffer in level] for level in self._levels],
        }
        plain = {"size": self.size, "mean": self._mean, "squares": self._squares}
        return numbers, {
            **lengths,
            **plain,
            "over": self._over,
            "under": self._under,
            "buffer": self.buffer,
            "tail": self.tail,
        }

    @classmethod
    def from_state(cls, numbers: NDArray[np.float64], plain: Mapping[str, Any]) -> RankSketch:
        """The sketch that `state` told of; ValueError where the two do not belong together."""
        found = cls(None)
        lengths = [size for level in plain["levels"] for size in level]
        head = [plain["pending"], plain["extremes"], plain["extremes"]]
        known = numbers.ndim == 1 and min([*head, *lengths]) >= 0 and sum(head) + sum(lengths) == numbers.size
        if not known or not np.isfinite(numbers).all():
            raise ValueError("the numbers are not those of the sketch")
        pending, found._low, found._high, *buffers = np.split(numbers, np.cumsum(head + lengths)[:-1])
        if any((np.diff(part) < 0).any() for part in (found._low, found._high, *buffers)):
            raise ValueError("a buffer of the sketch is not in order")
        found._pending, rest = [pending], iter(buffers)
        found._levels = [[next(rest) for _ in level] for level in plain["levels"]]
        found.size, found.buffer, found.tail = (int(plain[name]) for name in ("size", "buffer", "tail"))
        found._over, found._under = int(plain["over"]), int(plain["under"])
        found._mean, found._squares = float(plain["mean"]), float(plain["squares"])
        return found

    def _fill_buffers(self) -> None:
        """Whole buffers out of what is waiting."""
        if sum(part.size for part in self._pending) < self.buffer:
            return
        waiting = np.concatenate(self._pending)
        whole = waiting.size - waiting.size % self.buffer
        self._pending = [waiting[whole:]]
        for start in range(0, whole, self.buffer):
            self._push(np.sort(waiting[start : start + self.buffer]))

    def column(self) -> Distribution:
        """What the sketch knows."""
        rest = np.sort(np.concatenate([*self._pending, np.empty(0)]))
        if self._over == 0 and not any(self._levels[1:]):  # every entry stands for itself
            return exact_distribution(np.concatenate([rest, *self._levels[0]]))
        parts = [(rest, 1)]
        parts += [(buffer, 1 << level) for level, buffers in enumerate(self._levels) for buffer in buffers]
        values = np.concatenate([part for part, _ in parts])
        order = np.argsort(values, kind="stable")
        counts = np.cumsum(np.concatenate([np.full(part.size, weight) for part, weight in parts])[order])
        values = values[order]
        # ranks 1 to `tail` and their mirror images come from the kept extremes, all others from the buffers
        low, high = self._extremes(rest)
        inside = (values >= low[-1]) & (values < high[0])
        ends = np.arange(1, self.tail + 1)
        body = np.clip(counts[inside], self.tail, self.size - self.tail)
        return Distribution(
            values=np.concatenate([low, values[inside], high]),
            counts=np.concatenate([ends, body, self.size - self.tail + ends]),
            mean=self._mean,
            deviation=float(np.sqrt(self._squares / self.size)),
            rank_error=max(self._over, self._under),
        )

    def _push(self, buffer: NDArray[np.float64]) -> None:
        self._low, self._high = self._extremes(buffer)
        self._levels[0].append(buffer)
        self._settle()

    def _settle(self) -> None:
        """Merge buffers until the slots suffice."""
        while sum(map(len, self._levels)) >= SLOTS:
            level = next((h for h, buffers in enumerate(self._levels) if len(buffers) > 1), None)
            if level is None:  # the stream is so long that it earns one more slot per doubling
                return
            self._merge(level)

    def _merge(self, level: int) -> None:
        """Two buffers of one level become one of the next."""
        buffers = self._levels[level]
        both = np.sort(np.concatenate([buffers.pop(0), buffers.pop(0)]), kind="stable")
        upwards = self._over <= self._under
        self._over += upwards << level
        self._under += (not upwards) << level
        if level + 1 == len(self._levels):
            self._levels.append([])
        self._levels[level + 1].append(both[0 if upwards else 1 :: 2].copy())

    def _extremes(self, ascending: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The `tail` smallest and largest entries seen so far, these included."""
        full = self._low.size == self.tail
        low = ascending[ascending < self._low[-1]] if full else ascending
        high = ascending[ascending > self._high[0]] if full else ascending
        return (
            np.sort(np.concatenate([self._low, low[: self.tail]]))[: self.tail],
            np.sort(np.concatenate([self._high, high[-self.tail :]]))[-self.tail :],
        )

    def _count(self, entries: NDArray[np.float64]) -> None:
        """Mean and sum of squared deviations, merged block by block."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = entries.mean()
            self._combine(entries.size, mean, ((entries - mean) ** 2).sum())

    def _combine(self, more: int, mean: float, squares: float) -> None:
        """Moments of so many more entries."""
        if more == 0:
            return
        size = self.size + more
        with np.errstate(over="ignore", invalid="ignore"):
            shift = mean - self._mean
            self._squares += float(squares + shift**2 * self.size * more / size)
        self._mean += float(shift) * more / size
        self.size = size


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """Feature-wise μ̂ and σ̂, fit on the reference alone (Eq. zscore).

    Attributes:
        location: μ̂, the median or the mean.
        scale: σ̂, 1.4826·MAD or the standard deviation; 0 only where the feature is constant.
        fell_back: features whose MAD is zero (or next to it) although they vary, where the standard deviation
            stands in.
    """

    location: NDArray[np.float64]
    scale: NDArray[np.float64]
    fell_back: NDArray[np.bool_]

    def residuals(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Z = (X - μ̂) / σ̂; a value too far away for a float becomes infinite, and its weight the cap."""
        with np.errstate(over="ignore"):
            Z = X - self.location
            Z /= self.scale
        return Z


def fit_scale(columns: Sequence[Distribution], center: str) -> Scale:
    """Fit by median and MAD, or by mean and standard deviation."""
    varies = np.array([column.varies for column in columns])
    deviation = np.where(varies, [column.deviation for column in columns], 0.0)
    if center == "mean":
        location = np.array([column.mean for column in columns])
        return Scale(location=location, scale=deviation, fell_back=np.zeros(len(columns), dtype=bool))
    location = np.array([column.quantile(0.5) for column in columns])
    folded = [column.folded(middle) for column, middle in zip(columns, location, strict=True)]
    mad = np.array([MAD_TO_SIGMA * column.quantile(0.5) for column in folded])
    reach = np.array([column.values[-1] for column in folded])
    fell_back = varies & (mad <= reach / LARGEST_RESIDUAL)
    return Scale(location=location, scale=np.where(fell_back, deviation, mad), fell_back=fell_back)


OUTER = 0.05  # share of the reference at either end, whose length is the unit beyond it
LEAST_LENGTH = 1e-6  # of a standard deviation; a shorter end is one of ties


def beyond(excess: NDArray[np.float64], length: float) -> NDArray[np.float64]:
    """What a value weighs for lying beyond the whole reference, by how far it does: the tail goes on as 1/(1 + x)."""
    return np.log1p(excess / length)


def outer_length(length: float, column: Distribution) -> float:
    """The length of the outer five per cent; the standard deviation where that is next to nothing."""
    spread = column.deviation or 1.0
    return length if length > LEAST_LENGTH * spread else spread


def upper_surprise(column: Distribution, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """-log of the share of the reference at or above x, which goes on growing beyond its largest value.

    >>> from biselect.columns.distribution import exact_distribution
    >>> upper_surprise(exact_distribution(np.arange(9.0)), np.array([0.0, 8.0, 20.0])).round(2).tolist()
    [0.0, 1.61, 5.74]
    """
    last = column.values[-1]
    length = outer_length(last - column.quantile(1 - OUTER), column)
    share = (1 + column.size - column.below(x)) / (column.size + 1)
    return -np.log(share) + beyond(np.maximum(x - last, 0), length)
