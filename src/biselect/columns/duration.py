"""Durations: quantities of seconds."""

from __future__ import annotations

from typing import Any, ClassVar

import narwhals as nw
import pyarrow as pa

from biselect.columns.column_type import Claim
from biselect.columns.distinct_texts import DistinctTexts, ParsedColumn, ReadingHints
from biselect.columns.number import NUMBER, Number


class Duration(Number):
    """Lengths of time, weighed as numbers of seconds."""

    name: ClassVar[str] = "duration"

    def holds(self, kind: Any) -> bool:
        """Durations of any unit."""
        return bool(kind == nw.Duration)

    def claim(self, column: pa.ChunkedArray, name: str) -> Claim | None:
        """Arrow's durations; texts such as 1:23:45 may as well be times of day."""
        return Claim(role=NUMBER.name) if pa.types.is_duration(column.type) else None

    def recognises(self, text: str) -> bool:
        """No text is."""
        return False

    def parse(self, texts: DistinctTexts, hints: ReadingHints) -> ParsedColumn | None:
        """No text is read as a duration."""
        return None


DURATION = Duration()
