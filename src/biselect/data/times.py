"""Time columns: numbers, dates, timestamps or ISO text, and where to cut them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from biselect.errors import InputError


def as_times(
    column: pa.ChunkedArray,
    name: str,
    *,
    time_format: str | None = None,
    place_of: Callable[[int], str] = "row {}".format,
) -> pa.ChunkedArray:
    """The column as numbers or timestamps; anything else, and missing entries, are refused.

    Args:
        column: numbers, dates, timestamps or text.
        name: of the column, for errors.
        time_format: how the text is written, as `strptime` takes it; None for ISO.
        place_of: says where a row stands in its file.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if time_format is not None:
        column = _formatted(column, name, time_format, place_of)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = _parsed(column, name, place_of)
    elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("us", tz=getattr(kind, "tz", None)), safe=False)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise InputError(f"time column {name!r} holds {kind}; it must hold numbers, dates, timestamps or ISO text")
    absent = pc.is_null(column, nan_is_null=True)
    if missing := pc.sum(absent).as_py():
        first = place_of(pc.index(absent, True).as_py())
        raise InputError(
            f"time column {name!r} has {missing} missing values, the first in {first}; every row needs one"
        )
    return column


def rows_until(sorted_times: pa.ChunkedArray, until: str, time_format: str | None = None) -> int:
    """How many of the sorted rows lie at or before a time (ISO, or as the column), or make up a share such as `60%`."""
    text = until.strip()
    if text.endswith("%"):
        try:
            share = Fraction(text[:-1]) / 100
        except ValueError:
            share = Fraction(0)
        if not 0 < share < 1:
            raise InputError(f"reference_until={until!r}: a share must lie between 0% and 100%")
        return int(share * len(sorted_times))
    kind = sorted_times.type
    try:
        if pa.types.is_timestamp(kind):
            early = pc.less_equal(sorted_times, pa.scalar(_limit(text, kind.tz, time_format), kind))
        else:
            early = pc.less_equal(pc.cast(sorted_times, pa.float64(), safe=False), float(text))
    except (ValueError, pa.ArrowException) as error:
        raise InputError(
            f"reference_until={until!r}: not a value of the time column ({kind}), nor a share like 60% ({error})"
        ) from error
    return int(pc.sum(early).as_py())


def _parsed(column: pa.ChunkedArray, name: str, place_of: Callable[[int], str]) -> pa.ChunkedArray:
    """ISO text as timestamps; text with offsets becomes UTC."""
    kinds = (pa.timestamp("us"), pa.timestamp("us", tz="UTC"))
    for kind in kinds:
        try:
            return pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue

    def is_iso(value: str | None, kind: pa.DataType) -> bool:
        try:
            pc.cast(pa.scalar(value, pa.string()), kind)
        except pa.ArrowInvalid:
            return False
        return True

    values = column.to_pylist()
    first = next((value for value in values if value is not None), None)
    kind = next((kind for kind in kinds if is_iso(first, kind)), kinds[0])
    row = next(row for row, value in enumerate(values) if not is_iso(value, kind))
    raise InputError(
        f"time column {name!r} is no ISO date: {place_of(row)} holds {values[row]!r}; write dates as 2026-03-28 18:55, "
        "all with an offset or all without, or give time_format=, such as '%d/%m/%Y %H:%M'"
    )


def _formatted(column: pa.ChunkedArray, name: str, time_format: str, place_of: Callable[[int], str]) -> pa.ChunkedArray:
    """Text of a given form as timestamps; with offsets as UTC. Each form of a moment is read once."""
    if pa.types.is_temporal(column.type):
        raise InputError(f"time column {name!r} holds times already ({column[0]}); leave time_format= out")
    known: dict[str, datetime | None] = {"": None}
    moments: list[datetime | None] = []
    for row, value in enumerate(column.to_pylist()):
        text = "" if value is None else str(value).strip()
        if text not in known:
            try:
                known[text] = datetime.strptime(text, time_format)
            except ValueError as error:
                raise InputError(
                    f"time column {name!r}: {place_of(row)} holds {text!r}, which is not time_format={time_format!r} "
                    f"({error})"
                ) from error
        moments.append(known[text])
    with_offset = any(moment is not None and moment.tzinfo is not None for moment in moments)
    return pa.chunked_array([pa.array(moments, pa.timestamp("us", tz="UTC" if with_offset else None))])


def _limit(text: str, zone: str | None, time_format: str | None) -> datetime:
    """The limit in the column's own terms: without an offset it is taken in the column's zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        if time_format is None:
            raise
        moment = datetime.strptime(text, time_format)
    if zone is None and moment.tzinfo is not None:
        raise ValueError("the column has no time zone, so give a time without an offset")
    if zone is not None and moment.tzinfo is None:
        offset = datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo if zone[0] in "+-" else ZoneInfo(zone)
        moment = moment.replace(tzinfo=offset)
    return moment
