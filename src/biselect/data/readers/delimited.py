"""CSV and its like: text whose values stand between delimiters."""

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from biselect.errors import InputError

ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst")
SOURCE = b"biselect.csv"  # where a table remembers its file
HEAD = 1 << 16  # bytes in which the first line is looked for


@dataclass(frozen=True, kw_only=True)
class CsvForm:
    """How a CSV is written; other files say it themselves.

    Attributes:
        delimiter: between values; None for what the ending says.
        na_values: what stands for a missing entry: of a number beside NA, NaN and their like, of any but those of
            `text_columns` beside an empty one. NA alone is a country.
        text_columns: columns of text kept as it is written.
        categories: columns of text although they look like numbers (007 stays 007).
    """

    delimiter: str | None = None
    na_values: Sequence[str] = ()
    text_columns: Sequence[str] = ()
    categories: Sequence[str] = ()


PLAIN = CsvForm()


def read_delimited(path: Path, form: CsvForm) -> pa.Table:
    """A CSV as a table; a column that holds anything but numbers is text."""
    from pyarrow.csv import ConvertOptions, ParseOptions, read_csv

    delimiter = form.delimiter or ("\t" if ".tsv" in path.name.lower() else ",")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise InputError(f"delimiter= must be one plain character, such as ';', got {delimiter!r}")
    header = _header(path, delimiter)
    text = [*form.text_columns, *form.categories]
    while True:
        try:
            table = read_csv(
                path,
                parse_options=ParseOptions(delimiter=delimiter, newlines_in_values=True),
                convert_options=ConvertOptions(
                    column_types=dict.fromkeys(text, pa.string()),
                    null_values=[*ConvertOptions().null_values, *form.na_values],
                ),
            )
            break
        except pa.ArrowInvalid as error:  # a column that began with numbers goes on with something else
            unread = re.match(r"In CSV column #(\d+): CSV conversion error", str(error))
            if unread is None or header[int(unread[1])] in text:
                raise
            text.append(header[int(unread[1])])
    absent = pa.array(["", *form.na_values])
    for position, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_string(column.type) and name not in form.text_columns:
            there = pc.if_else(pc.is_in(column, absent), pa.scalar(None, pa.string()), column)
            table = table.set_column(position, name, there)
    return table.replace_schema_metadata({SOURCE: json.dumps([str(path), delimiter])})  # this survives `take`


def _header(path: Path, delimiter: str) -> list[str]:
    """The names in the first line; read with commas a file with semicolons would be one column of text."""
    with pa.input_stream(str(path)) as stream:
        header = stream.read(HEAD).split(b"\n")[0].decode(errors="replace")
    if ";" in header and delimiter not in header:
        raise InputError(
            f"{path}: looks semicolon-separated ({header.strip()[:40]} …); give delimiter=';', or save it with commas"
        )
    return next(csv.reader([header.strip("\ufeff\r")], delimiter=delimiter), [])


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
