"""Both sides of a review, reference and pool, as tables in parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from biselect.columns.date import parts_of_dates, read_times
from biselect.errors import InputError
from biselect.large._sources import held_partitions
from biselect.large._texts import with_texts_read
from biselect.large.dataset import FIRST_ROWS, ORIGIN, Partitions, place_of, refuse_absent, rows_between, rows_where
from biselect.large.engines import Engine, bytes_of, engine_for
from biselect.large.passes import Arrays, Pass
from biselect.large.spool import Spool, partitions_of
from biselect.options import Columns, Compute, Split, spell
from biselect.progress import Steps
from biselect.tables import (
    Guess,
    Roles,
    Table,
    ends_in_time,
    guess_roles,
    id_texts,
    is_split,
    read_for,
    refuse_repeated_ids,
    require_columns,
    row_labels,
    sides_in_time,
    time_column_of,
    with_index,
)
from biselect.tables.readers import reading_of

MOST_COMPARED = 1 << 24  # rows of which all ids are compared with each other


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """Two tables in parts, the roles of their columns, and who reads them.

    Attributes:
        pool: rows to choose from.
        reference: normal rows.
        roles: of the columns, names resolved.
        engine: runs the passes.
        step: tells a person what is done.
        missing: as for the weigher.
        seed: fixes samples and draws.
        guess: what the columns were taken for.
        times: first and last time of `reference` and `pool`, as text, where they are known.
        is_own_reference: whether `pool` is compared with itself.
    """

    pool: Partitions
    reference: Partitions
    roles: Roles
    engine: Engine
    step: Steps
    missing: str
    seed: int
    guess: Guess
    times: Mapping[str, tuple[str, str]]
    is_own_reference: bool = False

    def run(self, request: Pass, table: Partitions) -> Arrays:
        """A pass over all parts of one of them."""
        with self.step(f"{request.name}: {table.rows:,} rows in {len(table.parts):,} parts") as progress:
            return self.engine.run(request, table.parts, progress)

    @property
    def beside(self) -> tuple[str, ...]:
        """Columns that rows of the pool bring along, beside the features; positions in a table that was split."""
        there = set(self.pool.schema.names)
        names = tuple(dict.fromkeys(name for name in self.roles.beside if name is not None and name in there))
        return (*names, ORIGIN) if self.times and self.roles.id_column is None else names

    def ignored(self) -> tuple[str, ...]:
        """Columns of the pool that play no part, as the reference has none of their name."""
        others = {*self.reference.schema.names, *self.beside, *self.roles.exclude}
        return tuple(name for name in self.pool.schema.names if name not in others)

    def features(self) -> tuple[list[str], list[str]]:
        """Columns that are features, and date columns left out; a pool that lacks any is refused."""
        reference, pool = self.reference.schema.empty_table(), self.pool.schema.empty_table()
        if gaps := [name for name, parts in parts_of_dates(self.roles.dates).items() if "gap" in parts]:
            gap = spell(Columns(types={gaps[0]: "date:gap"}))
            raise InputError(f"{gap}: the gap to the row before is known only in a table that fits into memory")
        return self.roles.features_of(reference, pool, self.pool.name)


@contextmanager
def sides_in_parts(
    pool: Table,
    reference: Any,
    per: str | None,
    step: Steps,
    *,
    split: Split,
    missing: str,
    seed: int,
    compute: Compute,
    most: tuple[int, int],
) -> Iterator[Tables | None]:
    """Both tables in parts, for as long as they are needed; None where neither has more cells than `most` allows it.

    `biselect.large.opening.large_tables` says what the other arguments are.
    """
    written, columns, memory = read_for(pool, per), pool.columns, bytes_of(compute.memory)
    with Spool() as spool:
        pool_parts, ids = open_parts(written, memory, spool)
        reference_parts = (
            pool_parts if reference is None else partitions_of(written.like(reference), memory=memory, spool=spool)
        )
        if ids is not None and columns.id is None:
            columns = replace(columns, id=ids)
        names = {*pool_parts.schema.names, *reference_parts.schema.names}
        roles = Roles.of(columns, pool.csv, names=names, per=per)
        width = _width(reference_parts.schema, roles)
        if pool_parts.rows * width <= most[0] and reference_parts.rows * width <= most[1]:
            yield None
            return
        both = [pool_parts] if reference is None else [pool_parts, reference_parts]
        guess = guess_roles([rows_between(one, 0, FIRST_ROWS).held() for one in both], columns, pool.csv, per=per)
        described = replace(guess.described, duplicates=columns.duplicates)
        roles = Roles.of(described, pool.csv, names=names, per=per)
        if roles.marks:
            is_own, known = reference is None, replace(written, columns=described)
            pool_parts = with_texts_read(pool_parts, known, memory)
            reference_parts = pool_parts if is_own else with_texts_read(reference_parts, known, memory)
        with engine_for(compute.on, compute.memory) as engine:
            tables = Tables(
                pool=pool_parts,
                reference=reference_parts,
                roles=roles,
                engine=engine,
                step=step,
                missing=missing,
                seed=seed,
                guess=guess,
                times={},
                is_own_reference=reference is None and not is_split(split),
            )
            if roles.id_column is not None:
                require_columns(pool_parts.schema.empty_table(), [roles.id_column], pool_parts.name)
                with step(f"Comparing ids: {pool_parts.rows:,} rows"):
                    tables = _named(tables, columns)
            yield _split(tables, split) if is_split(split) else tables


def _named(tables: Tables, said: Columns) -> Tables:
    """The tables whose rows are named by their ids; by their positions where nobody said that these name them."""
    id_column = tables.roles.id_column
    assert id_column is not None
    try:
        compare_ids(tables.pool, id_column)
    except InputError:
        if said.id is not None:
            raise
        shown = [*tables.roles.show, id_column]
        return replace(tables, roles=replace(tables.roles, id_column=None, show=shown, duplicates="error"))
    return tables


def compare_ids(pool: Partitions, column: str) -> None:
    """Refuse ids that stand in two rows; in a pool of more than MOST_COMPARED rows not all are compared."""
    if pool.rows <= MOST_COMPARED:
        ids = id_texts(pool.held([column])[column])
        way_out = "take out the repeated rows, or name another column"
        refuse_repeated_ids(ids, column, "the pool", partial(place_of, pool), way_out)


def _split(tables: Tables, split: Split) -> Tables:
    """One table as two: earlier rows are the reference, later ones the pool."""
    roles = tables.roles
    time_column = time_column_of(roles, split)
    with tables.step(f"Cutting in time: {tables.pool.rows:,} rows"):
        reference, pool, times = cut_in_time(tables.pool, time_column, split, roles.date_format)
    return replace(tables, pool=pool, reference=reference, times=times)


def cut_in_time(
    table: Partitions, time_column: str, split: Split, date_format: str | None = None
) -> tuple[Partitions, Partitions, dict[str, tuple[str, str]]]:
    """Earlier rows become the reference, later ones the pool, or only the last of them.

    The time column alone is held, and cut as that of any table is: about 32 bytes a row. Both sides are then views of
    the same parts, in the order of the file.

    Args:
        table: what is split.
        time_column: orders the rows.
        split: where.
        date_format: how dates are written, where they are text.

    Returns:
        Reference, pool, and the first and last time of each as text.
    """
    refuse_absent([time_column], table.schema, table.name)
    place = partial(place_of, table)
    times, written = read_times(
        table.held([time_column])[time_column], time_column, date_format=date_format, place_of=place
    )
    written = written or reading_of(table).dates.get(time_column)
    views, ends = list[Partitions](), list[tuple[str, str]]()
    for rows in sides_in_time(times, split, written):
        inside = np.zeros(table.rows, dtype=np.bool_)
        inside[rows] = True
        views.append(rows_where(table, inside))
        ends.append(ends_in_time(times.filter(pa.array(inside))))
    return views[0], views[1], {"reference": ends[0], "pool": ends[1]}


def open_parts(table: Table, memory: int, spool: Spool) -> tuple[Partitions, str | None]:
    """A table in parts; and the column that holds the index of a pandas frame, where that names the rows."""
    if row_labels(table.source) is None:
        return partitions_of(table, memory=memory, spool=spool), None
    rows, name = with_index(table.read(), table.source)
    return held_partitions(rows), name


def _width(schema: pa.Schema, roles: Roles) -> int:
    """How many features there are, as far as the names of the columns tell; lists of the roles are taken apart."""
    dates = parts_of_dates(roles.dates)
    plain = set(schema.names) - roles.special - {*roles.exclude} if roles.features is None else set(roles.features)
    return max(1, len(plain - dates.keys()) + sum(map(len, dates.values())))
