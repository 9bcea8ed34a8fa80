"""JSON lines: one object a row.

pyarrow's own reader ends the process on lines that are no objects, so every line is read by Python, a block at a time.
"""

import json
from collections.abc import Iterator
from itertools import islice
from json.scanner import make_scanner
from pathlib import Path
from typing import Any

import pyarrow as pa

from biselect.errors import InputError
from biselect.tables.readers._values import table_of
from biselect.tables.readers.sources import opened

LINES = 1 << 13  # in a block
LONGEST = 1 << 26  # bytes of a line

_scan = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]


def read_json_lines(path: Path) -> pa.Table:
    """A file with one JSON object in each line; empty lines are passed over."""
    return table_of(json_blocks(path))


def json_blocks(path: Path) -> Iterator[tuple[dict[str, list[Any]], int]]:
    """Its rows, some thousands at a time: the columns that they have, and how many they are."""
    first = 1
    with opened(path) as stream:
        for lines in _blocks(stream):
            rows = [row for number, line in enumerate(lines, first) if (row := _row(line, number, path)) is not None]
            names = dict.fromkeys(name for row in rows for name in row)
            yield {name: [row.get(name) for row in rows] for name in names}, len(rows)
            first += len(lines)


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
