"""Columns whose bulk moved against the reference: noticed before anything is chosen, and moved back if asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect.tables import NamedMatrix

DRIFT = ("recentre", "keep")
QUARTILES = (0.25, 0.5, 0.75)
SMALLEST_SHIFT = 0.05  # in quartile ranges of the reference; less is no drift that anybody would act on
SMALLEST_STRETCH = 1.05  # the same for the quartile range itself
CHANCE = 1e-3  # that any column of two samples of one population is called moved
MOSTLY = 0.5  # a column in which more of the pool than this lies beyond the reference is a clock or an id, not drift
ROUNDED = 2.0**-48  # of the numbers that a shift adds and multiplies, sixteen times what it may be off by
FEWEST_ROWS = 50  # of a table whose quartiles say anything


@dataclass(frozen=True, kw_only=True)
class ShiftedColumn:
    """A column in which the middle half of the pool lies elsewhere than that of the reference.

    Attributes:
        position: of the column in both tables.
        shift: how far the median moved, in quartile ranges of the reference.
        stretch: the pool's quartile range over the reference's.
    """

    position: int
    shift: float
    stretch: float


def moved_columns(
    reference: NDArray[np.float64], pool: NDArray[np.float64], ends: NDArray[np.float64] | None = None
) -> list[ShiftedColumn]:
    """The columns that moved or widened, as far as a Kolmogorov–Smirnov test (Bonferroni over the columns) can tell.

    Quartiles do not see a few unusual rows, so what is looked for does not count as drift. Columns of which more than
    half is one value are left alone: their quartile range is zero and nothing could be scaled by it.

    Args:
        reference: rows × columns; NaN for a missing cell.
        pool: the same columns.
        ends: the smallest and largest values of a reference that these rows were drawn from; None where they are all.
    """
    from scipy.stats import ks_2samp

    if min(len(reference), len(pool)) < FEWEST_ROWS:
        return []
    before, now = (_quartiles(table) for table in (reference, pool))
    spread, range_now = before[2] - before[0], now[2] - now[0]
    usable = np.flatnonzero((spread > 0) & (range_now > 0))
    shifts = []
    for j in usable.tolist():
        shift = float((now[1, j] - before[1, j]) / spread[j])
        stretch = float(range_now[j] / spread[j])
        if abs(shift) < SMALLEST_SHIFT and abs(np.log(stretch)) < np.log(SMALLEST_STRETCH):
            continue
        older, newer = (column[~np.isnan(column)] for column in (reference[:, j], pool[:, j]))
        low, high = (older.min(), older.max()) if ends is None else ends[:, j]
        if np.mean((newer < low) | (newer > high)) > MOSTLY:
            continue  # a clock or an id, which gets a warning of its own
        if ks_2samp(older, newer, method="asymp").pvalue < CHANCE / usable.size:
            shifts.append(ShiftedColumn(position=j, shift=shift, stretch=stretch))
    return shifts


@dataclass(frozen=True, kw_only=True, eq=False)
class Shift:
    """How moved columns are put back, so that their quartiles' middle and range are the reference's.

    A monotone map of each column: the order of the rows within a column stays.

    Attributes:
        columns: positions of the moved columns.
        middles: medians of the pool.
        factors: quartile ranges of the reference over those of the pool.
        targets: medians of the reference.
    """

    columns: tuple[int, ...]
    middles: NDArray[np.float64]
    factors: NDArray[np.float64]
    targets: NDArray[np.float64]

    @classmethod
    def of(cls, reference: NDArray[np.float64], pool: NDArray[np.float64], shifts: Sequence[ShiftedColumn]) -> Shift:
        """From rows of both tables."""
        columns = tuple(column.position for column in shifts)
        before, now = (_quartiles(table[:, columns]) for table in (reference, pool))
        factors = (before[2] - before[0]) / (now[2] - now[0])
        return cls(columns=columns, middles=now[1], factors=factors, targets=before[1])

    def applied(self, pool: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of the pool with the moved columns put back."""
        content, columns = pool.copy(), list(self.columns)
        content[:, columns] = (pool[:, columns] - self.middles) * self.factors + self.targets
        return content

    def undone(self, values: NDArray[np.float64], inwards: float) -> NDArray[np.float64]:
        """Ends of intervals of columns put back, as they stand in the pool; further in by what rounding may take.

        Args:
            values: rows × columns.
            inwards: 1 for lower ends, -1 for upper ones.
        """
        content, columns = values.copy(), list(self.columns)
        ends = (values[:, columns] - self.targets) / self.factors + self.middles
        sizes = (
            np.abs(self.middles) + np.abs(self.targets / self.factors) + np.where(np.isfinite(ends), np.abs(ends), 0)
        )
        content[:, columns] = ends + inwards * ROUNDED * sizes
        return content


def move_back(reference: NamedMatrix, pool: NamedMatrix, drift: str) -> tuple[NamedMatrix, tuple[ShiftedColumn, ...]]:
    """The pool as it is to be weighed, and the columns of numbers that moved; `drift` is one of DRIFT."""
    shifts = moved_numbers(reference, pool, drift)
    if not shifts or drift == "keep":
        return pool, shifts
    return replace(pool, values=Shift.of(reference.values, pool.values, shifts).applied(pool.values)), shifts


def moved_numbers(
    reference: NamedMatrix, pool: NamedMatrix, drift: str, ends: NDArray[np.float64] | None = None
) -> tuple[ShiftedColumn, ...]:
    """The columns of numbers that moved; `drift` is one of DRIFT, `ends` are as for `moved_columns`."""
    if drift not in DRIFT:
        raise InputError(f"drift must be one of {', '.join(DRIFT)}, got {drift!r}")
    numbers = [j for j in range(len(pool.names)) if reference.type_of(j).is_ranked and pool.type_of(j).is_ranked]
    every = len(numbers) == len(pool.names)
    tables = [table.values if every else table.values[:, numbers] for table in (reference, pool)]
    known = None if ends is None else ends[:, numbers]
    shifts = moved_columns(tables[0], tables[1], known)
    return tuple(replace(column, position=numbers[column.position]) for column in shifts)


def _quartiles(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quartiles by column, of the cells that are there."""
    if not np.isnan(table).any():
        return np.quantile(table, QUARTILES, axis=0)
    columns = (column[~np.isnan(column)] for column in table.T)
    return np.array([np.quantile(column, QUARTILES) if column.size else [np.nan] * 3 for column in columns]).T
