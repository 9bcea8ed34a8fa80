"""Parquet and Arrow files, which hold columns of known types, and Parquet files that make one table together."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from biselect.calibrate import parquet_blocks
from biselect.core.free_memory import free_memory
from biselect.data.readers.sources import Source
from biselect.errors import InputError

MAGIC = b"ARROW1"  # of a file; a stream has none
CELL = 8  # bytes of a number
YEARS = (-62135596800, 253402300799)  # 0001 to 9999, in seconds: the dates that Python knows


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
    refuse_unlike(table.schema, path, first, schema)
    return table.select(schema.names).cast(schema)


def refuse_unlike(found: pa.Schema, path: Path, first: Path, schema: pa.Schema) -> None:
    """An error where a file has not the columns of the first one; their order may differ, or all be missing."""
    if other := sorted(set(found.names) ^ set(schema.names)):
        only = path if other[0] in found.names else first
        raise InputError(f"{path}: its columns differ from those of {first}: {other[0]!r} is in {only.name} only")
    for field in schema:
        kind = found.field(field.name).type
        if kind != field.type and not pa.types.is_null(kind):
            raise InputError(f"{path}: column {field.name!r} holds {kind}, but {field.type} in {first}; convert either")


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


def refuse_odd_dates(table: pa.Table, where: object) -> None:
    """An error for a date that Python could not say."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            ends = pc.min_max(column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())).as_py()
            if ends["min"] is not None and not YEARS[0] <= ends["min"] <= ends["max"] <= YEARS[1]:
                raise InputError(f"{where}: column {name!r} holds a date outside the years 1 to 9999")


def _refuse_too_large(path: Path, rows: int, columns: int) -> None:
    """A few bytes can stand for any number of equal rows; what they take in memory is known before they do."""
    free, needed = free_memory(), CELL * rows * columns
    if free is not None and needed > free:
        raise InputError(
            f"{path}: {rows:,} rows of {columns:,} columns take {needed / 2**30:,.1f} GiB, "
            f"but {free / 2**30:.1f} GiB are free; take fewer rows or columns"
        )
