"""Choosing a map by its feature-aligned drift over older windows of the reference (paper, Discussion)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from biselect.calibrate.calibrator import Calibrator
from biselect.calibrate.decompose import decompose
from biselect.calibrate.frames import rows_of
from biselect.calibrate.maps import map_names
from biselect.errors import InputError

PARTS = 5  # of the reference: older windows, the newest one, and last the rows that are weighed
POOL_ROWS = 1000  # at most
FEWEST_ROWS = 40 * PARTS  # conformal splits a window in halves; with fewer rows the comparison is noise


@dataclass(frozen=True, kw_only=True)
class MapChoice:
    """Which map drifts least.

    Attributes:
        map: its name.
        relative_drift: largest feature-aligned drift in units of the spread of the weights, averaged over the
            older windows, by map.
        why: a sentence for the reader.
    """

    map: str
    relative_drift: dict[str, float]
    why: str


def choose_map(reference: Any, *, calibrator: Callable[[str], Calibrator] = Calibrator, seed: int = 0) -> MapChoice:
    """Compare the maps that need no labels; the rows of the reference must be in the order of time.

    The last fifth is weighed against the fifth before it and, in turn, against each older fifth. Drift is taken
    relative to the spread of a map's weights: in absolute terms a map with small weights would always win.
    """
    total = len(reference)
    if total < FEWEST_ROWS:
        raise InputError(f"map='auto' compares windows of the reference and needs {FEWEST_ROWS} rows, not {total}")
    edges = np.linspace(0, total, PARTS + 1).astype(int).tolist()
    *older, newest, weighed = [rows_of(reference, slice(start, end)) for start, end in pairwise(edges)]
    drawn = np.sort(np.random.default_rng(seed).permutation(len(weighed))[:POOL_ROWS])
    pool = rows_of(weighed, drawn)

    drift = {}
    for name in map_names(supervised=False):
        newer = calibrator(name).fit(newest)
        drift[name] = float(np.mean([_relative_drift(calibrator(name).fit(window), newer, pool) for window in older]))
    ranked = sorted(drift, key=drift.__getitem__)
    best = ranked[0]
    why = (
        f"over {len(older)} older windows of the reference its feature-aligned drift is {drift[best]:.2f} of the "
        f"spread of its weights, the least of {len(drift)} maps (next: {ranked[1]} with {drift[ranked[1]]:.2f})"
    )
    return MapChoice(map=best, relative_drift=drift, why=why)


def _relative_drift(older: Calibrator, newer: Calibrator, pool: Any) -> float:
    shared = [name for name in newer.feature_names if name in older.feature_names]
    before, after = (
        calibrator.weights(pool)[:, [calibrator.feature_names.index(name) for name in shared]]
        for calibrator in (older, newer)
    )
    spread = after.std()
    return decompose(before - after).largest["feature"] / spread if spread > 0 else np.inf
