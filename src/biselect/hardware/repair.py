"""Band-1 repair: samples that miss a budget by one, projected into the sector. Postprocessing, never a measurement.

A string is accepted if both its counts are within one of (k, m). While a budget is missed, the bit is flipped that
brings a budget closer and lowers the sparse energy most. Strict figures never see a repaired string.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.hardware.decode import Bits, Shots


def band_1(shots: Shots, sparse: SelectionProblem) -> Shots:
    """The accepted strings, all inside the budgets.

    Args:
        shots: decoded, in the order of `sparse`.
        sparse: the executed objective, by which flips are chosen; ties go to the lowest index.
    """
    n = sparse.n_samples
    bits = shots.bits.astype(np.int64)
    off = _off(bits, sparse)
    accepted = (np.abs(off) <= 1).all(axis=1)
    bits, counts = bits[accepted], shots.counts[accepted]
    register = np.r_[np.zeros(n, dtype=np.int64), np.ones(sparse.n_features, dtype=np.int64)]
    rows = np.arange(len(bits))
    for _ in range(2):  # each budget needs one flip at most
        missed = _off(bits, sparse)[:, register]
        repairs = ((missed == 1) & (bits == 1)) | ((missed == -1) & (bits == 0))
        change = np.where(repairs, flip_changes(bits, sparse), np.inf)
        best = change.argmin(axis=1)
        able = repairs[rows, best]
        bits[rows[able], best[able]] ^= 1
    return Shots.of_table(bits, counts)


def flip_changes(bits: NDArray[np.int64] | Bits, problem: SelectionProblem) -> NDArray[np.float64]:
    """What flipping each bit would add to the energy, (strings, N + D)."""
    samples, features = bits[:, : problem.n_samples], bits[:, problem.n_samples :]
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    gains = np.hstack([problem.sample_scores + features @ weights.T, problem.feature_scores + samples @ weights])
    return np.where(bits == 1, gains, -gains)


def _off(bits: NDArray[np.int64], problem: SelectionProblem) -> NDArray[np.int64]:
    """By how much each string misses (k, m), (strings, 2)."""
    n = problem.n_samples
    return np.column_stack([bits[:, :n].sum(axis=1) - problem.k, bits[:, n:].sum(axis=1) - problem.m])
