"""How extreme a cell is against the reference, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.column_type import Cells
from biselect.pages.words import words_of
from biselect.tables import NamedMatrix, Pool, align, as_matrix, rows_of
from biselect.weights import Weigher
from biselect.weights.alignment import ShiftedColumn


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
        directions: those of the column's type.
    """

    value: float | str | None
    below: int
    above: int
    rows: int
    gaps: int = 0
    seen: int | None = None
    absent: bool = False
    filled: bool = False
    directions: tuple[str, ...] = ("low", "high")

    @property
    def direction(self) -> str:
        """Which side of the reference the value lies on; empty where there is no value."""
        if self.absent:
            return ""
        if self.seen is None and self.below == self.above:
            return "middle"
        return self.directions[-1 if self.below > self.above else 0]

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
        return self._in_words("cell.brief")

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
        return self._in_words("cell")

    def _in_words(self, style: str) -> str:
        return words_of().cell({**vars(self), "direction": self.direction}, style)


def gather_evidence(
    samples: NDArray[np.int64],
    features: NDArray[np.int64],
    calibrator: Weigher,
    pool: Any,
    weighed: Any = None,
) -> list[list[Evidence]]:
    """Evidence for each cell of a block of the pool; counts are of `weighed`, the pool with drifted columns moved."""
    part = align(as_matrix(rows_of(pool, samples)), calibrator.feature_names, named=True, where="the pool")
    values = calibrator.values(part if weighed is None else rows_of(weighed, samples))
    evidence: list[list[Evidence]] = [[] for _ in samples]
    for j in features.tolist():
        column, cells = calibrator.columns[j], part.cells(j)
        absent = np.isnan(cells.values)
        filled = absent if calibrator.missing == "median" and cells.labels is None else np.zeros_like(absent)
        shown = Cells(np.where(filled, column.middle, cells.values), cells.labels)
        facts = column.type.describe(column, shown, values[:, j])
        for row, cell, gap, median in zip(evidence, facts, absent.tolist(), filled.tolist(), strict=True):
            row.append(
                Evidence(
                    **vars(cell),
                    rows=column.present,
                    gaps=calibrator.facts.reference_rows - column.present,
                    absent=gap,
                    filled=median,
                    directions=column.type.directions,
                )
            )
    return evidence


def histograms(features: NDArray[np.int64], calibrator: Weigher) -> list[dict[str, Any]]:
    """How the reference spreads in each of these features; see `ColumnType.picture`."""
    columns = [calibrator.columns[j] for j in features.tolist()]
    return [dict(column.type.picture(column)) for column in columns]


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
