"""Tables of any make (NumPy, pandas, polars, Arrow, nested lists) as one float matrix with names and labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.columns import type_of
from biselect.columns.category import CATEGORY, FLAG, labelled
from biselect.columns.column_type import Cells, ColumnType
from biselect.columns.date import DATE, parts_of_dates
from biselect.columns.flag import FLAG_TYPE
from biselect.columns.number import NUMBER
from biselect.columns.text import TEXT
from biselect.errors import InputError
from biselect.options import Stated, Weighing, spell
from biselect.tables.readers import array_of, unique_names


@dataclass(frozen=True, kw_only=True, eq=False)
class NamedMatrix:
    """A table that was read once: `as_matrix` gives it back as it is.

    Attributes:
        values: N × D floats, NaN for a missing cell; in a column of categories positions among its labels.
        names: one per column.
        labels: of each column of categories, by the column's position.
        text: those of them that are plain text, of which nobody said that they are categories.
        named: whether the names are the table's own rather than positions.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]
    labels: Mapping[int, Sequence[str]] = field(default_factory=dict)
    text: frozenset[int] = frozenset()
    named: bool = True

    def __len__(self) -> int:
        return len(self.values)

    def type_of(self, column: int) -> ColumnType:
        """What a column holds."""
        if column not in self.labels:
            return NUMBER
        if column in self.text:
            return TEXT
        return FLAG_TYPE if tuple(self.labels[column]) == FLAG else CATEGORY

    def cells(self, column: int) -> Cells:
        """A column by itself."""
        return Cells(self.values[:, column], self.labels.get(column))

    def coded(self, column: int) -> tuple[NDArray[np.float64], Sequence[str]]:
        """A column as positions among its labels, NaN for a missing cell; numbers are labelled as they are written."""
        return labelled(self.cells(column))

    def holds(self, column: int) -> set[str | None]:
        """What a column holds, two or three entries of it where that is more; None for a missing cell."""
        values = self.values[:, column]
        values_known = values[~np.isnan(values)]
        ends = {float(values_known.min()), float(values_known.max())} if values_known.size else set()
        labels = self.labels.get(column)
        written = {f"{end:.15g}" if labels is None else labels[int(end)] for end in ends}
        return written | ({None} if values_known.size < values.size else set())

    def columns(self, positions: Sequence[int]) -> NamedMatrix:
        """Some columns, in this order."""
        return replace(
            self,
            values=self.values[:, positions],
            names=tuple(self.names[j] for j in positions),
            labels={at: self.labels[j] for at, j in enumerate(positions) if j in self.labels},
            text=frozenset(at for at, j in enumerate(positions) if j in self.text),
        )


def as_matrix(table: Any, *, categories: Sequence[str] = (), dates: Sequence[str] = ()) -> NamedMatrix:
    """The table as N × D floats.

    Integers become floats, durations seconds, missing entries NaN; text, booleans, categoricals and Arrow dictionaries
    positions among their labels. Nested values are refused by name, and so are dates whose parts were not asked for.

    Args:
        table: a frame, an array or a matrix that was read already.
        categories: columns of numbers that are names of things, such as postcodes.
        dates: date columns and the parts of them to use, such as `created:hour,weekday`; see `parts_of_dates`.
    """
    if isinstance(table, NamedMatrix):
        return table
    try:
        frame = nw.from_native(table, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"the table has several columns of one name; rename them ({error})") from error
    if isinstance(frame, nw.DataFrame):
        return _from_frame(frame, categories, parts_of_dates(dates))
    try:
        values = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"an array must hold numbers only, a frame may hold categories too ({error})") from error
    if values.ndim != 2:
        raise InputError(f"the table must have rows and columns, got shape {values.shape}")
    return _declared(
        NamedMatrix(values=values, names=tuple(str(j) for j in range(values.shape[1])), named=False), categories
    )


def _from_frame(frame: nw.DataFrame[Any], categories: Sequence[str], dates: Mapping[str, Sequence[str]]) -> NamedMatrix:
    """Column by column, by the frame's own types."""
    columns: list[NDArray[np.float64]] = []
    names: list[str] = []
    labels: dict[int, Sequence[str]] = {}
    text = set()
    if absent := [name for name in (*categories, *dates) if name not in map(str, frame.columns)]:
        raise InputError(f"the table has no column {', '.join(map(repr, absent))}")
    for series in frame.iter_columns():
        name, kind = str(series.name), series.dtype
        column_type = type_of(kind)
        cells: Mapping[str, Cells]
        if name in dates:
            cells = DATE.derive(series, name, dates[name])
        elif not is_quantity(kind) and kind != nw.Boolean and series.null_count() == len(series):  # of no type at all
            cells = {name: Cells(np.full(len(series), np.nan))}
        elif column_type is None:
            raise InputError(
                f"column {name!r} holds {kind}, neither numbers nor categories; leave it out or convert it"
            )
        else:
            cells = {name: column_type.cells(series, name)}
            if kind == nw.String and name not in categories:
                text.add(len(columns))
        for column, (values, column_labels) in cells.items():
            if column_labels is not None:
                labels[len(columns)] = column_labels
            columns.append(values.astype(np.float64, copy=False))
            names.append(column)
    values = np.column_stack(columns) if columns else np.empty((len(frame), 0))
    return _declared(NamedMatrix(values=values, names=tuple(names), labels=labels, text=frozenset(text)), [*categories])


def _declared(matrix: NamedMatrix, categories: Sequence[str]) -> NamedMatrix:
    """The matrix with these columns of numbers as categories."""
    positions = [j for j, name in enumerate(matrix.names) if name in categories and j not in matrix.labels]
    if not positions:
        return matrix
    values, labels = matrix.values.copy(), dict(matrix.labels)
    for j in positions:
        values[:, j], labels[j] = matrix.coded(j)
    return replace(matrix, values=values, labels=labels)


def arrow_of(table: Any) -> pa.Table | None:
    """A frame of any library as Arrow; None for what is no frame.

    The index of pandas is left out, names that stand twice are numbered, and a column of mixed values is text.
    """
    frame = nw.from_native(as_frame(table), pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation.is_dask():
            raise TypeError("it is a Dask frame; write it to Parquet first (to_parquet), and give that folder")
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return None
    frame = nw.maybe_reset_index(frame)  # or pandas would make its index a column
    try:
        rows = frame.to_arrow()
        if not any(isinstance(kind, pa.BaseExtensionType) for kind in rows.schema.types):
            return rows
    except (pa.ArrowException, TypeError):
        pass
    return pa.table({str(series.name): _arrow_column(series) for series in frame.iter_columns()})


def _arrow_column(series: nw.Series[Any]) -> Any:
    try:
        column = series.to_arrow()
        if not isinstance(column.type, pa.BaseExtensionType):
            return column
    except (pa.ArrowException, TypeError):
        pass
    missing = series.is_null().to_list()
    return array_of([None if null else value for value, null in zip(series.to_list(), missing, strict=True)])


def as_frame(source: Any) -> Any:
    """A frame whose names each stand once, also of rows or columns of plain Python; anything else as it is.

    >>> as_frame([{"a": 1}, {"a": 2, "b": "x"}]).to_pydict(), as_frame({"a": [1]}).to_pydict()
    ({'a': [1, 2], 'b': [None, 'x']}, {'a': [1]})

    Raises:
        InputError: columns are of different lengths.
    """
    if nw.dependencies.is_pandas_dataframe(source) and (not source.columns.is_unique or source.columns.nlevels > 1):
        names = (" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in source.columns)
        return source.set_axis(unique_names(names), axis=1)
    if isinstance(source, pa.Table) and len({*source.column_names}) < source.num_columns:
        return source.rename_columns(unique_names(source.column_names))
    if isinstance(source, list) and source and all(isinstance(row, Mapping) for row in source):
        source = {name: [row.get(name) for row in source] for name in dict.fromkeys(chain.from_iterable(source))}
    if not isinstance(source, Mapping):
        return source
    try:
        return pa.table({str(name): array_of([*values]) for name, values in source.items()})
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"a dict must hold one list of equal length for each column ({error})") from error


def row_labels(table: Any) -> list[str] | None:
    """The row labels of a pandas frame that names its rows, as text."""
    if not nw.dependencies.is_pandas_dataframe(table):
        return None
    labels = table.index
    plain = labels.dtype.kind in "iu" and np.array_equal(labels, np.arange(len(labels)))
    return None if plain else [str(label) for label in labels]


def with_index(table: Any, frame: Any) -> tuple[Any, str]:
    """The table of a pandas frame whose index names the rows, with that index as a column, and the column's name."""
    name = unused_name(str(getattr(frame.index, "name", None) or "index"), table)
    return table.append_column(name, pa.array(row_labels(frame))), name


def unused_name(name: str, table: Any) -> str:
    """A name like this one that no column of the table has."""
    while name in table.column_names:
        name += "_"
    return name


def library_of(table: Any) -> str | None:
    """The frame library in which answers about this table are given: its own; None for the usual one."""
    frame = nw.from_native(table, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return None
    library = frame.implementation
    return str(library) if library.is_pandas_like() or library.is_polars() else "pyarrow"  # the rest only reads


def rows_of(table: Any, rows: slice | NDArray[np.int64]) -> Any:
    """Some rows of a table, of the same make."""
    if isinstance(table, NamedMatrix):
        return replace(table, values=table.values[rows])
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    return frame[rows, :].to_native() if isinstance(frame, nw.DataFrame) else np.asarray(table)[rows]


def refuse_unusable(
    X: NDArray[np.float64],
    columns: Sequence[str],
    *,
    where: str,
    missing: str,
    place_of: Callable[[int], str] = "row {}".format,
) -> None:
    """An error that says where the first infinite entry is, or the first missing one if those are errors."""
    if np.isfinite(X).all():
        return
    unusable = ~np.isfinite(X) if missing == "error" else np.isinf(X)
    if unusable.any():
        row, column = np.argwhere(unusable)[0]
        kind = "an infinite value" if np.isinf(X[row, column]) else "a missing value"
        raise InputError(
            f"{where} has {kind} in column {columns[column]!r}, {place_of(int(row))} "
            f"({int(unusable.sum())} such entries in all); drop those rows or columns"
            + (
                f", weigh missing values with {spell(Weighing(missing=Stated('weigh')))} or fill them with "
                f"{spell(Weighing(missing='median'))}"
            )
            * (missing == "error")
        )


def align(matrix: NamedMatrix, columns: tuple[str, ...], *, named: bool, where: str) -> NamedMatrix:
    """The matrix with these columns in this order: by name where both sides have names, by position otherwise.

    By name, extra columns are ignored.
    """
    if matrix.named and named:
        if absent := [name for name in columns if name not in matrix.names]:
            raise InputError(f"{where} lacks columns of the reference: {', '.join(map(repr, absent))}")
        return matrix if matrix.names == columns else matrix.columns([matrix.names.index(name) for name in columns])
    if len(matrix.names) != len(columns):
        raise InputError(f"{where} has {len(matrix.names)} columns, the reference had {len(columns)}")
    return matrix


def is_quantity(kind: Any) -> bool:
    """Whether a column of this narwhals type holds numbers, or durations, which are numbers of seconds."""
    return bool(kind.is_numeric() or kind == nw.Duration)


def varying(reference: NamedMatrix, pool: NamedMatrix) -> tuple[NamedMatrix, NamedMatrix, tuple[str, ...]]:
    """Both tables without the columns that hold one and the same value in every row, and the names of these."""
    moves = reference.values.min(axis=0) < reference.values.max(axis=0)  # a gap is looked at below
    if len(reference.values) == len(pool.values) == 1:
        raise InputError("the table has one row; what is unusual shows only beside other rows, 30 or more")
    same = [j for j in np.flatnonzero(~moves).tolist() if len(reference.holds(j) | pool.holds(j)) == 1]
    if len(same) == len(reference.names):
        raise InputError("every feature holds one and the same value in reference and pool: there is nothing to weigh")
    if not same:
        return reference, pool, ()
    moving = [j for j in range(len(reference.names)) if j not in same]
    return reference.columns(moving), pool.columns(moving), tuple(reference.names[j] for j in same)
