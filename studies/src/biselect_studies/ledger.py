"""The paper's ledger: every number and claim that it prints, where, and which number of ours answers it.

`ledger.toml` is data, read here. Nothing else in the studies holds a printed number.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from biselect.errors import InputError

PATH = Path(__file__).with_name("ledger.toml")
INTERVAL, RANGE = "interval", "range"
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?")
RELATION = re.compile(r"((?:not )?rises|[<>=≤≥])\s*(?:(row|column)\s+(.+)|([+-]?[\d.]+))?")


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A number that the paper prints, with what stands beside it: `0.800 ± 0.067`, `47.4% [47.2%, 47.5%]`, `5/8`.

    Attributes:
        place: label of the table, figure or section.
        section: title of the section.
        line: of the tex file.
        to: the last line, where it ends on a later one.
        text: as printed, without the tex.
        study: whose number answers it; empty where none does.
        row: of that number.
        column: of that number.
        of: what it is a statistic of.
        units: of how many seeds, slices, points or instances; 0 where that is not said.
        brackets: what its brackets hold: an `interval` or an observed `range`.
        scale: our unit in the printed one, such as 0.01 for a share that is printed in per cent.
        why: why it cannot be judged here; empty where it can.
        again: whether the same number is printed elsewhere and judged there.
    """

    place: str
    section: str
    line: int
    text: str
    to: int = 0
    study: str = ""
    row: str = ""
    column: str = ""
    of: str = ""
    units: int = 0
    brackets: str = INTERVAL
    scale: float = 1.0
    why: str = ""
    again: bool = False

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Every number in the text, in our unit."""
        found = [float(number.replace(",", "")) for number in NUMBER.findall(self.text)]
        return tuple(self.scale * number for number in found)

    @property
    def is_count(self) -> bool:
        """Whether it counts cases among all, such as `5/8`."""
        return re.fullmatch(r"[\d,]+(?:/| of )[\d,]+", self.text) is not None

    @property
    def is_range(self) -> bool:
        """Whether it is a range alone, such as `35.1–54.8`."""
        return "–" in self.text and len(self.numbers) == 2

    @property
    def below(self) -> bool:
        """Whether it is an upper bound, such as `<0.05%`."""
        return self.text.startswith("<")

    @property
    def value(self) -> float:
        """The number itself; of a count its share in per cent."""
        return 100 * self.numbers[0] / self.numbers[1] if self.is_count else self.numbers[0]

    @property
    def ends(self) -> tuple[float, float]:
        """The printed range."""
        return self.numbers[-2], self.numbers[-1]

    @property
    def half(self) -> float | None:
        """The half-width that the paper prints for it, or None."""
        if "±" in self.text:
            return self.numbers[1]
        if len(self.numbers) == 3 and self.brackets == INTERVAL:
            return (self.numbers[2] - self.numbers[1]) / 2
        return None

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit; a count is exact."""
        if self.is_count:
            return 0.0
        first = NUMBER.findall(self.text)[0]
        return 0.5 * self.scale * 10.0 ** -len(first.partition(".")[2])

    @property
    def parts(self) -> list[tuple[str, int, str]]:
        """What is judged: its name, how many numbers are printed for it, and how."""
        if self.is_range:
            return [(RANGE, 2, self.text)]
        if self.is_count:
            return [("value", 2, self.text)]
        value, mark, rest = self.text.partition("±" if "±" in self.text else "[")
        found = [("value", 1, value.strip())]
        if mark == "±":
            found.append(("half-width", 1, f"± {rest.strip()}"))
        elif mark:
            found.append((self.brackets, 2, f"[{rest}"))
        return found


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What the paper says in words of numbers that it prints, draws or keeps to itself.

    Attributes:
        place: label of the table, figure or section.
        section: title of the section.
        line: of the tex file.
        words: as the paper has them.
        study: whose numbers answer it; empty where none does.
        rows: patterns of the rows that it speaks of, `*` for anything.
        columns: the same for columns.
        says: `> 0`, `= 0`, `≥ row NAME`, `> column NAME`, `rises` or `not rises`.
        why: why it cannot be judged here; empty where it can.
    """

    place: str
    section: str
    line: int
    words: str
    study: str = ""
    rows: tuple[str, ...] = ("*",)
    columns: tuple[str, ...] = ("*",)
    says: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if bool(self.says) == bool(self.why) or (self.says and not RELATION.fullmatch(self.says)):
            raise InputError(f"ledger, line {self.line}: a claim says `> 0`, `> row NAME` or `rises`, or why it cannot")

    @property
    def _parts(self) -> tuple[str, str, str, str]:
        match = RELATION.fullmatch(self.says)
        return ("", "", "", "") if match is None else (match[1], match[2] or "", match[3] or "", match[4] or "0")

    @property
    def relation(self) -> str:
        """What is said: `>`, `≥`, `<`, `≤`, `=`, `rises` or `not rises`."""
        return self._parts[0]

    @property
    def than_row(self) -> str:
        """The row that it is said against, in the same column; or empty."""
        return self._parts[2] if self._parts[1] == "row" else ""

    @property
    def than_column(self) -> str:
        """The column that it is said against, in the same row; or empty."""
        return self._parts[2] if self._parts[1] == "column" else ""

    @property
    def bound(self) -> float:
        """The number that it is said against."""
        return float(self._parts[3])

    def covers(self, row: str, column: str) -> bool:
        """Whether it speaks of that number."""
        return _any(row, self.rows) and _any(column, self.columns)


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """All that the paper prints.

    Attributes:
        numbers: results, in the order of the ledger.
        claims: in words.
        settings: by line of the tex file the numbers that state what was done, not what came out.
        unprinted: by line the figures that the tex file names and nothing defines: it prints nothing there.
    """

    numbers: tuple[Printed, ...]
    claims: tuple[Claim, ...]
    settings: Mapping[int, str]
    unprinted: Mapping[int, str]

    def of(self, study: str) -> dict[tuple[str, str], Printed]:
        """What is printed for each number of a study that is judged, by row and column."""
        return {(one.row, one.column): one for one in self.numbers if one.study == study and one.row and not one.again}


@cache
def read_ledger() -> Ledger:
    """The ledger of the paper."""
    return ledger_in(PATH)


def ledger_in(path: Path) -> Ledger:
    """The ledger in a file."""
    content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    reasons: dict[str, str] = content["reasons"]
    numbers: list[Printed] = []
    claims: list[Claim] = []
    for place, group in content["places"].items():
        shared = {name: value for name, value in group.items() if name not in ("numbers", "claims")}
        for told in group.get("numbers", ()):
            known = {**shared, **told}
            known["why"] = _reason(known, reasons)
            known["text"] = known.pop("printed")
            numbers.append(Printed(place=place, **known))
        for told in group.get("claims", ()):
            known = {name: shared[name] for name in ("section", "study") if name in shared} | told
            known["why"] = "" if "says" in told else _reason({**shared, **told}, reasons)
            listed = {name: tuple(known[name]) for name in ("rows", "columns") if name in known}
            claims.append(Claim(place=place, **{**known, **listed}))
    return Ledger(
        numbers=tuple(numbers),
        claims=tuple(claims),
        settings={int(line): text for line, text in content["settings"].items()},
        unprinted={int(line): text for line, text in content["unprinted"].items()},
    )


def _reason(told: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    why = told.get("why", "")
    if why and why not in reasons:
        raise InputError(f"ledger, line {told.get('line')}: the reason {why!r} is none of {', '.join(reasons)}")
    return reasons.get(why, "")


def _any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
