"""Why a number of ours differs from the paper's: a reading for one cell or for many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from biselect.errors import InputError
from biselect_studies.results import Entry

CAUSES = {
    "left open": "the paper does not say how, and the choice moves the number",
    "done otherwise": "we search further, run faster or place exactly, and say so",
    "chance": "the draw of the instances, on either side",
    "not known": "we have no cause that we could show",
}
"""Kinds of readings, and what each means."""

UNEXPLAINED = "not explained yet"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Why some numbers differ. It changes no verdict.

    Attributes:
        cause: one of `CAUSES`.
        text: the reading, for people; what it rests on stands in it.
        rows: patterns of the rows it speaks of, `*` for anything.
        columns: the same for columns.
        shown_by: the experiments of `studies/scripts/why_it_differs.py` whose output the text quotes.
    """

    cause: str
    text: str
    rows: tuple[str, ...] = ("*",)
    columns: tuple[str, ...] = ("*",)
    shown_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.cause not in CAUSES:
            raise InputError(f"a reading's cause must be one of {', '.join(CAUSES)}, got {self.cause!r}")

    @property
    def commands(self) -> list[str]:
        """How to see what the text quotes."""
        return [f"python studies/scripts/why_it_differs.py {name}" for name in self.shown_by]

    def covers(self, entry: Entry) -> bool:
        """Whether it speaks of that number."""
        return _matches(entry.row, self.rows) and _matches(entry.column, self.columns)


def read(entries: Iterable[Entry], readings: Sequence[Reading]) -> list[tuple[Reading | None, list[Entry]]]:
    """Entries that differ under the first reading that covers each, in the order of the readings; None comes last."""
    found: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.verdict == "differs":
            place = next((place for place, one in enumerate(readings) if one.covers(entry)), len(readings))
            found.setdefault(place, []).append(entry)
    return [(readings[place] if place < len(readings) else None, found[place]) for place in sorted(found)]


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
