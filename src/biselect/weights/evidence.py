"""How extreme a cell is against the reference, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.category import LabelCounts
from biselect.pages.words import words_of
from biselect.tables import NamedMatrix, Pool, align, as_matrix, rows_of
from biselect.weights import Weigher
from biselect.weights.alignment import ShiftedColumn

BINS = 30  # of a reference histogram
MOST_LABELS = 8  # of a column of categories
MISSING = "(missing)"  # stands for no value among labels
TAIL = 0.005  # share of the reference beyond its bins, on either side


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One chosen cell, as the calibration sees it.

    Attributes:
        value: the pool's own number or label; None where it has none, or the median that stands in.
        below: reference rows strictly below it; of a category those with a more common one.
        above: reference rows strictly above it; of a category those with a rarer one.
        rows: reference rows that have a value.
        gaps: reference rows that have none.
        seen: reference rows with the same category; None for a number.
        absent: whether the pool has no value here.
        filled: whether the reference median stands in for it.
    """

    value: float | str | None
    below: int
    above: int
    rows: int
    gaps: int = 0
    seen: int | None = None
    absent: bool = False
    filled: bool = False

    @property
    def direction(self) -> str:
        """Which side of the reference the value lies on; empty where there is no value."""
        if self.absent:
            return ""
        if self.seen is not None:
            return "rare"
        if self.below == self.above:
            return "middle"
        return "high" if self.below > self.above else "low"

    @property
    def side(self) -> str:
        """The direction, or `missing` where the pool has no value."""
        return "missing" if self.absent else self.direction

    @property
    def brief(self) -> str:
        """The same in a few words, for a line that holds several.

        >>> Evidence(value=3.0, below=11998, above=1, rows=12000).brief
        'above 99.98 %'
        """
        return words_of().cell(self, "cell.brief")

    @property
    def share(self) -> float:
        """The share of the reference that the value lies beyond, on its own side."""
        return max(self.below, self.above) / self.rows

    @property
    def words(self) -> str:
        """A sentence for a person.

        >>> Evidence(value=3.0, below=11998, above=1, rows=12000).words
        'higher than 99.98 % of 12,000 reference rows'
        >>> Evidence(value="BT", below=8000, above=0, rows=8000, seen=0).words
        'never seen in 8,000 reference rows'
        >>> Evidence(value=None, below=0, above=0, rows=7968, gaps=32, absent=True).words
        'missing, as in 0.40 % of 8,000 reference rows'
        """
        return words_of().cell(self)


def gather_evidence(
    samples: NDArray[np.int64],
    features: NDArray[np.int64],
    calibrator: Weigher,
    pool: Any,
    weighed: Any = None,
) -> list[list[Evidence]]:
    """Evidence for each cell of a block of the pool; counts are of `weighed`, the pool with drifted columns moved."""
    part = align(as_matrix(rows_of(pool, samples)), calibrator.feature_names, named=True, where="the pool")
    values = calibrator.values(part)
    moved = values if weighed is None else calibrator.values(rows_of(weighed, samples))
    below, above = calibrator.reference_counts(calibrator.scale.residuals(moved))
    absent, present = np.isnan(part.values), calibrator.present
    evidence: list[list[Evidence]] = [[] for _ in samples]
    for j in features.tolist():
        found = calibrator.categories.get(j)
        codes, labels = (part.values[:, j], ()) if found is None else part.coded(j)
        for i, row in enumerate(evidence):
            filled = bool(absent[i, j]) and calibrator.missing == "median" and j not in part.labels
            label = None if found is None or absent[i, j] else labels[int(codes[i])]
            value = None if absent[i, j] else label if j in part.labels else float(part.values[i, j])
            row.append(
                Evidence(
                    value=float(values[i, j]) if filled else value,
                    below=int(below[i, j]),
                    above=int(above[i, j]),
                    rows=present[j],
                    gaps=calibrator.facts.reference_rows - present[j],
                    seen=None if found is None else found.of([label])[0],
                    absent=bool(absent[i, j]),
                    filled=filled,
                )
            )
    return evidence


def histograms(features: NDArray[np.int64], calibrator: Weigher) -> list[dict[str, Any]]:
    """For each feature how the reference spreads.

    Numbers: the bulk in bins of equal width, of which each holds its lower edge and the last one both, and what lies
    beyond on either side. Categories: the most common ones, and how many rows hold others.
    """
    low, first, last, high = calibrator.reference_quantiles([0.0, TAIL, 1 - TAIL, 1.0])
    tied = first >= last  # most entries are equal: the bulk alone would have no width
    first, last = np.where(tied, low, first), np.where(tied, high, last)
    edges = first + (last - first) * np.linspace(0, 1, BINS + 1)[:, None]
    edges[-1] = last
    below, above = calibrator.reference_counts(calibrator.scale.residuals(edges))
    below[-1] = calibrator.present - above[-1]
    return [
        _common(calibrator.categories[j])
        if j in calibrator.categories
        else {
            "low": float(low[j]),
            "high": float(high[j]),
            "first": float(first[j]),
            "last": float(last[j]),
            "counts": np.diff(below[:, j]).tolist(),
            "below": int(below[0, j]),
            "above": int(above[-1, j]),
        }
        for j in features.tolist()
    ]


def _common(found: LabelCounts) -> dict[str, Any]:
    common = sorted(found.counts.items(), key=lambda item: (-item[1], str(item[0])))[:MOST_LABELS]
    return {
        "labels": [MISSING if label is None else label for label, _ in common],
        "counts": [count for _, count in common],
        "others": found.rows - sum(count for _, count in common),
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class WeighedPool:
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
    calibrator: Weigher
    time_column: str | None = None
    per: str | None = None
    weighed: NamedMatrix | None = None
    moved: tuple[ShiftedColumn, ...] = ()

    def evidence(self, samples: NDArray[np.int64], features: NDArray[np.int64]) -> list[list[Evidence]]:
        """Evidence for each cell of a block."""
        return gather_evidence(samples, features, self.calibrator, self.pool.matrices[1], self.weighed)
