"""Tables of any make (NumPy, pandas, polars, Arrow, nested lists) as one float matrix with names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class NamedMatrix:
    """A table that was read once: `as_matrix` gives it back as it is.

    Attributes:
        values: N × D floats.
        names: one per column.
    """

    values: NDArray[np.float64]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)


def as_matrix(table: Any) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """The table as N × D floats, and its column names where it has any.

    Booleans and integers become floats, missing entries NaN; text, dates and nested values are refused by name.
    """
    if isinstance(table, NamedMatrix):
        return table.values, table.names
    try:
        frame = nw.from_native(table, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"the table has several columns of one name; rename them ({error})") from error
    if isinstance(frame, nw.DataFrame):
        for name, kind in frame.schema.items():
            if not (kind.is_numeric() or kind == nw.Boolean):
                raise InputError(f"column {name!r} holds {kind}, not numbers; leave it out or convert it")
        columns = [column.cast(nw.Float64).to_numpy() for column in frame.iter_columns()]
        matrix = np.column_stack(columns) if columns else np.empty((len(frame), 0))
        return matrix.astype(np.float64, copy=False), tuple(str(name) for name in frame.columns)
    try:
        matrix = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the table must hold numbers only ({error})") from error
    if matrix.ndim != 2:
        raise InputError(f"the table must have rows and columns, got shape {matrix.shape}")
    return matrix, None


def rows_of(table: Any, rows: slice | NDArray[np.int64]) -> Any:
    """Some rows of a table, of the same make."""
    if isinstance(table, NamedMatrix):
        return NamedMatrix(values=table.values[rows], names=table.names)
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
    """An error that says where the first infinite entry is, or the first missing one unless those are filled."""
    if np.isfinite(X).all():
        return
    unusable = np.isinf(X) if missing == "median" else ~np.isfinite(X)
    if unusable.any():
        row, column = np.argwhere(unusable)[0]
        kind = "an infinite value" if np.isinf(X[row, column]) else "a missing value"
        raise InputError(
            f"{where} has {kind} in column {columns[column]!r}, {place_of(int(row))} "
            f"({int(unusable.sum())} such entries in all); drop those rows or columns"
            + ("" if missing == "median" else ", or fill missing values with missing='median'")
        )


def align(
    X: NDArray[np.float64], names: tuple[str, ...] | None, columns: tuple[str, ...], *, named: bool, where: str
) -> NDArray[np.float64]:
    """X with these columns in this order: by name where both sides have names, by position otherwise.

    By name, extra columns are ignored.
    """
    if names is not None and named:
        if absent := [name for name in columns if name not in names]:
            raise InputError(f"{where} lacks columns of the reference: {', '.join(map(repr, absent))}")
        return X if names == columns else X[:, [names.index(name) for name in columns]]
    if X.shape[1] != len(columns):
        raise InputError(f"{where} has {X.shape[1]} columns, the reference had {len(columns)}")
    return X
