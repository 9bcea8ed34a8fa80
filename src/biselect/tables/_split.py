"""A reference and a pool: from two tables, from one split in time without look-ahead, or one table as both."""

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
from biselect.columns.date_text import in_words
from biselect.columns.distinct_texts import is_date, is_number, is_text
from biselect.columns.flag import as_texts, label_flags
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, Split, spell
from biselect.tables._frames import NamedMatrix, as_matrix, refuse_unusable, row_labels, with_index
from biselect.tables._guess import Guess, guess_roles
from biselect.tables._named_columns import require_columns, rows_with_new_ids, texts, usable
from biselect.tables._table import Table, paths_of, tables_of
from biselect.tables.readers import entry_as_text, line_of_row, read_as, reading_of
from biselect.tables.readers.sources import CSV
from biselect.tables.roles import Roles, listed

FEWEST_ROWS = 50  # with a label, and without one, for a table to be split where labels end


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
        guess: what the columns were taken for; None where nothing was guessed.
        source: the pool's table; None where that is not known.
        rows: where each candidate stands in it.
        until: where one table was split, as `Split.until` takes it; None for two tables.
        is_split_by_labels: whether nobody asked for that, but labels end there.
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
    guess: Guess | None = None
    source: Table | None = None
    rows: NDArray[np.int64] | None = None
    until: str | None = None
    is_split_by_labels: bool = False

    @property
    def is_own_reference(self) -> bool:
        """Whether the rows to choose from are also what each of them is compared with."""
        return self.reference is self.candidates

    @property
    def columns(self) -> Columns:
        """What the columns are, said and guessed together."""
        return Columns() if self.guess is None else self.guess.described

    @property
    def codes(self) -> list[str]:
        """Columns of numbers taken for categories, because they look like codes in every way."""
        return (
            [] if self.guess is None else [one.name for one in self.guess.columns if one.role == "code" and one.remark]
        )

    @property
    def doubts(self) -> Mapping[str, str]:
        """What a column of texts might be as well, with the option that says so."""
        return {} if self.guess is None else self.guess.reading.doubts

    @cached_property
    def matrices(self) -> tuple[NamedMatrix, NamedMatrix]:
        """Reference and candidates as floats, converted once; one and the same where they are."""
        candidates = as_matrix(self.candidates, categories=self.categories, dates=self.dates)
        if self.is_own_reference:
            return candidates, candidates
        return as_matrix(self.reference, categories=self.categories, dates=self.dates), candidates

    def records(self, rows: Sequence[int]) -> list[dict[str, str]]:
        """Candidates as they stand in their file or frame, by their positions among the candidates.

        Returns:
            The texts of all columns by name, for each row. The file is read again, and nothing of it is kept.
        """
        if self.source is None or self.rows is None:
            raise InputError("where these rows come from is not known")
        return self.source.records(self.rows[np.asarray(rows, dtype=np.int64)].tolist())

    def refuse_unusable(self, missing: str) -> None:
        """Say where in the files the first entry is that calibration could not use."""
        places = {"the reference": self.reference_place, "the pool": self.place}
        for (where, place_of), matrix in zip(places.items(), self.matrices, strict=True):
            refuse_unusable(matrix.values, matrix.names, where=where, missing=missing, place_of=place_of)


def open_pool(pool: Any, reference: Any = None, *, split: Split = Split(), per: str | None = None) -> Pool:
    """Reference and pool from two tables, from one that is split in time, or from one that is both.

    What nobody said of the columns is guessed, by the rows of both. One table is split in time where that is asked for,
    or where its label has no value from some time on: these rows are the ones that wait for a review.

    Args:
        pool: rows to choose from, as `biselect.table` describes them or as they are.
        reference: normal rows, read as the pool is; None where `pool` is all there is.
        split: where to split `pool`.
        per: column of the pool whose values limit the choice, never a feature.

    Raises:
        InputError: options contradict each other or the tables, or a column cannot be used.
    """
    pool, normal = tables_of(pool, reference)
    check_combination(pool, normal, split)
    both = [read_for(pool.like(source), per) for source in (pool.source, normal) if source is not None]
    tables = [table.read() for table in both]
    if normal is not None:
        tables = _read_alike(both, tables)
    columns = pool.columns
    if columns.id is None and row_labels(pool.source) is not None:
        tables[0], name = with_index(tables[0], pool.source)
        columns = replace(columns, id=name)
    guess = guess_roles(tables, columns, pool.csv, per=per)
    tables = [guess.cleaned(table) for table in tables]
    names = {name for rows in tables for name in rows.column_names}
    roles = Roles.of(guess.described, pool.csv, names=names, per=per)
    if normal is not None:
        return replace(from_two_tables(tables[1], tables[0], roles), guess=guess, source=pool)
    last = _last_labelled(tables[0], roles) if split.until is None else None
    split = split if last is None else replace(split, until=last)
    opened = (split_in_time if is_split(split) else _of_one_table)(tables[0], roles, split)
    until = str(split.until or NO_SPLIT)
    return replace(opened, guess=guess, source=pool, until=until, is_split_by_labels=last is not None)


def _of_one_table(table: pa.Table, roles: Roles, split: Split) -> Pool:
    """All rows of a table, each to be compared with the others."""
    part = Part(table=table, rows=_kept(table, roles))
    return _build(part, part, roles, table.num_rows - len(part.rows))


def read_for(table: Table, per: str | None) -> Table:
    """The table with the column that limits the choice kept as it is written, as columns to show are."""
    show = listed(table.columns.show)
    return table if per is None else replace(table, columns=replace(table.columns, show=[per, *show]))


NO_SPLIT = "none"  # in place of a time: all rows are compared with each other


def is_split(split: Split) -> bool:
    """Whether one table is to be split in time."""
    return split.until is not None and str(split.until).strip() != NO_SPLIT


def check_combination(pool: Table, reference: Any, split: Split) -> None:
    """Refuse options that do not go together."""
    until = spell(Split(until=ANY))
    if reference is not None and split.until is not None:
        raise InputError(f"give either {spell(reference=ANY)}, or {until} to split the pool in time")
    if split.last is not None and not is_split(split):
        raise InputError(f"{spell(Split(last=ANY))} goes with {until}")
    if written := {name: ANY for name in ("encoding", "delimiter") if getattr(pool.csv, name) is not None}:
        if not any(_is_csv(source) for source in (pool.source, reference) if source is not None):
            raise InputError(f"{spell(Csv(**written))}: such options are for CSV files; other tables say it themselves")


def _last_labelled(table: pa.Table, roles: Roles) -> str | None:
    """The time of the last row with a label, where later rows have none; None where labels do not end so.

    Whoever labels rows as they come has not seen the later ones.
    """
    if roles.time_column is None or roles.label_column not in table.column_names:
        return None
    is_open = pc.is_null(table[roles.label_column])
    try:
        times, _ = _times_of(table, roles.time_column, roles.date_format)
    except InputError:
        return None
    first, last = pc.min(times.filter(is_open)), pc.max(times.filter(pc.invert(is_open)))
    numbers = pc.sum(is_open).as_py(), table.num_rows - pc.sum(is_open).as_py()
    if min(numbers) < FEWEST_ROWS or not last.is_valid or not pc.greater(first, last).as_py():
        return None
    return str(last.as_py())


def _read_alike(both: Sequence[Table], tables: list[pa.Table]) -> list[pa.Table]:
    """Pool and reference, with what one of them cannot show read as in the other."""
    if both[0].csv.decimal is None:
        tables = _in_one_style(both, tables)
    if not (unlike := _text_in_one(*tables)):
        return tables
    types = {**both[0].columns.types, **dict.fromkeys(sorted(unlike), "category")}
    return [replace(table, columns=replace(table.columns, types=types)).read() for table in both]


def _in_one_style(both: Sequence[Table], tables: list[pa.Table]) -> list[pa.Table]:
    """The tables, with a file that does not show how decimals are written read as the other: 1.234 may be 1234."""
    marks = [reading_of(rows).decimal for rows in tables]
    if sorted(marks) != ["", ","] or not all(map(_is_csv, (table.source for table in both))):
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
    time_column = time_column_of(roles, split)
    require_columns(table, [time_column], "the table")
    times, written = _times_of(table, time_column, roles.date_format)
    rows = _kept(table, roles)
    earlier, later = sides_in_time(times if rows is None else times.take(rows), split, written)
    if rows is not None:
        earlier, later = rows[earlier], rows[later]
    repeated = 0 if rows is None else table.num_rows - len(rows)
    return _build(Part(table=table, rows=earlier), Part(table=table, rows=later), roles, repeated)


def _times_of(table: pa.Table, name: str, date_format: str | None) -> tuple[pa.ChunkedArray, str | None]:
    """The times of all rows, and how they were written where they were text."""
    form = reading_of(table).dates.get(name)
    if form is not None and date_format not in (None, form):
        option = spell(Csv(date_format=date_format))
        raise InputError(f"time column {name!r} holds dates such as {in_words(form)}, which is not {option}")
    asked = None if form is not None else date_format
    times, written = read_times(table[name], name, date_format=asked, place_of=partial(line_of_row, table))
    return times, written or form


def time_column_of(roles: Roles, split: Split) -> str:
    """The column that orders the rows of a table that is to be split."""
    if roles.time_column is None:
        raise InputError(f"{spell(Split(until=split.until))} needs {spell(Columns(time=ANY))}: none orders the rows")
    return roles.time_column


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
        typed = {*dates, *(name for name in roles.categories if name in columns and not is_date(table[name].type))}
        rows = usable(table, columns, where if self.whole else "the table", told=typed, numbers=numbers)
        return rows if self.whole else rows.take(self.rows)

    def place(self, row: int) -> str:
        """Where a row of this part stands in the file."""
        return line_of_row(self.file, int(self.rows[row]))

    def times(self, roles: Roles) -> tuple[str, str] | None:
        """First and last time, where the time column can be read; unless a form was said, nothing depends on it."""
        if roles.time_column is None or roles.time_column not in self.table.column_names:
            return None
        try:
            times, _ = _times_of(self.file, roles.time_column, roles.date_format)
        except InputError:
            if roles.date_format is not None:
                raise
            return None
        return ends_in_time(times if self.whole else times.take(self.rows))


def ends_in_time(times: pa.ChunkedArray) -> tuple[str, str]:
    """First and last time, as text."""
    ends = pc.min_max(times).as_py()
    return entry_as_text(ends["min"]), entry_as_text(ends["max"])


def _build(reference_part: Part, pool_part: Part, roles: Roles, repeated: int) -> Pool:
    reference, pool = reference_part.table, pool_part.table
    features, unused = roles.features_of(reference, pool)
    beside = [name for name in (roles.per, *roles.show) if name]
    is_own = reference_part is pool_part
    forms = reading_of(pool).dates
    as_text = {name: _texts(pool[name], forms.get(name)) for name in beside}
    times = {"reference": None if is_own else reference_part.times(roles), "pool": pool_part.times(roles)}
    before = reference_part.features(features, "the table" if is_own else "the reference", roles, roles.numbers)
    numbers = [name for name in features if is_number(before[name].type)]
    labels, positive = None, ""
    if (label := roles.label_column) is not None and pool[label].null_count < pool.num_rows:
        labels, positive = label_flags(_labelled(pool, reference, label), label, "the pool", roles.label_value)
        labels = labels[: pool.num_rows]
    with_role = {*reference.column_names, *features, *roles.exclude, *roles.special}
    return Pool(
        reference=before,
        candidates=before if is_own else pool_part.features(features, "the pool", roles, numbers),
        sample_names=[str(row) for row in pool_part.rows.tolist()]
        if roles.id_column is None
        else texts(pool, roles.id_column, "the pool", pool_part.place),
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
        rows=pool_part.rows,
    )


def _labelled(pool: pa.Table, reference: pa.Table, label: str) -> pa.Table:
    """The labels of the pool, and of the reference after them if it has any: a pool may hold no positive one."""
    known = [as_texts(table[label]) for table in (pool, reference) if label in table.column_names]
    values = known[0] if len(known) == 1 else pa.chunked_array([*known[0].chunks, *known[1].drop_null().chunks])
    return pa.table({label: values})


def _texts(column: pa.ChunkedArray, form: str | None) -> list[str]:
    """Entries as the file has them; dates that were text in the form in which they were written."""
    if form is not None and pa.types.is_timestamp(column.type):
        return ["" if value is None else value.strftime(form) for value in column.to_pylist()]
    return [entry_as_text(value).removesuffix(" 00:00:00") for value in column.to_pylist()]


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
