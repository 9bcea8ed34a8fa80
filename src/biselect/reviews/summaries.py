"""A table of any size, or a file that sums one up, as a `ReferenceSummary`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from biselect.calibrate import ReferenceSummary
from biselect.data.pools import Roles
from biselect.data.readers import CsvForm, read_blocks
from biselect.data.readers.delimited import line_of_row
from biselect.data.readers.sources import Source
from biselect.data.splits import as_times
from biselect.data.table import as_described, as_table
from biselect.data.tables import require_columns
from biselect.options import refuse_others
from biselect.partitions.any_source import MEMORY, partitions_of
from biselect.partitions.parts import Partitions
from biselect.partitions.passes import Engine
from biselect.partitions.spool import Spool
from biselect.progress import Steps
from biselect.reviews.inputs import features_in, form_of, with_roles
from biselect.reviews.large.opening import POOL_CELLS, is_small
from biselect.reviews.large.summing import sum_up

SUMMED = ("time", "id", "label", "features", "exclude")  # what can be said about columns that are only counted
Opened: TypeAlias = pa.Table | Partitions | ReferenceSummary
"""A table that is held, one in parts, or what is known of one."""


def opened(source: Any, form: CsvForm, memory: int, spool: Spool) -> Opened:
    """A summary or its file as it is, a table in parts where it is too large to be held."""
    if isinstance(source, str | Path) and Path(source).suffix == ".npz":
        return ReferenceSummary.load(source)
    if isinstance(source, ReferenceSummary):
        return source
    if is_small(source, POOL_CELLS):
        return as_table(source, form)
    parts = partitions_of(source, form, memory=memory, spool=spool)
    if _is_large(parts):
        return parts
    return as_table(source, form) if isinstance(source, str | Path) else _held(parts)


def _is_large(table: Partitions) -> bool:
    return table.rows * len(table.schema.names) > POOL_CELLS


def _held(table: Partitions) -> pa.Table:
    blocks = [block for part in table.parts for _, block in part.blocks(table.schema.names)]
    return pa.concat_tables(blocks) if blocks else table.schema.empty_table()


def columns_only(table: Opened) -> pa.Table:
    """A table without rows that has the same columns."""
    if isinstance(table, ReferenceSummary):
        return pa.table({name: pa.array([], pa.float64()) for name in table.missing})
    return table.schema.empty_table()


def summed_up(source: Any, engine: Engine, step: Steps, memory: int = MEMORY) -> ReferenceSummary:
    """The summary of a file; a summary that was stored is read as it is."""
    table = as_described(source)
    path = table.source
    if Path(path).suffix == ".npz":
        return ReferenceSummary.load(path)
    refuse_others(table.columns, *SUMMED)
    roles, summary = Roles.of(table.columns, table.csv), ReferenceSummary()
    name, time = Source.of(path).name, roles.time_column
    form = with_roles(form_of(table.csv), replace(roles, id_column=None))
    with Spool() as spool:
        if not is_small(path, POOL_CELLS):
            parts = partitions_of(path, form, memory=memory, spool=spool)
            if _is_large(parts):
                columns = features_in(columns_only(parts), roles)
                require_columns(columns_only(parts), [time] if time is not None else [], name)
                found = sum_up(parts, columns, engine, step, time_column=time, date_format=roles.date_format)
                return found.summary
        with step(f"Reading {name}"):
            for block in read_blocks(path, form):
                columns = features_in(block, roles)
                if time is not None:
                    require_columns(block, [time], name)
                    place = partial(line_of_row, block)
                    times = as_times(block[time], time, date_format=roles.date_format, place_of=place)
                    block = block.set_column(block.column_names.index(time), time, times)
                summary.add(block, time_column=time, columns=columns)
    return summary
