"""JSON: one object a row, each in a line of its own or all in one list; fields of objects within become columns.

pyarrow's own reader ends the process on lines that are no objects, so every line is read by Python, a block at a time.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from json.scanner import make_scanner
from pathlib import Path
from typing import Any

import pyarrow as pa

from biselect.core.untrusted import json_of
from biselect.errors import InputError
from biselect.tables.readers._values import table_of
from biselect.tables.readers.sources import opened

LINES = 1 << 13  # in a block
LONGEST = 1 << 26  # bytes of a line
DEEPEST = 8  # levels at which fields are looked for

_scan = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]

Rows = Sequence[Mapping[str, Any]]


def read_json_lines(path: Path) -> pa.Table:
    """A file with one JSON object in each line; empty lines are passed over."""
    return table_of(json_blocks(path))


def read_json_rows(path: Path) -> pa.Table:
    """A file of one list of objects, wherever it lies in the file, or of columns; or else of JSON lines."""
    text = path.read_bytes().decode("utf-8-sig")
    try:
        content = json_of(text, halves=True)
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise
        return read_json_lines(path)
    rows = _rows_in(content)
    if rows is None:
        raise InputError(f"{path}: holds no list of JSON objects, which would be the rows of a table")
    return table_of(_columns(rows[at : at + LINES]) for at in range(0, len(rows), LINES))


def _rows_in(content: Any, depth: int = 0) -> Rows | None:
    """The longest list of objects; None if there is none."""
    if isinstance(content, list):
        return content if content and all(type(row) is dict for row in content) else None
    if not isinstance(content, dict) or depth > DEEPEST:
        return None
    columns = [*content.values()]
    if columns and all(type(one) is dict and one and one.keys() == columns[0].keys() for one in columns):
        return [
            {name: column[row] for name, column in content.items()} for row in columns[0]
        ]  # as pandas writes frames
    lists = [rows for part in columns if (rows := _rows_in(part, depth + 1)) is not None]
    return max(lists, key=len, default=None)


def json_blocks(path: Path) -> Iterator[tuple[dict[str, list[Any]], int]]:
    """The rows of JSON lines, some thousands at a time: the columns that they have, and how many they are."""
    first = 1
    with opened(path) as stream:
        for lines in _blocks(stream):
            rows = [row for number, line in enumerate(lines, first) if (row := _row(line, number, path)) is not None]
            yield _columns(rows)
            first += len(lines)


def _columns(rows: Rows) -> tuple[dict[str, list[Any]], int]:
    """The columns of some rows, and how many these are."""
    flat = [_flat(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    return {name: [row.get(name) for row in flat] for name in names}, len(flat)


def _flat(row: Mapping[str, Any], before: str = "", depth: int = 0) -> dict[str, Any]:
    """The fields of an object, and of objects within it, whose names are joined by a point."""
    fields: dict[str, Any] = {}
    for name, value in row.items():
        is_object = type(value) is dict and value and depth < DEEPEST
        fields |= _flat(value, f"{before}{name}.", depth + 1) if is_object else {before + name: value}
    return fields


def _blocks(stream: Any) -> Iterator[list[bytes]]:
    """Lines, some thousands at a time."""
    lines = iter(lambda: stream.readline(LONGEST), b"")
    while block := list(islice(lines, LINES)):
        yield block


def _row(line: bytes, number: int, path: Path) -> dict[str, Any] | None:
    """The object in a line; an error that says what is wrong with it."""
    if len(line) >= LONGEST:
        raise InputError(f"{path}: line {number} is longer than {LONGEST >> 20} MiB")
    try:
        text = line.decode().strip(" \t\r\n\ufeff")
        if not text:
            return None
        row, end = _scan(text, 0)
        if end != len(text):
            raise ValueError("goes on after its object")
        if type(row) is not dict:
            raise ValueError(f"holds {text[:40]!r}")
    except UnicodeDecodeError:
        raise InputError(f"{path}: line {number} is not UTF-8 text") from None
    except StopIteration:
        raise InputError(f"{path}: line {number} is no JSON ({text[:40]!r})") from None
    except RecursionError:
        raise InputError(f"{path}: line {number} is nested too deep") from None
    except ValueError as error:
        raise InputError(f"{path}: line {number} is not one JSON object a line: {error}") from None
    return row
