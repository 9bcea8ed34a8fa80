"""Values of Python, as JSON, Excel and SQLite give them, to columns of one Arrow type each."""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from biselect.data.readers.text_columns import Hints, understand

NESTED = pa.list_(pa.string())  # lists and objects: kept as JSON text, and no column that could be used
NOTHING = type(None)


class GrowingTable:
    """A table made of blocks of rows, so that no more than a block is held as Python's own values.

    >>> growing = GrowingTable()
    >>> growing.add({"a": [1, 2]}, 2)
    >>> growing.add({"a": [2.5], "b": ["x"]}, 1)
    >>> growing.table().to_pydict()
    {'a': [1.0, 2.0, 2.5], 'b': [None, None, 'x']}
    """

    def __init__(self) -> None:
        self.rows = 0
        self.nbytes = 0
        self._columns: dict[str, list[pa.Array]] = {}

    def add(self, columns: Mapping[str, Sequence[Any]], rows: int) -> None:
        """Take in a block: its columns, which may be others than before, all `rows` long."""
        for name, values in columns.items():
            if name not in self._columns:
                self._columns[name] = [pa.nulls(self.rows)]
            self._columns[name].append(_array(values))
            self.nbytes += self._columns[name][-1].nbytes
        for name in self._columns.keys() - columns.keys():
            self._columns[name].append(pa.nulls(rows))
        self.rows += rows

    def table(self) -> pa.Table:
        """All rows; a column whose blocks are of different kinds is text."""
        columns = [_joined(parts) for parts in self._columns.values()]
        return pa.table(columns, names=[_writable(name) for name in self._columns])


def _array(values: Sequence[Any]) -> pa.Array:
    """Values as the narrowest type that holds them all; Arrow never has to guess."""
    kinds = set(map(type, values)) - {NOTHING}
    if not kinds:
        return pa.nulls(len(values))
    if kinds & {dict, list}:
        return pa.array([None if value is None else [_as_text(value)] for value in values], NESTED)
    try:
        if kinds == {int}:
            return pa.array(values, pa.int64())
        if kinds == {int, float}:
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        if kinds == {date, datetime}:
            return pa.array([_at_midnight(value) for value in values], pa.timestamp("us"))
        if len(kinds) == 1:
            return pa.array(values)
    except (pa.ArrowException, OverflowError, UnicodeError):
        pass
    return pa.array([None if value is None else _as_text(value) for value in values], pa.string())


def _joined(parts: Sequence[pa.Array]) -> pa.ChunkedArray:
    kinds = {part.type for part in parts if len(part)} - {pa.null()}
    if len(kinds) == 1:
        kind = kinds.pop()
    elif NESTED in kinds:
        kind = NESTED
    else:
        kind = pa.float64() if kinds == {pa.int64(), pa.float64()} else pa.string() if kinds else pa.null()
    column = pa.chunked_array([_as_kind(part, kind) for part in parts if len(part)], type=kind)
    return _dates(column) if kind == pa.string() else column


def _as_kind(part: pa.Array, kind: pa.DataType) -> pa.Array:
    if part.type == kind:
        return part
    if kind == NESTED:
        return _array([None if value is None else [value] for value in part.to_pylist()])
    if pa.types.is_binary(part.type):
        return _array(["�" if value is not None else None for value in part.to_pylist()])
    return part.cast(kind, safe=False)


def _dates(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Times, where every text is an ISO date; the 30th of February stays text."""
    found = understand(texts, Hints(missing=()))
    return found.values if found.date_form == "ISO" else texts


def _at_midnight(value: date | None) -> date | None:
    return value if value is None or isinstance(value, datetime) else datetime(value.year, value.month, value.day)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return _writable(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, bool | dict | list):
        return _writable(json.dumps(value, ensure_ascii=False))
    return str(value)


def _writable(text: str) -> str:
    """Half of a surrogate pair is no character, and cannot be written."""
    return text.encode(errors="surrogatepass").decode(errors="replace")
