"""Whatever a caller gives as a table, as parts: what cannot be read in parts where it is, is copied once to Parquet."""

import errno
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import narwhals as nw
import numpy as np
import pyarrow as pa

from biselect.core.files import temporary_file, temporary_folder
from biselect.core.untrusted import refuse_bomb
from biselect.errors import InputError
from biselect.large._sources import (
    array_partitions,
    arrow_partitions,
    dataset_partitions,
    held_partitions,
    parquet_partitions,
)
from biselect.large._texts import with_texts_read
from biselect.large.dataset import BLOCK_ROWS, MEMORY, Partitions, in_blocks, reading
from biselect.tables import Table, readers
from biselect.tables.readers.sources import CSV, DATABASES, JSON_LINES, Source, refuse_empty, refuse_repeated

GROUP_ROWS = 1 << 18  # of a row group
GIB = 1 << 30


class Spool:
    """A temporary folder for such copies, made when the first is, and removed with all of them in the end.

    Args:
        folder: where it is made; None for the system's folder for temporary files. Workers on other machines must see
            the same folder.

    >>> with Spool() as spool:
    ...     copy = spool.copied("numbers", pa.schema([("x", pa.int64())]), [pa.table({"x": [1, 2]})])
    >>> copy.rows, copy.parts[0].name
    (2, 'numbers, rows 0 to 1')
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.parent = folder
        self._open = ExitStack()
        self._folder: Path | None = None
        self._files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open.close()
        self._folder = None

    def place(self, ending: str = "parquet") -> Path:
        """A name for a new file in the folder."""
        if self._folder is None:
            self._folder = self._open.enter_context(temporary_folder(self.parent))
        self._files += 1
        return self._folder / f"{self._files}.{ending}"

    def copied(self, name: str, schema: pa.Schema, blocks: Iterable[pa.Table], needed: int | None = None) -> Partitions:
        """The table that these blocks make, from a copy of it on the disk.

        Args:
            name: of the table.
            schema: of every block.
            blocks: its rows, in order; errors of their source are told by it.
            needed: about how many bytes the copy will have; None where nobody knows.
        """
        refuse_repeated(schema.names, Source.of(name))
        copy = parquet_partitions(Source.of(self.write(name, schema, blocks, needed)))
        parts = []
        for part in copy.parts:
            source: Any = part.source
            rows = f"{name}, rows {part.first:,} to {part.first + part.rows - 1:,}"
            parts.append(replace(part, name=rows, source=replace(source, schema=schema, copy_of=name)))
        return Partitions(name=name, schema=schema, parts=tuple(parts))

    def write(self, name: str, schema: pa.Schema, blocks: Iterable[pa.Table], needed: int | None = None) -> Path:
        """A Parquet file of these blocks, with the room that was missing told where there was none."""
        from pyarrow.parquet import ParquetWriter

        rows, path = 0, self.place()
        texts = [field.name for field in schema if not pa.types.is_floating(field.type)]
        try:
            with (
                temporary_file(path) as file,
                ParquetWriter(file, schema, compression="lz4", use_dictionary=texts or False) as writer,
            ):
                for block in in_blocks(blocks, GROUP_ROWS):
                    writer.write_table(block, row_group_size=GROUP_ROWS)
                    rows += block.num_rows
        except OSError as error:
            if isinstance(error, pa.ArrowException) or error.errno is None:
                raise
            if error.errno != errno.ENOSPC:
                raise InputError(f"{path.parent}: cannot write there: {error.strerror}") from error
            about = f" of about {needed / GIB:.1f} GiB" if needed is not None else ""
            free = shutil.disk_usage(path.parent).free / GIB
            raise InputError(
                f"{path.parent.parent}: is full: no room for a copy{about} of {name}, of which {rows:,} rows were "
                f"written ({free:.1f} GiB are free again); set TMPDIR to a folder on a larger disk"
            ) from error
        refuse_empty(rows, schema.names, name)
        return path


def partitions_of(table: Any, *, memory: int = MEMORY, spool: Spool | None = None) -> Partitions:
    """The parts of a table, whatever it is.

    Parquet files, folders and globs of them, Arrow files and `pyarrow` datasets are read where they are; tables in
    memory are sliced. All else is copied once to the spool, in blocks; without a spool it is read whole.

    Args:
        table: a `Table` or its source: a path, as `read_table` takes it; an Arrow table, dataset or stream; a frame of
            pandas, polars or what else narwhals knows, lazy ones included; a NumPy array.
        memory: bytes that may be taken to make the parts.
        spool: where copies go; they live as long as it does.
    """
    table = Table.of(table)
    if table.is_file and spool is not None:
        source = Source.of(table.source)
        if source.part is None and source.path.name.lower().endswith(CSV):
            return _of_csv(table, source, memory, spool)
    parts, has_texts = _as_they_are(table, memory, spool)
    return with_texts_read(parts, table, memory) if has_texts else parts


def _of_csv(table: Table, source: Source, memory: int, spool: Spool) -> Partitions:
    """A copy of a CSV, whose columns of text are read as what they hold."""
    with readers.checked_file(source):
        size = source.path.stat().st_size

        def take(schema: pa.Schema, blocks: Iterator[pa.Table]) -> Partitions:
            return spool.copied(source.text, schema, blocks, size)

        parts, reading, looks = readers.stream_delimited(
            source.path, readers.TextForm.of(table.csv, table.columns), take
        )
        return with_texts_read(parts, table, memory, reading, looks)


def _as_they_are(table: Table, memory: int, spool: Spool | None) -> tuple[Partitions, bool]:
    """The parts of a table, and whether their texts may be more than texts."""
    source = table.source
    if isinstance(source, str | Path):
        return _of_path(table, Source.of(source), memory, spool)
    if isinstance(source, np.ndarray) and source.dtype.kind in "fiub":
        return array_partitions(source), False
    if "pyarrow.dataset" in sys.modules and isinstance(source, sys.modules["pyarrow.dataset"].Dataset):
        return dataset_partitions(source) or _copied(source.scanner(batch_size=BLOCK_ROWS).to_reader(), spool), True
    try:
        frame = nw.from_native(source, pass_through=True)
    except nw.exceptions.DuplicateError:
        return held_partitions(table.read()), False
    if isinstance(frame, nw.LazyFrame):
        return _of_lazy(frame, spool)
    if not isinstance(frame, nw.DataFrame) and hasattr(source, "__arrow_c_stream__"):
        return _copied(pa.RecordBatchReader.from_stream(source), spool), True
    return held_partitions(table.read()), False


def _of_path(table: Table, source: Source, memory: int, spool: Spool | None) -> tuple[Partitions, bool]:
    kind, is_whole = source.path.suffix.lower(), source.part is None and source.path.exists()
    if source.is_set or (kind == ".parquet" and is_whole):
        return parquet_partitions(source), True
    if kind in (".arrow", ".feather", ".ipc") and is_whole:
        if (parts := arrow_partitions(source)) is not None:
            return parts, True
        with reading(source.path, "Arrow"), pa.OSFile(str(source.path)) as file:
            return _copied(pa.ipc.open_stream(file), spool, source.name), True
    if spool is not None and (copy := _streamed(table, source, spool)) is not None:
        return copy, True
    return held_partitions(table.read(), source.name), False


def _streamed(table: Table, source: Source, spool: Spool) -> Partitions | None:
    """A file that is read from its beginning to its end, block by block; None for one of another kind."""
    name, path = source.path.name.lower(), source.path
    if source.part is None and name.endswith(JSON_LINES):
        with readers.checked_file(source):
            schema, blocks = readers.SpilledTable(spool.place("raw")).stream(readers.json_blocks(path))
    elif name.endswith(DATABASES) and path.exists():
        with readers.checked_file(source):
            part, _ = readers.chosen_part(source)
            if not readers.is_sqlite(part):
                with readers.duckdb_stream(part) as stream:
                    return _copied(stream, spool, source.text)
            schema, blocks = readers.SpilledTable(spool.place("raw")).stream(
                readers.sqlite_blocks(part), partial(refuse_bomb, path, packed=path.stat().st_size)
            )
    else:
        return None
    return spool.copied(source.text, schema, _usable(blocks, source), path.stat().st_size)


def _usable(blocks: Iterable[pa.Table], source: Source) -> Iterator[pa.Table]:
    """The blocks, with their errors told by the name of the file."""
    with reading(str(source), source.path.suffix.lstrip(".")):
        for block in blocks:
            readers.refuse_odd_dates(block, source)
            yield block


def _of_lazy(frame: nw.LazyFrame[Any], spool: Spool | None) -> tuple[Partitions, bool]:
    """A frame that is not yet computed."""
    native = frame.to_native()
    if frame.implementation.is_polars() and hasattr(native, "collect_batches") and spool is not None:
        import polars

        schema = polars.DataFrame(schema=native.collect_schema()).to_arrow().schema
        batches = native.collect_batches(chunk_size=BLOCK_ROWS, maintain_order=True, lazy=True)
        blocks = _checked((batch.to_arrow() for batch in batches), "the lazy frame", "a polars query")
        return spool.copied("the lazy frame", schema, blocks), True
    if hasattr(native, "__arrow_c_stream__"):  # DuckDB
        return _copied(pa.RecordBatchReader.from_stream(native), spool), True
    return held_partitions(Table(native).read()), False


def _copied(stream: pa.RecordBatchReader, spool: Spool | None, name: str = "the stream") -> Partitions:
    """A stream that can be read only once."""
    form = readers.TextForm()
    schema = readers.plain_columns(stream.schema.empty_table(), form).schema
    checked = _checked((pa.Table.from_batches([batch]) for batch in stream), name, "an Arrow stream")
    blocks = (readers.plain_columns(block, form) for block in checked)
    return held_partitions(pa.concat_tables(blocks), name) if spool is None else spool.copied(name, schema, blocks)


def _checked(blocks: Iterable[pa.Table], name: str, kind: str) -> Iterator[pa.Table]:
    """The blocks, once every offset and text in them was looked at: Arrow trusts what lies in a stream."""
    with reading(name, kind):
        for block in blocks:
            block.validate(full=True)
            yield block
