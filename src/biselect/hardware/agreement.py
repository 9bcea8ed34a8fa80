"""How well a sparse surrogate serves the dense objective: its exact optimum rescored, and its low-energy states."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.uniform import uniform_energy
from biselect.errors import InputError
from biselect.solvers import solve

__all__ = ["Agreement", "agreement", "low_energy_overlap", "sparse_optimum"]

MOST_ENDS = 20  # ends of couplings on one side that are enumerated
MOST_STATES = 20_000_000  # a sector that is listed in full

Floats = NDArray[np.float64]
Choice = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Agreement:
    """A surrogate's exact optimum x*_sp, judged by the dense problem.

    Attributes:
        choice: x*_sp as samples and features.
        dense_energy: E_d(x*_sp).
        dense_gain: g_dense (Eq. dense_reference_gain_retained): 1 at the dense reference, 0 at the random mean.
        gain_over_diagonal: how much lower x*_sp is than the choice by marginals alone, in the surrogate's own energy.
    """

    choice: Choice
    dense_energy: float
    dense_gain: float
    gain_over_diagonal: float


def agreement(problem: SelectionProblem, surrogate: SelectionProblem, reference: float | None = None) -> Agreement:
    """Solve the surrogate exactly, and rescore its optimum on the dense problem.

    Args:
        problem: the dense problem.
        surrogate: another objective over the same samples and features, `masked(problem, mask)` say.
        reference: E_class,d, the energy of the dense classical reference; the proven optimum if not given.
    """
    _refuse_other_size(problem, surrogate)
    best = solve(problem, "exact").energy if reference is None else reference
    choice = sparse_optimum(surrogate)
    mean, energy = uniform_energy(problem)[0], problem.energy(*choice)
    span = mean - best
    return Agreement(
        choice=choice,
        dense_energy=energy,
        dense_gain=(mean - energy) / span if span > 0 else 1.0,
        gain_over_diagonal=surrogate.energy(*diagonal_choice(surrogate)) - surrogate.energy(*choice),
    )


def sparse_optimum(problem: SelectionProblem) -> Choice:
    """The exact optimum of a problem with few couplings.

    Every subset A of the samples that have couplings is tried, on the side where there are fewer: given A the features'
    scores are b_j + λ Σ_{i∈A} W_ij, the best m win, and the best free samples fill the budget. With more than 20 such
    ends on both sides the exact solver takes over.
    """
    coupling = problem.coupling_weight * problem.coupling.astype(np.float64)
    rows, columns = coupling.any(axis=1).sum(), coupling.any(axis=0).sum()
    if min(rows, columns) > MOST_ENDS or problem.sample_rules or problem.feature_rules:
        found = solve(problem, "exact")
        return found.samples, found.features
    a, b = problem.sample_scores, problem.feature_scores
    if rows <= columns:
        return _by_subsets(coupling, a, b, problem.k, problem.m)
    features, samples = _by_subsets(coupling.T, b, a, problem.m, problem.k)
    return samples, features


def _by_subsets(coupling: Floats, line_scores: Floats, scores: Floats, lines: int, items: int) -> Choice:
    """The best `lines` lines and `items` items; `ends` are the lines that have couplings."""
    ends = np.flatnonzero(coupling.any(axis=1))
    free = np.setdiff1d(np.arange(line_scores.size), ends)
    free = free[np.argsort(-line_scores[free], kind="stable")]
    filled = np.concatenate([[0.0], np.cumsum(line_scores[free])])
    chosen = (np.arange(2**ends.size)[:, None] >> np.arange(ends.size)) & 1
    missing = lines - chosen.sum(axis=1)
    possible = (missing >= 0) & (missing <= free.size)
    chosen, missing = chosen[possible], missing[possible]
    best, best_score = 0, -np.inf
    for begin, end in pairwise([*range(0, len(chosen), 4096), len(chosen)]):
        responses = np.sort(scores + chosen[begin:end] @ coupling[ends], axis=1)[:, -items:].sum(axis=1)
        totals = responses + chosen[begin:end] @ line_scores[ends] + filled[missing[begin:end]]
        top = int(totals.argmax())
        if totals[top] > best_score:
            best, best_score = begin + top, float(totals[top])
    picked = np.concatenate([ends[chosen[best] == 1], free[: missing[best]]])
    response = scores + coupling[picked].sum(axis=0)
    return np.sort(picked), np.sort(np.argsort(-response, kind="stable")[:items])


def diagonal_choice(problem: SelectionProblem) -> Choice:
    """The best k samples and m features by their marginals alone; ties go to the lowest index."""
    samples = np.argsort(-problem.sample_scores, kind="stable")[: problem.k]
    return np.sort(samples), np.sort(np.argsort(-problem.feature_scores, kind="stable")[: problem.m])


def low_energy_overlap(problem: SelectionProblem, surrogate: SelectionProblem, states: int = 100) -> float:
    """Share of the dense problem's `states` lowest choices that are among the surrogate's lowest; ties by rank.

    Both sectors are listed in full, so this is for tens of millions of choices at most.
    """
    from biselect.simulate.layers import energy_table

    _refuse_other_size(problem, surrogate)
    size = problem.sector.size
    if size > MOST_STATES:
        raise InputError(f"the sector has {size} choices; low-energy states are listed for {MOST_STATES} at most")
    if not 1 <= states <= size:
        raise InputError(f"states must lie within 1..{size}, got {states}")
    lowest = [set(_lowest(energy_table(each).ravel(), states).tolist()) for each in (problem, surrogate)]
    return len(lowest[0] & lowest[1]) / states


def _lowest(energies: Floats, states: int) -> NDArray[np.int64]:
    """Positions of the lowest energies; among equals at the edge the lowest positions."""
    edge = np.partition(energies, states - 1)[states - 1]
    below = np.flatnonzero(energies < edge)
    return np.concatenate([below, np.flatnonzero(energies == edge)[: states - below.size]])


def _refuse_other_size(problem: SelectionProblem, surrogate: SelectionProblem) -> None:
    if surrogate.coupling.shape != problem.coupling.shape or (surrogate.k, surrogate.m) != (problem.k, problem.m):
        raise InputError("a surrogate must have the size and the budgets of the problem")
