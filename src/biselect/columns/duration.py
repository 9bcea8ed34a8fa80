"""Durations: quantities of seconds."""

from __future__ import annotations

from typing import Any, ClassVar

import narwhals as nw

from biselect.columns.number import Number


class Duration(Number):
    """Lengths of time, weighed as numbers of seconds."""

    name: ClassVar[str] = "duration"

    def holds(self, kind: Any) -> bool:
        """Durations of any unit."""
        return bool(kind == nw.Duration)


DURATION = Duration()
