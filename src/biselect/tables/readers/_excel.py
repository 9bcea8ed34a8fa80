"""Sheets of Excel workbooks: names in the first rows, under a title or not, then one row each.

openpyxl goes through a sheet row by row; a reader that makes a whole rectangle of it first takes memory for every cell
between two that lie far apart.
"""

import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from biselect.core.untrusted import CHUNK, check_members
from biselect.errors import BiselectError, InputError
from biselect.tables.readers._layout import joined_names, layout, unique_names
from biselect.tables.readers._texts import Reading, TextForm
from biselect.tables.readers._values import table_of
from biselect.tables.readers.sources import Source, is_unnamed

ROWS = 1 << 12  # in a block
HEAD = 100  # rows that show where the names stand
MOST_ROWS, MOST_COLUMNS = 1 << 20, 1 << 14  # of a sheet of Excel
MOST_EMPTY = 1 << 17  # rows in a row
MOST_MERGED = 10_000  # ranges of merged cells, beyond which they are left as they are
ERRORS = {"#N/A", "#NULL!", "#DIV/0!", "#NAME?", "#NUM!", "#REF!", "#VALUE!"}  # of formulas: no values
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3}\d+:[A-Z]{1,3}\d+)"')

Row = tuple[Any, ...]


def read_excel(source: Source, form: TextForm, reading: Reading) -> tuple[pa.Table, Reading]:
    """The sheet that the source names, and how it is laid out."""
    with _opened(source) as book:
        if source.part not in (names := [sheet.title for sheet in book.worksheets]):
            listed = ", ".join(map(repr, names[:40]))
            raise InputError(f"{source.path}: has no sheet {source.part!r}; it has {listed}")
        rows = _rows(book[source.part], source)
        head = list(islice(rows, HEAD))
        if not head:
            raise InputError(f"{source}: the sheet is empty")
        if form.header is None:
            top, header = layout([_texts(cells) for _, cells in head])
        else:
            top, header = sum(number < form.header for number, _ in head), min(form.header, 1)
        names = unique_names(joined_names([_texts(cells) for _, cells in head[top : top + header]]))
        table = table_of(_blocks(chain(head[top + header :], rows), names))
        columns = [field.name for field in table.schema if not is_unnamed(field.name, field.type)]
        skipped = head[top][0] - 1 if top < len(head) else 0
        return table.select(columns), replace(reading, skipped=skipped, names=header)


def sheet_names(source: Source) -> list[str]:
    """The sheets of a workbook, those that look like a table first."""
    with _opened(source) as book:
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"] or book.worksheets
        tables = {sheet.title: _is_table(sheet, source) for sheet in sheets}
        return sorted(tables, key=lambda name: not tables[name])


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    import openpyxl

    try:
        with zipfile.ZipFile(source.path) as archive:
            check_members(source.path, archive)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl tells of charts and styles that it leaves out
            with closing(openpyxl.load_workbook(source.path, read_only=True, data_only=True, keep_links=False)) as book:
                yield book
    except BiselectError:
        raise
    except Exception as error:  # openpyxl raises whatever a broken workbook runs into
        raise InputError(f"{source}: is no workbook of Excel, or a damaged one ({error})") from error


def _is_table(sheet: Any, source: Source) -> bool:
    """Whether a sheet begins with names above rows of at least two columns."""
    head = [_texts(cells) for _, cells in islice(_rows(sheet, source), HEAD)]
    top, names = layout(head)
    return names > 0 and len(head) > top + names and sum(map(bool, head[top])) > 1


def _texts(cells: Row) -> list[str]:
    return ["" if value is None else str(value).strip() for value in cells]


def _rows(sheet: Any, source: Source) -> Iterator[tuple[int, Row]]:
    """Rows that hold anything, by their numbers; merged cells hold what the first of them does."""
    sheet.reset_dimensions()  # what the sheet says of its size may be wrong
    merged, empty = _merged(sheet, source), 0
    values: dict[tuple[int, int, int, int], Any] = {}
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > MOST_ROWS or len(row) > MOST_COLUMNS:
            raise InputError(f"{source}: the sheet is larger than Excel's own limit")
        cells = [None if value in ERRORS or value == "" else value for value in row]
        for span in [span for span in values if span[3] < number]:
            del values[span]
        values |= {span: cells[span[0] - 1] if span[0] <= len(cells) else None for span in merged.get(number, ())}
        for (left, _, right, _), value in values.items():
            if 2 * (right - left) < len(cells):  # what is wider is a title
                cells += [None] * (right - len(cells))
                cells[left - 1 : right] = [value] * (right - left + 1)
        if any(value is not None for value in cells):
            empty = 0
            yield number, tuple(cells)
        elif (empty := empty + 1) > MOST_EMPTY:
            return


def _merged(sheet: Any, source: Source) -> dict[int, list[tuple[int, int, int, int]]]:
    """Ranges of merged cells by their first rows: left, top, right, bottom. They stand behind all rows."""
    from openpyxl.utils import range_boundaries

    ranges, rest = list[tuple[int, int, int, int]](), b""
    with zipfile.ZipFile(source.path) as archive, archive.open(sheet._worksheet_path.lstrip("/")) as content:
        while piece := content.read(CHUNK):
            ranges += [range_boundaries(found.decode()) for found in MERGED.findall(rest + piece)]
            rest = piece[-100:] if len(piece) > 100 else piece
    spans: dict[int, list[tuple[int, int, int, int]]] = {}
    for span in dict.fromkeys(ranges) if len(ranges) <= MOST_MERGED else ():
        spans.setdefault(span[1], []).append(span)
    return spans


def _blocks(rows: Iterator[tuple[int, Row]], names: list[str]) -> Iterator[tuple[dict[str, Sequence[Any]], int]]:
    """The columns of some thousand rows at a time, and how many they are; the first time of none."""
    yield {name: [] for name in names}, 0
    while block := [cells for _, cells in islice(rows, ROWS)]:
        width = max(max(at for at, value in enumerate(cells) if value is not None) for cells in block) + 1
        if width > len(names):
            names = unique_names([*names, *[""] * (width - len(names))])
        yield {name: [row[j] if j < len(row) else None for row in block] for j, name in enumerate(names)}, len(block)
