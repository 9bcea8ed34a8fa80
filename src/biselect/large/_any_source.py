"""Whatever a caller gives as a table, as parts that are read one at a time."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from biselect.core.untrusted import refuse_bomb
from biselect.errors import InputError
from biselect.large._arrow_rows import (
    array_partitions,
    arrow_partitions,
    dataset_partitions,
    held_partitions,
    is_arrow_file,
)
from biselect.large._parquet_rows import parquet_partitions
from biselect.large.dataset import BLOCK_ROWS, Partitions, reading
from biselect.large.spool import Spool
from biselect.tables import as_table
from biselect.tables.readers import (
    PLAIN,
    CsvForm,
    SpilledTable,
    checked_file,
    duckdb_stream,
    is_sqlite,
    json_blocks,
    refuse_odd_dates,
    sqlite_blocks,
    stream_delimited,
)
from biselect.tables.readers.sources import CSV, DATABASES, JSON_LINES, Source

MEMORY = 2 << 30  # bytes, unless somebody says otherwise


def partitions_of(
    source: Any, form: CsvForm = PLAIN, *, memory: int = MEMORY, spool: Spool | None = None
) -> Partitions:
    """The parts of a table, whatever it is.

    Parquet files, folders and globs of them, Arrow files and `pyarrow` datasets are read where they are; tables in
    memory are sliced. All else is copied once to the spool, in blocks; without a spool it is read whole.

    Args:
        source: a path, as `read_table` takes it; an Arrow table, dataset or stream; a frame of pandas, polars or what
            else narwhals knows, lazy ones included; a NumPy array.
        form: how a CSV is written, as far as that is known.
        memory: bytes that may be taken to make the parts.
        spool: where copies go; they live as long as it does.
    """
    if isinstance(source, str | Path):
        return _of_path(Source.of(source), form, memory, spool)
    if isinstance(source, np.ndarray) and source.dtype.kind in "fiub":
        return array_partitions(source)
    if "pyarrow.dataset" in sys.modules and isinstance(source, sys.modules["pyarrow.dataset"].Dataset):
        return dataset_partitions(source) or _copied(source.scanner(batch_size=BLOCK_ROWS).to_reader(), spool)
    try:
        frame = nw.from_native(source, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"the table cannot be read: {error}") from error
    if isinstance(frame, nw.LazyFrame):
        return _of_lazy(frame, spool)
    if not isinstance(frame, nw.DataFrame) and hasattr(source, "__arrow_c_stream__"):
        return _copied(pa.RecordBatchReader.from_stream(source), spool)
    return held_partitions(as_table(source, form))


def _of_path(source: Source, form: CsvForm, memory: int, spool: Spool | None) -> Partitions:
    kind = source.path.suffix.lower()
    if source.is_set or (kind == ".parquet" and source.part is None and source.path.exists()):
        return parquet_partitions(source)
    if kind in (".arrow", ".feather", ".ipc") and source.part is None and source.path.exists():
        if is_arrow_file(source.path):
            return arrow_partitions(source)
        with reading(source.path, "Arrow"), pa.OSFile(str(source.path)) as file:
            return _copied(pa.ipc.open_stream(file), spool, source.name)
    if spool is not None and (found := _streamed(source, form, memory, spool)) is not None:
        return found
    return held_partitions(as_table(source.text, form), source.name)


def _streamed(source: Source, form: CsvForm, memory: int, spool: Spool) -> Partitions | None:
    """A file that is read from its beginning to its end, block by block; None for one of another kind."""
    name, path = source.path.name.lower(), source.path
    whole = source.part is None
    if whole and name.endswith(CSV):
        with checked_file(source):
            schema, blocks = stream_delimited(path, form, memory)
    elif whole and name.endswith(JSON_LINES):
        with checked_file(source):
            schema, blocks = SpilledTable(spool.place("raw")).stream(json_blocks(path))
    elif name.endswith(DATABASES) and path.exists():
        with checked_file(source):
            if not is_sqlite(source):
                with duckdb_stream(source) as stream:
                    return spool.copied(source.text, stream.schema, _stream_blocks(stream, str(source)))
            schema, blocks = SpilledTable(spool.place("raw")).stream(
                sqlite_blocks(source), partial(refuse_bomb, path, packed=path.stat().st_size)
            )
    else:
        return None
    return spool.copied(source.text, schema, _told(blocks, source), path.stat().st_size)


def _told(blocks: Iterator[pa.Table], source: Source) -> Iterator[pa.Table]:
    """The blocks, with their errors told by the name of the file."""
    with reading(str(source), source.path.suffix.lstrip(".")):
        for block in blocks:
            refuse_odd_dates(block, source)
            yield block


def _of_lazy(frame: nw.LazyFrame[Any], spool: Spool | None) -> Partitions:
    """A frame that is not yet computed."""
    native = frame.to_native()
    if frame.implementation.is_polars() and hasattr(native, "collect_batches") and spool is not None:
        import polars

        schema = polars.DataFrame(schema=native.collect_schema()).to_arrow().schema
        return spool.copied("the lazy frame", schema, _polars_blocks(native))
    if hasattr(native, "__arrow_c_stream__"):  # DuckDB
        return _copied(pa.RecordBatchReader.from_stream(native), spool)
    return held_partitions(as_table(native))


def _polars_blocks(frame: Any) -> Iterator[pa.Table]:
    with reading("the lazy frame", "a polars query"):
        for batch in frame.collect_batches(chunk_size=BLOCK_ROWS, maintain_order=True, lazy=True):
            yield batch.to_arrow()


def _copied(stream: pa.RecordBatchReader, spool: Spool | None, name: str = "the stream") -> Partitions:
    """A stream that can be read only once."""
    if spool is None:
        with reading(name, "an Arrow stream"):
            table = stream.read_all()
            table.validate(full=True)  # Arrow trusts what lies in a stream
            return held_partitions(table, name)
    return spool.copied(name, stream.schema, _stream_blocks(stream, name))


def _stream_blocks(stream: pa.RecordBatchReader, name: str) -> Iterator[pa.Table]:
    with reading(name, "an Arrow stream"):
        for batch in stream:
            batch.validate(full=True)
            yield pa.Table.from_batches([batch])
