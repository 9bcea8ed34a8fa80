"""Shots drawn from a state of the sector."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError

Drawn = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def measure(state: NDArray[Any], shots: int, seed: int | np.random.Generator | None) -> Drawn:
    """Row and column of each distinct choice of a C(N, k) × C(D, m) state, and how often it was seen."""
    if shots < 1:
        raise InputError(f"shots must be at least 1, got {shots}")
    rng = np.random.default_rng(seed)
    by_row = (np.abs(state) ** 2).sum(axis=1, dtype=np.float64)
    per_row = rng.multinomial(shots, by_row / by_row.sum())
    rows: list[int] = []
    columns: list[int] = []
    counts: list[int] = []
    for row in np.flatnonzero(per_row).tolist():
        weights = np.abs(state[row].astype(np.complex128)) ** 2
        drawn = rng.multinomial(per_row[row], weights / weights.sum())
        seen = np.flatnonzero(drawn)
        rows += [row] * len(seen)
        columns += seen.tolist()
        counts += drawn[seen].tolist()
    return np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64), np.array(counts, dtype=np.int64)
