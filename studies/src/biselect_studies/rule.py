"""The one rule by which a printed number is held against ours: an equivalence test, and what it could have seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from math import hypot, isnan, sqrt
from typing import Protocol, TypeVar

from biselect.errors import InputError
from biselect_studies.ledger import INTERVAL, RANGE, Claim, Ledger, Printed, read_ledger
from biselect_studies.results import Entry

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


MATCHES, DIFFERS, CANNOT_TELL, NOT_JUDGED = "matches", "differs", "cannot tell", "not judged"
VERDICTS = {
    MATCHES: "equivalent: the 90 % interval of the difference lies within 80 to 125 % of the printed number",
    DIFFERS: "the 95 % interval of the difference leaves out zero",
    CANNOT_TELL: "neither: so little is known, on one side or both, that a fifth more or less would not be seen",
    NOT_JUDGED: "cannot be judged here, for the reason given",
}
"""All verdicts, and what each means."""

MISSING = "our studies have no such number yet"
LESS, MORE = 0.2, 0.25  # margins of equivalence: 80 to 125 % of the printed number, as medicines are compared
ENDS = 0.2  # margin for the ends of an observed range, in widths of the printed one
NARROWER = 1.645 / 1.960  # a 90 % interval beside one of 95 %: two one-sided tests at 5 % each


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A printed number, or what stands in brackets beside it, and how ours stands to it.

    Attributes:
        printed: where and what the paper prints.
        part: `value`, `half-width`, `interval` or `range`.
        numbers: how many numbers the paper prints for it.
        theirs: as the paper prints it.
        ours: the number of ours, or the two ends of a range; empty where there is none.
        interval: ours, from where to where, or None.
        verdict: one of `VERDICTS`.
        seen: the smallest difference that the rule would have called one, or None.
        why: the reason where it is not judged.
    """

    printed: Printed
    part: str
    numbers: int
    theirs: str
    ours: tuple[float, ...] = ()
    interval: tuple[float, float] | None = None
    verdict: str = NOT_JUDGED
    seen: float | None = None
    why: str = ""

    @property
    def row(self) -> str:
        """Of the number of ours."""
        return self.printed.row

    @property
    def column(self) -> str:
        """Of the number of ours."""
        return self.printed.column


@dataclass(frozen=True, kw_only=True)
class JudgedClaim:
    """A claim in words, and how our numbers stand to it.

    Attributes:
        claim: where and what the paper says.
        verdict: one of `VERDICTS`.
        about: the numbers of ours that it speaks of.
        why: the reason where it is not judged.
    """

    claim: Claim
    verdict: str
    about: tuple[Entry, ...] = ()
    why: str = ""

    @property
    def row(self) -> str:
        """What readings know it by."""
        return self.claim.rows[0]

    @property
    def column(self) -> str:
        """What readings know it by."""
        return self.claim.columns[0]


def judge(
    ours: float,
    low: float,
    high: float,
    paper: float,
    *,
    rounding: float,
    theirs: float | None = None,
    units: tuple[int, int] = (0, 0),
) -> tuple[str, float]:
    """Hold a number with its 95 % interval against a printed one.

    Args:
        ours: our number.
        low: lower end of its interval.
        high: upper end.
        paper: the printed number.
        rounding: half a unit of its last digit.
        theirs: the half-width that the paper prints for it. Without one its noise is taken to be that of ours.
        units: how many seeds, slices or points ours and theirs are of; noise falls with the root of them.

    Returns:
        The verdict, and the smallest difference that would have been one.
    """
    own = high - ours if paper > ours else ours - low  # the side that faces the paper's
    if theirs is None:
        theirs = own * (sqrt(units[0] / units[1]) if all(units) else 1.0)
    noise = hypot(own, theirs)
    apart = max(0.0, abs(ours - paper) - rounding * (1 + 1e-9))
    seen = noise + rounding
    if apart > noise:
        return DIFFERS, seen
    margin = (MORE if ours > paper else LESS) * abs(paper)
    equivalent = apart + NARROWER * noise <= margin or noise == 0
    return (MATCHES if equivalent else CANNOT_TELL), seen


def judge_range(
    ours: tuple[float, float], paper: tuple[float, float], *, rounding: float, units: tuple[int, int] = (0, 0)
) -> tuple[str, float]:
    """Hold an observed range against a printed one: both ends within a fifth of its width.

    A range of fewer points that lies within the printed one says nothing: more points reach further.
    """
    margin = ENDS * (paper[1] - paper[0]) + rounding
    if all(abs(a - b) <= margin for a, b in zip(ours, paper, strict=True)):
        return MATCHES, margin
    inside = paper[0] - rounding <= ours[0] and ours[1] <= paper[1] + rounding
    return (CANNOT_TELL if inside and all(units) and units[0] < units[1] else DIFFERS), margin


def judge_spread(
    ours: float, low: float, high: float, half: float, *, rounding: float, units: tuple[int, int]
) -> tuple[str, float]:
    """Hold the half-width of our interval, brought to their number of units, against a printed one.

    A half-width of n units is itself known to about 1/√(2n) of it.
    """
    if not all(units):
        units = (1, 1)
    own = max(high - ours, ours - low) * sqrt(units[0] / units[1])
    noise = [1.96 * width / sqrt(2 * count) for width, count in zip((own, half), units, strict=True)]
    return judge(own, own - noise[0], own + noise[0], half, rounding=rounding, theirs=noise[1])


def judged(printed: Printed, found: Entry | None, why: str = "") -> list[Judged]:
    """Every part of what is printed at one place, held against a number of ours; `why` there is none, if so."""
    why = printed.why or why or (found.aside if found is not None else "")
    if found is not None and isnan(found.ours):
        why, found = why or found.verdict, None
    if found is None and not why:
        why = MISSING
    made = []
    for part, numbers, theirs in printed.parts:
        ours, interval = _own(part, found)
        verdict, seen, reason = NOT_JUDGED, None, why
        if found is not None and not why:
            verdict, seen, reason = _verdict(printed, part, found)
        made.append(
            Judged(
                printed=printed,
                part=part,
                numbers=numbers,
                theirs=theirs,
                ours=ours,
                interval=interval,
                verdict=verdict,
                seen=seen,
                why=reason,
            )
        )
    return made


def hold(study: str, cells: Iterable[Entry], ledger: Ledger | None = None) -> tuple[Entry, ...]:
    """The numbers of a study with what the paper prints for them, and the verdict on it."""
    known = (ledger or read_ledger()).of(study)
    stems = {(row, column.rpartition(", ")[0]): printed for (row, column), printed in known.items()}
    held = []
    for cell in cells:
        stem, on, _ = cell.column.partition(" on ")  # a device's column stands beside what a simulation answers
        printed = known.get((cell.row, cell.column)) or (stems.get((cell.row, stem)) if on else None)
        if printed is not None and not isnan(cell.ours):
            first = judged(printed, cell)[0]
            cell = replace(cell, paper=None if printed.is_range else printed.value, verdict=first.verdict)
        held.append(cell)
    return tuple(held)


def _own(part: str, found: Entry | None) -> tuple[tuple[float, ...], tuple[float, float] | None]:
    if found is None:
        return (), None
    if part == "value":
        return (found.ours,), None if isnan(found.low) else (found.low, found.high)
    if part == RANGE:
        return found.range or (), None
    if isnan(found.low):
        return (), None
    if part == INTERVAL:
        return (found.low, found.high), None
    return (max(found.high - found.ours, found.ours - found.low),), None


def _verdict(printed: Printed, part: str, found: Entry) -> tuple[str, float | None, str]:
    units = (found.units, printed.units)
    if part == RANGE:
        if found.range is None:
            return NOT_JUDGED, None, "our study shows no observed range here"
        return *judge_range(found.range, printed.ends, rounding=printed.rounding, units=units), ""
    if isnan(found.low):
        return NOT_JUDGED, None, "too few units for an interval"
    if part == "value":
        if printed.below:
            return (MATCHES if found.ours < printed.value else DIFFERS), None, ""
        return (
            *judge(
                found.ours,
                found.low,
                found.high,
                printed.value,
                rounding=printed.rounding,
                theirs=printed.half,
                units=units,
            ),
            "",
        )
    half = printed.half
    assert half is not None
    return *judge_spread(found.ours, found.low, found.high, half, rounding=printed.rounding, units=units), ""


def judge_claim(claim: Claim, cells: Sequence[Entry], why: str = "") -> JudgedClaim:
    """How a claim in words stands to the numbers that it speaks of; `why` there are none, if so."""
    about = tuple(cell for cell in cells if claim.covers(cell.row, cell.column) and not isnan(cell.ours))
    why = claim.why or why or next((cell.aside for cell in about if cell.aside), "")
    if not why and not about:
        why = MISSING
    if why:
        return JudgedClaim(claim=claim, verdict=NOT_JUDGED, about=about, why=why)
    if claim.relation.endswith("rises"):  # the means of the same instances, one after the other: their noise is shared
        rises = all(one.ours < other.ours for one, other in pairwise(about))
        verdict = MATCHES if rises == (claim.relation == "rises") else DIFFERS
        return JudgedClaim(claim=claim, verdict=verdict, about=about)
    known = {(cell.row, cell.column): cell for cell in cells}
    words = set()
    for cell in about:
        other: Entry | None = Entry("", "", claim.bound, claim.bound, claim.bound)
        if claim.than_row or claim.than_column:
            other = known.get((claim.than_row or cell.row, claim.than_column or cell.column))
        if other is None:
            return JudgedClaim(claim=claim, verdict=NOT_JUDGED, about=about, why=MISSING)
        words.add(_relation(claim.relation, cell, other))
    verdict = next(word for word in (DIFFERS, CANNOT_TELL, MATCHES) if word in words)
    return JudgedClaim(claim=claim, verdict=verdict, about=about)


def _relation(relation: str, cell: Entry, other: Entry) -> str:
    """Whether intervals as a whole stand as claimed, the other way round, or overlap; equal are the same numbers."""
    if relation in ("<", "≤"):
        return _relation({"<": ">", "≤": "≥"}[relation], other, cell)
    holds, fails = {
        ">": (cell.low > other.high, cell.high <= other.low),
        "≥": (cell.low >= other.high, cell.high < other.low),
        "=": (_ends(cell) == _ends(other), cell.high < other.low or cell.low > other.high),
    }[relation]
    return MATCHES if holds else DIFFERS if fails else CANNOT_TELL


def _ends(cell: Entry) -> tuple[float, ...]:
    return tuple(round(value, 9) for value in (cell.ours, cell.low, cell.high))
