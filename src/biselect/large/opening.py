"""Which tables are too large to be held, and how these are opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from biselect.columns.date import parts_of_dates
from biselect.errors import InputError
from biselect.large._any_source import partitions_of
from biselect.large._arrow_rows import held_partitions
from biselect.large._checkpoints import resuming
from biselect.large._ids import refuse_repeated_ids
from biselect.large._time_cut import cut_in_time
from biselect.large.dataset import Partitions
from biselect.large.engines import bytes_of, engine_for
from biselect.large.gathering import Tables
from biselect.large.spool import Spool
from biselect.options import ANY, Columns, Compute, Split, Weighing, spell
from biselect.progress import Steps
from biselect.tables import (
    Roles,
    as_table,
    check_combination,
    code_columns,
    paths_of,
    require_columns,
    resolved,
    row_labels,
    with_index,
    with_roles,
)
from biselect.tables.readers import CsvForm
from biselect.tables.readers.sources import Source
from biselect.weights import Weigher
from biselect.weights.maps import map_name
from biselect.weights.paper import Form

POOL_CELLS = 1 << 23  # rows times features; more are not held
REFERENCE_CELLS = 1 << 25
SMALL_FILE = 64 << 20  # bytes of a file that is read whole to see how large its table is
FIRST_ROWS = 1 << 16  # of the reference, that show which columns hold codes
STREAMED = (".parquet", ".arrow", ".feather", ".ipc")  # endings of files that tell how large they are
PLANNED_MARGINALS = ("isolation", "none")


def needs_all_rows(calibrator: Weigher, form: Form, m: int | str, columns: Columns, weighing: Weighing) -> str | None:
    """The first option of a review for which all rows must be at hand; None where a few passes over them will do."""
    reasons = {
        spell(m="auto"): m == "auto",
        spell(Weighing(row_scores=ANY)): weighing.row_scores is not None,
        spell(Columns(score=columns.score)): columns.score is not None,
        spell(Weighing(map=map_name(calibrator.map))): calibrator.needs_rows,
        spell(Weighing(preset=weighing.preset)): form.marginals not in PLANNED_MARGINALS,
        spell(Columns(duplicates=columns.duplicates)): columns.duplicates != "error",
    }
    return next((option for option, asked in reasons.items() if asked), None)


@contextmanager
def large_tables(
    pool: Any,
    reference: Any,
    roles: Roles,
    form: CsvForm,
    step: Steps,
    *,
    split: Split,
    missing: str,
    seed: int,
    compute: Compute,
) -> Iterator[Tables | None]:
    """Both tables in parts, for as long as they are needed; None where they are small enough to be held.

    Args:
        pool: rows to choose from.
        reference: normal rows; None to split the pool in time.
        roles: of the columns.
        form: of CSV files.
        step: tells a person what is done.
        split: where to split the pool.
        missing: what to do with missing values.
        seed: fixes samples and draws.
        compute: where passes are run.
    """
    check_combination(pool, reference, roles, split, form)
    given = [(pool, POOL_CELLS), (pool if reference is None else reference, REFERENCE_CELLS)]
    if all(is_small(source, most) for source, most in given):
        yield None
        return
    form = with_roles(form, roles)
    with Spool() as spool:
        opened, ids = open_parts(pool, form, bytes_of(compute.memory), spool)
        normal = (
            opened
            if reference is None
            else partitions_of(reference, form, memory=bytes_of(compute.memory), spool=spool)
        )
        if ids is not None and roles.id_column is None:
            roles = replace(roles, id_column=ids)
        roles = resolved(roles, {*opened.schema.names, *normal.schema.names})
        width = _width(normal.schema, roles)
        if opened.rows * width <= POOL_CELLS and normal.rows * width <= REFERENCE_CELLS:
            yield None
            return
        codes = code_columns(_first_rows(normal), roles, ()) if paths_of([pool, reference]) else []
        roles = replace(roles, categories=[*roles.categories, *codes])
        with engine_for(compute.on, compute.memory) as plain, resuming(plain, compute.resume) as engine:
            tables = Tables(
                pool=opened,
                reference=normal,
                roles=roles,
                engine=engine,
                step=step,
                missing=missing,
                seed=seed,
                codes=codes,
                times={},
            )
            if roles.id_column is not None:
                require_columns(opened.schema.empty_table(), [roles.id_column], opened.name)
                refuse_repeated_ids(opened, roles.id_column, run=tables.passes(opened))
            yield tables if reference is not None else _split(tables, split)


def _split(tables: Tables, split: Split) -> Tables:
    """One table as two: earlier rows are the reference, later ones the pool."""
    roles = tables.roles
    assert roles.time_column is not None
    views = cut_in_time(
        tables.pool,
        roles.time_column,
        reference_until=str(split.until),
        pool_last=split.last,
        date_format=roles.date_format,
        run=tables.passes(tables.pool),
    )
    return replace(tables, pool=views.pool, reference=views.reference, times=views.times)


def is_small(source: Any, most: int) -> bool:
    """Whether a table surely has no more than so many cells, or is a file that is read whole to find out."""
    if not isinstance(source, str | Path):
        shape: Any = getattr(source, "shape", None)  # of a lazy frame not a number
        known = isinstance(shape, tuple) and len(shape) == 2 and all(isinstance(size, int) for size in shape)
        return known and shape[0] * shape[1] <= most
    place = Source.of(source)
    if place.is_set or place.path.suffix.lower() in STREAMED:
        return False
    return not place.path.is_file() or place.path.stat().st_size <= SMALL_FILE


def open_parts(source: Any, form: CsvForm, memory: int, spool: Spool) -> tuple[Partitions, str | None]:
    """A table in parts; and the column that holds the index of a pandas frame, where that names the rows."""
    if row_labels(source) is None:
        return partitions_of(source, form, memory=memory, spool=spool), None
    table, name = with_index(as_table(source, form), source)
    return held_partitions(table), name


def _width(schema: pa.Schema, roles: Roles) -> int:
    """How many features there are, as far as the names of the columns tell; lists of the roles are taken apart."""
    dates = parts_of_dates(roles.dates)
    special = {roles.id_column, roles.label_column, roles.time_column, roles.per, *roles.show, *roles.exclude}
    plain = set(schema.names) - special if roles.features is None else set(roles.features)
    return max(1, len(plain - dates.keys()) + sum(map(len, dates.values())))


def _first_rows(table: Partitions) -> pa.Table:
    """The first rows of a table, however it is divided."""
    found, rows = [], 0
    for part in table.parts:
        for _, block in part.blocks(table.schema.names):
            found.append(block.slice(0, FIRST_ROWS - rows))
            rows += found[-1].num_rows
            if rows == FIRST_ROWS:
                return pa.concat_tables(found)
    if not found:
        raise InputError(f"{table.name}: the table has no rows")
    return pa.concat_tables(found)
