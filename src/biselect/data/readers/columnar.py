"""Parquet and Arrow files, which hold columns of known types, and Parquet files that make one table together."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from biselect.calibrate import parquet_blocks
from biselect.core.free_memory import free_memory
from biselect.data.readers.sources import Source
from biselect.errors import InputError

MAGIC = b"ARROW1"  # of a file; a stream has none
CELL = 8  # bytes of a number


def read_parquet(path: Path) -> pa.Table:
    """A Parquet file."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        _refuse_too_large(path, file.metadata.num_rows, file.metadata.num_columns)
        return checked(file.read())


def read_parquet_set(source: Source) -> pa.Table:
    """All Parquet files of a folder or a glob, which must have the same columns."""
    tables = _alike(((path, read_parquet(path)) for path in source.files), source)
    return pa.concat_tables(tables)


def parquet_set_blocks(source: Source) -> Iterator[pa.Table]:
    """The rows of those files, a block at a time."""
    return _alike(((path, block) for path in source.files for block in parquet_blocks(path)), source)


def _alike(tables: Iterator[tuple[Path, pa.Table]], source: Source) -> Iterator[pa.Table]:
    """The tables with their columns in the order of the first one, and with what the names of their folders say."""
    known = dict(zip(source.files, source.partitions, strict=True))
    first: tuple[Path, pa.Schema] | None = None
    for path, table in tables:
        for name, value in known[path].items():
            if name not in table.column_names:
                table = table.append_column(name, pa.repeat(pa.scalar(value), table.num_rows))
        first = first or (path, table.schema)
        yield _like(table, path, *first)


def _like(table: pa.Table, path: Path, first: Path, schema: pa.Schema) -> pa.Table:
    if table.schema.equals(schema):
        return table
    if other := sorted(set(table.column_names) ^ set(schema.names)):
        only = path if other[0] in table.column_names else first
        raise InputError(f"{path}: its columns differ from those of {first}: {other[0]!r} is in {only.name} only")
    for field in schema:
        kind = table.schema.field(field.name).type
        if kind != field.type and not pa.types.is_null(kind):
            raise InputError(f"{path}: column {field.name!r} holds {kind}, but {field.type} in {first}; convert either")
    return table.select(schema.names).cast(schema)


def read_arrow(path: Path) -> pa.Table:
    """An Arrow file, or a stream of them."""
    from pyarrow import ipc

    with path.open("rb") as stream:
        is_file = stream.read(len(MAGIC)) == MAGIC
        stream.seek(0)
        with ipc.open_file(stream) if is_file else ipc.open_stream(stream) as content:
            return checked(content.read_all())


def checked(table: pa.Table) -> pa.Table:
    """The table, once every offset, index and text in it was looked at: Arrow trusts files."""
    table.validate(full=True)
    return table


def _refuse_too_large(path: Path, rows: int, columns: int) -> None:
    """A few bytes can stand for any number of equal rows; what they take in memory is known before they do."""
    free, needed = free_memory(), CELL * rows * columns
    if free is not None and needed > free:
        raise InputError(
            f"{path}: {rows:,} rows of {columns:,} columns take {needed / 2**30:,.1f} GiB, "
            f"but {free / 2**30:.1f} GiB are free; take fewer rows or columns"
        )
