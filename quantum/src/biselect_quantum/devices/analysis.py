"""Figures of shots: exact-budget mass, hits of the best-known threshold, the low-energy tail, with their uncertainty.

`MeasuredFigures` holds figures of the shots as measured, `RepairedFigures` those after band-1 repair; they are never
mixed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.shots import Shots
from biselect_quantum.simulate.layers import energy_scale, rounding_slack
from biselect_quantum.uniform import uniform_energy

TAIL = 0.05  # of CVaR₅


class Range(NamedTuple):
    """A figure between two others: the ends of an interval, or the lowest and highest repeat."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class MeasuredFigures:
    """Figures of the shots as measured.

    Attributes:
        shots: all of them, over all repeats.
        repeats: how many repeats.
        feasible: shots inside both budgets.
        feasible_rate: p_feas: mean of the repeats, lowest and highest repeat.
        feasible_interval: pooled p_feas with its exact 95 % interval.
        chance: p_chance.
        over_chance: p_feas / p_chance.
        threshold: E_BK.
        hits: shots inside the budgets at or below it.
        hit_rate: pooled p_BK with its exact 95 % interval.
        hit_rate_by_repeat: median, lowest and highest repeat.
        best_energy: lowest dense energy; None without a feasible shot, as are all below.
        mean_energy: of the feasible shots.
        tail_energy: CVaR₅, mean of the lowest 5 % of the feasible shots.
        z_rand: (mean_energy - μ_RF) / σ_RF.
        dense_gap: best_energy above the classical reference.
        improved: share of the shots inside the budgets below the energy of the start; None for a superposition.
        best_energy_by_repeat: median, lowest and highest repeat that had a feasible shot.
    """

    shots: int
    repeats: int
    feasible: int
    feasible_rate: Range
    feasible_interval: Range
    chance: float
    over_chance: float
    threshold: float
    hits: int
    hit_rate: Range
    hit_rate_by_repeat: Range
    best_energy: float | None
    mean_energy: float | None
    tail_energy: float | None
    z_rand: float | None
    dense_gap: float | None
    improved: float | None
    best_energy_by_repeat: Range | None


@dataclass(frozen=True, kw_only=True)
class RepairedFigures:
    """Figures after band-1 repair, on the sparse objective: postprocessing, never a measurement.

    Attributes:
        accepted_rate: share of the shots within one of each budget.
        best_energy: lowest sparse energy after repair; None if nothing was accepted.
        band_1_gap: best_energy above the sparse classical reference.
        strict_gap: the same of the strict shots; None without any.
    """

    accepted_rate: float
    best_energy: float | None
    band_1_gap: float | None
    strict_gap: float | None


def analyse(
    repeats: Sequence[Shots], *, threshold: float, reference: float, start: float | None = None
) -> MeasuredFigures:
    """Figures of strict shots under the dense problem, whose they are.

    The threshold is E_BK, fixed before the run; the reference is the energy of the strict-feasible classical one; the
    start is the energy of the choice that the circuit starts from.
    """
    if not repeats:
        raise InputError("there are no repeats to analyse")
    problem = repeats[0].problem
    goal = goal_of(problem, threshold)
    samples = [shots.samples for shots in repeats]
    shots = np.array([each.shots for each in repeats])
    feasible = np.array([each.shots for each in samples])
    hits = np.array([int(each.counts[each.energies <= goal].sum()) for each in samples])
    energies = np.sort(np.concatenate([np.repeat(each.energies, each.counts) for each in samples]))
    mean, spread = uniform_energy(problem)
    bests = [float(each.energies[0]) for each in samples if each.energies.size]
    average = float(energies.mean()) if energies.size else None
    rates = feasible / shots
    chance = problem.sector.chance
    return MeasuredFigures(
        shots=int(shots.sum()),
        repeats=len(repeats),
        feasible=int(feasible.sum()),
        feasible_rate=Range(float(rates.mean()), float(rates.min()), float(rates.max())),
        feasible_interval=exact_interval(int(feasible.sum()), int(shots.sum())),
        chance=chance,
        over_chance=float(rates.mean()) / chance,
        threshold=threshold,
        hits=int(hits.sum()),
        hit_rate=exact_interval(int(hits.sum()), int(shots.sum())),
        hit_rate_by_repeat=_spanned((hits / shots).tolist()),
        best_energy=min(bests, default=None),
        mean_energy=average,
        tail_energy=float(energies[: max(1, int(np.ceil(TAIL * energies.size)))].mean()) if energies.size else None,
        z_rand=None if average is None or spread == 0 else (average - mean) / spread,
        dense_gap=min(bests) - reference if bests else None,
        improved=None if start is None else float((energies < 2 * start - goal_of(problem, start)).sum() / shots.sum()),
        best_energy_by_repeat=_spanned(bests) if bests else None,
    )


def goal_of(problem: SelectionProblem, threshold: float) -> float:
    """The energy at or below which a choice hits: a shot whose energy is E_BK, but for rounding, counts."""
    return threshold + rounding_slack(energy_scale(problem), np.float64)


def analyse_repaired(repeats: Sequence[Shots], *, reference: float) -> RepairedFigures:
    """Figures after band-1 repair, of shots under the executed objective, the sparse problem.

    The reference is the energy of the sparse classical one.
    """
    if not repeats:
        raise InputError("there are no repeats to analyse")
    accepted = [within_one_of_budget(shots) for shots in repeats]
    best = _lowest(accepted)
    strict = _lowest(repeats)
    return RepairedFigures(
        accepted_rate=sum(each.shots for each in accepted) / sum(each.shots for each in repeats),
        best_energy=best,
        band_1_gap=None if best is None else best - reference,
        strict_gap=None if strict is None else strict - reference,
    )


def within_one_of_budget(shots: Shots) -> Shots:
    """Strings that miss a budget by one at most, projected into the sector: postprocessing, never a measurement.

    A string is accepted if both its counts are within one of (k, m). While a budget is missed, the bit is flipped that
    brings a budget closer and lowers the energy most, that of the executed objective; ties go to the lowest index.
    """
    sparse, n = shots.problem, shots.problem.n_samples
    bits = shots.bits.astype(np.int64)
    accepted = (np.abs(_off(bits, sparse)) <= 1).all(axis=1)
    bits, counts = bits[accepted], shots.counts[accepted]
    register = np.repeat([0, 1], [n, sparse.n_features])
    rows = np.arange(len(bits))
    weights = sparse.coupling_weight * sparse.coupling.astype(np.float64)
    for _ in range(2):  # each budget needs one flip at most
        missed = _off(bits, sparse)[:, register]
        repairs = ((missed == 1) & (bits == 1)) | ((missed == -1) & (bits == 0))
        samples, features = bits[:, :n], bits[:, n:]
        gains = np.hstack([sparse.sample_scores + features @ weights.T, sparse.feature_scores + samples @ weights])
        change = np.where(repairs, np.where(bits == 1, gains, -gains), np.inf)  # what a flip adds to the energy
        best = change.argmin(axis=1)
        able = repairs[rows, best]
        bits[rows[able], best[able]] ^= 1
    return Shots.of_table(bits, counts, problem=sparse)


def _off(bits: NDArray[np.int64], problem: SelectionProblem) -> NDArray[np.int64]:
    """By how much each string misses (k, m), (strings, 2)."""
    n = problem.n_samples
    return np.column_stack([bits[:, :n].sum(axis=1) - problem.k, bits[:, n:].sum(axis=1) - problem.m])


def exact_interval(hits: int, trials: int, level: float = 0.95) -> Range:
    """A share with its Clopper-Pearson interval.

    >>> [round(value, 5) for value in exact_interval(19, 40960)]
    [0.00046, 0.00028, 0.00072]
    """
    from scipy.stats import beta

    if not 0 <= hits <= trials or trials < 1:
        raise InputError(f"hits must lie between 0 and the trials, got {hits} of {trials}")
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, trials - hits + 1))
    high = 1.0 if hits == trials else float(beta.ppf(1 - tail, hits + 1, trials - hits))
    return Range(hits / trials, low, high)


def closed_gap(fixed: float, warm: float, reference: float) -> float | None:
    """g_closed = (E_fixed - E_warm) / (E_fixed - E_class); None where there is no gap to close.

    >>> closed_gap(fixed=-10.0, warm=-18.0, reference=-20.0)
    0.8
    """
    return (fixed - warm) / (fixed - reference) if fixed != reference else None


def pooled(repeats: Sequence[Shots]) -> Shots:
    """The shots of all repeats together."""
    bits, counts = (np.concatenate([getattr(shots, name) for shots in repeats]) for name in ("bits", "counts"))
    return Shots.of_table(bits, counts, problem=repeats[0].problem)


def _spanned(values: Sequence[float]) -> Range:
    return Range(float(np.median(values)), min(values), max(values))


def _lowest(repeats: Sequence[Shots]) -> float | None:
    return min((float(each.samples.energies[0]) for each in repeats if each.samples.energies.size), default=None)
