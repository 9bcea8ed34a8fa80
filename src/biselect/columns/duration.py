"""Durations: 1:23:45, PT5M, 90 s, 2 h 30 min, and Arrow's own, weighed as numbers of seconds."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from biselect.columns.column_type import Claim
from biselect.columns.distinct_texts import DistinctTexts, ParsedColumn, ReadingHints
from biselect.columns.number import NUMBER, Number

_N = r"\d+(?:[.,]\d+)?"
_SIGN = "(?P<sign>[-+−])?"
_CLOCK = rf"{_SIGN}(?:(?P<days>\d+) ?(?:days?|d)[ ,]+)?(?P<hours>\d+):(?P<minutes>[0-5]\d)(?::(?P<seconds>{_N}))?"
_WORDS = (
    rf"(?P<sign>-)?P?(?:(?P<days>{_N}) ?(?:d|D|days?|Tage?))?[ ,T]*"
    rf"(?:(?P<hours>{_N}) ?(?:h|H|hrs?|hours?|Std\.?|Stunden?))?[ ,]*"
    rf"(?:(?P<minutes>{_N}) ?(?:m|M|mins?|minutes?|Min\.?|Minuten?))?[ ,]*"
    rf"(?:(?P<seconds>{_N}) ?(?:s|S|secs?|seconds?|Sek\.?|Sekunden?))?(?: ?(?P<thousandths>{_N}) ?ms)?"
)
_OTHERWISE = re.compile(rf"-?{_N} ?[mMdDHS]|[-P T]*|\d+[DHMS].*")  # metres, a code, nothing
_IN_MINUTES = re.compile(r"\bm{1,2}:ss?\b|\bmin(?:ute[ns]?|utos|uti|uter)?\b", re.IGNORECASE)
_LONGER_THAN_A_DAY = r"^[-+−]?(?:2[4-9]|[3-9]\d|\d{3,}):\d\d$"
_SECONDS = {"days": 86_400.0, "hours": 3_600.0, "minutes": 60.0, "seconds": 1.0, "thousandths": 1e-3}


class Duration(Number):
    """Lengths of time, and times of day as the time since midnight: numbers of seconds."""

    name: ClassVar[str] = "duration"

    def holds(self, kind: Any) -> bool:
        """Durations of any unit."""
        return bool(kind == nw.Duration)

    def claim(self, column: pa.ChunkedArray, name: str) -> Claim | None:
        """Arrow's durations."""
        return Claim(role=NUMBER.name) if pa.types.is_duration(column.type) else None

    def recognises(self, text: str) -> bool:
        """Whether it is written like a clock or with units of time."""
        if re.fullmatch(_CLOCK, text):
            return True
        return re.fullmatch(_WORDS, text) is not None and not _OTHERWISE.fullmatch(text)

    def parse(self, texts: DistinctTexts, hints: ReadingHints) -> ParsedColumn | None:
        """Durations in microseconds."""
        written = {shape for shape in texts.shapes if self.recognises(shape.replace("9", "1"))}
        if not written or texts.others(written):
            return None
        present, marks = texts.present()
        steps = 1 / 60 if _IN_MINUTES.search(hints.name) and not any(shape.count(":") > 1 for shape in written) else 1
        values = _durations(present, steps)
        if values.null_count > present.null_count:
            return None
        is_long = steps == 1 and pc.any(pc.match_substring_regex(present, _LONGER_THAN_A_DAY)).as_py()
        doubt = "is read as hours and minutes; if it holds minutes and seconds, write (mm:ss) behind its name" * is_long
        return ParsedColumn(
            values=texts.spread(values),
            missing=marks,
            doubtful=doubt,
            read_more=lambda more: _durations(more.present()[0], steps),
        )


def _durations(texts: pa.Array, steps: float) -> pa.Array:
    """Texts as durations, null where they are none; a clock without seconds counts `steps` hours and minutes."""
    clocks = pc.match_substring_regex(texts, rf"^(?:{_CLOCK})$")
    total = None
    for pattern, applies in ((_CLOCK, clocks), (_WORDS, pc.invert(clocks))):
        parts = pc.extract_regex(pc.if_else(applies, texts, pa.scalar(None, pa.string())), f"^(?:{pattern})$")
        seconds = pc.if_else(pc.is_valid(parts), 0.0, pa.scalar(None, pa.float64()))
        for name in {field.name for field in parts.type} & _SECONDS.keys():
            part = pc.replace_substring(pc.struct_field(parts, name), ",", ".")
            number = pc.cast(pc.if_else(pc.equal(part, ""), "0", part), pa.float64())
            seconds = pc.add(seconds, pc.multiply(number, _SECONDS[name]))
        if pattern is _CLOCK:
            seconds = pc.multiply(seconds, steps)
        is_negative = pc.match_substring_regex(pc.struct_field(parts, "sign"), "[-−]")
        seconds = pc.if_else(is_negative, pc.negate(seconds), seconds)
        total = seconds if total is None else pc.coalesce(total, seconds)
    return pc.cast(pc.cast(pc.round(pc.multiply(total, 1e6)), pa.int64()), pa.duration("us"))


DURATION = Duration()
