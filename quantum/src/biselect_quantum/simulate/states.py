"""Reading a state of the sector: shots drawn from it, and the whole 2^(N+D) vector for other tools on small cases."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_quantum.simulate.layers import Register
from biselect_quantum.simulate.limits import NEVER, Stop, check_stop, parts

BINS, FEW = 4096, 4096  # of values that a quantile is looked for among

Drawn = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def sample_state(state: NDArray[Any], shots: int, seed: int | np.random.Generator | None, stop: Stop = NEVER) -> Drawn:
    """Row and column of each distinct choice of a C(N, k) × C(D, m) state, and how often it was seen."""
    if shots < 1:
        raise InputError(f"shots must be at least 1, got {shots}")
    rng = np.random.default_rng(seed)
    by_row = np.empty(len(state))
    for part in parts(len(state), state.shape[1], stop):
        by_row[part] = (np.abs(state[part]) ** 2).sum(axis=1, dtype=np.float64)
    per_row = rng.multinomial(shots, by_row / by_row.sum())
    draws = []
    for row in np.flatnonzero(per_row):
        check_stop(stop)
        weights = np.abs(state[row].astype(np.complex128)) ** 2
        hits = rng.multinomial(per_row[row], weights / weights.sum())
        hit_columns = np.flatnonzero(hits)
        draws.append((np.full(len(hit_columns), row), hit_columns, hits[hit_columns]))
    rows, columns, counts = (np.concatenate(parts).astype(np.int64) for parts in zip(*draws, strict=True))
    return rows, columns, counts


def quantile(values: NDArray[np.float64], weights: NDArray[np.float64], share: float, stop: Stop = NEVER) -> float:
    """The lowest value up to which the values hold this share of all weight.

    Values go into bins, and those of the bin in question into bins again, so that no table of millions is sorted.
    """
    values, weights = values.ravel(), weights.ravel()
    below, goal = 0.0, share * float(weights.sum())
    while values.size > FEW:
        low, high = float(values.min()), float(values.max())
        scale = BINS / (high - low) if high > low else np.inf
        if not np.isfinite(scale):
            break
        bins = np.empty(values.size, dtype=np.int16)
        mass = np.zeros(BINS)
        for part in parts(values.size, 1, stop):
            bins[part] = np.minimum((values[part] - low) * scale, BINS - 1)
            mass += np.bincount(bins[part], weights[part], BINS)
        reached = below + np.cumsum(mass)
        own = min(int(np.searchsorted(reached, goal)), int(np.flatnonzero(mass)[-1]))
        below = float(reached[own - 1]) if own else below
        in_bin = bins == own
        values, weights = values[in_bin], weights[in_bin]
    order = np.argsort(values, kind="stable")
    place = int(np.searchsorted(below + np.cumsum(weights[order]), goal))
    return float(values[order[min(place, values.size - 1)]])


def dense_vector(state: NDArray[Any], samples: Register, features: Register) -> NDArray[np.complex128]:
    """A sector state as a vector of 2^(N+D) amplitudes; qubit q is bit q of the position (Qiskit's order)."""
    n = samples.n
    rows = (1 << samples.subsets).sum(axis=1)
    columns = (1 << features.subsets).sum(axis=1) << n
    dense = np.zeros(1 << (n + features.n), dtype=np.complex128)
    dense[(rows[:, None] + columns).ravel()] = state.ravel()
    return dense
