"""Dates as what can be weighed: the hour and the weekday as categories, the gap to the row before as a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.columns.column_type import Cells, Claim, ColumnType
from biselect.columns.date_text import forms_of, from_form, to_dates
from biselect.columns.distinct_texts import DistinctTexts, ParsedColumn, ReadingHints, distinct_texts, is_date, is_text
from biselect.columns.recognition import hints_at, parse_column
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, spell

Place = Callable[[int], str]  # where a row stands in its file
DATE_PARTS = ("hour", "weekday", "gap")
USUAL_PARTS = ("hour", "weekday")
HOURS = tuple(f"{hour:02d}:00" for hour in range(24))
DAYS, MOMENTS = (19_000_101, 21_001_231), (631_152_000, 4_102_444_800)  # from 1900 and 1990 to 2100
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def parts_of_dates(dates: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The parts asked for of each date column: hour and weekday unless named.

    `hour` and `weekday` are categories; `gap` is the number of seconds since the row before, in the order of that date.

    >>> parts_of_dates(["paid", "created:hour,gap"])
    {'paid': ('hour', 'weekday'), 'created': ('hour', 'gap')}
    """
    parts_of = {}
    for entry in [dates] if isinstance(dates, str) else dates:
        name, colon, listed = entry.rpartition(":") if ":" in entry else (entry, "", "")
        parts = tuple(part.strip() for part in listed.split(",") if part.strip()) if colon else USUAL_PARTS
        if not parts or (unknown := [part for part in parts if part not in DATE_PARTS]):
            example = repr(unknown[0]) if parts else "nothing"
            option = spell(Columns(types={name: f"date:{listed}"}))
            raise InputError(f"{option} asks for {example}; the parts of a date are {', '.join(DATE_PARTS)}")
        parts_of[name] = parts
    return parts_of


def date_part(series: nw.Series[Any], name: str, part: str) -> tuple[NDArray[np.float64], Sequence[str] | None]:
    """One part of a date column, with its labels where it is a category."""
    kind, option = series.dtype, spell(Columns(types={name: f"date:{part}"}))
    if not kind.is_temporal() or kind == nw.Duration or (kind == nw.Date and part == "hour"):
        raise InputError(f"{option}: column {name!r} holds {kind}, which has no {part}")
    if kind == nw.Time and part != "hour":
        raise InputError(f"{option}: column {name!r} holds times of day, which have no {part}")
    if part == "hour":
        return series.dt.hour().cast(nw.Float64).to_numpy(), HOURS
    if part == "weekday":
        return series.dt.weekday().cast(nw.Float64).to_numpy() - 1, WEEKDAYS
    seconds = series.cast(nw.Datetime("us")).dt.timestamp("us").cast(nw.Float64).to_numpy() / 1e6
    order = np.argsort(seconds, kind="stable")  # missing ones last
    gaps = np.full(seconds.size, np.nan)
    order_known = order[: int((~np.isnan(seconds)).sum())]
    if order_known.size > 1:
        between = np.diff(seconds[order_known])
        gaps[order_known] = np.append(between[0], between)  # no row is before the first, which takes the next one's gap
    return gaps, None


class Date(ColumnType):
    """Moments: never weighed themselves, as times always move; hour, weekday and gap are derived from them."""

    name: ClassVar[str] = "date"
    directions: ClassVar[tuple[str, ...]] = ()
    unweighed: ClassVar[str] = "times always move"

    def holds(self, kind: Any) -> bool:
        """Dates and times."""
        return bool(kind.is_temporal() and kind != nw.Duration)

    def recognises(self, text: str) -> bool:
        """Whether it is written as a date or moment of any country is."""
        return bool(forms_of("".join("9" if one.isdigit() else one for one in text)))

    def parse(self, texts: DistinctTexts, hints: ReadingHints) -> ParsedColumn | None:
        """Timestamps of the form that was given, or of the one in which all rows can be read."""
        present, marks = texts.present()
        if hints.date_form is not None and present.null_count < len(present):
            dates = from_form(present, hints.date_form)
            if dates.null_count == present.null_count:
                return ParsedColumn(values=texts.spread(dates), date_form=hints.date_form, missing=marks)
        shapes = {shape for shape in texts.shapes if forms_of(shape)}
        if not shapes or texts.others(shapes) or (read := to_dates(present, shapes, texts.spread)) is None:
            return None
        doubt = ""
        if read.doubtful:
            other = read.form.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")
            doubt = f"may as well have month and day the other way round: {spell(Csv(date_format=other))}"
        return ParsedColumn(values=texts.spread(read.values), date_form=read.form, doubtful=doubt, missing=marks)

    def claim(self, column: pa.ChunkedArray, name: str) -> Claim | None:
        """Dates and moments, also as 20251231 or, where the name says so, in seconds since 1970."""
        if not is_date(column.type) and not _counts_time(column, name):
            return None
        return Claim(role=self.name, otherwise="date:weekday" if is_date(column.type) else "number")

    def obstacle(self, column: pa.ChunkedArray, name: str) -> str | None:
        """Times always move."""
        first = next((value for value in column if value.is_valid), None)
        return (
            f"holds times ({first}); name it with {spell(Columns(time=name))} if it orders the rows, or use parts of "
            f"it with {spell(Columns(types={name: 'date:hour,weekday,gap'}))}"
        )

    def cells(self, column: Any, name: str) -> Cells:
        """Refused: times always move."""
        parts = spell(Columns(types={name: "date:hour,weekday,gap"}))
        raise InputError(f"column {name!r} holds {column.dtype}; leave it out, or use parts of it: {parts}")

    def derive(self, column: Any, name: str, parts: Sequence[str]) -> Mapping[str, Cells]:
        """Hour and weekday as categories, the gap to the row before as a number."""
        return {f"{name} {part}": Cells(*date_part(column, name, part)) for part in parts}


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
        column = _times_written(column, name, date_format, place_of)
    elif is_text(kind):
        column, date_format = _parse_times(column, name, place_of)
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


def _parse_times(column: pa.ChunkedArray, name: str, place_of: Place) -> tuple[pa.ChunkedArray, str | None]:
    """Text as timestamps or numbers, and the form in which most are written; text with offsets becomes UTC."""
    parsed = parse_column(column, ReadingHints())
    if not is_text(parsed.values.type):
        return parsed.values, parsed.date_form
    words = f"time column {name!r} holds no dates: {place_of(0)} holds {column[0].as_py()!r}"
    if (texts := distinct_texts(column)) is not None:
        dates = [shape for shape in texts.shapes if forms_of(shape)]
        usual = max(dates, key=lambda shape: texts.number([shape]), default="")
        wrong = texts.rows_of(texts.others(dates))
        forms = forms_of(usual)
        if not pc.any(wrong).as_py() and forms:
            reads = [from_form(texts.texts, form) for form in forms] if forms != ("ISO",) else [_iso(texts.texts)]
            wrong = texts.spread(pc.is_null(min(reads, key=lambda read: read.null_count)))
        if pc.any(wrong).as_py():
            row = pc.index(wrong, True).as_py()
            many = pc.sum(wrong).as_py()
            more = f" ({many:,} such entries)" if many > 1 else ""
            words = f"time column {name!r} holds what is no date: {place_of(row)} holds {column[row].as_py()!r}{more}"
    raise InputError(
        f"{words}; write dates as 2026-03-28 18:55, all with an offset or all without, or give "
        f"{spell(Csv(date_format=ANY))}, such as '%d/%m/%Y %H:%M'"
    )


def _iso(texts: pa.Array) -> pa.Array:
    """Null where a text is not ISO, or not as the first with an offset or without."""
    texts = pc.if_else(pc.match_substring_regex(texts, r"^\d{4}-\d\d-\d\d"), texts, pa.scalar(None, pa.string()))
    with_offset = pc.match_substring_regex(texts, r"(?:Z|:\d\d[+-]\d\d(?::?\d\d)?)$")
    return pc.if_else(pc.equal(with_offset, with_offset.drop_null()[0]), texts, pa.scalar(None, pa.string()))


def _times_written(column: pa.ChunkedArray, name: str, date_format: str, place_of: Place) -> pa.ChunkedArray:
    """Text of a given form as timestamps; with offsets as UTC."""
    if pa.types.is_temporal(column.type):
        raise InputError(
            f"time column {name!r} holds times already ({column[0]}); leave {spell(Csv(date_format=ANY))} out"
        )
    coded = pc.cast(column, pa.string()).combine_chunks().dictionary_encode()
    texts = pc.utf8_trim_whitespace(coded.dictionary)
    moments = from_form(pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts), date_format)
    times = pa.chunked_array([moments.take(coded.indices)])
    unread = pc.and_(pc.is_null(moments), pc.not_equal(texts, ""))
    if pc.any(unread).as_py():
        rows = pc.fill_null(unread.take(coded.indices), False)
        row, wrong = pc.index(rows, True).as_py(), pc.sum(rows).as_py()
        more = f" ({wrong:,} such entries)" if wrong > 1 else ""
        raise InputError(
            f"time column {name!r}: {place_of(row)} holds {column[row].as_py()!r}, which is not "
            f"{spell(Csv(date_format=date_format))}{more}"
        )
    return times


def words_among_dates(column: pa.ChunkedArray) -> list[str]:
    """The different entries of a column of text that are no dates; none where few others are, or all."""
    if not is_text(column.type) or (texts := distinct_texts(column)) is None:
        return []
    dates = [shape for shape in texts.shapes if forms_of(shape)]
    others, number = texts.others(dates), texts.number(dates)
    is_few = 3 * number < texts.number(others)
    return [] if is_few or not others else pc.unique(column.filter(texts.rows_of(others))).to_pylist()


def _counts_time(column: pa.ChunkedArray, name: str) -> bool:
    """Whether whole numbers are days as 20251231, or are called times and are seconds or more since 1970."""
    if not pa.types.is_integer(column.type):
        return False
    ends = pc.min_max(column).as_py()
    if DAYS[0] <= (ends["min"] or 0) <= ends["max"] <= DAYS[1]:
        days = pc.cast(pc.unique(column.drop_null()), pa.string())
        return from_form(days, "%Y%m%d").null_count == 0
    if DAYS[0] * 10**6 <= (ends["min"] or 0) <= ends["max"] <= DAYS[1] * 10**6 + 235_959:
        return from_form(pc.cast(pc.unique(column.drop_null()), pa.string()), "%Y%m%d%H%M%S").null_count == 0
    since = [
        scale * MOMENTS[0] <= (ends["min"] or 0) <= ends["max"] <= scale * MOMENTS[1] for scale in (1, 10**3, 10**6)
    ]
    return any(since) and "time" in hints_at(name)


DATE = Date()
