"""Files to tables: read as data, and refused clearly when they are broken.

Every table that is held comes through `read_table`. What a file is, the ending of its name says; `::` names a part of
it, and a folder or a glob stands for Parquet files.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from biselect.core.untrusted import refused_as
from biselect.errors import InputError
from biselect.options import Columns, Csv
from biselect.tables.readers._columnar import (
    read_arrow,
    read_parquet,
    read_parquet_set,
)
from biselect.tables.readers._delimited import CsvForm, read_delimited
from biselect.tables.readers.sources import (
    ARROW,
    CSV,
    DATABASES,
    JSON_LINES,
    PACKED,
    PARQUET,
    WORKBOOKS,
    Source,
    check_unpacked,
    refuse_empty,
    refuse_repeated,
)

YEARS = (-62135596800, 253402300799)  # 0001 to 9999, in seconds: the dates that Python knows
KNOWN = (*CSV, *PARQUET, *ARROW, *JSON_LINES, *WORKBOOKS, *DATABASES)


def read_table(path: str | Path, csv: Csv = Csv(), columns: Columns = Columns()) -> pa.Table:
    """Read a table: a file, a part of one (`file.xlsx::Sheet`, `file.db::table`), or a folder or glob of Parquet.

    Args:
        path: what to read; the ending of its name says what kind of file it is.
        csv: how a CSV is written, as far as that is known; other files say it themselves.
        columns: what is known of the columns: those of a CSV that name, are shown or are categories stay text.

    Returns:
        The rows; of a CSV with how it was read (`readers.reading_of`).

    Raises:
        InputError: the file is broken, empty or of an unknown kind.
    """
    source = Source.of(path)
    if source.is_set:
        with refused_as(f"{source}: cannot be read as Parquet files"):
            return _usable(read_parquet_set(source), source)
    file = source.path
    name = file.name.lower()
    if not name.endswith(KNOWN):
        raise InputError(f"{source}: unknown kind of file; the name must end in one of {', '.join(KNOWN)}")
    if source.part is not None and file.exists() and not name.endswith((*WORKBOOKS, *DATABASES)):
        raise InputError(f"{source}: only workbooks and databases have parts; give {file} alone")
    with checked_file(source):
        return _usable(_read(name, source, CsvForm.of(csv, columns)), source)


def _read(name: str, source: Source, form: CsvForm) -> pa.Table:
    """The table as the reader for this ending gives it; no other is loaded."""
    if name.endswith(CSV):
        return read_delimited(source.path, form)
    if name.endswith(PARQUET):
        return read_parquet(*source.files)
    if name.endswith(ARROW):
        return read_arrow(source.path)
    if name.endswith(JSON_LINES):
        from biselect.tables.readers._json_lines import read_json_lines

        return read_json_lines(source.path)
    if name.endswith(WORKBOOKS):
        from biselect.tables.readers._excel import read_excel

        return read_excel(source)
    from biselect.tables.readers._databases import read_database

    return read_database(source)


@contextmanager
def checked_file(source: Source) -> Iterator[None]:
    """A file that is there and not empty, and unpacks to what is reasonable; errors while it is read name it."""
    file = source.path
    if not file.exists():
        raise InputError(f"{file}: no such file")
    if file.stat().st_size == 0:
        raise InputError(f"{file}: the file is empty")
    try:
        with refused_as(f"{source}: cannot be read as {file.suffix.lstrip('.')}"):
            if file.name.lower().endswith(tuple(PACKED)):
                check_unpacked(file)
            yield
    except InputError as error:
        if isinstance(error.__cause__, PermissionError):
            raise InputError(f"{file}: no permission to read it") from None
        raise


def _usable(table: pa.Table, source: Source) -> pa.Table:
    """Names that stand once, at least one row, and no date that Python could not say."""
    refuse_repeated(table.column_names, source)
    refuse_empty(table.num_rows, table.column_names, source)
    refuse_odd_dates(table, source)
    return table


def refuse_odd_dates(table: pa.Table, where: object) -> None:
    """An error for a date that Python could not say."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            ends = pc.min_max(column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())).as_py()
            if ends["min"] is not None and not YEARS[0] <= ends["min"] <= ends["max"] <= YEARS[1]:
                raise InputError(f"{where}: column {name!r} holds a date outside the years 1 to 9999")
