"""Long columns of text that are all decimal numbers of one style, or all days of one form: the same as the slow way.

A look at the first rows says what to expect; one row that is written otherwise, and the slow way decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.columns.date_text import forms_of
from biselect.columns.distinct_texts import ParsedColumn, ReadingHints, distinct_texts
from biselect.columns.number_text import NumberFormat, is_sign, style_of, unit_of, written

FEWEST_ROWS = 100_000  # for which it pays to load the compiled code
FIRST = 5_000  # rows that say what to expect
MOST_ODD = 50_000  # rows of a chunk that are missing


def parse_long(column: pa.ChunkedArray, hints: ReadingHints) -> ParsedColumn | None:
    """Read a long column; None where it is short, or not of one style or form from its beginning to its end."""
    said = (hints.date_form, hints.decimal, hints.thousands)
    if len(column) < FEWEST_ROWS or not pa.types.is_string(column.type) or said != (None, None, None):
        return None
    texts = distinct_texts(column[:FIRST], hints.missing)
    shapes = [] if texts is None else texts.others(())
    if len(shapes) == 1 and forms_of(shapes[0]):
        return _days(column, hints, shapes[0])
    patterns = [written(shape) for shape in shapes]
    if not shapes or None in patterns:
        return None
    ways = [one for one in patterns if one is not None]
    style, _ = style_of(ways, hints.style)
    units, unit = {way.unit for way in ways if way.unit}, unit_of(ways)
    if unit is None or "9" in unit or len(units) > 1 or {way.decimal for way in ways} - {""} != {style.decimal}:
        return None
    thousands = style.thousands or {",": ".", ".": ","}[style.decimal]
    return None if len(thousands.encode()) > 1 else _decimals(column, hints, style.decimal, thousands, unit)


def _decimals(
    column: pa.ChunkedArray, hints: ReadingHints, decimal: str, thousands: str, unit: str
) -> ParsedColumn | None:
    from biselect.columns._fast_kernels import read_decimals

    facts, sign = np.zeros(2, np.bool_), np.frombuffer(unit.encode(), np.uint8)

    def read(data: Any, ends: Any, odd: Any) -> NDArray[Any]:
        values = np.zeros(len(odd))
        facts[:] |= read_decimals(data, ends, ord(decimal), ord(thousands), sign, not is_sign(unit), values, odd)
        return values

    values, marks = _chunks(column, hints, read, pa.float64())
    if values is None or not facts[0]:
        return None
    style = NumberFormat(decimal=decimal, thousands=thousands if facts[1] else "")
    return ParsedColumn(values=values, style=style, unit=unit, missing=marks)


def _days(column: pa.ChunkedArray, hints: ReadingHints, shape: str) -> ParsedColumn | None:
    """Days whose month no other part of them could be."""
    from biselect.columns._fast_kernels import read_days

    forms, template = forms_of(shape), np.frombuffer(shape.encode(), np.uint8)
    as_long = forms[0].replace("%Y", "%Y%Y")  # as the texts are
    if forms == ("ISO",) or len(as_long) != len(shape) or set(forms[0]) & set("IpbyzB"):
        return None
    places = np.array([as_long.find(part) for part in ("%Y", "%m", "%d", "%H", "%M", "%S")])
    latest = [0]

    def read(data: Any, ends: Any, odd: Any) -> NDArray[Any]:
        values = np.zeros(len(odd), np.int64)
        latest[0] = max(latest[0], read_days(data, ends, template, places, values, odd))
        return values * 1_000_000

    values, marks = _chunks(column, hints, read, pa.timestamp("us"))
    if values is None or (latest[0] <= 12 and len(forms) > 1):
        return None
    return ParsedColumn(values=values, date_form=forms[0], missing=marks)


def _chunks(
    column: pa.ChunkedArray, hints: ReadingHints, read: Callable[..., NDArray[Any]], kind: pa.DataType
) -> tuple[pa.ChunkedArray | None, list[str]]:
    """The values of all chunks, and what means missing in them; no values where anything else is in the way."""
    parts, marks = list[pa.Array](), dict[str, None]()
    for chunk in column.chunks:
        _, ends, data = chunk.buffers()
        offsets = np.frombuffer(ends, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        odd = np.zeros(len(chunk), np.bool_)
        values = read(np.frombuffer(data or b"", np.uint8), offsets, odd)
        places = np.flatnonzero(odd)
        if places.size > MOST_ODD:
            return None, []
        texts = [chunk[int(place)].as_py() for place in places]
        marks |= dict.fromkeys(stripped for text in texts if text and (stripped := text.strip()))
        if any(mark.lower() not in hints.missing for mark in marks):
            return None, []
        present = np.packbits(~odd, bitorder="little") if places.size else None
        buffers = [None if present is None else pa.py_buffer(present), pa.py_buffer(values)]
        parts.append(pa.Array.from_buffers(kind, len(chunk), buffers))  # `pa.array` would import pandas
    return pa.chunked_array(parts, kind), list(marks)
