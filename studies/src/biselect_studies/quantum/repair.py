"""Repair: strings that just miss the budgets, taken for the best choice that one misread bit a side could have made.

A string whose counts are within one of (k, m) has few sources at the smallest distance: one bit too many, and each of
the ones may be it; one too few, and each of the zeros. The source with the lowest energy of the original problem is
taken. This is postprocessing and not a measurement. A classical repair finds good choices in any noise, so what it
makes of random strings stands beside it: of uniform ones, and of ones with as many 1s on each side as were measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect_quantum.devices.analysis import Range, exact_interval, pooled
from biselect_quantum.shots import Shots

TOGETHER = 1 << 22  # energies that are looked at at a time
CONTROL = 100_000  # random strings at least that repair is held against


@dataclass(frozen=True, kw_only=True)
class Mended:
    """Figures after repair: postprocessing, never a measurement. Shares are of all shots taken, calibration included.

    Attributes:
        accepted_rate: share of the measured shots within one of each budget.
        hits: shots that are at or below E_BK as measured or after repair.
        hit_rate: these among all shots taken, with its exact 95 % interval.
        strict_hit_rate: the same of the shots as measured.
        uniform_hit_rate: what the same repair makes of uniformly random strings.
        shuffled_hit_rate: what it makes of random strings with as many ones on each side as those measured.
        best_energy: the lowest; None if nothing was accepted.
    """

    accepted_rate: float
    hits: int
    hit_rate: Range
    strict_hit_rate: Range
    uniform_hit_rate: Range
    shuffled_hit_rate: Range
    best_energy: float | None


def mend(repeats: Sequence[Shots], *, goal: float, taken: int, seed: int = 0) -> Mended:
    """Repair what was measured, and random strings beside it.

    Args:
        repeats: decoded shots of the original problem, whose energies choose among sources.
        goal: energy at or below which a choice hits.
        taken: all shots that were taken, calibration included.
        seed: draws the random strings.
    """
    found, problem = pooled(repeats), repeats[0].problem
    strict, repaired = found.samples, repair(found).samples
    rng = np.random.default_rng(seed)
    draws = max(CONTROL, found.shots)
    uniform = rng.integers(2, size=(draws, found.bits.shape[1]), dtype=np.uint8)
    weights = found.bits[rng.choice(len(found.bits), draws, p=found.counts / found.shots)]
    shuffled = np.hstack([rng.permuted(side, axis=1) for side in np.split(weights, [problem.n_samples], axis=1)])

    def of_random(bits: NDArray[np.uint8]) -> Range:
        made = repair(Shots.of_table(bits, problem=problem)).samples
        return exact_interval(int(made.counts[made.energies <= goal].sum()), draws)

    hits = [int(each.counts[each.energies <= goal].sum()) for each in (strict, repaired)]
    return Mended(
        accepted_rate=repaired.shots / found.shots,
        hits=hits[1],
        hit_rate=exact_interval(hits[1], taken),
        strict_hit_rate=exact_interval(hits[0], taken),
        uniform_hit_rate=of_random(uniform),
        shuffled_hit_rate=of_random(shuffled),
        best_energy=float(repaired.energies[0]) if repaired.energies.size else None,
    )


def repair(shots: Shots) -> Shots:
    """Strings within one of each budget as the choice of lowest energy that is nearest; all others are left out.

    Strings inside the budgets stay as they are. Equal energies go to the lowest index.
    """
    problem = shots.problem
    budgets = np.array([problem.k, problem.m])
    bits, n = shots.bits.astype(np.int64), problem.n_samples
    off = np.column_stack([bits[:, :n].sum(axis=1), bits[:, n:].sum(axis=1)]) - budgets
    accepted = (np.abs(off) <= 1).all(axis=1)
    bits, off, counts = bits[accepted], off[accepted], shots.counts[accepted]
    size = (n + 1) * (problem.n_features + 1)
    for first in range(0, len(bits), max(1, TOGETHER // size)):
        part = slice(first, first + max(1, TOGETHER // size))
        _flip(bits[part], off[part], problem)
    made = Shots.of_table(bits, counts, problem=problem)
    return Shots(bits=made.bits[made.inside], counts=made.counts[made.inside], problem=problem)  # the rules too


def _flip(bits: NDArray[np.int64], off: NDArray[np.int64], problem: SelectionProblem) -> None:
    """Flip, in place, the bits that lead to the lowest energy: one on each side that misses its budget."""
    n = problem.n_samples
    samples, features = bits[:, :n], bits[:, n:]
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    turn = [2 * side - 1.0 for side in (samples, features)]  # +1 where a flip takes a one away
    change = [
        turn[0] * (problem.sample_scores + features @ weights.T),
        turn[1] * (problem.feature_scores + samples @ weights),
    ]
    table = np.full((len(bits), n + 1, problem.n_features + 1), np.inf)  # what flips add; the last place is no flip
    table[:, :n, :-1] = change[0][:, :, None] + change[1][:, None, :]
    table[:, :n, :-1] -= turn[0][:, :, None] * weights * turn[1][:, None, :]
    table[:, :n, -1], table[:, n, :-1], table[:, n, -1] = change[0], change[1], 0.0
    for axis, side in ((1, samples), (2, features)):
        missed = off[:, axis - 1, None]
        able = np.hstack([np.where(missed == 1, side == 1, (missed == -1) & (side == 0)), missed == 0])
        table = np.where(np.expand_dims(able, 3 - axis), table, np.inf)
    rows, best = np.arange(len(bits)), table.reshape(len(bits), -1).argmin(axis=1)
    for place, column in ((best // table.shape[2], 0), (best % table.shape[2], n)):
        flips = place < (n, problem.n_features)[column > 0]
        bits[rows[flips], column + place[flips]] ^= 1
