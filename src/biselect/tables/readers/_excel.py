"""Sheets of Excel workbooks: a header in the first row that is not empty, then one row each.

openpyxl goes through a sheet row by row; a reader that makes a whole rectangle of it first takes memory for every cell
between two that lie far apart.
"""

import warnings
import zipfile
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import Any

import pyarrow as pa

from biselect.core.untrusted import check_members
from biselect.errors import BiselectError, InputError
from biselect.extensions import optional
from biselect.tables.readers._values import table_of
from biselect.tables.readers.sources import PART, Source, refuse_repeated

ROWS = 1 << 12  # in a block
MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14  # of a sheet of Excel
MOST_EMPTY = 1 << 17  # rows in a row
ERRORS = {"#N/A", "#NULL!", "#DIV/0!", "#NAME?", "#NUM!", "#REF!", "#VALUE!"}  # of formulas: no values

Row = tuple[Any, ...]


def read_excel(source: Source) -> pa.Table:
    """A sheet: the one named after `::`, or the only one that is there."""
    openpyxl = optional("openpyxl", str(source.path), "excel")
    try:
        with zipfile.ZipFile(source.path) as archive:
            check_members(source.path, archive)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl tells of charts and styles that it leaves out
            with closing(openpyxl.load_workbook(source.path, read_only=True, data_only=True, keep_links=False)) as book:
                return table_of(_blocks(_rows(_sheet(book, source), source), source))
    except BiselectError:
        raise
    except Exception as error:  # openpyxl raises whatever a broken workbook runs into
        raise InputError(f"{source}: cannot be read as a workbook: {type(error).__name__}: {error}") from error


def _sheet(book: Any, source: Source) -> Any:
    names = [sheet.title for sheet in book.worksheets]
    if not source.part and len(names) != 1:
        listed = ", ".join(map(repr, names[:40]))
        raise InputError(f"{source.path}: name one of its sheets as {source.path.name}{PART}SHEET; it has {listed}")
    if source.part and source.part not in names:
        raise InputError(f"{source.path}: has no sheet {source.part!r}; it has {', '.join(map(repr, names[:40]))}")
    return book[source.part or names[0]]


def _rows(sheet: Any, source: Source) -> Iterator[Row]:
    """Rows that hold anything."""
    sheet.reset_dimensions()  # what the sheet says of its size may be wrong
    empty = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > MOST_ROWS or len(row) > MOST_COLUMNS:
            raise InputError(f"{source}: the sheet is larger than Excel's own limit")
        cells = tuple(None if value in ERRORS or value == "" else value for value in row)
        if any(value is not None for value in cells):
            empty = 0
            yield cells
        elif (empty := empty + 1) > MOST_EMPTY:
            return


def _blocks(rows: Iterator[Row], source: Source) -> Iterator[tuple[dict[str, list[Any]], int]]:
    """The columns of some thousand rows at a time, and how many they are; the first time of none."""
    header = next(rows, ())
    while header and header[-1] is None:
        header = header[:-1]
    if not header:
        raise InputError(f"{source}: the sheet is empty")
    if None in header:
        raise InputError(f"{source}: column {header.index(None) + 1} has no name in the first row; name or delete it")
    names = [str(name).strip() for name in header]
    refuse_repeated(names, source)
    yield {name: [] for name in names}, 0
    while block := list(islice(rows, ROWS)):
        if any(value is not None for row in block for value in row[len(names) :]):
            raise InputError(f"{source}: some rows have more cells than the {len(names)} names in the first row")
        yield {name: [row[j] if j < len(row) else None for row in block] for j, name in enumerate(names)}, len(block)
