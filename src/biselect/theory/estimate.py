"""Signal and noise of a problem at hand: what the recovery conditions are held against."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What the data say about the planted model W = μ·1[S*×F*] + noise (a common level of all entries cancels).

    Attributes:
        observed_signal: mean of the chosen block above the mean of the background.
        signal: a lower confidence bound on μ that allows for the block having been chosen for its weight.
        deviation: standard deviation of the background, taken for σ.
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
    delta: float,
    background: ArrayLike | None = None,
) -> Estimate:
    """Estimate from a chosen block and a background.

    The block was chosen for being heavy, so its mean overstates μ. No block of M exceeds its own mean by more than
    σ√(2 log(M/δ)/(km)) with probability 1 - δ; that much is taken off.

    Args:
        problem: whose coupling is looked at.
        samples: the chosen samples.
        features: the chosen features.
        delta: failure probability of the confidence bound.
        background: weights of rows known to be normal, in the same columns; without it the pool itself serves,
            less the chosen block.
    """
    W = problem.coupling.astype(np.float64)
    block = W[np.ix_(samples, features)]
    if background is None:
        normal = np.ma.masked_array(W, mask=False)
        normal[np.ix_(samples, features)] = np.ma.masked
        source = "the pool without the chosen block"
    else:
        normal = np.ma.masked_array(np.asarray(background, dtype=np.float64))
        source = f"{normal.shape[0]} reference rows"
        if normal.shape[1] != problem.n_features:
            raise InputError(f"the background has {normal.shape[1]} columns, the problem {problem.n_features} features")
    if normal.count() < 2:
        raise InputError("no entries are left to estimate noise from: the chosen block is the whole table")
    deviation = float(normal.std())
    observed = float(block.mean() - normal.mean())
    optimism = deviation * sqrt(2 * (log(problem.sector.size) - log(delta)) / block.size)
    return Estimate(
        observed_signal=observed,
        signal=observed - optimism,
        deviation=deviation,
        half_range=float(normal.max() - normal.min()) / 2,
        unevenness=float(np.abs(normal.mean(axis=0) - normal.mean()).max()),
        at_cap=float((block >= max(W.max(), float(normal.max()))).mean()),
        source=source,
    )
