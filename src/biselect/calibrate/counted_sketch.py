"""What was counted of a column as a sketch, which can be stored and merged with those of other days."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.column import RankSketch
from biselect.calibrate.counted_columns import TAIL, Ruler


def counted_sketch(ruler: Ruler, counts: Mapping[str, NDArray[np.generic]], entries: int) -> RankSketch:
    """The sketch of a column that was held against a ruler.

    An entry of a sketch stands for a power of two of values, so each count is written as a sum of these. Values
    between two edges, of which only the number is known, are spread there; no rank is wrong by more than that number.

    Args:
        ruler: the ruler.
        counts: what was counted.
        entries: how many numbers the sketch may hold once more is added to it.
    """
    column = ruler.column(counts)
    if column is None:
        return RankSketch(entries)
    equal, hidden = counts["equal"].astype(np.int64), counts["between"].astype(np.int64)
    low, high = counts["low"].astype(np.float64), counts["high"].astype(np.float64)
    edges = ruler.edges
    hidden[0] -= low.size
    hidden[-1] -= high.size
    again, level_again = _powers(np.maximum(equal - 1, 0))  # two entries of one value say that it is tied
    between, level_between = _powers(hidden)
    before = np.concatenate([low[-1:] if low.size else edges[:1], edges])[between]
    after = np.concatenate([edges, high[:1] if high.size else edges[-1:]])[between]
    place = np.arange(1, between.size + 1) - np.searchsorted(between, between)
    share = place / (np.bincount(between)[between] + 1)
    once = np.concatenate([low, edges[equal > 0], high])
    lowest, highest = (np.repeat(edges[at], min(TAIL, equal[at])) for at in (0, -1))
    return RankSketch.of_entries(
        np.concatenate([once, edges[again], (1 - share) * before + share * after]),
        np.concatenate([np.zeros(once.size, dtype=np.int64), level_again, level_between]),
        low=low if hidden[0] else np.concatenate([low, lowest]),
        high=high if hidden[-1] else np.concatenate([highest, high]),
        mean=column.mean,
        deviation=column.deviation,
        rank_error=column.rank_error,
        entries=entries,
    )


def _powers(counts: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which powers of two make up each count: positions, ascending, and exponents."""
    at, level = np.nonzero((counts[:, None] >> np.arange(63)) & 1)
    return at, level
