"""What a study found, beside what the paper prints: plain data, written once and rendered from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isnan, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biselect._version import __version__
from biselect.core.json_files import check_seal, seal
from biselect_studies.inference import Comparison, bootstrap_interval

BOOTSTRAP = "95 % bootstrap interval"
NUMBERS = ("ours", "low", "high")


@dataclass(frozen=True)
class Entry:
    """One number of a table or figure.

    Attributes:
        row: its row.
        column: its column.
        ours: what we measured; NaN where there is no number, and the verdict says why, such as `pending`.
        low: lower end of what its brackets hold, most often a 95 % bootstrap interval; NaN where too few units were
            seen for one.
        high: its upper end.
        paper: what the paper prints, or None.
        verdict: `equal` to the printed digits, `within noise`, `differs`, or `-` where the paper prints nothing;
            `as stated`, `not sure` or `differs` where a relation is stated; `not compared` for times and without
            interval.
        statement: what the paper states of it in place of a number, such as `> 0`, or None.
    """

    row: str
    column: str
    ours: float
    low: float
    high: float
    paper: float | None = None
    verdict: str = "-"
    statement: str | None = None


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What a study makes of its finished tasks.

    Attributes:
        seeds: how many seeds each cell has.
        cells: the numbers.
        notes: what a reader must know to read them.
        extra: further data that the figure needs.
        brackets: what `low` and `high` of its numbers are.
    """

    seeds: int
    cells: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    brackets: str = BOOTSTRAP

    def find(self, row: str, column: str) -> Entry:
        """The number of that row and column."""
        return next(entry for entry in self.cells if (entry.row, entry.column) == (row, column))


@dataclass(frozen=True, kw_only=True)
class Results(Findings):
    """Findings with the name they go by: the content of `results.json`.

    Attributes:
        study: its name.
        title: what it shows, in one line.
        label: the paper's label.
        quick: whether this is the short form.
        version: of biselect that made it.
        code: digest of the sources that made it, see `Study.code`; empty where none is on record.
    """

    study: str
    title: str
    label: str
    quick: bool
    version: str = __version__
    code: str = ""

    def to_json(self) -> str:
        """`results.json`."""
        order = ("study", "title", "label", "quick", "version", "code", "seeds", "brackets", "cells", "notes", "extra")
        content = asdict(self)
        for cell in content["cells"]:  # NaN is no JSON
            cell.update({name: None for name in NUMBERS if isnan(cell[name])})
        return json.dumps(seal({name: content[name] for name in order}), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Results:
        """What `to_json` wrote; anything else is refused."""
        content = json.loads(text)
        check_seal(content, "results.json")
        del content["hash"]
        cells = tuple(
            Entry(**{**cell, **{name: nan for name in NUMBERS if cell[name] is None}}) for cell in content.pop("cells")
        )
        return cls(**{**content, "notes": tuple(content["notes"])}, cells=cells)


def entry(
    row: str,
    column: str,
    values: ArrayLike,
    *,
    paper: float | None = None,
    decimals: int = 3,
    statistic: Callable[..., Any] = np.mean,
) -> Entry:
    """The mean of per-seed values, or another statistic that takes an `axis`, with its interval, beside the paper's."""
    sample = np.asarray(values, dtype=np.float64)
    ours = float(statistic(sample, axis=-1))
    low, high = bootstrap_interval(sample, statistic=statistic)
    low, high = min(low, ours), max(high, ours)  # the mean of equal values may be off by its rounding
    verdict = judge(ours, low, high, paper, decimals)
    return Entry(row, column, ours, low, high, paper, verdict)


def compared(row: str, column: str, found: Comparison, *, paper: float | None = None, decimals: int = 3) -> Entry:
    """A mean of differences with its interval, beside the paper's."""
    verdict = judge(found.mean, found.low, found.high, paper, decimals)
    return Entry(row, column, found.mean, found.low, found.high, paper, verdict)


def stated(row: str, column: str, values: ArrayLike, relation: str, bound: float, *, by_paper: bool = True) -> Entry:
    """The mean of per-seed values of which a relation to a bound is stated, by the paper or by our own theory.

    The relation is `>`, `≥`, or `=` for a difference that vanishes on every seed. It holds where the whole interval
    does as stated, and differs where none of it does; between the two it is not sure.
    """
    found = entry(row, column, values)
    low, high = found.low, found.high
    holds, fails = {
        ">": (low > bound, high <= bound),
        "≥": (low >= bound, high < bound),
        "=": (low == high == bound, not low <= bound <= high),
    }[relation]
    verdict = "as stated" if holds else "differs" if fails else "not sure"
    return replace(found, verdict=verdict, statement=f"{relation} {bound:g}" if by_paper else None)


def judge(ours: float, low: float, high: float, paper: float | None, decimals: int) -> str:
    """Hold our mean against a printed one of as many seeds: their difference is √2 times as noisy as ours."""
    if paper is None:
        return "-"
    rounding = 0.5 * 10.0**-decimals
    if isnan(low):
        return "not compared"
    apart = abs(ours - paper)
    if apart <= rounding * (1 + 1e-9):
        return "equal"
    noise = sqrt(2) * (high - ours if paper > ours else ours - low) + rounding  # the side that faces the paper's
    return "within noise" if apart <= noise else "differs"
