"""Time columns: how they are read, and where to cut them."""

from datetime import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from biselect.columns.date_text import forms_of, from_form
from biselect.errors import InputError
from biselect.options import ANY, Csv, Split, spell
from biselect.tables._named_columns import Place, is_text
from biselect.tables.readers import Hints, entries_of, understand


def windows_in_time(rows: int, window: int, step: int | None = None) -> list[slice]:
    """Windows of one length, oldest first; the last ends with the last row.

    Args:
        rows: of the table, in the order of time.
        window: rows of each.
        step: rows between the ends of neighbouring windows; the window itself where None.
    """
    step = window if step is None else step
    if window < 1 or step < 1:
        raise InputError(f"window and step must be positive numbers of rows, got {window} and {step}")
    ends = range(rows, window - 1, -step)
    if len(ends) < 2:
        raise InputError(f"{rows} rows hold no older window of {window} rows beside the newest; use a shorter window")
    return [slice(end - window, end) for end in reversed(ends)]


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


def rows_until(sorted_times: pa.ChunkedArray, until: str, date_format: str | None = None) -> int:
    """How many of the sorted rows lie at or before a time (ISO, or as the column), or make up a share such as `60%`."""
    text = until.strip()
    if text.endswith("%"):
        try:
            share = Fraction(text[:-1]) / 100
        except ValueError:
            share = Fraction(0)
        if not 0 < share < 1:
            raise InputError(f"{spell(Split(until=until))}: a share must lie between 0% and 100%")
        return int(share * len(sorted_times))
    kind = sorted_times.type
    try:
        if pa.types.is_timestamp(kind):
            early = pc.less_equal(sorted_times, pa.scalar(_limit(text, kind.tz, date_format), kind))
        else:
            early = pc.less_equal(pc.cast(sorted_times, pa.float64(), safe=False), float(text))
    except (ValueError, pa.ArrowException) as error:
        raise InputError(
            f"{spell(Split(until=until))}: not a value of the time column ({kind}), nor a share like 60% ({error})"
        ) from error
    return int(pc.sum(early).as_py())


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


def _limit(text: str, zone: str | None, date_format: str | None) -> datetime:
    """The limit in the column's own terms: without an offset it is taken in the column's zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        if date_format is None or date_format == "ISO":
            raise
        try:
            moment = datetime.strptime(text, date_format)
        except ValueError:  # a day without its time
            moment = datetime.strptime(text, date_format.split(" ")[0])
    if zone is None and moment.tzinfo is not None:
        raise ValueError("the column has no time zone, so give a time without an offset")
    if zone is not None and moment.tzinfo is None:
        offset = datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo if zone[0] in "+-" else ZoneInfo(zone)
        moment = moment.replace(tzinfo=offset)
    return moment
