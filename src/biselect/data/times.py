"""Time columns: numbers, dates, timestamps or ISO text, and where to cut them."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from biselect.errors import InputError


def as_times(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """The column as numbers or timestamps; anything else, and missing entries, are refused."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = _parsed(column, name)
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("us", tz=getattr(kind, "tz", None)), safe=False)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"time column {name!r} holds {kind}; it must hold numbers, dates, timestamps or ISO text")
    missing = column.null_count
    if pa.types.is_floating(column.type):
        missing += pc.sum(pc.is_nan(column)).as_py() or 0
    if missing:
        raise InputError(f"time column {name!r} has {missing} missing values")
    return column


def rows_until(sorted_times: pa.ChunkedArray, until: str) -> int:
    """How many of the sorted rows lie at or before a time, or make up a share such as `60%`."""
    text = until.strip()
    if text.endswith("%"):
        try:
            share = Fraction(text[:-1]) / 100
        except ValueError:
            share = Fraction(0)
        if not 0 < share < 1:
            raise InputError(f"--reference-until {until}: a share must lie between 0% and 100%")
        return int(share * len(sorted_times))
    kind = sorted_times.type
    try:
        if pa.types.is_timestamp(kind):
            early = pc.less_equal(sorted_times, pa.scalar(_limit(text, kind.tz), kind))
        else:
            early = pc.less_equal(pc.cast(sorted_times, pa.float64(), safe=False), float(text))
    except (ValueError, pa.ArrowException) as error:
        raise InputError(
            f"--reference-until {until}: not a value of the time column ({kind}), nor a share like 60% ({error})"
        ) from error
    return int(pc.sum(early).as_py())


def _parsed(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """ISO text as timestamps; text with offsets becomes UTC."""
    try:
        return pc.cast(column, pa.timestamp("us"))
    except pa.ArrowInvalid:
        try:
            return pc.cast(column, pa.timestamp("us", tz="UTC"))
        except pa.ArrowInvalid as error:
            raise InputError(f"time column {name!r} holds text that is no ISO date: {error}") from error


def _limit(text: str, zone: str | None) -> datetime:
    """The limit in the column's own terms: without an offset it is taken in the column's zone."""
    moment = datetime.fromisoformat(text)
    if zone is None and moment.tzinfo is not None:
        raise ValueError("the column has no time zone, so give a time without an offset")
    if zone is not None and moment.tzinfo is None:
        offset = datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo if zone[0] in "+-" else ZoneInfo(zone)
        moment = moment.replace(tzinfo=offset)
    return moment
