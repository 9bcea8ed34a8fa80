"""A summary of a table that no memory holds, in two passes: look over all rows, then count the numbers.

The result depends on the rows and their order alone, so it is the same for any division into parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.columns.counts import Ruler, drawn, lots
from biselect.columns.date import as_times
from biselect.columns.distinct_texts import is_number
from biselect.columns.number import NUMBER, float_values
from biselect.errors import InputError
from biselect.large._counting import Counting, counts_of
from biselect.large._survey import FeatureColumns, sample_share
from biselect.large.dataset import FIRST_ROWS, MEMORY, Part, Partitions, rows_between
from biselect.large.engines import Engine
from biselect.large.opening import POOL_CELLS, is_small
from biselect.large.passes import Arrays, Pass, as_bytes, from_bytes, joined, merged_blocks
from biselect.large.spool import Spool, partitions_of
from biselect.options import Columns, refuse_others
from biselect.pages.words import phrase
from biselect.progress import Steps
from biselect.tables import Table, feature_names, guess_roles, is_quantity, require_columns
from biselect.tables.readers import line_of_row
from biselect.weights import Reference


@dataclass(frozen=True, kw_only=True)
class LookOver:
    """First pass: rows, times, categories, missing cells, the ends of numbers, and a sample of these.

    Attributes:
        name: what a person reads while it runs.
        numbers: columns of numbers.
        others: columns of anything else.
        time_column: dates the rows; None where nothing does.
        date_format: how it is written.
        share: of the rows that are drawn.
        seed: fixes which.
    """

    name: str
    numbers: tuple[str, ...]
    others: tuple[str, ...]
    time_column: str | None
    date_format: str | None
    share: float
    seed: int

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        times = [] if self.time_column is None else [self.time_column]
        return merged_blocks(part, [*self.numbers, *self.others, *times], self._of_block, self.merged)

    def _of_block(self, first: int, block: pa.Table) -> Arrays:
        if (time := self.time_column) is not None:
            times = as_times(
                block[time], time, date_format=self.date_format, place_of=lambda row: f"row {first + row:,}"
            )
            block = block.set_column(block.column_names.index(time), time, times)
        rest = Reference().add(block, time_column=time, columns=self.others)
        values = numbers_in(block, self.numbers)
        ends = np.stack(
            [
                extreme.reduce(values, axis=0, initial=start)
                for extreme, start in ((np.fmin, np.inf), (np.fmax, -np.inf))
            ]
        )
        for name, (low, high) in zip(self.numbers, ends.T, strict=True):
            if low == -np.inf or high == np.inf:
                raise InputError(f"the reference has an infinite value in column {name!r}; drop those rows")
        sampled = np.flatnonzero(drawn(first, len(values), self.share, self.seed))
        return {
            "told": as_bytes(rest.state()[0]),
            "absent": np.isnan(values).sum(axis=0),
            "ends": ends,
            "sample": values[sampled],
            "at": first + sampled,
        }

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        rest = Reference.merged([Reference.from_state(from_bytes(one["told"]), {}) for one in (before, after)])
        low, high = before["ends"].astype(np.float64), after["ends"].astype(np.float64)
        return {
            "told": as_bytes(rest.state()[0]),
            "absent": before["absent"] + after["absent"],
            "ends": np.stack([np.fmin(low[0], high[0]), np.fmax(low[1], high[1])]),
            **joined(before, after, ["sample", "at"]),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class SummedTable:
    """What the passes found.

    Attributes:
        summary: of all rows.
        sample: numbers of some rows.
        positions: where these stand in the table.
    """

    summary: Reference
    sample: pa.Table
    positions: NDArray[np.int64]

    def draw(self, rows: int, seed: int) -> pa.Table:
        """So many rows of the sample, the same whatever the table is divided into."""
        order = np.argsort(lots(self.positions, seed), kind="stable")[:rows]
        return self.sample.take(np.sort(order))


def sum_up(
    table: Partitions,
    columns: Sequence[str],
    engine: Engine,
    step: Steps,
    *,
    time_column: str | None = None,
    date_format: str | None = None,
    seed: int = 0,
) -> SummedTable:
    """The summary of these columns of a table in parts."""
    kinds = nw.from_native(table.schema.empty_table(), eager_only=True)
    numbers = tuple(name for name in columns if is_quantity(kinds[name].dtype))

    def run(request: Pass) -> Arrays:
        with step(f"{request.name} {table.name}: {table.rows:,} rows in {len(table.parts):,} parts") as progress:
            return engine.run(request, table.parts, progress)

    share = sample_share(table.rows)
    looked = run(
        LookOver(
            name="Looking over",
            numbers=numbers,
            others=tuple(name for name in columns if name not in numbers),
            time_column=time_column,
            date_format=date_format,
            share=share,
            seed=seed,
        )
    )
    sample, ends = looked["sample"].astype(np.float64), looked["ends"].astype(np.float64)
    rulers = tuple(Ruler.of(sample[:, j], share, *ends[:, j].tolist()) for j in range(len(numbers)))
    summary = Reference.from_state(from_bytes(looked["told"]), {})
    summary.missing.update(dict(zip(numbers, looked["absent"].tolist(), strict=True)))
    if numbers:
        features = FeatureColumns(names=numbers, where="the reference")
        by_place = dict(enumerate(rulers))
        counts = run(Counting(name="Counting", features=features, columns=numbers, rulers=by_place))
        for j, (name, ruler) in enumerate(zip(numbers, rulers, strict=True)):
            summary.types[name], summary.counts[name] = NUMBER, ruler.column(counts_of(counts, j))
    return SummedTable(
        summary=summary.only(columns),
        sample=pa.table({name: sample[:, j] for j, name in enumerate(numbers)}),
        positions=looked["at"].astype(np.int64),
    )


def numbers_in(block: pa.Table, columns: Sequence[str]) -> NDArray[np.float64]:
    """These columns as a matrix; a missing one is NaN."""
    frame = nw.from_native(block, eager_only=True)
    matrix = np.empty((block.num_rows, len(columns)), order="F")
    for j, name in enumerate(columns):
        matrix[:, j] = float_values(frame[name])
    return matrix


NO_FEATURES = ("id", "other id", "label", "time")  # roles of numbers that nobody watches
SUMMED = ("time", "id", "label", "features", "exclude")  # what can be said about columns that are only counted
Opened: TypeAlias = pa.Table | Partitions | Reference
"""A table that is held, one in parts, or what is known of one."""


def opened(table: Table, memory: int, spool: Spool) -> Opened:
    """A summary or its file as it is, a table in parts where it is too large to be held."""
    source = table.source
    if isinstance(source, str | Path) and Path(source).suffix == ".npz":
        return Reference.load(source)
    if isinstance(source, Reference):
        return source
    if is_small(source, POOL_CELLS):
        return table.read()
    parts = partitions_of(table, memory=memory, spool=spool)
    if parts.rows * len(parts.schema.names) > POOL_CELLS:
        return parts
    return table.read() if isinstance(source, str | Path) else parts.held()


def columns_only(table: Opened) -> pa.Table:
    """A table without rows that has the same columns."""
    if isinstance(table, Reference):
        return pa.table({name: pa.array([], pa.float64()) for name in table.missing})
    return table.schema.empty_table()


def features_of(table: Opened, columns: Columns) -> list[str]:
    """The columns that are summed up: no ids, labels and clocks, said or guessed; empty ones may fill again."""
    names = feature_names(columns_only(table), columns)
    if isinstance(table, Reference) or columns.features is not None:
        return names
    rows = rows_between(table, 0, FIRST_ROWS).held() if isinstance(table, Partitions) else table
    roles = guess_roles([rows], columns).roles
    return [name for name in names if roles[name] not in NO_FEATURES or not is_number(rows[name].type)]


def summed_up(source: Any, engine: Engine, step: Steps, memory: int = MEMORY) -> Reference:
    """The summary of a file; a summary that was stored is read as it is."""
    table = Table.of(source)
    refuse_others(table.columns, *SUMMED)
    name, time, date_format = table.name or "the table", table.columns.time, table.csv.date_format
    with Spool() as spool:
        with step(phrase("steps.reading", name=name)):
            rows = opened(replace(table, columns=replace(table.columns, id=None)), memory, spool)
        if isinstance(rows, Reference):
            return rows
        columns = features_of(rows, table.columns)
        if time is not None:
            require_columns(columns_only(rows), [time], name)
        if isinstance(rows, Partitions):
            return sum_up(rows, columns, engine, step, time_column=time, date_format=date_format).summary
        if time is not None:
            times = as_times(rows[time], time, date_format=date_format, place_of=partial(line_of_row, rows))
            rows = rows.set_column(rows.column_names.index(time), time, times)
        return Reference().add(rows, time_column=time, columns=columns)
