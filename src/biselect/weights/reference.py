"""Reference: what is kept of normal rows, column by column; it can be dated, stored and merged with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from biselect.columns import COLUMN_TYPES, type_of
from biselect.columns.category import FLAG
from biselect.columns.change import Change, gap_changes
from biselect.columns.column_type import Cells, ColumnReference, ColumnType
from biselect.core.checks import check_integer
from biselect.core.files import write_file
from biselect.core.untrusted import packed_arrays, read_arrays, refused_as, shortened
from biselect.errors import InputError
from biselect.options import Stated, Weighing, spell
from biselect.tables import NamedMatrix, align, as_matrix, refuse_unusable, rows_of
from biselect.weights.whole_row import SAMPLE

FORMAT = "biselect-reference-2"
FEWEST_ROWS = 10  # with fewer, not even a one-in-ten event can be told apart
KNOTS = 24 * 2048  # numbers kept of a column: about 400 kB
MOST_LABELS = 100_000  # different ones of a column in a table that is not held whole

Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]
"""Plain data, and arrays by name."""


class Reference:
    """Distributions of numbers, counts of labels and gaps, the number of rows, first and last time.

    Ranks are exact while a column has few enough values, and in both tails always; elsewhere `rank_error` bounds them.
    A reference can be stored, merged with others, give a `Weigher` (`fit`), and stand for the older table of
    `biselect.monitor`. Without rows (`add`) it holds nothing that could name one.

    Args:
        knots: how many numbers may be kept of a column, about; None keeps all.

    Attributes:
        rows: how many were taken in.
        first: their first time, as ISO text or a number; None where no time column was named.
        last: their last time.
        named: whether the columns have names of their own rather than positions.
        types: type of each column that is counted.
        counts: what its type made of it.
        missing: gaps of each column, in the order of the table.
        left_out: columns that cannot be counted, and why.
        sample: some rows, among which neighbours are looked for; None where only counts are kept.
        sample_rows: where these stand in the table.

    >>> june, july = (np.random.default_rng(seed).normal(size=(300_000, 2)) for seed in (6, 7))
    >>> both = Reference.merged([Reference().add(june), Reference().add(july)])
    >>> both.rows, 0 < both.rank_error < 0.001
    (600000, True)
    """

    def __init__(self, *, knots: int | None = KNOTS):
        self.knots = knots
        self.rows = 0
        self.first: str | float | None = None
        self.last: str | float | None = None
        self.named = True
        self.types: dict[str, ColumnType] = {}
        self.counts: dict[str, Any] = {}
        self.missing: Counter[str] = Counter()
        self.left_out: dict[str, str] = {}
        self.sample: NamedMatrix | None = None
        self.sample_rows: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, blocks: Iterable[Any], *, missing: str = "weigh", seed: int = 0, knots: int | None = None) -> Self:
        """Count rows that are at hand, block by block, and draw some of them.

        Args:
            blocks: tables with the same columns, such as the blocks of a Parquet file.
            missing: `error` to refuse gaps.
            seed: fixes which rows are drawn, whatever the blocks.
            knots: how many numbers may be kept of a column, about; None keeps all.

        Raises:
            InputError: a cell is infinite, a column holds neither numbers nor labels, or is free text.
        """
        reference, lots = cls(knots=knots), _Lots(seed)
        names: tuple[str, ...] | None = None
        for block in blocks:
            matrix = as_matrix(block)
            if names is None:
                if not matrix.names:
                    raise InputError("the reference has no feature columns")
                names, reference.named = matrix.names, matrix.named
            matrix = align(matrix, names, named=reference.named, where="the reference")
            first = reference.rows
            refuse_unusable(
                matrix.values,
                names,
                where="the reference",
                missing=missing,
                place_of=lambda row, first=first: f"row {first + row}",  # type: ignore[misc]
            )
            if first:
                refuse_labels(matrix, reference.labelled(names), where="the reference")
            for j, name in enumerate(names):
                reference._count(name, matrix.type_of(j), matrix.cells(j))
            reference.rows += len(matrix)
            lots.draw(matrix)
        if names is None:
            raise InputError("the reference has no blocks")
        reference.sample, reference.sample_rows = _joined(lots.sample), lots.rows
        return reference

    @classmethod
    def of_counts(cls, columns: Mapping[str, ColumnReference], sample: NamedMatrix | None = None, *, rows: int) -> Self:
        """Make a reference of columns that were counted elsewhere."""
        reference = cls()
        reference.rows, reference.sample = rows, sample
        for name, column in columns.items():
            reference.types[name], reference.counts[name] = column.type, column.counts
            reference.missing[name] = column.gaps
        return reference

    def labelled(self, names: Sequence[str]) -> set[int]:
        """Positions of the columns that hold labels."""
        return {j for j, name in enumerate(names) if name in self.types and not self.types[name].is_ranked}

    @property
    def columns(self) -> list[str]:
        """Those with anything to tell, in the order of the table."""
        return [name for name in self.missing if name not in self.left_out]

    @property
    def quantities(self) -> list[str]:
        """Columns of numbers with any value."""
        return [name for name in self.types if self.types[name].is_ranked and self.counts[name] is not None]

    @property
    def rank_error(self) -> float:
        """No rank of any column is wrong by more than this share of its values."""
        counts = [self.counts[name] for name in self.quantities]
        return max((one.rank_error / one.size for one in counts), default=0.0)

    def column(self, name: str) -> ColumnReference:
        """One column as it was counted; of numbers without a value where it holds none at all."""
        type_ = self.types.get(name, COLUMN_TYPES.load("number"))
        return ColumnReference(type=type_, counts=self.counts.get(name), rows=self.rows, gaps=self.missing[name])

    def fitted(self, missing: str) -> list[ColumnReference]:
        """All columns, prepared for weighing; `missing` is as for `Weigher`."""
        if self.rows < FEWEST_ROWS:
            raise InputError(f"the reference has {self.rows} rows; calibration needs at least {FEWEST_ROWS}")
        if not self.columns:
            raise InputError("the summary holds no column to calibrate with")
        if missing == "error" and any(self.missing.values()):
            name = next(name for name in self.columns if self.missing[name])
            way = spell(Weighing(missing=Stated("weigh")))
            gaps = self.missing[name]
            raise InputError(f"the reference has {gaps} missing values in column {name!r}; weigh them with {way}")
        columns = ((name, self.column(name)) for name in self.columns)
        return [column.type.fit(column, name, missing) for name, column in columns]

    def changes(self, newer: Reference, columns: Sequence[str]) -> list[Change]:
        """Test these columns against a newer reference; p-values are not yet adjusted for the number of tests."""
        changes: list[Change] = []
        for name in columns:
            if name in self.types and name in newer.types:
                before, now = self.column(name), newer.column(name)
                if before.type.is_ranked != now.type.is_ranked:
                    raise InputError(f"column {name!r} holds numbers in one table and texts in the other")
                changes += before.type.compare(before, now, name)
            gaps, rows = [self.missing[name], newer.missing[name]], [self.rows, newer.rows]
            changes += gap_changes(name, gaps, rows)
        return changes

    def add(self, table: Any, *, time_column: str | None = None, columns: Sequence[str] | None = None) -> Reference:
        """Take in a block of rows without keeping any of them; columns that cannot be counted are left out.

        Args:
            table: a frame of any library, or an array.
            time_column: dates the rows, and is not counted itself: times, ISO texts or numbers.
            columns: which to count; None for all others.
        """
        frame, named = _as_frame(table)
        names = [name for name in frame.columns if name != time_column] if columns is None else list(columns)
        if absent := [name for name in (*names, *filter(None, [time_column])) if name not in frame.columns]:
            raise InputError(f"the reference has no column {absent[0]!r}; it has {', '.join(map(repr, frame.columns))}")
        if self.rows and names != list(self.missing):
            raise InputError("the blocks of a reference must have the same columns")
        for name in names:
            self._take(name, frame[name])
        if time_column is not None and len(frame):
            first, last = _ends(frame[time_column], time_column)
            self.first, self.last = _widest([(self.first, self.last), (first, last)])
        self.rows += len(frame)
        self.named &= named
        return self

    @classmethod
    def merged(cls, parts: Sequence[Reference]) -> Self:
        """One reference of the rows of all; rank errors add up, tails stay exact."""
        if not parts:
            raise InputError("give at least one summary to merge")
        for part in parts[1:]:
            if list(part.missing) != list(parts[0].missing):
                other = sorted(set(part.missing) ^ set(parts[0].missing)) or sorted(part.missing)
                raise InputError(f"the summaries have not the same columns in the same order: {', '.join(other)}")
        every = cls(knots=min((part.knots for part in parts if part.knots is not None), default=None))
        every.rows = sum(part.rows for part in parts)
        every.named = all(part.named for part in parts)
        every.first, every.last = _widest([(part.first, part.last) for part in parts])
        for name in parts[0].missing:
            every.missing[name] = sum(part.missing[name] for part in parts)
            if why := [part.left_out[name] for part in parts if name in part.left_out]:
                every.left_out[name] = why[-1]
            counted = [part for part in parts if name in part.types]
            if name in every.left_out or not counted:
                continue
            types = [part.types[name] for part in counted]
            if len({one.is_ranked for one in types}) > 1:
                raise InputError(f"column {name!r} holds numbers in one summary and categories in another")
            every._keep(name, types[0], types[0].merge([part.counts[name] for part in counted], every.knots))
        return every

    def only(self, columns: Sequence[str]) -> Reference:
        """The reference of some columns, without its rows."""
        if absent := [name for name in columns if name not in self.missing]:
            have = ", ".join(map(repr, self.missing))
            raise InputError(f"the summary has no column {', '.join(map(repr, absent))}; it has {have}")
        part = copy(self)
        for attribute in ("types", "counts", "left_out"):
            entries = getattr(self, attribute)
            setattr(part, attribute, {name: entries[name] for name in columns if name in entries})
        part.missing, part.sample = Counter({name: self.missing[name] for name in columns}), None
        return part

    def state(self) -> Stored:
        """All that is known but for the sample, as plain data and arrays; `from_state` makes the reference again."""
        columns: dict[str, Any] = {}
        arrays: dict[str, NDArray[Any]] = {}
        for place, (name, type_) in enumerate(self.types.items()):
            plain, own = type_.pack(type_.merge([self.counts[name]], self.knots))
            columns[name] = [type_.name, plain]
            arrays |= {f"{key} {place}": array for key, array in own.items()}
        header = {
            "format": FORMAT,
            "knots": self.knots,
            "rows": self.rows,
            "first": self.first,
            "last": self.last,
            "named": self.named,
            "missing": dict(self.missing),
            "left_out": self.left_out,
            "columns": columns,
        }
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The reference that `state` told of; what cannot be one raises an error, of whatever kind."""
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {shortened(header['format'])}")
        reference = cls(knots=None if header["knots"] is None else check_integer("knots", header["knots"]))
        reference.rows, reference.named = check_integer("rows", header["rows"], least=0), bool(header["named"])
        reference.first, reference.last = _widest([(header["first"], header["last"])])
        reference.left_out = {name: str(why) for name, why in header["left_out"].items()}
        gaps = header["missing"].items()
        reference.missing = Counter(
            {name: check_integer(f"the gaps of {shortened(name)}", size, least=0) for name, size in gaps}
        )
        for place, (name, (type_name, plain)) in enumerate(header["columns"].items()):
            own = {key.rpartition(" ")[0]: array for key, array in arrays.items() if key.endswith(f" {place}")}
            reference.types[name] = COLUMN_TYPES.load(str(type_name))
            reference.counts[name] = reference.types[name].unpack(plain, own)
        if unknown := {*reference.types, *reference.left_out} - {*reference.missing}:
            raise ValueError(f"column {shortened(min(unknown))} is not counted")
        return reference

    def save(self, path: str | Path) -> None:
        """Write one file, a NumPy archive of plain numbers and JSON; `load` reads it back."""
        write_file(path, packed_arrays(*self.state()))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote; anything else is refused."""
        what = f"the summary of a reference ({FORMAT})"
        plain, arrays = read_arrays(path, what)
        with refused_as(f"{path}: not {what}"):
            return cls.from_state(plain, arrays)

    def _take(self, name: str, column: nw.Series[Any]) -> None:
        """Count one column of a block."""
        kind, type_ = column.dtype, type_of(column.dtype)
        if int(column.is_null().sum()) == len(column):
            self.missing[name] += len(column)  # a column without any value fits every type
        elif type_ is None or type_.unweighed:
            self.missing[name] += int(column.is_null().sum())
            self.left_out[name] = type_.unweighed if type_ else f"holds {kind}"
        else:
            cells = type_.cells(column, name)
            if np.isinf(cells.values).any():
                raise InputError(f"the reference has an infinite value in column {name!r}; drop those rows")
            self._count(name, type_, cells)
            if name in self.counts:
                self._keep(name, type_, self.counts[name])

    def _count(self, name: str, type_: ColumnType, cells: Cells) -> None:
        """Add the cells of a block to a column."""
        self.missing[name] += int(np.isnan(cells.values).sum())
        before = self.types.get(name, type_)
        if before.is_ranked != type_.is_ranked:
            if self.counts[name]:
                raise InputError(f"column {name!r} holds numbers in one block and texts in another")
            before, self.counts[name] = type_, None
        if name not in self.left_out:
            self.types[name] = before
            self.counts[name] = before.merge([self.counts.get(name), before.count(cells)], self.knots)

    def _keep(self, name: str, type_: ColumnType, counts: Any) -> None:
        """The counts of a column, unless they would name rows."""
        if why := type_.secret(counts):
            self.left_out[name] = why
            self.types.pop(name, None)
            self.counts.pop(name, None)
        else:
            self.types[name], self.counts[name] = type_, counts


class _Lots:
    """Draws rows without replacement, the same whatever the blocks: those with the smallest lots."""

    def __init__(self, seed: int):
        self._rng = np.random.default_rng([seed, 1])
        self._lots = np.empty(0)
        self._read = 0
        self.sample: list[NamedMatrix] = []
        self.rows = np.empty(0, dtype=np.int64)

    def draw(self, block: NamedMatrix) -> None:
        """Let the rows of one more block take part."""
        lots = np.append(self._lots, self._rng.random(len(block)))
        rows = np.append(self.rows, np.arange(self._read, self._read + len(block)))
        least = np.sort(np.argpartition(lots, SAMPLE - 1)[:SAMPLE]) if lots.size > SAMPLE else np.arange(lots.size)
        starts = np.cumsum([0, *map(len, self.sample)])
        parts = [
            rows_of(part, least[(least >= start) & (least < start + len(part))] - start)
            for part, start in zip([*self.sample, block], starts, strict=True)
        ]
        self.sample, self._lots, self.rows = [part for part in parts if len(part)], lots[least], rows[least]
        self._read += len(block)


def _joined(parts: Sequence[NamedMatrix]) -> NamedMatrix:
    """Rows of several blocks as one matrix, whose labels are those of all."""
    if len(parts) == 1:
        return parts[0]
    values, labels = np.concatenate([part.values for part in parts]), {}
    for j in {j for part in parts for j in part.labels}:
        coded = [part.coded(j) for part in parts]
        labels[j] = list(dict.fromkeys(label for _, own in coded for label in own))
        place = {label: at for at, label in enumerate(labels[j])}
        columns = [np.array([*(place[label] for label in own), np.nan]) for _, own in coded]
        codes = [np.where(np.isnan(code), -1, code).astype(np.intp) for code, _ in coded]
        values[:, j] = np.concatenate([column[code] for column, code in zip(columns, codes, strict=True)])
    return replace(parts[0], values=values, labels=labels)


def refuse_labels(matrix: NamedMatrix, labelled: Iterable[int], *, where: str) -> None:
    """An error where a column holds labels that holds numbers in the reference; flags are numbers too."""
    for j in matrix.labels.keys() - set(labelled):
        if tuple(labels := matrix.labels[j]) != FLAG:
            shown = repr(labels[0]) if labels else "nothing"
            raise InputError(
                f"column {matrix.names[j]!r} holds labels in {where} ({shown}), but numbers in the reference; "
                "convert either of them"
            )


def _as_frame(table: Any) -> tuple[nw.DataFrame[Any], bool]:
    """Any table as a frame, and whether it names its columns."""
    try:
        frame = nw.from_native(table, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"the table has several columns of one name; rename them ({error})") from error
    if isinstance(frame, nw.DataFrame):
        return frame, True
    import pyarrow as pa

    matrix = as_matrix(table)
    arrow = pa.table({name: matrix.values[:, j] for j, name in enumerate(matrix.names)})
    return nw.from_native(arrow, eager_only=True), matrix.named


def _ends(column: nw.Series[Any], name: str) -> tuple[Any, Any]:
    """First and last time, as ISO text or numbers."""
    if column.dtype == nw.String:
        try:
            column = column.str.to_datetime()
        except Exception as error:  # every library has its own
            raise InputError(f"time column {name!r} holds texts that are no ISO dates ({error})") from error
    if column.is_null().any():
        raise InputError(f"time column {name!r} has missing values; every row needs one")
    first, last = column.min(), column.max()
    if isinstance(first, date | datetime):
        return first.isoformat(), last.isoformat()
    try:
        return float(first), float(last)
    except (TypeError, ValueError):
        raise InputError(f"time column {name!r} holds {column.dtype}; it must hold times or numbers") from None


def _widest(ends: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """The earliest first and the latest last of those that are known."""
    pairs = [pair for pair in ends if pair[0] is not None]
    if not pairs:
        return None, None
    if len({type(first) for first, _ in pairs}) > 1:
        raise InputError("some of the times are numbers and others dates, which cannot be put in order")
    if not isinstance(pairs[0][0], str | float | int) or type(pairs[0][0]) is not type(pairs[0][1]):
        raise InputError("a time is neither a number nor a date")
    return min(first for first, _ in pairs), max(last for _, last in pairs)
