"""Files to tables: read as data, and refused clearly when they are broken.

Every table that is held comes through `read_table`. What a file is, the ending of its name says; `::` names a part of
it, and a folder or a glob stands for Parquet files.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
from biselect.tables.readers._delimited import delimited_records, read_delimited
from biselect.tables.readers._texts import Reading, SampleFormat, TextForm, plain_columns, texts_of, with_texts_read
from biselect.tables.readers.sources import (
    ARROW,
    CSV,
    DATABASES,
    JSON,
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
KNOWN = (*CSV, *PARQUET, *ARROW, *JSON, *JSON_LINES, *WORKBOOKS, *DATABASES)


def read_table(path: str | Path, csv: Csv = Csv(), columns: Columns = Columns()) -> pa.Table:
    """Read a table: a file, a part of one (`file.xlsx::Sheet`, `file.db::table`), or a folder or glob of Parquet.

    Args:
        path: what to read; the ending of its name says what kind of file it is.
        csv: how its texts are written, as far as that is known.
        columns: what is known of the columns: those that name, are shown or are categories stay text.

    Returns:
        The rows, columns of text as what they hold, with how they were read (`readers.reading_of`).

    Raises:
        InputError: the file is broken, empty or of an unknown kind.
    """
    source, form = Source.of(path), TextForm.of(csv, columns)
    table, reading, looks = _read(source, form)
    closes = source.path.name.lower().endswith((*CSV, *WORKBOOKS))
    return _usable(with_texts_read(table, form, reading, looks, closes=closes), source)


def records_in(path: str | Path, csv: Csv, rows: Sequence[int]) -> list[dict[str, str]]:
    """Rows of a file by their positions, as they stand in it, whatever its columns were taken for."""
    source, form = Source.of(path), TextForm.of(csv, Columns())
    if source.path.name.lower().endswith(CSV):
        with checked_file(source):
            return delimited_records(source.path, form, rows)
    return texts_of(plain_columns(_read(source, form)[0].take(rows), form))


def part_names(source: Source) -> list[str]:
    """The parts of a workbook or database, the one first that is read where none is named; of other files none."""
    name = source.path.name.lower()
    if name.endswith(WORKBOOKS):
        from biselect.tables.readers._excel import sheet_names

        return sheet_names(source)
    if name.endswith(DATABASES):
        from biselect.tables.readers._databases import table_names

        return table_names(source)
    return []


def chosen_part(source: Source) -> tuple[Source, Reading]:
    """The source with its part named, and which part was chosen of several."""
    reading = Reading(path=str(source.path))
    if source.part or not source.path.name.lower().endswith((*WORKBOOKS, *DATABASES)):
        return source, reading
    if not (names := part_names(source)):
        raise InputError(f"{source}: holds no table")
    return replace(source, part=names[0]), replace(reading, part=names[0] if len(names) > 1 else "")


def _read(source: Source, form: TextForm) -> tuple[pa.Table, Reading, SampleFormat | None]:
    """The table as the reader for this ending gives it, and what that found out; no other reader is loaded."""
    if source.is_set:
        with refused_as(f"{source}: cannot be read as Parquet files"):
            return read_parquet_set(source), Reading(path=str(source.path)), None
    name = source.path.name.lower()
    if not name.endswith(KNOWN):
        raise InputError(f"{source}: unknown kind of file; the name must end in one of {', '.join(KNOWN)}")
    if source.part is not None and source.path.exists() and not name.endswith((*WORKBOOKS, *DATABASES)):
        raise InputError(f"{source}: only workbooks and databases have parts; give {source.path} alone")
    with checked_file(source):
        if name.endswith(CSV):
            return read_delimited(source.path, form)
        source, reading = chosen_part(source)
        if name.endswith(PARQUET):
            return read_parquet(*source.files), reading, None
        if name.endswith(ARROW):
            return read_arrow(source.path), reading, None
        if name.endswith((*JSON, *JSON_LINES)):
            from biselect.tables.readers._json import read_json_lines, read_json_rows

            return read_json_rows(source.path) if name.endswith(JSON) else read_json_lines(source.path), reading, None
        if name.endswith(WORKBOOKS):
            from biselect.tables.readers._excel import read_excel

            return *read_excel(source, form, reading), None
        from biselect.tables.readers._databases import read_database

        return read_database(source), reading, None


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
