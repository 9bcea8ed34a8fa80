"""Dates as what can be weighed: the hour and the weekday as categories, the gap to the row before as a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from biselect.columns.column_type import Cells, ColumnType
from biselect.errors import InputError
from biselect.options import Columns, spell

DATE_PARTS = ("hour", "weekday", "gap")
USUAL_PARTS = ("hour", "weekday")
HOURS = tuple(f"{hour:02d}:00" for hour in range(24))
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def parts_of_dates(dates: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The parts asked for of each date column: hour and weekday unless named.

    `hour` and `weekday` are categories; `gap` is the number of seconds since the row before, in the order of that date.

    >>> parts_of_dates(["paid", "created:hour,gap"])
    {'paid': ('hour', 'weekday'), 'created': ('hour', 'gap')}
    """
    asked = {}
    for entry in [dates] if isinstance(dates, str) else dates:
        name, colon, listed = entry.rpartition(":") if ":" in entry else (entry, "", "")
        parts = tuple(part.strip() for part in listed.split(",") if part.strip()) if colon else USUAL_PARTS
        if not parts or (unknown := [part for part in parts if part not in DATE_PARTS]):
            named = repr(unknown[0]) if parts else "nothing"
            said = spell(Columns(types={name: f"date:{listed}"}))
            raise InputError(f"{said} asks for {named}; the parts of a date are {', '.join(DATE_PARTS)}")
        asked[name] = parts
    return asked


def date_part(series: nw.Series[Any], name: str, part: str) -> tuple[NDArray[np.float64], Sequence[str] | None]:
    """One part of a date column, with its labels where it is a category."""
    kind, said = series.dtype, spell(Columns(types={name: f"date:{part}"}))
    if not kind.is_temporal() or kind == nw.Duration or (kind == nw.Date and part == "hour"):
        raise InputError(f"{said}: column {name!r} holds {kind}, which has no {part}")
    if kind == nw.Time and part != "hour":
        raise InputError(f"{said}: column {name!r} holds times of day, which have no {part}")
    if part == "hour":
        return series.dt.hour().cast(nw.Float64).to_numpy(), HOURS
    if part == "weekday":
        return series.dt.weekday().cast(nw.Float64).to_numpy() - 1, WEEKDAYS
    seconds = series.cast(nw.Datetime("us")).dt.timestamp("us").cast(nw.Float64).to_numpy() / 1e6
    order = np.argsort(seconds, kind="stable")  # missing ones last
    gaps = np.full(seconds.size, np.nan)
    known = order[: int((~np.isnan(seconds)).sum())]
    if known.size > 1:
        between = np.diff(seconds[known])
        gaps[known] = np.append(between[0], between)  # no row is before the first, which takes the next one's gap
    return gaps, None


class Date(ColumnType):
    """Moments: never weighed themselves, as times always move; hour, weekday and gap are derived from them."""

    name: ClassVar[str] = "date"
    directions: ClassVar[tuple[str, ...]] = ()
    unweighed: ClassVar[str] = "times always move"

    def holds(self, kind: Any) -> bool:
        """Dates and times."""
        return bool(kind.is_temporal() and kind != nw.Duration)

    def derive(self, column: Any, name: str, parts: Sequence[str]) -> Mapping[str, Cells]:
        """Hour and weekday as categories, the gap to the row before as a number."""
        return {f"{name} {part}": Cells(*date_part(column, name, part)) for part in parts}


DATE = Date()
