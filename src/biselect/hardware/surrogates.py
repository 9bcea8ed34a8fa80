"""Surrogates: which couplings stay in the phase separator, and what becomes of the rest.

A plain mask, W̃ = M ⊙ W, forgets every dropped coupling. Masks and problems are in the same order: for a hardware mask,
that of the placed problem. Fields are free on hardware, so what a dropped coupling adds on average can stay in them.
With s̄_i and f̄_j the chances that sample i and feature j are chosen,

    ã_i = a_i + λ Σ_j (1 - M_ij) W_ij f̄_j,   b̃_j = b_j + λ Σ_i (1 - M_ij) W_ij s̄_i

Only the fluctuations (s - s̄)(f - f̄) of dropped couplings are lost. Uniform chances m/D and k/N give the best fit over
the whole sector; chances at a temperature, where every item sees the mean field of all others, fit its low-energy part.
At a temperature of nought that is coordinate ascent, so the temperature decides how much of a classical answer is put
into the fields; `choose_surrogate` takes the one whose own low-energy states are lowest in the dense objective.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.hardware.agreement import sparse_optimum
from biselect.hardware.patches import Patch

TEMPERATURES = (np.inf, 1.0, 0.5, 0.25)  # of the mean field, in spreads of the items' scores
NOISE = 0.25  # temperature of the low-energy states that candidates are judged by, in the same unit
DRAWS = 32
STEPS, STILL = 500, 1e-9  # of the mean-field iteration

Mask = NDArray[np.bool_]


def hardware_mask(patch: Patch) -> Mask:
    """The couplings that cross edges of a patch carry without routing."""
    mask = np.zeros((patch.n_samples, patch.n_features), dtype=bool)
    mask[tuple(np.array(patch.cross_edges, dtype=np.int64).reshape(-1, 2).T)] = True
    return mask


def threshold_mask(problem: SelectionProblem, threshold: float) -> Mask:
    """Couplings of `|W| ≥ τ`; what is left out obeys Eq. sparsification_bound."""
    if not threshold >= 0:
        raise InputError(f"the threshold must be a number, 0 or more, got {threshold}")
    return np.abs(problem.coupling) >= threshold


def top_mask(problem: SelectionProblem, count: int) -> Mask:
    """The `count` couplings of largest `|W|`; ties go to the lowest index."""
    cells = problem.coupling.size
    if not 0 <= count <= cells:
        raise InputError(f"the mask must keep between 0 and {cells} couplings, got {count}")
    order = np.argsort(-np.abs(problem.coupling), axis=None, kind="stable")
    mask = np.zeros(cells, dtype=bool)
    mask[order[:count]] = True
    return mask.reshape(problem.coupling.shape)


def masked(problem: SelectionProblem, mask: ArrayLike) -> SelectionProblem:
    """The sparse problem, W̃ = M ⊙ W."""
    return replace(problem, coupling=np.where(_checked(problem, mask), problem.coupling, 0.0))


def retained_mass(problem: SelectionProblem, mask: ArrayLike) -> tuple[float, float]:
    """R_SF = Σ M|W| and its share ρ_SF of Σ|W|; the share is 1 where there is nothing to lose.

    >>> problem = SelectionProblem(coupling=[[3.0, 1.0]], k=1, m=1)
    >>> retained_mass(problem, [[True, False]])
    (3.0, 0.75)
    """
    sizes = np.abs(problem.coupling.astype(np.float64))
    kept, total = float(sizes[_checked(problem, mask)].sum()), float(sizes.sum())
    return kept, kept / total if total else 1.0


def distortion_bound(problem: SelectionProblem, mask: ArrayLike) -> float:
    """The most that |E - Ẽ| can be for any choice inside the budgets.

    The paper's λkmτ takes the largest dropped |W| for every one of the k·m pairs (Eq. sparsification_bound); here every
    sample counts with its m largest dropped ones, and the k heaviest samples count. It is never above λkmτ.
    """
    dropped = _dropped(problem, mask)
    by_sample = np.sort(np.sort(dropped, axis=1)[:, -problem.m :].sum(axis=1))[-problem.k :].sum()
    by_feature = np.sort(np.sort(dropped, axis=0)[-problem.k :].sum(axis=0))[-problem.m :].sum()
    return problem.coupling_weight * float(min(by_sample, by_feature))


def threshold_bound(problem: SelectionProblem, mask: ArrayLike) -> float:
    """λkmτ with τ the largest dropped |W| (Eq. sparsification_bound)."""
    dropped = _dropped(problem, mask)
    return problem.coupling_weight * problem.k * problem.m * float(dropped.max())


def _dropped(problem: SelectionProblem, mask: ArrayLike) -> NDArray[np.float64]:
    """|W| where it is left out, 0 elsewhere."""
    return np.abs(np.where(_checked(problem, mask), 0.0, problem.coupling.astype(np.float64)))


def _checked(problem: SelectionProblem, mask: ArrayLike) -> Mask:
    found = np.asarray(mask)
    if found.shape != problem.coupling.shape or found.dtype != np.bool_:
        raise InputError(f"a mask must be {problem.n_samples} × {problem.n_features} truth values")
    return found


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


def _chances(
    problem: SelectionProblem, weights: NDArray[np.float64], heat: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """s̄ and f̄ where each is what the other's mean field gives; the walk starts from uniform ones and moves halfway."""
    s = np.full(problem.n_samples, problem.k / problem.n_samples)
    f = np.full(problem.n_features, problem.m / problem.n_features)
    if not 0 < heat < np.inf:  # no spread at all: nothing tells items apart
        return s, f
    for _ in range(STEPS):
        new_s = filling(problem.sample_scores + weights @ f, problem.k, heat)
        new_f = filling(problem.feature_scores + s @ weights, problem.m, heat)
        if max(np.abs(new_s - s).max(), np.abs(new_f - f).max()) < STILL:
            break
        s, f = (s + new_s) / 2, (f + new_f) / 2
    return s, f


def filling(scores: NDArray[np.float64], budget: int, heat: float) -> NDArray[np.float64]:
    """Fermi filling 1 / (1 + exp((μ - score) / T)) with μ such that the chances add up to the budget."""
    if budget == scores.size:
        return np.ones(scores.size)
    low, high = scores.min() - 60 * heat, scores.max() + 60 * heat
    for _ in range(80):
        middle = (low + high) / 2
        chances = 1 / (1 + np.exp(np.clip((middle - scores) / heat, -700, 700)))
        low, high = (middle, high) if chances.sum() > budget else (low, middle)
    return chances


def _low_energy(problem: SelectionProblem, surrogate: SelectionProblem, noise: NDArray[np.float64]) -> float:
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


def _spread(problem: SelectionProblem, weights: NDArray[np.float64]) -> float:
    """How far items' scores lie apart, in the mean field of uniform chances."""
    samples = problem.sample_scores + weights.sum(axis=1) * problem.m / problem.n_features
    features = problem.feature_scores + weights.sum(axis=0) * problem.k / problem.n_samples
    return float(np.sqrt((samples.var() + features.var()) / 2))
