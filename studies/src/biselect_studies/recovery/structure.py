"""A problem at hand: its signal and noise, how separable it is, what sparsification may cost, why it is hard."""

from dataclasses import dataclass
from math import log, sqrt

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


LARGE_BLOCK = 0.1  # share of the pool beyond which leaving the block out would bias what is left


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What the data say about the planted model W = μ·1[S*×F*] + noise (a common level of all entries cancels).

    Attributes:
        observed_signal: mean of the chosen block above the mean of the background, or above what the chosen rows and
            columns hold elsewhere lets one expect of it, whichever is less.
        signal: a lower confidence bound on μ that allows for the block having been chosen for its weight.
        deviation: standard deviation of the background, or more where its tails ask for it; taken for σ.
        half_range: half the distance between the smallest and the largest background weight.
        unevenness: largest distance of a feature's background mean from the overall mean.
        at_cap: share of the chosen block that sits at the largest weight there is.
        source: where the background was taken from.
    """

    observed_signal: float
    signal: float
    deviation: float
    half_range: float
    unevenness: float
    at_cap: float
    source: str


def estimate(
    problem: SelectionProblem,
    samples: NDArray[np.int64],
    features: NDArray[np.int64],
    *,
    delta: float = 0.05,
    background: ArrayLike | None = None,
    correlation: float = 0.0,
) -> Estimate:
    """Estimate from a chosen block and a background.

    The block was chosen for being heavy, so its mean overstates μ. No block of M exceeds its own mean by more than
    s√(2 log(M/δ)) with probability 1 - δ, where s² = σ²((1 - r)/(km) + r/m) is the variance of a block's mean under
    normal noise; that much is taken off. σ and the level are estimates, so the bound is as good as they are.

    Args:
        problem: whose coupling is looked at.
        samples: the chosen samples.
        features: the chosen features.
        delta: failure probability of the confidence bound.
        background: weights of rows known to be normal, in the same columns; without it the pool serves. A block of
            more than a tenth of it is left in: without its heaviest part the rest would look tamer than noise is.
        correlation: r between the noise of two samples in one feature.
    """
    W = problem.coupling.astype(np.float64)
    block = W[np.ix_(samples, features)]
    if not 0 < delta < 1:
        raise InputError(f"delta (δ) must lie between 0 and 1, got {delta:g}")
    if background is None and block.size > LARGE_BLOCK * W.size:
        normal, source = W.ravel(), "the level of the whole pool"
        columns = W.mean(axis=0)
    elif background is None:
        rest = np.ma.masked_array(W, mask=False)
        rest[np.ix_(samples, features)] = np.ma.masked
        normal, source = rest.compressed(), "the pool without the chosen block"
        columns = rest.mean(axis=0).filled(normal.mean())
    else:
        table = np.asarray(background, dtype=np.float64)
        source = f"{table.shape[0]} reference rows"
        if table.shape[1] != problem.n_features:
            raise InputError(f"the background has {table.shape[1]} columns, the problem {problem.n_features} features")
        normal, columns = table.ravel(), table.mean(axis=0)
    if normal.size < 2:
        raise InputError("one weight alone says nothing about noise; give signal and sigma, or a background")
    # under the model the block's cells scatter about their own mean as the background does about its: a block that one
    # wild cell made heavy shows here. σ-sub-Gaussian entries reach σ√(2 log(2n/δ)) at most with probability 1 - δ.
    scatter = np.concatenate([normal - normal.mean(), (block - block.mean()).ravel()])
    reach = float(np.abs(scatter).max()) / sqrt(2 * (log(2 * scatter.size) - log(delta)))
    deviation = max(float(normal.std()), reach)
    observed = float(block.mean()) - max(float(normal.mean()), _separable_level(W, samples, features))
    variance = deviation**2 * ((1 - correlation) / block.size + correlation / problem.m)
    optimism = sqrt(2 * (log(problem.sector.without_rules.size) - log(delta)) * variance)
    return Estimate(
        observed_signal=observed,
        signal=observed - optimism,
        deviation=deviation,
        half_range=float(scatter.max() - scatter.min()) / 2,
        unevenness=float(np.abs(columns - normal.mean()).max()),
        at_cap=float((block >= max(W.max(), float(normal.max()))).mean()),
        source=source,
    )


def _separable_level(W: NDArray[np.float64], samples: NDArray[np.int64], features: NDArray[np.int64]) -> float:
    """What row and column effects alone let one expect of the block, judged by its rows and columns outside of it.

    Heavy rows crossed with heavy columns make a heavy block without any joint structure: where effects add up it holds
    row + column - rest, where they multiply row · column / rest.
    """
    other_rows = np.setdiff1d(np.arange(W.shape[0]), samples)
    other_columns = np.setdiff1d(np.arange(W.shape[1]), features)
    if not other_rows.size or not other_columns.size:
        return -np.inf
    rows = float(W[np.ix_(samples, other_columns)].mean())
    columns = float(W[np.ix_(other_rows, features)].mean())
    rest = float(W[np.ix_(other_rows, other_columns)].mean())
    product = rows * columns / rest if rest > 0 and min(rows, columns) > 0 and not (W < 0).any() else -np.inf
    return max(rows + columns - rest, product)
