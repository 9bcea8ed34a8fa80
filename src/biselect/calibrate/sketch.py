"""RankSketch: a column of any length in bounded memory, with exact tails and a bound on every count."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.column import Column, exact_column

SLOTS = 24  # sorted buffers kept at a time
FEWEST_ENTRIES = 64  # in a buffer


class RankSketch:
    """Sorted buffers, each entry of which stands for a power of two of entries.

    When all slots are taken, the two lightest buffers of equal weight are merged and every second entry is kept
    with double weight. That moves any count by at most the old weight, upwards or downwards in turn; the sums of
    both are `rank_error`. Up to `SLOTS` buffers nothing is merged and the sketch is exact. The smallest and the
    largest entries, a quarter buffer of each, are kept apart and stay exact, as weights hang on them most.

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
        if sum(part.size for part in self._pending) < self.buffer:
            return
        waiting = np.concatenate(self._pending)
        whole = waiting.size - waiting.size % self.buffer
        self._pending = [waiting[whole:]]
        for start in range(0, whole, self.buffer):
            self._push(np.sort(waiting[start : start + self.buffer]))

    def column(self) -> Column:
        """What the sketch knows."""
        rest = np.sort(np.concatenate([*self._pending, np.empty(0)]))
        if self._over == 0:
            return exact_column(np.concatenate([rest, *self._levels[0]]))
        parts = [(rest, 1)]
        parts += [(buffer, 1 << level) for level, buffers in enumerate(self._levels) for buffer in buffers]
        values = np.concatenate([part for part, _ in parts])
        order = np.argsort(values, kind="stable")
        counts = np.cumsum(np.concatenate([np.full(part.size, weight) for part, weight in parts])[order])
        values, counts = self._with_exact_tails(values[order], counts, *self._extremes(rest))
        return Column(
            values=values,
            counts=counts,
            mean=self._mean,
            deviation=float(np.sqrt(self._squares / self.size)),
            rank_error=max(self._over, self._under),
        )

    def _push(self, buffer: NDArray[np.float64]) -> None:
        self._low, self._high = self._extremes(buffer)
        self._levels[0].append(buffer)
        if sum(map(len, self._levels)) >= SLOTS:
            level = next((h for h, buffers in enumerate(self._levels) if len(buffers) > 1), None)
            if level is not None:  # otherwise the stream is so long that it earns one more slot per doubling
                self._merge(level)

    def _merge(self, level: int) -> None:
        """Two buffers of one level become one of the next."""
        buffers = self._levels[level]
        both = np.sort(np.concatenate([buffers.pop(0), buffers.pop(0)]), kind="stable")
        weight = 1 << level
        if self._over <= self._under:
            self._over += weight
            kept = both[0::2]
        else:
            self._under += weight
            kept = both[1::2]
        if level + 1 == len(self._levels):
            self._levels.append([])
        self._levels[level + 1].append(kept.copy())

    def _extremes(self, ascending: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The `tail` smallest and largest entries seen so far, these included."""
        full = self._low.size == self.tail
        low = ascending[ascending < self._low[-1]] if full else ascending
        high = ascending[ascending > self._high[0]] if full else ascending
        return (
            np.sort(np.concatenate([self._low, low[: self.tail]]))[: self.tail],
            np.sort(np.concatenate([self._high, high[-self.tail :]]))[-self.tail :],
        )

    def _with_exact_tails(
        self,
        values: NDArray[np.float64],
        counts: NDArray[np.int64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Ranks 1 to `tail` and their mirror images from the kept extremes, all others from the buffers."""
        inside = (values >= low[-1]) & (values < high[0])
        ends = np.arange(1, self.tail + 1)
        body = np.clip(counts[inside], self.tail, self.size - self.tail)
        return (
            np.concatenate([low, values[inside], high]),
            np.concatenate([ends, body, self.size - self.tail + ends]),
        )

    def _count(self, entries: NDArray[np.float64]) -> None:
        """Mean and sum of squared deviations, merged block by block."""
        size, mean = self.size + entries.size, float(entries.mean())
        shift = mean - self._mean
        self._squares += float(((entries - mean) ** 2).sum()) + shift**2 * self.size * entries.size / size
        self._mean += shift * entries.size / size
        self.size = size
