"""Reading a state of the sector: shots drawn from it, and the whole 2^(N+D) vector for other tools on small cases."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect.simulate.layers import Register

Drawn = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def measure(state: NDArray[Any], shots: int, seed: int | np.random.Generator | None) -> Drawn:
    """Row and column of each distinct choice of a C(N, k) × C(D, m) state, and how often it was seen."""
    if shots < 1:
        raise InputError(f"shots must be at least 1, got {shots}")
    rng = np.random.default_rng(seed)
    by_row = (np.abs(state) ** 2).sum(axis=1, dtype=np.float64)
    per_row = rng.multinomial(shots, by_row / by_row.sum())
    found = []
    for row in np.flatnonzero(per_row):
        weights = np.abs(state[row].astype(np.complex128)) ** 2
        drawn = rng.multinomial(per_row[row], weights / weights.sum())
        seen = np.flatnonzero(drawn)
        found.append((np.full(len(seen), row), seen, drawn[seen]))
    rows, columns, counts = (np.concatenate(parts).astype(np.int64) for parts in zip(*found, strict=True))
    return rows, columns, counts


def embed(state: NDArray[Any], samples: Register, features: Register) -> NDArray[np.complex128]:
    """A sector state as a vector of 2^(N+D) amplitudes; qubit q is bit q of the position (Qiskit's order)."""
    n = samples.n
    rows = (1 << samples.subsets).sum(axis=1)
    columns = (1 << features.subsets).sum(axis=1) << n
    dense = np.zeros(1 << (n + features.n), dtype=np.complex128)
    dense[(rows[:, None] + columns).ravel()] = state.ravel()
    return dense
