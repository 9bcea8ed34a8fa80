"""Where a row stands in its file, so that a person can go there."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa

SOURCE = b"biselect.csv"


def remember(table: pa.Table, path: str, delimiter: str) -> pa.Table:
    """The table, knowing which CSV it came from; this survives `take`."""
    return table.replace_schema_metadata({SOURCE: json.dumps([path, delimiter])})


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
