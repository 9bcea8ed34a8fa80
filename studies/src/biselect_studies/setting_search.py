"""Settings that the paper leaves open: how well each explains printed numbers, and which is chosen on some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_studies.ledger import Printed, read_ledger
from biselect_studies.runner import Records

CHOSEN_ON, JUDGED_ON = "misfit, chosen on", "misfit, judged on"
APART = "apart, of those judged (%)"
RESAMPLES = 400  # of medians and quartiles while settings are compared

Place = tuple[str, str, str]
"""Study, row and column of a printed number."""
Setting = Mapping[str, Any]
Measured = tuple[float, float, int]
"""A number of ours, the half-width of its 95 % interval, and of how many units it is."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """Tables that share settings.

    Attributes:
        name: for people.
        settings: every combination that is tried.
        measure: our numbers under a setting, by the place that the paper prints them at.
        choosing: whether a place is one of those that choose; all others judge.
        usual: the setting that the studies had before, to hold others against.
    """

    name: str
    settings: tuple[Setting, ...]
    measure: Callable[[Records, Setting, bool], Mapping[Place, Measured]]
    choosing: Callable[[Place], bool]
    usual: Setting


def apart(found: Measured, place: Place) -> float:
    """How far ours is from the printed number, in half-widths of the 95 % interval of their difference."""
    study, row, column = place
    printed = _printed(study)[row, column]
    ours, half, units = found
    theirs = printed.half
    if theirs is None:  # as noisy as ours would be with as many units
        theirs = half * np.sqrt(units / printed.units) if printed.units else half
    return max(0.0, abs(ours - printed.value) - printed.rounding) / max(hypot(half, theirs), printed.rounding)


@cache
def _printed(study: str) -> dict[tuple[str, str], Printed]:
    return read_ledger().of(study)


def misfit(distances: Iterable[float]) -> float:
    """Root mean square of distances: 0.5 is what two draws of the same thing give, above 1 most numbers differ."""
    return float(np.sqrt(np.mean(np.square(list(distances)))))


def mean(values: Any) -> Measured:
    """A mean with its normal interval; of shares at their ends Agresti and Coull's half-width."""
    sample = np.asarray(values, dtype=np.float64)
    n, share = sample.size, float(sample.mean())
    half = 1.96 * float(sample.std()) / np.sqrt(max(n - 1, 1))
    if set(np.unique(sample)) <= {0.0, 1.0}:
        near = (sample.sum() + 2) / (n + 4)
        half = 1.96 * float(np.sqrt(near * (1 - near) / (n + 4)))
    return share, half, n


def quantile(values: Any, q: float) -> Measured:
    """A quantile with half the width of its bootstrap interval."""
    sample = np.asarray(values, dtype=np.float64)
    drawn = np.quantile(np.random.default_rng(0).choice(sample, (RESAMPLES, sample.size)), q, axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(np.quantile(sample, q)), float(high - low) / 2, sample.size


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """All settings of a part, tried.

    Attributes:
        part: whose they are.
        distances: by setting and place, how far ours is from the printed number (`apart`).
        places: in the order of the columns.
        chosen: the setting with the smallest misfit on the places that choose.
    """

    part: Part
    distances: NDArray[np.float64]
    places: list[Place]
    chosen: int

    @classmethod
    def of(cls, part: Part, records: Records, quick: bool) -> Search:
        """Try every setting."""
        measured = [part.measure(records, setting, quick) for setting in part.settings]
        places = list(measured[0])
        distances = np.array([[apart(found[place], place) for place in places] for found in measured])
        choosing = np.array([part.choosing(place) for place in places])
        return cls(
            part=part,
            distances=distances,
            places=places,
            chosen=int(np.argmin((distances**2)[:, choosing].mean(axis=1))),
        )

    def scores(self, setting: Setting) -> dict[str, float]:
        """Misfit on the places that choose and on those that judge, and how many of the latter are apart."""
        found = self.distances[list(self.part.settings).index(setting)]
        choosing = np.array([self.part.choosing(place) for place in self.places])
        judged = found[~choosing]
        scores = {CHOSEN_ON: misfit(found[choosing])}
        if judged.size:
            scores |= {JUDGED_ON: misfit(judged), APART: 100 * float((judged > 1).mean())}
        return scores

    @property
    def beside(self) -> dict[str, Setting]:
        """The chosen setting, the usual one, and those that differ from the chosen in one thing."""
        best = self.part.settings[self.chosen]
        rows = {f"{self.part.name}: chosen": best, f"{self.part.name}: as our tables had it": self.part.usual}
        for axis in best:
            for value in dict.fromkeys(setting[axis] for setting in self.part.settings):
                other = {**best, axis: value}
                if value != best[axis] and other in self.part.settings:
                    rows[f"{self.part.name}: chosen, but {axis} {in_words(value)}"] = other
        return rows

    @property
    def remaining(self) -> list[Place]:
        """Printed numbers that no setting comes near."""
        return [place for place, nearest in zip(self.places, self.distances.min(axis=0), strict=True) if nearest > 1]


def in_words(value: Any) -> str:
    """The value of a setting."""
    if isinstance(value, tuple):
        return " and ".join(f"{each:g}" for each in value)
    return f"{value:,g}" if isinstance(value, (int, float)) and value < 1e9 else str(value).replace("1000000000.0", "∞")


def described_setting(setting: Setting) -> str:
    """A setting in words."""
    return ", ".join(f"{name}: {in_words(value)}" for name, value in setting.items())
