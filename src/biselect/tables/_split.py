"""A reference and a pool: from two files, or from one file split in time without look-ahead."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.columns.date import parts_of_dates
from biselect.columns.flag import label_flags
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, RowRules, Split, spell
from biselect.tables._frames import NamedMatrix, as_matrix, refuse_unusable
from biselect.tables._named_columns import (
    Place,
    is_date,
    is_number,
    is_text,
    require_columns,
    rows_with_new_ids,
    texts,
    usable,
)
from biselect.tables._times import as_times, read_times, rows_until
from biselect.tables.readers import line_of_row, read_as, reading_of


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


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which columns play which part; all others are features.

    Attributes:
        id_column: names the rows.
        label_column: known positives, never shown to calibration or solver.
        label_value: the value of it that is positive; None for what is clear by itself, such as 1 or yes.
        time_column: orders the rows.
        date_format: how dates are written, where they are text; None to find it out.
        duplicates: what to do with rows of one id: keep the `first`, the `last`, or `error`.
        features: columns to use, or None for all that are left.
        exclude: columns to leave out.
        show: columns of the pool to show beside the rows, never features.
        per: column of the pool whose values limit the choice, never a feature.
        categories: columns of numbers that name things.
        numbers: columns of numbers that do not, although they look like it.
        dates: date columns to use, with the parts of them, as `biselect.columns.date.parts_of_dates` takes them.
    """

    id_column: str | None = None
    label_column: str | None = None
    label_value: str | None = None
    time_column: str | None = None
    duplicates: str = "error"
    date_format: str | None = None
    features: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    show: Sequence[str] = ()
    per: str | None = None
    categories: Sequence[str] = ()
    numbers: Sequence[str] = ()
    dates: Sequence[str] = ()

    @classmethod
    def of(cls, columns: Columns, csv: Csv = Csv(), per: str | None = None) -> Self:
        """The roles that options say; a column of scores is shown."""
        types: dict[str, list[str]] = {"category": [], "number": [], "date": []}
        for name, kind in columns.types.items():
            word, colon, parts = kind.partition(":")
            if word not in types or (colon and word != "date"):
                said = spell(Columns(types={name: kind}))
                raise InputError(f"{said}: a column holds number, category, date, or parts of it such as date:hour")
            types[word].append(f"{name}{colon}{parts}" if colon or ":" not in name else f"{name}:hour,weekday")
        shown = [columns.show] if isinstance(columns.show, str) else columns.show
        return cls(
            id_column=columns.id,
            label_column=columns.label,
            time_column=columns.time,
            duplicates=columns.duplicates,
            date_format=csv.date_format,
            features=columns.features,
            exclude=columns.exclude,
            show=[*shown, *([columns.score] if columns.score else [])],
            per=per,
            categories=types["category"],
            numbers=types["number"],
            dates=types["date"],
        )

    def feature_columns(self, reference: pa.Table) -> list[str]:
        """The feature columns, in the order of the reference (or as asked for)."""
        dates = parts_of_dates(self.dates)
        special = {self.id_column, self.label_column, self.time_column, self.per, *self.show} - dates.keys()
        require_columns(reference, [*(self.features or ()), *self.categories, *self.numbers, *dates], "the reference")
        left_out = set(self.exclude)
        if self.features is not None:
            if leaked := [name for name in self.features if name == self.label_column]:
                raise InputError(f"the label column {leaked[0]!r} must not be a feature")
            if shown := [name for name in self.features if name == self.per or name in self.show]:
                raise InputError(
                    f"column {shown[0]!r} of {spell(Columns(show=ANY))} or {spell(RowRules(per=ANY))} is never a "
                    f"feature; take it from {spell(Columns(features=ANY))}"
                )
            chosen = [name for name in self.features if name not in self.exclude]
            chosen += [name for name in dates if name not in chosen]
        else:
            chosen = [name for name in reference.column_names if name not in special and name not in left_out]
        if not chosen:
            raise InputError(f"no feature columns are left; check {spell(Columns(features=ANY, exclude=ANY))}")
        if len(set(chosen)) != len(chosen):
            raise InputError(f"a feature is named more than once in {spell(Columns(features=ANY))}")
        return chosen

    def unused_dates(self, reference: pa.Table) -> list[str]:
        """Date columns that nobody asked for: no feature unless they are named as one or by their parts."""
        if self.features is not None:
            return []
        taken = {self.id_column, self.label_column, self.time_column, self.per, *self.show, *self.exclude}
        taken |= parts_of_dates(self.dates).keys()
        return [
            name
            for name, kind in zip(reference.column_names, reference.schema.types, strict=True)
            if is_date(kind) and name not in taken
        ]


def from_two_tables(reference: pa.Table, pool: pa.Table, roles: Roles) -> Pool:
    """Reference and pool as they are."""
    kept = _kept(pool, roles)
    repeated = 0 if kept is None else pool.num_rows - len(kept)
    return _build(Part(table=reference), Part(table=pool, rows=kept), roles, repeated)


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
    order = pc.sort_indices(times)  # stable
    if (kept := _kept(table, roles)) is not None:
        order = order.filter(pc.is_in(order, pa.array(kept, order.type)))
    rows = order.to_numpy()
    cut = rows_until(times.take(order), str(split.until), written)
    if cut == 0 or cut == len(rows):
        side = "no row is" if cut == 0 else "every row is"
        raise InputError(f"{spell(Split(until=split.until))}: {side} that early; both sides need rows")
    later = rows[cut:]
    if split.last is not None:
        if not 1 <= split.last <= later.size:
            many = f"1 to {later.size}, the rows after the reference"
            raise InputError(f"{spell(Split(last=ANY))} must be {many}; got {split.last}")
        later = later[-split.last :]
    repeated = table.num_rows - len(rows)
    return _build(Part(table=table, rows=rows[:cut]), Part(table=table, rows=later), roles, repeated)


def _kept(table: pa.Table, roles: Roles) -> NDArray[np.int64] | None:
    """The rows that are left when repeated ids are taken out; None for all."""
    if roles.duplicates not in ("error", "first", "last"):
        raise InputError(f"{spell(Columns(duplicates=ANY))} must be first, last or error, got {roles.duplicates!r}")
    if roles.duplicates == "error":
        return None
    if roles.id_column is None:
        raise InputError(f"{spell(Columns(duplicates=ANY))} is about ids; give {spell(Columns(id=ANY))} too")
    require_columns(table, [roles.id_column], "the pool")
    kept = rows_with_new_ids(table[roles.id_column], roles.duplicates)
    return kept if len(kept) < table.num_rows else None


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
        told = {*roles.categories, *dates}
        found = usable(table, columns, where if self.whole else "the table", told=told, numbers=numbers)
        return found if self.whole else found.take(self.rows)

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
        ends = pc.min_max(times).as_py()
        return entry_as_text(ends["min"]), entry_as_text(ends["max"])


def entry_as_text(value: Any) -> str:
    """An entry as a person would write it."""
    if value is None or value != value:
        return ""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _build(reference_part: Part, pool_part: Part, roles: Roles, repeated: int) -> Pool:
    reference, pool = reference_part.table, pool_part.table
    unused = roles.unused_dates(reference)
    idle = set(unused)
    features = [name for name in roles.feature_columns(reference) if name not in idle]
    if not features:
        parts = spell(Columns(types={unused[0]: "date:hour,weekday,gap"}))
        raise InputError(f"only dates are left; use parts of one with {parts}")
    there = set(pool.column_names)
    either = there.union(reference.column_names)
    for name in (*roles.exclude, roles.time_column):
        if name is not None and name not in either:
            raise InputError(f"neither the reference nor the pool has a column {name!r}")
    if absent := [name for name in features if name not in there]:
        lacks = ", ".join(map(repr, absent[:40])) + (" …" if len(absent) > 40 else "")
        raise InputError(f"the pool lacks columns of the reference: {lacks}")
    named = [name for name in (roles.id_column, roles.label_column, roles.per, *roles.show) if name is not None]
    require_columns(pool, named, "the pool")
    names = [str(row) for row in pool_part.rows.tolist()]
    beside = [name for name in (roles.per, *roles.show) if name]
    as_text = {name: [entry_as_text(value) for value in pool[name].to_pylist()] for name in beside}
    times = {"reference": reference_part.times(roles), "pool": pool_part.times(roles)}
    before = reference_part.features(features, "the reference", roles)
    numbers = [name for name in features if is_number(before[name].type)]
    labels, positive = None, ""
    if roles.label_column is not None:
        labels, positive = label_flags(pool, roles.label_column, "the pool", roles.label_value)
    used = {*reference.column_names, *features, *roles.exclude, *named, roles.time_column}
    readings = [found for part in (pool_part, reference_part) if (found := reading_of(part.file)) is not None]
    return Pool(
        reference=before,
        candidates=pool_part.features(features, "the pool", roles, numbers),
        sample_names=names if roles.id_column is None else texts(pool, roles.id_column, "the pool", pool_part.place),
        labels=labels,
        ignored=tuple(name for name in pool.column_names if name not in used),
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
        doubts={name: doubt for found in readings for name, doubt in found.doubts.items()},
    )
