"""Signal and noise of a problem at hand: what the recovery conditions are held against."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError

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
