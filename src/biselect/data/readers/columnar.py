"""Parquet and Arrow files, which hold columns of known types."""

from pathlib import Path

import pyarrow as pa


def read_parquet(path: Path) -> pa.Table:
    """A Parquet file."""
    from pyarrow.parquet import read_table

    return read_table(path)


def read_arrow(path: Path) -> pa.Table:
    """An Arrow file, or a stream of them."""
    from pyarrow import ipc

    try:
        return ipc.open_file(path).read_all()
    except pa.ArrowInvalid:  # the streaming format has no footer
        with path.open("rb") as stream:
            return ipc.open_stream(stream).read_all()
