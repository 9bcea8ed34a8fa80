"""What a study found, beside what the paper prints: plain data, written once and rendered from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isnan, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core.metrics import bootstrap_interval, row_means

BOOTSTRAP = "95 % bootstrap interval"
NUMBERS = ("ours", "low", "high")


@dataclass(frozen=True, kw_only=True)
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
            `as stated` or `differs` where theory promises a lower bound; `not compared` for times and without interval.
    """

    row: str
    column: str
    ours: float
    low: float
    high: float
    paper: float | None
    verdict: str


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
    """

    study: str
    title: str
    label: str
    quick: bool

    def to_json(self) -> str:
        """`results.json`."""
        order = ("study", "title", "label", "quick", "seeds", "brackets", "cells", "notes", "extra")
        content = asdict(self)
        for cell in content["cells"]:  # NaN is no JSON
            cell.update({name: None for name in NUMBERS if isnan(cell[name])})
        return json.dumps({name: content[name] for name in order}, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Results:
        """What `to_json` wrote."""
        content = json.loads(text)
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
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]] = row_means,
) -> Entry:
    """The mean (or another row statistic) of per-seed values with its interval, held against the paper's figure."""
    sample = np.asarray(values, dtype=np.float64)
    ours = float(statistic(sample[None, :])[0])
    low, high = bootstrap_interval(sample, statistic=statistic)
    low, high = min(low, ours), max(high, ours)  # the mean of equal values may be off by its rounding
    verdict = judge(ours, low, high, paper, decimals)
    return Entry(row=row, column=column, ours=ours, low=low, high=high, paper=paper, verdict=verdict)


def at_least(row: str, column: str, values: ArrayLike, *, bound: float, printed: bool) -> Entry:
    """The mean of per-seed values where theory promises no less than a bound; `printed` if the paper does so too."""
    found = entry(row, column, values)
    verdict = "as stated" if found.high >= bound else "differs"
    return replace(found, paper=bound if printed else None, verdict=verdict)


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
    noise = sqrt(2) * max(high - ours, ours - low) + rounding
    return "within noise" if apart <= noise else "differs"
