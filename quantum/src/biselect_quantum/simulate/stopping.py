"""Long work that can be ended from outside: it looks at one byte between its parts.

Whoever keeps the time turns the byte to 1; what was under way is then given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from biselect.core.deadlines import NEVER as NEVER
from biselect.core.deadlines import OutOfTimeError as OutOfTimeError
from biselect.core.deadlines import Stop as Stop

Look = Callable[[], None]
"""Called between parts of long work; raises OutOfTimeError to end it."""

PART = 1 << 20  # numbers between two looks: a few milliseconds


def look(stop: Stop) -> None:
    """Give up where the byte is 1."""
    if stop[0]:
        raise OutOfTimeError


def go_on() -> None:
    """A look that never ends anything."""


def parts(rows: int, width: int, stop: Stop) -> Iterator[slice]:
    """Slices of so many rows of this width, with a look before each.

    >>> list(parts(3, PART, NEVER))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    step = max(1, PART // max(1, width))
    for begin in range(0, rows, step):
        look(stop)
        yield slice(begin, min(begin + step, rows))
