"""What a study found: plain data, written once and rendered from. What the paper prints is in `ledger.toml`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biselect import __version__
from biselect.core.untrusted import check_seal, seal
from biselect_studies.inference import Comparison, bootstrap_interval, share_interval

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
        units: how many seeds, slices or points it is a statistic of; 0 where that is not said.
        range: the lowest and the highest of these, where the study shows them.
        aside: why it is not held against what the paper prints, such as a simulation beside a device; or empty.
        paper: what the paper prints, from the ledger, or None; a study leaves it to `rule.hold`.
        verdict: of the ledger's rule, or `-` where the paper prints nothing.
    """

    row: str
    column: str
    ours: float
    low: float
    high: float
    units: int = 0
    range: tuple[float, float] | None = None
    aside: str = ""
    paper: float | None = None
    verdict: str = "-"


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What a study makes of its finished tasks.

    Attributes:
        seeds: how many seeds each cell has.
        cells: the numbers.
        notes: what a reader must know to read them.
        extra: further data that the figure needs.
        brackets: what `low` and `high` of its numbers are.
        lacking: why numbers that the ledger names are not among the cells here, such as an environment that is absent.
    """

    seeds: int
    cells: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    brackets: str = BOOTSTRAP
    lacking: str = ""

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
        made_from: the modules of the experiments whose results went into it; which depends on the tables at hand.
        code: digest of these and of the study's own sources, see `Study.code`; empty where none is on record.
    """

    study: str
    title: str
    label: str
    quick: bool
    version: str = __version__
    made_from: tuple[str, ...] = ()
    code: str = ""

    def to_json(self) -> str:
        """`results.json`."""
        heading = ("study", "title", "label", "quick", "version", "made_from", "code", "seeds", "brackets", "lacking")
        content = asdict(self)
        for cell in content["cells"]:  # NaN is no JSON
            cell.update({name: None for name in NUMBERS if isnan(cell[name])})
        return (
            json.dumps(
                seal({name: content[name] for name in (*heading, "cells", "notes", "extra")}),
                indent=1,
                ensure_ascii=False,
            )
            + "\n"
        )

    @classmethod
    def from_json(cls, text: str) -> Results:
        """What `to_json` wrote; anything else is refused."""
        content = json.loads(text)
        check_seal(content, "results.json")
        del content["hash"]
        cells = tuple(_entry(cell) for cell in content.pop("cells"))
        listed = {name: tuple(content[name]) for name in ("notes", "made_from")}
        return cls(**{**content, **listed}, cells=cells)


def _entry(cell: dict[str, Any]) -> Entry:
    ends = cell["range"]
    return Entry(
        **{
            **cell,
            **{name: nan for name in NUMBERS if cell[name] is None},
            "range": None if ends is None else (float(ends[0]), float(ends[1])),
        }
    )


def entry(
    row: str, column: str, values: ArrayLike, *, statistic: Callable[..., Any] = np.mean, ranged: bool = False
) -> Entry:
    """The mean of per-seed values, or another statistic that takes an `axis`, with its interval.

    `ranged` adds the lowest and the highest value, for tables that print observed ranges.
    """
    sample = np.asarray(values, dtype=np.float64)
    ours = float(statistic(sample, axis=-1))
    low, high = bootstrap_interval(sample, statistic=statistic)
    low, high = min(low, ours), max(high, ours)  # the mean of equal values may be off by its rounding
    ends = (float(sample.min()), float(sample.max())) if ranged else None
    return Entry(row, column, ours, low, high, units=sample.size, range=ends)


def share(row: str, column: str, shares: ArrayLike, *, of: float = 100.0) -> Entry:
    """The mean share of cases in which a thing holds, in per cent unless said otherwise, with a 95 % interval.

    Units that say yes or no have Wilson's interval; units that are shares themselves, such as the mean of a few draws,
    have the bootstrap's.

    Args:
        row: its row.
        column: its column.
        shares: one value of 0 to 1 for each unit.
        of: what the whole is called.

    Raises:
        ValueError: a value is no share.

    >>> share("p = 1", "wins (%)", [True] * 96).low  # none of 96 fails, but one in 26 might
    96.1...
    >>> share("p = 1", "recovered", [0.05, 0.0, 0.1, 0.05], of=1).ours
    0.05
    """
    sample = np.asarray(shares, dtype=np.float64)
    if not ((sample >= 0) & (sample <= 1)).all():
        raise ValueError(f"{row}, {column}: shares lie between 0 and 1, got {sample.min():g} to {sample.max():g}")
    if np.isin(sample, (0, 1)).all():
        low, high = share_interval(int(sample.sum()), sample.size)
    else:
        low, high = bootstrap_interval(sample)
    return Entry(row, column, of * float(sample.mean()), of * low, of * high, units=sample.size)


def compared(row: str, column: str, found: Comparison) -> Entry:
    """A mean of differences with its interval."""
    return Entry(row, column, found.mean, found.low, found.high, units=found.units)
