"""Surrogates with a mean field, what becomes of dropped couplings, and how well a surrogate serves the dense problem.

A plain mask, W̃ = M ⊙ W, forgets every dropped coupling. Masks and problems are in the same order. Fields are free on
hardware, so what a dropped coupling adds on average can stay in them.
With s̄_i and f̄_j the chances that sample i and feature j are chosen,

    ã_i = a_i + λ Σ_j (1 - M_ij) W_ij f̄_j,   b̃_j = b_j + λ Σ_i (1 - M_ij) W_ij s̄_i

Only the fluctuations (s - s̄)(f - f̄) of dropped couplings are lost. Uniform chances m/D and k/N give the best fit over
the whole sector; chances at a temperature, where every item sees the mean field of all others, fit its low-energy part.
At a temperature of nought that is coordinate ascent, so the temperature decides how much of a classical answer is put
into the fields; `choose_surrogate` takes the one whose own low-energy states are lowest in the dense objective.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.core.rules import Blocks
from biselect.core.sector import count_in_words
from biselect.errors import InputError
from biselect.solvers import solve
from biselect_quantum.devices.masks import Mask, dropped_sizes, masked
from biselect_quantum.simulate.layers import energy_table
from biselect_quantum.uniform import uniform_energy

__all__ = ["Agreement", "Surrogate", "agreement", "choose_surrogate", "low_energy_overlap", "sparse_optimum"]

TEMPERATURES = (np.inf, 1.0, 0.5, 0.25)  # of the mean field, in spreads of the items' scores
NOISE = 0.25  # temperature of the low-energy states that candidates are judged by, in the same unit
DRAWS = 32
STEPS, STILL = 500, 1e-9  # of the mean-field iteration

MOST_ENDS = 20  # ends of couplings on one side that are enumerated
MOST_STATES = 20_000_000  # a sector that is listed in full

Floats = NDArray[np.float64]
Choice = tuple[NDArray[np.int64], NDArray[np.int64]]


def threshold_mask(problem: SelectionProblem, threshold: float) -> Mask:
    """Couplings of `|W| ≥ τ`; what is left out obeys Eq. sparsification_bound."""
    if not threshold >= 0:
        raise InputError(f"the threshold must be a number, 0 or more, got {threshold}")
    return np.abs(problem.coupling) >= threshold


def threshold_bound(problem: SelectionProblem, mask: ArrayLike) -> float:
    """λkmτ with τ the largest dropped |W| (Eq. sparsification_bound)."""
    dropped = dropped_sizes(problem, mask)
    return problem.coupling_weight * problem.k * problem.m * float(dropped.max())


@dataclass(frozen=True, kw_only=True, eq=False)
class Surrogate:
    """An objective with few couplings, run in the place of a dense one.

    Attributes:
        problem: the surrogate itself.
        temperature: of the mean field in its fields, in spreads of the items' scores; None for the plain mask.
        low_energy: mean dense energy of its low-energy states.
    """

    problem: SelectionProblem
    temperature: float | None
    low_energy: float


def choose_surrogate(
    problem: SelectionProblem,
    mask: ArrayLike,
    *,
    temperatures: Sequence[float] = TEMPERATURES,
    seed: int | np.random.Generator | None = 0,
) -> Surrogate:
    """The plain mask or a mean-field one, whichever's low-energy states are lowest in the dense objective.

    Args:
        problem: the dense problem.
        mask: which couplings stay.
        temperatures: of the mean-field candidates; infinity for uniform chances.
        seed: of the draws that judge them, the same for all.
    """
    noise = np.random.default_rng(seed).gumbel(size=(DRAWS, problem.n_samples + problem.n_features))
    best: Surrogate | None = None
    for temperature in (None, *temperatures):
        candidate = masked(problem, mask) if temperature is None else mean_field(problem, mask, temperature)
        low = _low_energy(problem, candidate, noise)
        if best is None or low < best.low_energy - 1e-9 * abs(best.low_energy):
            best = Surrogate(problem=candidate, temperature=temperature, low_energy=low)
    assert best is not None
    return best


def mean_field(problem: SelectionProblem, mask: ArrayLike, temperature: float = np.inf) -> SelectionProblem:
    """The masked problem with the mean of what is dropped in its fields.

    The temperature is in spreads of the items' scores; infinity is for uniform chances.
    """
    if not temperature > 0:
        raise InputError(f"the temperature must be above 0, got {temperature}")
    sparse = masked(problem, mask)
    weights = problem.coupling_weight * problem.coupling.astype(np.float64)
    dropped = weights - problem.coupling_weight * sparse.coupling.astype(np.float64)
    s, f = _chances(problem, weights, temperature * _spread(problem, weights))
    return replace(
        sparse, sample_scores=problem.sample_scores + dropped @ f, feature_scores=problem.feature_scores + s @ dropped
    )


def _chances(problem: SelectionProblem, weights: Floats, heat: float) -> tuple[Floats, Floats]:
    """s̄ and f̄ where each is what the other's mean field gives; the walk starts from uniform ones and moves halfway."""
    samples, features = problem.sector.blocks
    s, f = samples.chances(problem.n_samples), features.chances(problem.n_features)
    if not 0 < heat < np.inf:  # no spread at all: nothing tells items apart
        return s, f
    for _ in range(STEPS):
        new_s = _filled(problem.sample_scores + weights @ f, samples, heat)
        new_f = _filled(problem.feature_scores + s @ weights, features, heat)
        if max(np.abs(new_s - s).max(), np.abs(new_f - f).max()) < STILL:
            break
        s, f = (s + new_s) / 2, (f + new_f) / 2
    return s, f


def _filled(scores: Floats, blocks: Blocks, heat: float) -> Floats:
    """The filling of every block by itself."""
    found = blocks.chances(scores.size)
    for members, ones in blocks.parts:
        found[list(members)] = filling(scores[list(members)], ones, heat)
    return found


def filling(scores: Floats, budget: int, heat: float) -> Floats:
    """Fermi filling 1 / (1 + exp((μ - score) / T)) with μ such that the chances add up to the budget."""
    if budget == scores.size:
        return np.ones(scores.size)
    low, high = scores.min() - 60 * heat, scores.max() + 60 * heat
    for _ in range(80):
        middle = (low + high) / 2
        chances = 1 / (1 + np.exp(np.clip((middle - scores) / heat, -700, 700)))
        low, high = (middle, high) if chances.sum() > budget else (low, middle)
    return chances


def _low_energy(problem: SelectionProblem, surrogate: SelectionProblem, noise: Floats) -> float:
    """Mean dense energy of the surrogate's optima under Gumbel noise on its fields, close to Boltzmann draws."""
    weights = surrogate.coupling_weight * surrogate.coupling.astype(np.float64)
    heat = NOISE * _spread(surrogate, weights)
    n = problem.n_samples
    choices = [
        sparse_optimum(
            replace(
                surrogate,
                sample_scores=surrogate.sample_scores + heat * draw[:n],
                feature_scores=surrogate.feature_scores + heat * draw[n:],
            )
        )
        for draw in noise
    ]
    return float(problem.energies(*(np.array(side) for side in zip(*choices, strict=True))).mean())


def _spread(problem: SelectionProblem, weights: Floats) -> float:
    """How far items' scores lie apart, in the mean field of uniform chances."""
    samples = problem.sample_scores + weights.sum(axis=1) * problem.m / problem.n_features
    features = problem.feature_scores + weights.sum(axis=0) * problem.k / problem.n_samples
    return float(np.sqrt((samples.var() + features.var()) / 2))


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
    if problem.sample_rules or problem.feature_rules:
        return sparse_optimum(replace(problem, coupling=np.zeros(problem.coupling.shape)))
    samples = np.argsort(-problem.sample_scores, kind="stable")[: problem.k]
    return np.sort(samples), np.sort(np.argsort(-problem.feature_scores, kind="stable")[: problem.m])


def low_energy_overlap(problem: SelectionProblem, surrogate: SelectionProblem, states: int = 100) -> float:
    """Share of the dense problem's `states` lowest choices that are among the surrogate's lowest; ties by rank.

    Both sectors are listed in full, so this is for tens of millions of choices at most.
    """
    _refuse_other_size(problem, surrogate)
    size = problem.sector.size
    if size > MOST_STATES:
        raise InputError(
            f"the sector has {count_in_words(size)} choices; low-energy states are listed for {MOST_STATES:,} at most. "
            "Compare the two on fewer samples or features"
        )
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
