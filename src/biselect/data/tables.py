"""Files to tables: CSV, Parquet, Arrow and JSON-lines, read as data and refused clearly when they are broken."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.errors import InputError

__all__ = ["CsvForm", "read_table"]

Place = Callable[[int], str]  # where a row stands in its file
CSV_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
SOURCE = b"biselect.csv"  # where a table remembers its file
HEAD = 1 << 16  # bytes in which the first line is looked for


@dataclass(frozen=True, kw_only=True)
class CsvForm:
    """How a CSV is written; other files say it themselves.

    Attributes:
        delimiter: between values; None for what the ending says.
        na_values: what stands for a missing number, beside an empty entry, NA, NaN and their like.
        text_columns: columns not taken for numbers (007 stays 007).
    """

    delimiter: str | None = None
    na_values: Sequence[str] = ()
    text_columns: Sequence[str] = ()


PLAIN = CsvForm()


def read_table(path: str | Path, form: CsvForm = PLAIN) -> pa.Table:
    """Read a table by the ending of its name."""
    path = Path(path)
    name = path.name.lower()
    reader = next((read for endings, read in _READERS if name.endswith(endings)), None)
    if reader is None:
        known = ", ".join(ending for endings, _ in _READERS for ending in endings)
        raise InputError(f"{path}: unknown kind of file; the name must end in one of {known}")
    if path.is_dir():
        raise InputError(f"{path}: is a folder, not a file")
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty")
    try:
        table = reader(path, form)
        names = table.column_names
    except InputError:
        raise
    except PermissionError:
        raise InputError(f"{path}: no permission to read it") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; save it as UTF-8, separated by commas") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as {path.suffix.lstrip('.')}: {error}") from error
    if repeated := {column for column in names if names.count(column) > 1}:
        raise InputError(f"{path}: column {min(repeated)!r} stands more than once; rename one of them")
    if table.num_rows == 0:
        raise InputError(f"{path}: the table has columns but no rows")
    return table


def _read_csv(path: Path, form: CsvForm) -> pa.Table:
    from pyarrow.csv import ConvertOptions, ParseOptions, read_csv

    delimiter = form.delimiter or ("\t" if ".tsv" in path.name.lower() else ",")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise InputError(f"delimiter= must be one plain character, such as ';', got {delimiter!r}")
    _refuse_semicolons(path, delimiter)
    table = read_csv(
        path,
        parse_options=ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=ConvertOptions(
            column_types=dict.fromkeys(form.text_columns, pa.string()),
            null_values=[*ConvertOptions().null_values, *form.na_values],
        ),
    )
    return table.replace_schema_metadata({SOURCE: json.dumps([str(path), delimiter])})  # this survives `take`


def _refuse_semicolons(path: Path, delimiter: str) -> None:
    """Read with commas such a file would be one column of text."""
    with pa.input_stream(str(path)) as stream:
        header = stream.read(HEAD).split(b"\n")[0].decode(errors="replace")
    if ";" in header and delimiter not in header:
        raise InputError(
            f"{path}: looks semicolon-separated ({header.strip()[:40]} …); give delimiter=';', or save it with commas"
        )


def _read_parquet(path: Path, _: CsvForm) -> pa.Table:
    from pyarrow.parquet import read_table

    return read_table(path)


def _read_arrow(path: Path, _: CsvForm) -> pa.Table:
    from pyarrow import ipc

    try:
        return ipc.open_file(path).read_all()
    except pa.ArrowInvalid:  # the streaming format has no footer
        with path.open("rb") as stream:
            return ipc.open_stream(stream).read_all()


def _read_json_lines(path: Path, _: CsvForm) -> pa.Table:
    from pyarrow.json import read_json

    return read_json(path)


_READERS: list[tuple[tuple[str, ...], Callable[[Path, CsvForm], pa.Table]]] = [
    (CSV_ENDINGS, _read_csv),
    ((".parquet",), _read_parquet),
    ((".arrow", ".feather", ".ipc"), _read_arrow),
    ((".jsonl", ".ndjson"), _read_json_lines),
]


def line_of_row(table: pa.Table, row: int) -> str:
    """The line of the file in which a row begins; for other files than CSV its position, from 0.

    The file is read again: values may hold line breaks, and lines may be empty.
    """
    source = (table.schema.metadata or {}).get(SOURCE)
    if source is None:
        return f"row {row}"
    path, delimiter = json.loads(source)
    try:
        with pa.input_stream(path) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as text:
            records = csv.reader(text, delimiter=delimiter)
            data_row, line = -1, 1  # the header comes first
            for record in records:
                if record:
                    if data_row == row:
                        return f"line {line}"
                    data_row += 1
                line = records.line_num + 1
    except (OSError, ValueError, csv.Error):
        pass
    return f"row {row}"


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
    if absent := [name for name in names if name not in table.column_names]:
        shown = ", ".join(map(repr, table.column_names[:40])) + (" …" if table.num_columns > 40 else "")
        raise InputError(f"{where} has no column {', '.join(map(repr, absent))}; it has {shown}")


def numeric(table: pa.Table, names: Sequence[str], where: str) -> pa.Table:
    """These columns as float64, missing entries as NaN; what is not numeric is refused, all of it at once."""
    reasons = {name: reason for name in names if (reason := _not_numeric(table[name], partial(line_of_row, table)))}
    if reasons:
        listed = "; ".join(f"column {name!r} {reason}" for name, reason in reasons.items())
        raise InputError(
            f"{where}: {listed}. Leave out with exclude={list(reasons)} (show= only shows them beside the rows), "
            "or choose columns with features="
        )
    columns = {name: pc.cast(table[name], pa.float64(), safe=False) for name in names}
    return pa.table({name: pc.fill_null(column, float("nan")) for name, column in columns.items()})


def _not_numeric(column: pa.ChunkedArray, place_of: Place) -> str | None:
    """Why a column cannot be a feature."""
    kind = column.type
    if pa.types.is_null(kind):
        return "is empty"
    if pa.types.is_temporal(kind):
        return f"holds times ({column[0]}); name it with time_column= if it orders the rows"
    is_number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return None if any(test(kind) for test in is_number) else f"is not numeric ({_example(column, place_of)})"


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
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d+,\d+", value.strip()):
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
