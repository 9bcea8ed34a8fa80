"""Column: the reference distribution of one feature, exact or sketched, read through counts and quantiles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Column:
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

    def quantile(self, q: float) -> float:
        """The q-quantile, linear between neighbouring entries.

        >>> exact_column(np.array([4.0, 1.0, 2.0])).quantile(0.75)
        3.0
        """
        position = q * (self.size - 1)
        first, second = int(np.floor(position)), int(np.ceil(position))
        low, high = self.values[np.searchsorted(self.counts, [first + 1, second + 1])]
        return float(low + (position - first) * (high - low))

    def scaled(self, location: float, scale: float) -> Column:
        """The distribution of (x - location) / scale."""
        return Column(
            values=(self.values - location) / scale,
            counts=self.counts,
            mean=(self.mean - location) / scale,
            deviation=self.deviation / scale,
            rank_error=self.rank_error,
        )

    def folded(self, center: float) -> Column:
        """The distribution of `|x - center|`; a count there is a difference of two counts here."""
        distances = np.abs(self.values - center)
        order = np.argsort(distances, kind="stable")
        weights = self.weights
        mean = float(np.average(distances, weights=weights))
        return Column(
            values=distances[order],
            counts=np.cumsum(weights[order]),
            mean=mean,
            deviation=float(np.sqrt(np.average((distances - mean) ** 2, weights=weights))),
            rank_error=2 * self.rank_error,
        )

    def with_entries(self, value: float, number: int) -> Column:
        """The distribution after `number` more entries of one value."""
        if number == 0:
            return self
        place = int(np.searchsorted(self.values, value, side="right"))
        counts = np.insert(self.counts, place, self.at_most(value))
        counts[place:] += number
        share = number / (self.size + number)
        return Column(
            values=np.insert(self.values, place, value),
            counts=counts,
            mean=self.mean + share * (value - self.mean),
            deviation=float(np.sqrt((1 - share) * (self.deviation**2 + share * (value - self.mean) ** 2))),
            rank_error=self.rank_error,
        )

    def _counted(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(positions > 0, self.counts[positions - 1], 0)


def exact_column(entries: NDArray[np.float64]) -> Column:
    """The column of all these entries; mean and deviation are infinite where a float cannot hold them."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = float(entries.mean()), float(entries.std())
    return Column(values=np.sort(entries), counts=np.arange(1, entries.size + 1), mean=mean, deviation=deviation)
