"""References that do not fit into memory: blocks of rows in, one sketched column per feature out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from biselect.errors import InputError

MEMORY = 128 << 20  # bytes that the sketches of one fit may hold
ROWS = 1 << 16  # in a block of a Parquet file


def parquet_blocks(path: str | Path, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The rows of a Parquet file, a block at a time, as Arrow tables.

    Args:
        path: the file.
        columns: which to read, all where None.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if absent := [name for name in columns or () if name not in names]:
                raise InputError(f"{path} has no column {absent[0]!r}; it has: {', '.join(names)}")
            for batch in file.iter_batches(batch_size=ROWS, columns=None if columns is None else list(columns)):
                yield pa.Table.from_batches([batch])
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: not a Parquet file ({error})") from error
