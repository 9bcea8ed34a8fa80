"""Columns of a table that was read: found by name, taken as numbers, categories, names or labels, or refused."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.data.readers.delimited import line_of_row
from biselect.errors import InputError

Place = Callable[[int], str]  # where a row stands in its file
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
MOSTLY = 0.5  # a text column with at least this share of numbers was meant as one of numbers


def names_in(given: str | Iterable[Any] | None, known: Iterable[str]) -> list[str]:
    """Names given one by one or separated by commas; a name that holds a comma itself is known as a whole.

    >>> names_in(["a,b", "c,d"], known=["a", "b", "c,d"])
    ['a', 'b', 'c,d']
    """
    columns = set(known)
    entries = [given] if isinstance(given, str) else [str(entry) for entry in given or ()]
    parts = [[entry] if entry in columns else entry.split(",") for entry in entries]
    return [name.strip() for part in parts for name in part if name.strip()]


def require_columns(table: pa.Table, names: Sequence[str], where: str) -> None:
    """Refuse names the table does not have, and list what it has."""
    known = table.column_names
    there = set(known)
    if absent := [name for name in names if name not in there]:
        shown = ", ".join(map(repr, known[:40])) + (" …" if table.num_columns > 40 else "")
        lacks = ", ".join(map(repr, absent[:40])) + (" …" if len(absent) > 40 else "")
        raise InputError(f"{where} has no column {lacks}; it has {shown}")


def numeric(table: pa.Table, names: Sequence[str], where: str) -> pa.Table:
    """These columns as float64, missing entries as NaN; what is not numeric is refused, all of it at once."""
    reasons = {name: "is empty" for name in names if pa.types.is_null(table[name].type)}
    return usable(table, names, where, numbers=names, reasons=reasons)


def usable(
    table: pa.Table,
    names: Sequence[str],
    where: str,
    *,
    told: Collection[str] = (),
    numbers: Collection[str] = (),
    reasons: Mapping[str, str] | None = None,
) -> pa.Table:
    """These columns, numbers as float64 with NaN for missing entries; what cannot be used is refused, all at once.

    Args:
        table: the columns are looked at as a whole.
        names: which columns.
        where: the table, in words.
        told: columns of which it was said what they are.
        numbers: columns that must hold numbers, such as those that do in the reference.
        reasons: why some of them cannot be used, where that is known already.
    """
    place_of, told, numbers = partial(line_of_row, table), set(told), set(numbers)
    found = {
        name: reason
        for name in names
        if name not in told and (reason := _unusable(table[name], name, place_of, must_be_number=name in numbers))
    }
    if found := found | dict(reasons or {}):
        listed = "; ".join(f"column {name!r} {found[name]}" for name in names if name in found)
        raise InputError(
            f"{where}: {listed}. Leave out with exclude={[name for name in names if name in found]} (show= only shows "
            "them beside the rows), or choose columns with features="
        )
    return pa.table(
        {
            name: _as_floats(table[name]) if name in numbers or is_number(table[name].type) else table[name]
            for name in names
        }
    )


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _as_floats(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(pc.cast(column, pa.float64(), safe=False), float("nan"))


def _unusable(column: pa.ChunkedArray, name: str, place_of: Place, *, must_be_number: bool) -> str | None:
    """Why a column cannot be a feature."""
    kind = column.type
    if pa.types.is_temporal(kind):
        first = next((value for value in column if value.is_valid), None)
        return (
            f"holds times ({first}); name it with time_column= if it orders the rows, or use parts of it with "
            f"dates=['{name}:hour,weekday,gap']"
        )
    if is_number(kind) or pa.types.is_null(kind):
        return None
    if must_be_number and not pa.types.is_boolean(kind):
        return f"is not numeric ({_example(column, place_of)})"
    if is_text(kind) and _numbers_with_junk(column):
        return f"is not numeric ({_example(column, place_of)}; if it names things: categories=['{name}'])"
    if is_text(kind) or pa.types.is_boolean(kind) or pa.types.is_dictionary(kind):
        return None
    return f"is neither numeric nor a category (it holds {kind})"


def _numbers_with_junk(column: pa.ChunkedArray) -> bool:
    """Whether most entries are numbers and some are not: a column of numbers that could not be read as one."""
    texts = {entry["values"]: entry["counts"] for entry in pc.value_counts(column.drop_null()).to_pylist()}
    numbers = sum(count for text, count in texts.items() if _is_number(text) or DECIMAL_COMMA.fullmatch(text.strip()))
    unread = any(not _is_number(text) for text in texts)
    return unread and numbers >= MOSTLY * sum(texts.values())


def texts(table: pa.Table, name: str, where: str, place_of: Place | None = None) -> list[str]:
    """A column as text, for names; missing and repeated entries are refused."""
    found = place_of or partial(line_of_row, table)
    values = table[name].to_pylist()
    if None in values:
        raise InputError(f"{where}: column {name!r} has no value in {found(values.index(None))}; every row needs an id")
    names = [str(value) for value in values]
    seen: dict[str, int] = {}
    for row, value in enumerate(names):
        if (first := seen.setdefault(value, row)) != row:
            raise InputError(f"{where}: id {value!r} stands in {found(first)} and {found(row)}; ids must be unique")
    return names


def flags(table: pa.Table, name: str, where: str) -> NDArray[np.bool_]:
    """A column of 0/1 or true/false."""
    values = table[name].to_pylist()
    if unusable := [value for value in values if value not in (0, 1)]:
        raise InputError(f"{where}: label column {name!r} must hold 0 and 1 only, but holds {unusable[0]!r}")
    return np.array(values, dtype=bool)


def _example(column: pa.ChunkedArray, place_of: Place) -> str:
    """The first entry that is not a number, where it stands, and what it may mean."""
    values = column.to_pylist()
    strange = [row for row, value in enumerate(values) if value is not None and not _is_number(value)]
    if not strange:
        return f"it holds {column.type}"
    value = values[strange[0]]
    text = repr(value)
    shown = f"{place_of(strange[0])} holds {text if len(text) <= 60 else text[:57] + '…'}"
    if isinstance(value, str) and DECIMAL_COMMA.fullmatch(value.strip()):
        return f"{shown}; write decimals with a point"
    if len(strange) < len(values) - column.null_count and all(values[row] == value for row in strange):
        return f"{shown}; if that means missing: na_values=[{text}]"
    return shown


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
