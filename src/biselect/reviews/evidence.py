"""How extreme a cell is against the reference, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate import Calibrator
from biselect.calibrate.frames import NamedMatrix, rows_of
from biselect.data.pools import Pool
from biselect.reviews.recentre import MovedColumn

BINS = 30  # of a reference histogram
TAIL = 0.005  # share of the reference beyond its bins, on either side


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One chosen cell, as the calibration sees it.

    Attributes:
        value: the pool's own value.
        below: reference rows strictly below it.
        above: reference rows strictly above it.
        rows: reference rows in all.
        absent: whether the pool has no value here, so that the reference median stands in.
    """

    value: float
    below: int
    above: int
    rows: int
    absent: bool = False

    @property
    def direction(self) -> str:
        """Which side of the reference the value lies on."""
        if self.below == self.above:
            return "middle"
        return "high" if self.below > self.above else "low"

    @property
    def share(self) -> float:
        """The share of the reference that the value lies beyond, on its own side."""
        return max(self.below, self.above) / self.rows

    @property
    def words(self) -> str:
        """A sentence for a person.

        >>> Evidence(value=3.0, below=11998, above=1, rows=12000).words
        'higher than 99.98 % of 12,000 reference rows'
        """
        if self.absent:
            return "missing; the reference median stands in"
        equal = self.rows - self.below - self.above
        also = f", equal to {_percent(equal, self.rows)}" if equal > 1 else ""
        if self.direction == "middle":
            return f"in the middle of {self.rows:,} reference rows{also}"
        beyond = max(self.below, self.above)
        side = "higher" if self.direction == "high" else "lower"
        if beyond == self.rows:
            return f"{side} than all {self.rows:,} reference rows"
        return f"{side} than {_percent(beyond, self.rows)} of {self.rows:,} reference rows{also}"


def _percent(part: int, whole: int) -> str:
    """Two digits, never rounded up to 100."""
    return f"{floor(10_000 * part / whole) / 100:.2f} %"


def gather_evidence(
    samples: NDArray[np.int64],
    features: NDArray[np.int64],
    calibrator: Calibrator,
    pool: Any,
    weighed: Any = None,
) -> list[list[Evidence]]:
    """Evidence for each cell of a block of the pool; counts are of `weighed`, the pool with drifted columns moved."""
    part, block = rows_of(pool, samples), np.ix_(np.arange(samples.size), features)
    values, absent = calibrator.values(part), calibrator.absent(part)[block]
    moved = values if weighed is None else calibrator.values(rows_of(weighed, samples))
    counts = calibrator.reference_counts(calibrator.scale.residuals(moved))
    below, above = (side[:, features] for side in counts)
    values, rows = values[block], calibrator.facts.reference_rows
    return [
        [
            Evidence(
                value=float(values[i, j]),
                below=int(below[i, j]),
                above=int(above[i, j]),
                rows=rows,
                absent=bool(absent[i, j]),
            )
            for j in range(values.shape[1])
        ]
        for i in range(values.shape[0])
    ]


def histograms(features: NDArray[np.int64], calibrator: Calibrator) -> list[dict[str, Any]]:
    """For each feature how the reference spreads: its bulk in bins of equal width, and what lies beyond on either side.

    A bin holds its lower edge; the last one holds both.
    """
    low, first, last, high = calibrator.reference_quantiles([0.0, TAIL, 1 - TAIL, 1.0])
    tied = first >= last  # most entries are equal: the bulk alone would have no width
    first, last = np.where(tied, low, first), np.where(tied, high, last)
    edges = first + (last - first) * np.linspace(0, 1, BINS + 1)[:, None]
    edges[-1] = last
    below, above = calibrator.reference_counts(calibrator.scale.residuals(edges))
    below[-1] = calibrator.facts.reference_rows - above[-1]
    return [
        {
            "low": float(low[j]),
            "high": float(high[j]),
            "first": float(first[j]),
            "last": float(last[j]),
            "counts": np.diff(below[:, j]).tolist(),
            "below": int(below[0, j]),
            "above": int(above[-1, j]),
        }
        for j in features
    ]


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibratedPool:
    """The tables behind a problem, and the calibration between them.

    Attributes:
        pool: reference and candidates.
        calibrator: fitted on the reference.
        time_column: which column holds the times that `pool` knows.
        per: the column that the groups of the sample rules were made from.
        weighed: the candidates as they were weighed, drifted columns moved back; None where they are as they are.
        moved: the columns that moved against the reference.
    """

    pool: Pool
    calibrator: Calibrator
    time_column: str | None = None
    per: str | None = None
    weighed: NamedMatrix | None = None
    moved: tuple[MovedColumn, ...] = ()

    def evidence(self, samples: NDArray[np.int64], features: NDArray[np.int64]) -> list[list[Evidence]]:
        """Evidence for each cell of a block."""
        return gather_evidence(samples, features, self.calibrator, self.pool.matrices[1], self.weighed)
