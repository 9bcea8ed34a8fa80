"""Deterministic facts about a coupling: separability, what sparsification may cost, why selection is hard."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class RankOneCheck:
    """How far the coupling is from u·vᵀ, for which rows and columns can be chosen apart (Prop rank-one).

    Attributes:
        row_factor: u ≥ 0.
        column_factor: v ≥ 0.
        residual: ‖W - u·vᵀ‖∞.
        separable_share: part of the squared weight that u·vᵀ holds.
        largest_gain: joint selection beats the top k of u with the top m of v by at most this, on the bilinear core.
    """

    row_factor: NDArray[np.float64]
    column_factor: NDArray[np.float64]
    residual: float
    separable_share: float
    largest_gain: float


def rank_one_check(problem: SelectionProblem) -> RankOneCheck:
    """Compare λW with its best rank-one part (leading singular vectors, non-negative for W ≥ 0)."""
    unit = float(np.abs(problem.coupling).max()) or 1.0  # squares of very large weights would overflow
    W = problem.coupling.astype(np.float64) / unit
    unit *= problem.coupling_weight
    if (W < 0).any():
        raise InputError("the rank-one check is stated for weights ≥ 0; this coupling has negative ones")
    # the smaller Gram matrix has the same leading vector and costs min(N, D)² memory only
    wide = W.shape[0] < W.shape[1]
    _, vectors = np.linalg.eigh(W @ W.T if wide else W.T @ W)
    leading = np.abs(vectors[:, -1])
    u, v = (leading, W.T @ leading) if wide else (W @ leading, leading)
    error = W - np.outer(u, v)
    residual = float(np.abs(error).max())
    total = float((W**2).sum())
    return RankOneCheck(
        row_factor=u * unit,
        column_factor=v,
        residual=residual * unit,
        separable_share=1.0 if total == 0 else 1 - float((error**2).sum()) / total,
        largest_gain=2 * problem.k * problem.m * residual * unit,
    )


@dataclass(frozen=True, kw_only=True)
class SparsificationBound:
    """How far energies move when couplings are left out (Eq. sparsification_bound).

    Attributes:
        omitted: how many couplings are left out.
        retained_mass: share of Σ|W| that stays, ρ_SF.
        largest_omitted: τ, the largest `|W_ij|` left out.
        paper: λkmτ, the paper's bound on `|E - Ẽ|`.
        tight: λ times the sum of the km largest `|W_ij|` left out; valid for any mask and never above `paper`.
    """

    omitted: int
    retained_mass: float
    largest_omitted: float
    paper: float
    tight: float

    @property
    def optimality_gap(self) -> float:
        """The sparse optimum's dense energy is above the dense optimum by at most this."""
        return 2 * self.tight


def sparsification_bound(problem: SelectionProblem, kept: ArrayLike) -> SparsificationBound:
    """Bound the cost of keeping only the couplings where `kept` is true."""
    mask = np.asarray(kept, dtype=bool)
    if mask.shape != problem.coupling.shape:
        raise InputError(f"the mask must have the coupling's shape {problem.coupling.shape}, got {mask.shape}")
    weights = np.abs(problem.coupling.astype(np.float64))
    left_out = np.sort(weights[~mask])[::-1]
    total = float(weights.sum())
    largest = float(left_out[0]) if left_out.size else 0.0
    block = problem.k * problem.m
    return SparsificationBound(
        omitted=int(left_out.size),
        retained_mass=1.0 if total == 0 else float(weights[mask].sum()) / total,
        largest_omitted=largest,
        paper=problem.coupling_weight * block * largest,
        tight=problem.coupling_weight * float(left_out[:block].sum()),
    )


def biclique_problem(adjacency: ArrayLike, size: int) -> SelectionProblem:
    """Does a bipartite graph hold a complete K-by-K subgraph? As a selection problem (Prop. cbs_complexity).

    It does exactly where the best score is K², so selection is NP-hard: W is the adjacency, k = m = K, a = b = 0.

    Args:
        adjacency: 0 or 1 for each left and each right vertex.
        size: K.

    >>> biclique_problem([[1, 1, 0], [1, 1, 1]], 2).score([0, 1], [0, 1])
    4.0
    """
    edges = np.asarray(adjacency)
    if edges.ndim != 2 or not np.isin(edges, (0, 1)).all():
        raise InputError(
            "an adjacency must be a matrix of zeros and ones: left vertices as rows, right ones as columns"
        )
    return SelectionProblem(coupling=edges.astype(np.float64), k=size, m=size)
