"""A reference and a pool: from two files, or from one file split in time without look-ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.data.tables import flags, numeric, require_columns, texts
from biselect.data.times import as_times, rows_until
from biselect.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Pool:
    """What calibration and selection need, and nothing that could leak.

    Attributes:
        reference: feature columns of the reference, float64.
        candidates: the same columns of the pool.
        sample_names: one name for each candidate.
        labels: which candidates are known positives; for evaluation only.
        ignored: columns of the pool that play no part.
    """

    reference: pa.Table
    candidates: pa.Table
    sample_names: list[str]
    labels: NDArray[np.bool_] | None
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which columns play which part; all others are features.

    Attributes:
        id_column: names the rows.
        label_column: known positives, never shown to calibration or solver.
        time_column: orders the rows.
        features: columns to use, or None for all that are left.
        exclude: columns to leave out.
    """

    id_column: str | None = None
    label_column: str | None = None
    time_column: str | None = None
    features: Sequence[str] | None = None
    exclude: Sequence[str] = ()

    def feature_columns(self, reference: pa.Table) -> list[str]:
        """The feature columns, in the order of the reference (or as asked for)."""
        special = {self.id_column, self.label_column, self.time_column} - {None}
        require_columns(reference, self.features or (), "the reference")
        if self.features is not None:
            if leaked := [name for name in self.features if name == self.label_column]:
                raise InputError(f"the label column {leaked[0]!r} must not be a feature")
            chosen = [name for name in self.features if name not in self.exclude]
        else:
            chosen = [name for name in reference.column_names if name not in special and name not in self.exclude]
        if not chosen:
            raise InputError("no feature columns are left; check --features and --exclude")
        if len(set(chosen)) != len(chosen):
            raise InputError("a feature is named more than once in --features")
        return chosen


def from_two_tables(reference: pa.Table, pool: pa.Table, roles: Roles) -> Pool:
    """Reference and pool as they are."""
    return _build(reference, pool, np.arange(pool.num_rows), roles)


def split_in_time(table: pa.Table, roles: Roles, *, reference_until: str, pool_last: int | None = None) -> Pool:
    """Earlier rows become the reference, later ones the pool.

    Args:
        table: all rows; sorted by time here if they are not (rows of equal time keep their order).
        roles: must name the time column.
        reference_until: a time, or a share of the rows such as `60%`. Rows up to and including that time are the
            reference.
        pool_last: keep only this many of the latest rows in the pool.
    """
    assert roles.time_column is not None
    require_columns(table, [roles.time_column], "the table")
    times = as_times(table[roles.time_column], roles.time_column)
    order = pc.sort_indices(times)  # stable
    rows = order.to_numpy()
    cut = rows_until(times.take(order), reference_until)
    if cut == 0 or cut == len(rows):
        side = "no row is" if cut == 0 else "every row is"
        raise InputError(f"--reference-until {reference_until}: {side} that early; both sides need rows")
    later = rows[cut:]
    if pool_last is not None:
        if not 1 <= pool_last <= later.size:
            raise InputError(f"--pool-last must be 1 to {later.size}, the rows after the reference; got {pool_last}")
        later = later[-pool_last:]
    return _build(table.take(rows[:cut]), table.take(later), later, roles)


def _build(reference: pa.Table, pool: pa.Table, pool_rows: NDArray[np.int64], roles: Roles) -> Pool:
    features = roles.feature_columns(reference)
    either = set(reference.column_names) | set(pool.column_names)
    for name in (*roles.exclude, roles.time_column):
        if name is not None and name not in either:
            raise InputError(f"neither the reference nor the pool has a column {name!r}")
    if absent := [name for name in features if name not in pool.column_names]:
        raise InputError(f"the pool lacks columns of the reference: {', '.join(map(repr, absent))}")
    named = [name for name in (roles.id_column, roles.label_column) if name is not None]
    require_columns(pool, named, "the pool")
    names = [str(row) for row in pool_rows.tolist()]
    return Pool(
        reference=numeric(reference, features, "the reference"),
        candidates=numeric(pool, features, "the pool"),
        sample_names=names if roles.id_column is None else texts(pool, roles.id_column, "the pool"),
        labels=None if roles.label_column is None else flags(pool, roles.label_column, "the pool"),
        ignored=tuple(
            name
            for name in pool.column_names
            if name not in {*features, *roles.exclude, roles.id_column, roles.label_column, roles.time_column}
        ),
    )
