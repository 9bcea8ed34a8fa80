"""JSON lines: one object a row."""

from pathlib import Path

import pyarrow as pa


def read_json_lines(path: Path) -> pa.Table:
    """A file with one JSON object in each line."""
    from pyarrow.json import read_json

    return read_json(path)
