"""How extreme a cell is against the reference, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Any

import numpy as np

from biselect.calibrate import Calibrator
from biselect.core import Selection


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


def gather_evidence(selection: Selection, calibrator: Calibrator, pool: Any) -> list[list[Evidence]]:
    """Evidence for each cell of the chosen k × m block."""
    block = np.ix_(selection.samples, selection.features)
    values, residuals = calibrator.values(pool)[block], calibrator.residuals(pool)
    below, above = (counts[block] for counts in calibrator.reference_counts(residuals))
    absent = calibrator.absent(pool)[block]
    rows = calibrator.facts.reference_rows
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
