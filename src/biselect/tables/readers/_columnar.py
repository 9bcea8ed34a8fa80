"""Parquet and Arrow files, which hold columns of known types, and Parquet files that make one table together."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from biselect.core.checks import free_memory
from biselect.errors import InputError
from biselect.tables.readers.sources import Source, refuse_repeated

MAGIC = b"ARROW1"  # of a file; a stream has none
CELL = 8  # bytes of a number
EXACT = (pa.types.is_signed_integer, pa.types.is_integer, pa.types.is_decimal)


def read_parquet(path: Path) -> pa.Table:
    """A Parquet file."""
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        _refuse_too_large(path, file.metadata.num_rows, file.metadata.num_columns)
        return checked(file.read())


def read_parquet_set(source: Source) -> pa.Table:
    """All Parquet files of a folder or a glob, which must have the same columns; folders add what their names say."""
    from pyarrow.parquet import read_schema

    folders = dict(zip(source.files, source.partitions, strict=True))
    schema = common_schema((path, with_folders(read_schema(path), folder)) for path, folder in folders.items())
    return pa.concat_tables(as_part(read_parquet(path), folder, schema) for path, folder in folders.items())


def with_folders(schema: pa.Schema, folder: Iterable[str]) -> pa.Schema:
    """The columns of a file and those that the names of its folders stand for, which are text; any may be missing."""
    fields = [*zip(schema.names, schema.types, strict=True)]
    fields += [(name, pa.string()) for name in folder if name not in schema.names]
    return pa.schema(fields, metadata=schema.metadata)


def common_schema(schemas: Iterable[tuple[Path, pa.Schema]]) -> pa.Schema:
    """The columns of files that make one table, each of a type that holds what any of the files has in it.

    The files must have the same columns, in any order. Types widen: whole numbers to larger ones or to floats, text to
    large text, times to finer ones, nothing to anything. What has no common type is refused.
    """
    (first, schema), *_ = files = [*schemas]
    origins = {field.name: (first, field.type) for field in schema}
    for path, other in files:
        refuse_repeated(other.names, Source.of(path))
        if odd := sorted({*other.names} ^ {*schema.names}):
            only = path if odd[0] in other.names else first
            raise InputError(f"{path}: its columns differ from those of {first}: {odd[0]!r} is in {only.name} only")
        for at, name in enumerate(schema.names):
            kind, (origin, before) = other.field(name).type, origins[name]
            if pa.types.is_null(before):
                origins[name] = path, kind
            if kind != schema.types[at]:
                if (wider := _wider(schema.types[at], kind)) is None:
                    raise InputError(f"{path}: column {name!r} holds {kind}, but {before} in {origin}; convert either")
                schema = schema.set(at, pa.field(name, wider))
    return schema


def _wider(*kinds: pa.DataType) -> pa.DataType | None:
    """The narrowest type that holds the values of two; None where there is none."""
    signed, whole, decimal = (any(map(test, kinds)) for test in EXACT)
    if (signed and pa.uint64() in kinds) or (whole and decimal):
        return pa.float64()  # Arrow takes types for these that do not hold all of their values
    for pair in (kinds, map(_plain, kinds)):
        with suppress(pa.ArrowTypeError):
            both = [pa.schema({"": kind}) for kind in pair]
            return pa.unify_schemas(both, promote_options="permissive").field(0).type
    return None


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a dictionary; text that Arrow reads in place as large text, which it widens."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def as_part(block: pa.Table, folder: Mapping[str, str | None], schema: pa.Schema) -> pa.Table:
    """A block of a file as rows of the whole table, with what the names of the file's folders say."""
    for name in schema.names:
        if name not in block.column_names:
            block = block.append_column(name, pa.repeat(pa.scalar(folder[name], pa.string()), block.num_rows))
    block = block.select(schema.names)
    if block.schema.equals(schema):
        return block
    kinds = zip(block.columns, schema.types, strict=True)  # of whole numbers that become floats some are rounded
    return pa.table([column.cast(kind, safe=not pa.types.is_floating(kind)) for column, kind in kinds], schema=schema)


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
