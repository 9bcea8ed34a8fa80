"""Time columns: how they are read, and where to cut them."""

import pyarrow as pa
import pyarrow.compute as pc

from biselect.columns.date_text import forms_of, from_form
from biselect.errors import InputError
from biselect.options import ANY, Csv, spell
from biselect.tables._named_columns import Place, is_text
from biselect.tables.readers import Hints, entries_of, understand


def as_times(
    column: pa.ChunkedArray, name: str, *, date_format: str | None = None, place_of: Place = "row {}".format
) -> pa.ChunkedArray:
    """Numbers, dates, timestamps or text as numbers or timestamps; anything else, and missing entries, are refused.

    `date_format` says how text is written, as `strptime` takes it; otherwise that is found out.
    """
    return read_times(column, name, date_format=date_format, place_of=place_of)[0]


def read_times(
    column: pa.ChunkedArray, name: str, *, date_format: str | None = None, place_of: Place = "row {}".format
) -> tuple[pa.ChunkedArray, str | None]:
    """The same, and how text was written."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if date_format is not None:
        column = _formatted(column, name, date_format, place_of)
    elif is_text(kind):
        column, date_format = _found_out(column, name, place_of)
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("us", tz=getattr(kind, "tz", None)), safe=False)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"time column {name!r} holds {kind}; it must hold numbers, dates or timestamps")
    absent = pc.is_null(column, nan_is_null=True)
    if missing := pc.sum(absent).as_py():
        first = place_of(pc.index(absent, True).as_py())
        raise InputError(
            f"time column {name!r} has {missing} missing values, the first in {first}; every row needs one"
        )
    return column, date_format


def _found_out(column: pa.ChunkedArray, name: str, place_of: Place) -> tuple[pa.ChunkedArray, str | None]:
    """Text as timestamps or numbers, and the form in which most are written; text with offsets becomes UTC."""
    found = understand(column, Hints())
    if not is_text(found.values.type):
        return found.values, found.date_form
    said = f"time column {name!r} holds no dates: {place_of(0)} holds {column[0].as_py()!r}"
    if (entries := entries_of(column)) is not None:
        dates = [shape for shape in entries.shapes if shape in entries.dates]
        usual = max(dates, key=lambda shape: entries.number([shape]), default="")
        wrong = entries.rows_of(entries.others(entries.dates))
        forms = forms_of(usual)
        if not pc.any(wrong).as_py() and forms:
            reads = [from_form(entries.texts, form) for form in forms] if forms != ("ISO",) else [_iso(entries.texts)]
            wrong = entries.spread(pc.is_null(min(reads, key=lambda read: read.null_count)))
        if pc.any(wrong).as_py():
            row = pc.index(wrong, True).as_py()
            many = pc.sum(wrong).as_py()
            more = f" ({many:,} such entries)" if many > 1 else ""
            said = f"time column {name!r} holds what is no date: {place_of(row)} holds {column[row].as_py()!r}{more}"
    raise InputError(
        f"{said}; write dates as 2026-03-28 18:55, all with an offset or all without, or give "
        f"{spell(Csv(date_format=ANY))}, such as '%d/%m/%Y %H:%M'"
    )


def _iso(texts: pa.Array) -> pa.Array:
    """Null where a text is not ISO, or not as the first with an offset or without."""
    texts = pc.if_else(pc.match_substring_regex(texts, r"^\d{4}-\d\d-\d\d"), texts, pa.scalar(None, pa.string()))
    with_offset = pc.match_substring_regex(texts, r"(?:Z|:\d\d[+-]\d\d(?::?\d\d)?)$")
    return pc.if_else(pc.equal(with_offset, with_offset.drop_null()[0]), texts, pa.scalar(None, pa.string()))


def _formatted(column: pa.ChunkedArray, name: str, date_format: str, place_of: Place) -> pa.ChunkedArray:
    """Text of a given form as timestamps; with offsets as UTC."""
    if pa.types.is_temporal(column.type):
        raise InputError(
            f"time column {name!r} holds times already ({column[0]}); leave {spell(Csv(date_format=ANY))} out"
        )
    coded = pc.cast(column, pa.string()).combine_chunks().dictionary_encode()
    texts = pc.utf8_trim_whitespace(coded.dictionary)
    known = from_form(pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts), date_format)
    times = pa.chunked_array([known.take(coded.indices)])
    unread = pc.and_(pc.is_null(known), pc.not_equal(texts, ""))
    if pc.any(unread).as_py():
        rows = pc.fill_null(unread.take(coded.indices), False)
        row, wrong = pc.index(rows, True).as_py(), pc.sum(rows).as_py()
        more = f" ({wrong:,} such entries)" if wrong > 1 else ""
        raise InputError(
            f"time column {name!r}: {place_of(row)} holds {column[row].as_py()!r}, which is not "
            f"{spell(Csv(date_format=date_format))}{more}"
        )
    return times
