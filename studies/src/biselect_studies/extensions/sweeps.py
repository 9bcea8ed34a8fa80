"""Drift of weights over time and over the size of the reference, and the choice of the map that drifts least."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from biselect.errors import InputError
from biselect.tables import rows_of, windows_in_time
from biselect.weights.maps import map_names
from biselect.weights.reference_summary import ReferenceSummary
from biselect.weights.weigher import Weigher
from biselect_studies.extensions.drift import Drift, Question, decompose, measure

FRACTIONS = (0.5, 0.25, 0.1, 0.05)  # of the reference, as in the paper's reference-window sweep
REPEATS = 5
PARTS = 5  # of the reference that chooses a map: older windows, the newest one, and last the rows that are weighed
POOL_ROWS = 1000  # at most, weighed to choose a map
FEWEST_ROWS_TO_CHOOSE = 40 * PARTS  # conformal splits a window in halves; with fewer rows the comparison is noise

# what a map is chosen from: those that the paper compares
CANDIDATES = ("ecdf", "conformal", "gaussian", "abs-z", "mad-z", "student-t", "laplace", "pareto")

MakeCalibrator = Callable[[str], Weigher]


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """The drift of every map at one place of a sweep.

    Attributes:
        start: first row of the older window.
        end: one past its last row.
        drifts: one per map.
    """

    start: int
    end: int
    drifts: tuple[Drift, ...]


def compare(
    older: Any,
    newer: Any,
    question: Question,
    *,
    maps: Sequence[str] | None = None,
    calibrator: MakeCalibrator = Weigher,
) -> tuple[Drift, ...]:
    """Drift between two references, tables or summaries, one per map; every map without labels where none are named."""
    return _drifts(older, _fitted(newer, maps, calibrator), question, calibrator)


def lag_sweep(
    reference: Any,
    question: Question,
    *,
    window: int,
    step: int | None = None,
    maps: Sequence[str] | None = None,
    calibrator: MakeCalibrator = Weigher,
) -> list[Point]:
    """Drift of ever older windows against the newest one, oldest first.

    Args:
        reference: rows in the order of time.
        question: pool, budgets and solver.
        window: rows per window; the newest window ends with the last row.
        step: rows between the ends of neighbouring windows; the window itself where None.
        maps: every map without labels where None.
        calibrator: makes an unfitted calibrator of a map's name.
    """
    *older, last = windows_in_time(len(reference), window, step)
    newest = _fitted(rows_of(reference, last), maps, calibrator)
    return [
        Point(
            start=span.start,
            end=span.stop,
            drifts=_drifts(rows_of(reference, span), newest, question, calibrator),
        )
        for span in older
    ]


def shrink_sweep(
    reference: Any,
    question: Question,
    *,
    fractions: Iterable[float] = FRACTIONS,
    repeats: int = REPEATS,
    maps: Sequence[str] | None = None,
    seed: int = 0,
) -> Iterator[tuple[float, tuple[Drift, ...]]]:
    """Drift of random parts of the reference against all of it: (fraction, drifts), `repeats` times a fraction."""
    rng = np.random.default_rng(seed)
    total = len(reference)
    whole = _fitted(reference, maps, Weigher)
    for fraction in fractions:
        for _ in range(repeats):
            rows = np.sort(rng.choice(total, size=round(fraction * total), replace=False))
            yield fraction, _drifts(rows_of(reference, rows), whole, question, Weigher)


def label_free_maps() -> list[str]:
    """Names of all maps but the supervised one."""
    return [name for name in map_names() if name != "logistic"]


def _fitted(reference: Any, maps: Sequence[str] | None, calibrator: MakeCalibrator) -> list[Weigher]:
    return [_fit(calibrator(name), reference) for name in maps or label_free_maps()]


def _drifts(older: Any, newer: list[Weigher], question: Question, calibrator: MakeCalibrator) -> tuple[Drift, ...]:
    return tuple(measure(_fit(calibrator(one.facts.map), older), one, question) for one in newer)


def _fit(calibrator: Weigher, reference: Any) -> Weigher:
    if isinstance(reference, ReferenceSummary):
        return calibrator.fit_summary(reference)
    return calibrator.fit(reference)


class MapChoice(NamedTuple):
    """Which map drifts least, why in a sentence, and each map's feature-aligned drift in spreads of its weights."""

    map: str
    why: str
    relative_drift: dict[str, float]


def choose_map(reference: Any, *, calibrator: MakeCalibrator = Weigher, seed: int = 0) -> MapChoice:
    """Compare the maps that need no labels; the rows of the reference must be in the order of time (paper, Discussion).

    The last fifth is weighed against the fifth before it and, in turn, against each older fifth. Drift is taken
    relative to the spread of a map's weights: in absolute terms a map with small weights would always win.
    """
    total = len(reference)
    if total < FEWEST_ROWS_TO_CHOOSE:
        raise InputError(
            f"the choice of a map compares windows of the reference and needs {FEWEST_ROWS_TO_CHOOSE} rows, not {total}"
        )
    edges = np.linspace(0, total, PARTS + 1).astype(int).tolist()
    *older, newest, weighed = [rows_of(reference, slice(start, end)) for start, end in pairwise(edges)]
    pool = rows_of(weighed, np.sort(np.random.default_rng(seed).permutation(len(weighed))[:POOL_ROWS]))
    drift = {}
    for name in CANDIDATES:
        newer = calibrator(name).fit(newest)
        drift[name] = float(np.mean([_relative_drift(calibrator(name).fit(window), newer, pool) for window in older]))
    ranked = sorted(drift, key=drift.__getitem__)
    best = ranked[0]
    why = (
        f"over {len(older)} older windows of the reference its feature-aligned drift is {drift[best]:.2f} of the "
        f"spread of its weights, the least of {len(drift)} maps (next: {ranked[1]} with {drift[ranked[1]]:.2f}); "
        "that takes the rows as ordered in time"
    )
    return MapChoice(map=best, relative_drift=drift, why=why)


def _relative_drift(older: Weigher, newer: Weigher, pool: Any) -> float:
    shared = [name for name in newer.varying if name in older.varying]
    if not shared:
        return np.inf
    before, after = (
        calibrator.weights(pool)[:, [calibrator.feature_names.index(name) for name in shared]]
        for calibrator in (older, newer)
    )
    spread = after.std()
    return decompose(before - after).largest["feature"] / spread if spread > 0 else np.inf
