"""A reference and a pool: from two files, or from one file split in time without look-ahead."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property, partial
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.columns.date import Place, as_times, parts_of_dates, read_times
from biselect.columns.distinct_texts import is_number, is_text
from biselect.columns.flag import label_flags
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, Split, spell
from biselect.tables._frames import NamedMatrix, as_matrix, refuse_unusable, row_labels, with_index
from biselect.tables._named_columns import require_columns, rows_with_new_ids, texts, usable
from biselect.tables._table import Table, paths_of, tables_of
from biselect.tables.readers import line_of_row, read_as, reading_of
from biselect.tables.readers.sources import CSV
from biselect.tables.roles import Roles


@dataclass(frozen=True, kw_only=True)
class Pool:
    """What calibration and selection need, and nothing that could leak.

    Attributes:
        reference: feature columns of the reference, numbers as float64.
        candidates: the same columns of the pool.
        sample_names: one name for each candidate.
        labels: which candidates are known positives; for evaluation only.
        ignored: columns of the pool that play no part.
        excluded: columns that the caller left out.
        shown: columns shown beside the candidates, never used to choose: their entries as text.
        per: the label of each candidate whose number is limited, None for one without.
        times: first and last time of reference and pool, where they are known.
        reference_place: where a row of the reference stands in its file.
        place: where a candidate does.
        categories: columns of numbers that name things.
        dates: date columns and their parts to use.
        unused_dates: date columns left out, as nobody asked for any part of them.
        positive: the value of the label that is taken as positive, where there is a label.
        repeated: how many rows were left out because another one has their id.
        read_as: for each file how it was read, where that is not plain.
        doubts: what a column might be as well, with the option that says so.
        codes: columns of numbers taken for categories, because they look like codes in every way.
    """

    reference: pa.Table
    candidates: pa.Table
    sample_names: list[str]
    labels: NDArray[np.bool_] | None
    ignored: tuple[str, ...]
    excluded: tuple[str, ...]
    shown: Mapping[str, Sequence[str]]
    per: Sequence[str | None] | None
    times: Mapping[str, tuple[str, str]]
    reference_place: Place
    place: Place
    categories: Sequence[str] = ()
    dates: Sequence[str] = ()
    unused_dates: Sequence[str] = ()
    positive: str = ""
    repeated: int = 0
    read_as: Mapping[str, Sequence[str]] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)
    codes: Sequence[str] = ()

    @cached_property
    def matrices(self) -> tuple[NamedMatrix, NamedMatrix]:
        """Reference and candidates as floats, converted once."""
        reference, candidates = (
            as_matrix(table, categories=self.categories, dates=self.dates)
            for table in (self.reference, self.candidates)
        )
        return reference, candidates

    def refuse_unusable(self, missing: str) -> None:
        """Say where in the files the first entry is that calibration could not use."""
        places = {"the reference": self.reference_place, "the pool": self.place}
        for (where, place_of), matrix in zip(places.items(), self.matrices, strict=True):
            refuse_unusable(matrix.values, matrix.names, where=where, missing=missing, place_of=place_of)


def open_pool(pool: Any, reference: Any = None, *, split: Split = Split(), per: str | None = None) -> Pool:
    """Reference and pool from two tables, or from one that is split in time.

    Args:
        pool: rows to choose from, as `biselect.table` describes them or as they are.
        reference: normal rows, read as the pool is; None to split `pool`.
        split: where to split `pool`.
        per: column of the pool whose values limit the choice, never a feature.

    Raises:
        InputError: options contradict each other or the tables, or a column cannot be used.
    """
    pool, normal = tables_of(pool, reference)
    check_combination(pool, normal, split)
    roles = Roles.of(pool.columns, pool.csv, per=per)
    both = [read_for(pool.like(source), per) for source in (pool.source, normal) if source is not None]
    tables = [table.read() for table in both]
    if normal is not None and pool.csv.decimal is None:
        tables = _in_one_style(both, tables)
    if normal is not None and (unlike := _text_in_one(*tables)):
        types = {**pool.columns.types, **dict.fromkeys(sorted(unlike), "category")}
        tables = [
            replace(table, columns=replace(table.columns, types=types)).read() if _is_csv(table.source) else rows
            for table, rows in zip(both, tables, strict=True)
        ]
    columns = pool.columns
    if columns.id is None and row_labels(pool.source) is not None:
        tables[0], name = with_index(tables[0], pool.source)
        columns = replace(columns, id=name)
    roles = Roles.of(columns, pool.csv, names={name for rows in tables for name in rows.column_names}, per=per)
    zero_led = {name for rows in tables if (reading := reading_of(rows)) for name in reading.codes}
    codes = roles.code_columns(tables[-1], zero_led) if paths_of([pool.source, normal]) else []
    roles = replace(roles, categories=[*roles.categories, *codes])
    if normal is not None:
        return replace(from_two_tables(tables[1], tables[0], roles), codes=codes)
    return replace(split_in_time(tables[0], roles, split), codes=codes)


def read_for(table: Table, per: str | None) -> Table:
    """The table with the column that limits the choice kept as it is written, as columns to show are."""
    show = [table.columns.show] if isinstance(table.columns.show, str) else table.columns.show
    return table if per is None else replace(table, columns=replace(table.columns, show=[per, *show]))


def check_combination(pool: Table, reference: Any, split: Split) -> None:
    """Refuse options that do not go together."""
    time, until = spell(Columns(time=ANY)), spell(Split(until=ANY))
    if (reference is None) == (split.until is None):
        raise InputError(f"give either {spell(reference=ANY)}, or {time} and {until} to split the pool in time")
    if reference is not None and split.last is not None:
        raise InputError(f"{spell(Split(last=ANY))} goes with {until}")
    if reference is None and pool.columns.time is None:
        raise InputError(f"{until} needs {time}")
    if not any(_is_csv(source) for source in (pool.source, reference) if source is not None):
        if pool.csv.date_format is not None and pool.columns.time is None:
            raise InputError(f"{spell(Csv(date_format=ANY))} goes with {time}")
        if written := {name: ANY for name, value in vars(pool.csv).items() if value and name != "date_format"}:
            raise InputError(f"{spell(Csv(**written))}: such options are for CSV files; other tables say it themselves")


def _in_one_style(both: Sequence[Table], tables: list[pa.Table]) -> list[pa.Table]:
    """The tables, with a file that does not show how decimals are written read as the other: 1.234 may be 1234."""
    marks = [reading.decimal if (reading := reading_of(rows)) else None for rows in tables]
    if sorted(marks, key=str) != ["", ","]:
        return tables
    return [
        replace(table, csv=replace(table.csv, decimal=",")).read() if mark == "" else rows
        for table, rows, mark in zip(both, tables, marks, strict=True)
    ]


def _is_csv(source: Any) -> bool:
    return any(one.path.name.lower().endswith(CSV) for one in paths_of([source]))


def _text_in_one(pool: pa.Table, reference: pa.Table) -> set[str]:
    """Columns that are text in the reference and something else in the pool, or text beside true and false."""
    there = set(pool.column_names)
    shared = [name for name in reference.column_names if name in there]
    kinds = {name: (reference[name].type, pool[name].type) for name in shared}
    return {
        name
        for name, (before, now) in kinds.items()
        if is_text(before) != is_text(now) and (is_text(before) or pa.types.is_boolean(before))
    }


def from_two_tables(reference: pa.Table, pool: pa.Table, roles: Roles) -> Pool:
    """Reference and pool as they are."""
    rows = _kept(pool, roles)
    repeated = 0 if rows is None else pool.num_rows - len(rows)
    return _build(Part(table=reference), Part(table=pool, rows=rows), roles, repeated)


def split_in_time(table: pa.Table, roles: Roles, split: Split) -> Pool:
    """Earlier rows become the reference, later ones the pool, or only the last of them.

    The rows are sorted by time here if they are not; those of equal time keep their order.
    """
    assert roles.time_column is not None
    require_columns(table, [roles.time_column], "the table")
    times, written = read_times(
        table[roles.time_column], roles.time_column, date_format=roles.date_format, place_of=partial(line_of_row, table)
    )
    if (reading := reading_of(table)) is not None:
        written = written or reading.dates.get(roles.time_column)
    rows = _kept(table, roles)
    earlier, later = sides_in_time(times if rows is None else times.take(rows), split, written)
    if rows is not None:
        earlier, later = rows[earlier], rows[later]
    repeated = 0 if rows is None else table.num_rows - len(rows)
    return _build(Part(table=table, rows=earlier), Part(table=table, rows=later), roles, repeated)


def sides_in_time(
    times: pa.ChunkedArray, split: Split, date_format: str | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of the reference and those of the pool, each in the order of their times, then of their positions.

    Args:
        times: of all rows, none missing.
        split: where the reference ends, and how many of the later rows are the pool.
        date_format: how the times are written, where they were text.
    """
    cut = _rows_until(times, str(split.until), date_format)
    if cut == 0 or cut == len(times):
        side = "no row is" if cut == 0 else "every row is"
        raise InputError(f"{spell(Split(until=split.until))}: {side} that early; both sides need rows")
    later = len(times) - cut
    if split.last is not None and not 1 <= split.last <= later:
        many = f"1 to {later}, the rows after the reference"
        raise InputError(f"{spell(Split(last=ANY))} must be {many}; got {split.last}")
    in_order = pc.all(pc.less_equal(times[:-1], times[1:])).as_py()  # as most files are
    rows = np.arange(len(times)) if in_order else pc.sort_indices(times).to_numpy().view(np.int64)  # stable
    return rows[:cut], rows[-(split.last or later) :]


def _kept(table: pa.Table, roles: Roles) -> NDArray[np.int64] | None:
    """The rows that are left when repeated ids are taken out; None for all."""
    if roles.duplicates not in ("error", "first", "last"):
        raise InputError(f"{spell(Columns(duplicates=ANY))} must be first, last or error, got {roles.duplicates!r}")
    if roles.duplicates == "error":
        return None
    if roles.id_column is None:
        raise InputError(f"{spell(Columns(duplicates=ANY))} is about ids; give {spell(Columns(id=ANY))} too")
    require_columns(table, [roles.id_column], "the pool")
    rows = rows_with_new_ids(table[roles.id_column], roles.duplicates)
    return rows if len(rows) < table.num_rows else None


class Part:
    """Some rows of a file, which know where they stand in it."""

    def __init__(self, table: pa.Table, rows: NDArray[np.int64] | None = None) -> None:
        self.file = table
        self.whole = rows is None
        self.rows = np.arange(table.num_rows) if rows is None else rows
        self.table = table if rows is None else table.take(rows)

    def features(self, columns: Sequence[str], where: str, roles: Roles, numbers: Collection[str] = ()) -> pa.Table:
        """Feature columns; what makes one unusable is looked for in the whole file."""
        dates, table = parts_of_dates(roles.dates), self.file
        for name in dates:
            if is_text(table[name].type):
                times = as_times(table[name], name, date_format=roles.date_format, place_of=partial(line_of_row, table))
                table = table.set_column(table.column_names.index(name), name, times)
        typed = {*roles.categories, *dates}
        rows = usable(table, columns, where if self.whole else "the table", told=typed, numbers=numbers)
        return rows if self.whole else rows.take(self.rows)

    def place(self, row: int) -> str:
        """Where a row of this part stands in the file."""
        return line_of_row(self.file, int(self.rows[row]))

    def times(self, roles: Roles) -> tuple[str, str] | None:
        """First and last time, where the time column can be read; without a split nothing depends on it."""
        if roles.time_column is None or roles.time_column not in self.table.column_names:
            return None
        try:
            times = as_times(self.table[roles.time_column], roles.time_column, date_format=roles.date_format)
        except InputError:
            return None
        return ends_in_time(times)


def ends_in_time(times: pa.ChunkedArray) -> tuple[str, str]:
    """First and last time, as text."""
    ends = pc.min_max(times).as_py()
    return entry_as_text(ends["min"]), entry_as_text(ends["max"])


def entry_as_text(value: Any) -> str:
    """An entry as a person would write it."""
    if value is None or value != value:
        return ""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _build(reference_part: Part, pool_part: Part, roles: Roles, repeated: int) -> Pool:
    reference, pool = reference_part.table, pool_part.table
    features, unused = roles.features_of(reference, pool)
    names = [str(row) for row in pool_part.rows.tolist()]
    beside = [name for name in (roles.per, *roles.show) if name]
    as_text = {name: [entry_as_text(value) for value in pool[name].to_pylist()] for name in beside}
    times = {"reference": reference_part.times(roles), "pool": pool_part.times(roles)}
    before = reference_part.features(features, "the reference", roles)
    numbers = [name for name in features if is_number(before[name].type)]
    labels, positive = None, ""
    if roles.label_column is not None:
        labels, positive = label_flags(pool, roles.label_column, "the pool", roles.label_value)
    with_role = {*reference.column_names, *features, *roles.exclude, *roles.special}
    readings = [reading for part in (pool_part, reference_part) if (reading := reading_of(part.file)) is not None]
    return Pool(
        reference=before,
        candidates=pool_part.features(features, "the pool", roles, numbers),
        sample_names=names if roles.id_column is None else texts(pool, roles.id_column, "the pool", pool_part.place),
        labels=labels,
        ignored=tuple(name for name in pool.column_names if name not in with_role),
        excluded=tuple(roles.exclude),
        shown=as_text,
        per=None if roles.per is None else [label or None for label in as_text[roles.per]],
        times={name: ends for name, ends in times.items() if ends is not None},
        reference_place=reference_part.place,
        place=pool_part.place,
        categories=[name for name in roles.categories if name in features],
        dates=roles.dates,
        unused_dates=unused,
        positive=positive,
        repeated=repeated,
        read_as=read_as([pool_part.file, reference_part.file]),
        doubts={name: doubt for reading in readings for name, doubt in reading.doubts.items()},
    )


def windows_in_time(rows: int, window: int, step: int | None = None) -> list[slice]:
    """Windows of one length, oldest first; the last ends with the last row.

    Args:
        rows: of the table, in the order of time.
        window: rows of each.
        step: rows between the ends of neighbouring windows; the window itself where None.
    """
    step = window if step is None else step
    if window < 1 or step < 1:
        raise InputError(f"window and step must be positive numbers of rows, got {window} and {step}")
    ends = range(rows, window - 1, -step)
    if len(ends) < 2:
        raise InputError(f"{rows} rows hold no older window of {window} rows beside the newest; use a shorter window")
    return [slice(end - window, end) for end in reversed(ends)]


def _rows_until(times: pa.ChunkedArray, until: str, date_format: str | None = None) -> int:
    """How many rows lie at or before a time (ISO, or as the column), or make up a share such as `60%`."""
    text = until.strip()
    if text.endswith("%"):
        try:
            share = Fraction(text[:-1]) / 100
        except ValueError:
            share = Fraction(0)
        if not 0 < share < 1:
            raise InputError(f"{spell(Split(until=until))}: a share must lie between 0% and 100%")
        return int(share * len(times))
    kind = times.type
    try:
        if pa.types.is_timestamp(kind):
            early = pc.less_equal(times, pa.scalar(_limit(text, kind.tz, date_format), kind))
        else:
            early = pc.less_equal(pc.cast(times, pa.float64(), safe=False), float(text))
    except (ValueError, pa.ArrowException) as error:
        raise InputError(
            f"{spell(Split(until=until))}: not a value of the time column ({kind}), nor a share like 60% ({error})"
        ) from error
    return int(pc.sum(early).as_py())


def _limit(text: str, zone: str | None, date_format: str | None) -> datetime:
    """The limit in the column's own terms: without an offset it is taken in the column's zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        if date_format is None or date_format == "ISO":
            raise
        try:
            moment = datetime.strptime(text, date_format)
        except ValueError:  # a day without its time
            moment = datetime.strptime(text, date_format.split(" ")[0])
    if zone is None and moment.tzinfo is not None:
        raise ValueError("the column has no time zone, so give a time without an offset")
    if zone is not None and moment.tzinfo is None:
        offset = datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo if zone[0] in "+-" else ZoneInfo(zone)
        moment = moment.replace(tzinfo=offset)
    return moment
