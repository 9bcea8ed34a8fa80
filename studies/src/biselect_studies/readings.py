"""Why a number of ours differs from the paper's: a reading for one number or for many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol, TypeVar

from biselect.errors import InputError

CAUSES = {
    "left open": "the paper does not say how, and the choice moves the number",
    "done otherwise": "we search further, run faster or use another version of a library, and say so",
    "chance": "the draw of the instances, on either side",
    "not known": "we have no cause that we could show",
}
"""Kinds of readings, and what each means."""

UNEXPLAINED = "not explained yet"


class Difference(Protocol):
    """What a reading speaks of: a number in its row and column."""

    @property
    def row(self) -> str:
        """Its row."""

    @property
    def column(self) -> str:
        """Its column."""


D = TypeVar("D", bound=Difference)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Why some numbers differ. It changes no verdict.

    Attributes:
        cause: one of `CAUSES`.
        text: the reading, for people; what it rests on stands in it.
        tex: lines of the paper that it rests on: what they say, or where they say nothing.
        rows: patterns of the rows it speaks of, `*` for anything.
        columns: the same for columns.
        shown_by: the experiments of `studies/scripts/why_it_differs.py` whose output the text quotes.
    """

    cause: str
    text: str
    tex: tuple[int, ...]
    rows: tuple[str, ...] = ("*",)
    columns: tuple[str, ...] = ("*",)
    shown_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.cause not in CAUSES:
            raise InputError(f"a reading's cause must be one of {', '.join(CAUSES)}, got {self.cause!r}")
        if not self.tex:
            raise InputError("a reading must name the lines of the paper that it rests on")

    @property
    def commands(self) -> list[str]:
        """How to see what the text quotes."""
        return [f"python studies/scripts/why_it_differs.py {name}" for name in self.shown_by]

    @property
    def is_shown(self) -> bool:
        """Whether an experiment shows the cause."""
        return bool(self.shown_by) and self.cause != "not known"

    def covers(self, one: Difference) -> bool:
        """Whether it speaks of that number."""
        return _matches(one.row, self.rows) and _matches(one.column, self.columns)


def read(differences: Iterable[D], readings: Sequence[Reading]) -> list[tuple[Reading | None, list[D]]]:
    """Differences under the first reading that covers each, in the order of the readings; None comes last."""
    found: dict[int, list[D]] = {}
    for one in differences:
        place = next((place for place, reading in enumerate(readings) if reading.covers(one)), len(readings))
        found.setdefault(place, []).append(one)
    return [(readings[place] if place < len(readings) else None, found[place]) for place in sorted(found)]


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
