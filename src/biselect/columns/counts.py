"""The distribution of a column from counts: the same for any division of the rows into parts, in any order.

A sample of the rows gives edges, about as many rows between any two. Then every row is counted: which edge it equals,
or between which two it lies. The smallest and the largest values are kept one by one, as weights are made of the ranks
there. Mean and deviation are sums of whole numbers, which no order of adding changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.distribution import Distribution

EDGES = 2048  # at most
TAIL = 2048  # values kept at either end
BITS = 40  # of a term of the sums: its largest is two to this power
LIMB = 32  # bits of the lower half of a sum
BLOCK = 1 << 16  # rows summed up in 64 bits; each half stays far below that in 2³¹ blocks

Counts = dict[str, NDArray[Any]]
"""What was counted of one column."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Ruler:
    """What the rows of one column are held against.

    Attributes:
        edges: ascending, no two equal; empty for a column without a number.
        middle: terms of the sums are distances from here.
        reach: the largest of them.
    """

    edges: NDArray[np.float64]
    middle: float
    reach: float

    @classmethod
    def of(cls, sample: NDArray[np.float64], share: float, lowest: float, highest: float) -> Ruler:
        """The ruler for a column of which this share of the entries was drawn, and whose ends are known.

        >>> Ruler.of(np.array([3.0, 1.0, 2.0]), 1e-6, 0.0, 9.0).edges.tolist()
        [1.0, 2.0, 3.0]
        """
        known = np.sort(sample[~np.isnan(sample)])
        edges = np.unique(known[_places(known.size, share)])
        if not edges.size and lowest <= highest:  # so few numbers that none was drawn: the largest are kept one by one
            edges = np.array([lowest])
        middle = float(known[known.size // 2]) if known.size else (lowest if np.isfinite(lowest) else 0.0)
        reach = max(highest - middle, middle - lowest, 0.0) if lowest <= highest else 0.0
        return cls(edges=edges, middle=middle, reach=reach)

    def count(self, values: NDArray[np.float64]) -> Counts:
        """Count these entries; none may be NaN."""
        ascending = np.sort(values)
        first, last = (np.searchsorted(ascending, self.edges, side) for side in ("left", "right"))
        low, high = (first[0], last[-1]) if self.edges.size else (values.size, 0)
        return {
            "equal": last - first,
            "between": np.append(first, values.size) - np.append(0, last),
            "low": ascending[: min(low, TAIL)],
            "high": ascending[max(high, values.size - TAIL) :],
            "sums": self._sums(values),
        }

    def _sums(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Sums of distances from the middle and of their squares, as whole numbers in two halves."""
        found = np.zeros((2, 2), dtype=np.int64)
        if self.reach == 0:
            return found
        for start in range(0, values.size, BLOCK):
            away = (values[start : start + BLOCK] - self.middle) / self.reach
            for row, terms in enumerate((away, away * away)):
                total = int(np.rint(np.ldexp(terms, BITS)).astype(np.int64).sum())
                found[row] += (total >> LIMB, total & ((1 << LIMB) - 1))
        return _carried(found)

    def column(self, counts: Mapping[str, NDArray[Any]]) -> Distribution | None:
        """The distribution of everything that was counted; None where that is nothing."""
        equal, between = counts["equal"].astype(np.int64), counts["between"].astype(np.int64)
        low, high = counts["low"].astype(np.float64), counts["high"].astype(np.float64)
        size = int(equal.sum() + between.sum())
        if size == 0:
            return None
        edges = self.edges
        hidden = between.copy()  # entries of which only the place is known
        hidden[0] -= low.size
        hidden[-1] -= high.size
        before = np.concatenate([[low[-1] if low.size else np.nan], edges])
        after = np.concatenate([edges, [high[0] if high.size else np.nan]])
        unseen = np.flatnonzero(hidden)
        often = equal > 1  # two knots of one value say that it is tied
        once = equal > 0
        values = np.concatenate([low, 0.5 * before[unseen] + 0.5 * after[unseen], edges[once], edges[often], high])
        weights = np.concatenate(
            [
                np.ones(low.size, dtype=np.int64),
                hidden[unseen],
                np.ones(int(once.sum()), dtype=np.int64),
                equal[often] - 1,
                np.ones(high.size, dtype=np.int64),
            ]
        )
        order = np.argsort(values, kind="stable")
        mean, deviation = self._moments(counts["sums"].astype(np.int64), size)
        return Distribution(
            values=values[order],
            counts=np.cumsum(weights[order]),
            mean=mean,
            deviation=deviation,
            rank_error=int(hidden.max()),
        )

    def _moments(self, sums: NDArray[np.int64], size: int) -> tuple[float, float]:
        first, second = ((int(high) << LIMB) + int(low) for high, low in sums)
        away, square = first / size / (1 << BITS), second / size / (1 << BITS)
        return self.middle + self.reach * away, self.reach * float(np.sqrt(max(0.0, square - away * away)))


def merged_counts(one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]]) -> Counts:
    """What was counted in both."""
    return {
        "equal": one["equal"] + other["equal"],
        "between": one["between"] + other["between"],
        "low": np.sort(np.concatenate([one["low"], other["low"]]))[:TAIL],
        "high": np.sort(np.concatenate([one["high"], other["high"]]))[-TAIL:],
        "sums": _carried(one["sums"].astype(np.int64) + other["sums"].astype(np.int64)),
    }


def _carried(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same sums with what does not fit into a lower half added to the upper one."""
    more = sums[:, 1] >> LIMB
    return np.stack([sums[:, 0] + more, sums[:, 1] - (more << LIMB)], axis=1)


def _places(size: int, share: float) -> NDArray[np.intp]:
    """Which entries of a sorted sample are edges: evenly spread, and ever closer towards the ends that are kept."""
    if size == 0:
        return np.empty(0, dtype=np.intp)
    first = min(int(0.8 * TAIL * share), (size - 1) // 4)  # as many lie beyond as are kept, or a few less
    last = size - 1 - first
    even = np.linspace(first, last, min(EDGES // 2, last - first + 1)).round()
    steps = np.geomspace(1, max(1, size // 2), EDGES // 4).round() - 1
    near = np.concatenate([first + steps, last - steps])
    return np.unique(np.concatenate([even, near[(near >= first) & (near <= last)]]).astype(np.intp))


def drawn(first: int, rows: int, share: float, seed: int) -> NDArray[np.bool_]:
    """Which of the rows from position `first` on belong to a sample of this share: a matter of the position alone."""
    lot = lots(np.arange(first, first + rows), seed)
    return lot < np.uint64(int(share * 2**64)) if share < 1 else np.ones(rows, dtype=bool)


def lots(positions: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """A number for each row, as good as random, fixed by its position and the seed (the mixer of SplitMix64)."""
    x = positions.astype(np.uint64) + np.uint64((seed * 0x9E3779B97F4A7C15 + 1) & (2**64 - 1))
    with np.errstate(over="ignore"):
        x *= np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
