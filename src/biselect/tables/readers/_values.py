"""Values of Python, as JSON, Excel and SQLite give them, to columns of one Arrow type each."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from biselect.core.files import temporary_file, temporary_folder

NESTED = pa.list_(pa.string())  # lists and objects: kept as JSON text, and no column that could be used
NOTHING = type(None)
Blocks = Iterable[tuple[Mapping[str, Sequence[Any]], int]]
"""Columns by name, which may be others in every block, and how long they are."""
LENGTH = "rows"  # a column that says how many there are where a block has no other


class SpilledTable:
    """A table of blocks that wait in a file until all have been seen: what a column holds, all rows decide.

    Args:
        path: of the file, which must not be there yet; its folder is removed in the end.

    >>> from biselect.core.files import temporary_folder
    >>> with temporary_folder() as folder:
    ...     schema, blocks = SpilledTable(folder / "raw").stream([({"a": [1, 2]}, 2), ({"a": [2.5], "b": ["x"]}, 1)])
    ...     [block.to_pydict() for block in blocks]
    [{'a': [1.0, 2.0], 'b': [None, None]}, {'a': [2.5], 'b': ['x']}]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kinds: dict[str, set[pa.DataType]] = {}

    def stream(
        self, blocks: Blocks, check: Callable[[int], None] = lambda _: None
    ) -> tuple[pa.Schema, Iterator[pa.Table]]:
        """The schema and the rows of these blocks; a column whose blocks are of different kinds is text.

        Args:
            blocks: of no rows, too, which name the columns that a table without rows has.
            check: called with the bytes so far.
        """
        nbytes = 0
        with temporary_file(self.path) as file:
            for columns, rows in blocks:
                arrays = {name: array_of(values) for name, values in columns.items()}
                for name, array in arrays.items():
                    self._kinds.setdefault(name, set()).add(array.type)
                if not rows:
                    continue
                places = {name: str(at) for at, name in enumerate(self._kinds)}  # not every name can be written
                block = pa.table({places[name]: array for name, array in arrays.items()} | {LENGTH: pa.nulls(rows)})
                with ipc.new_stream(file, block.schema) as sink:
                    sink.write_table(block)
                check(nbytes := nbytes + block.nbytes)
        kinds = {name: _common(types - {pa.null()}) for name, types in self._kinds.items()}
        schema = pa.schema([(_writable(name), kind) for name, kind in kinds.items()])
        return schema, self._final(kinds, schema)

    def _blocks(self, kinds: Mapping[str, pa.DataType]) -> Iterator[dict[str, pa.Array]]:
        """The blocks as they wait, with columns of these types."""
        places = {name: str(at) for at, name in enumerate(self._kinds)}
        with pa.OSFile(str(self.path)) as file:
            while file.tell() < file.size():
                with ipc.open_stream(file) as source:
                    block = source.read_all()
                there = set(block.column_names)
                yield {
                    name: _as_kind(_one(block[at]) if (at := places[name]) in there else pa.nulls(block.num_rows), kind)
                    for name, kind in kinds.items()
                }

    def _final(self, kinds: Mapping[str, pa.DataType], schema: pa.Schema) -> Iterator[pa.Table]:
        for block in self._blocks(kinds):
            if block:
                yield pa.Table.from_arrays([*block.values()], schema=schema)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def table_of(blocks: Blocks, check: Callable[[int], None] = lambda _: None) -> pa.Table:
    """The table of these blocks, of which no more than one is held as Python's own values.

    >>> table_of([({"a": [1, 2]}, 2), ({"a": [2.5], "b": ["x"]}, 1)]).to_pydict()
    {'a': [1.0, 2.0, 2.5], 'b': [None, None, 'x']}
    """
    with temporary_folder() as folder:
        schema, parts = SpilledTable(folder / "raw").stream(blocks, check)
        return pa.concat_tables([schema.empty_table(), *parts])


def array_of(values: Sequence[Any]) -> pa.Array:
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


def _common(kinds: Collection[pa.DataType]) -> pa.DataType:
    """The type that takes the entries of all these types."""
    if len(kinds) == 1:
        return next(iter(kinds))
    if NESTED in kinds:
        return NESTED
    return pa.float64() if set(kinds) == {pa.int64(), pa.float64()} else pa.string() if kinds else pa.null()


def _as_kind(part: pa.Array, kind: pa.DataType) -> pa.Array:
    if part.type == kind:
        return part
    if kind == NESTED:
        return array_of([None if value is None else [value] for value in part.to_pylist()])
    if pa.types.is_binary(part.type):
        return array_of(["�" if value is not None else None for value in part.to_pylist()])
    if kind == pa.string():
        return pa.array([None if value is None else _as_text(value) for value in part.to_pylist()], kind)
    return part.cast(kind, safe=False)


def _at_midnight(value: date | None) -> date | None:
    return value if value is None or isinstance(value, datetime) else datetime(value.year, value.month, value.day)


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return _writable(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, bool | dict | list):
        return _writable(json.dumps(value, ensure_ascii=False))
    if isinstance(value, float) and re.search(r"\.\d{3}$", str(value)):
        return f"{value}0"  # 1.234 as a text may be 1234
    return str(value)


def _writable(text: str) -> str:
    """Half of a surrogate pair is no character, and cannot be written."""
    return text.encode(errors="surrogatepass").decode(errors="replace")
