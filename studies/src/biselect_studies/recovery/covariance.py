"""Prop covariance-aware-joint-recovery for any proxy covariance, by looking at every competitor."""

from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biselect.core import Sector
from biselect.core.checks import check_positions
from biselect.core.sector import count_in_words, subsets
from biselect.errors import InputError

MOST_COMPETITORS = 2_000_000


def covariance_threshold(gamma: ArrayLike, sector: Sector, samples: Any, features: Any, *, delta: float) -> float:
    """√(2 log((M - 1)/δ))·K_Γ for a planted pair and residuals with proxy covariance Γ.

    For noise that is equicorrelated within features `joint_threshold` with `SubGaussian(correlation=r)` gives the
    same number at any size.

    Args:
        gamma: Γ, ND × ND, entry (i, j) at position i·D + j.
        sector: sizes and budgets.
        samples: the planted k.
        features: the planted m.
        delta: allowed failure probability.
    """
    n, d = sector.n_samples, sector.n_features
    proxy = np.asarray(gamma, dtype=np.float64)
    if proxy.shape != (n * d, n * d):
        raise InputError(f"the covariance must be {n * d} × {n * d} for {n} samples and {d} features")
    if not np.isfinite(proxy).all() or not np.allclose(proxy, proxy.T):
        raise InputError("the covariance must be finite and symmetric")
    if not 0 < delta < 1:
        raise InputError(f"delta (δ) must lie between 0 and 1, got {delta:g}")
    if (
        len(check_positions("samples", samples, n)) != sector.k
        or len(check_positions("features", features, d)) != sector.m
    ):
        raise InputError(f"the planted pair must have k = {sector.k} samples and m = {sector.m} features")
    if sector.size > MOST_COMPETITORS:
        raise InputError(
            f"{count_in_words(sector.size)} competitors are too many to look at for a general covariance; describe the "
            "noise by its correlation within features instead, correlation= in certify"
        )
    planted = np.zeros((n, d))
    planted[np.ix_(samples, features)] = 1
    largest = 0.0
    rows = np.zeros((sector.sample_subsets, n))
    np.put_along_axis(rows, subsets(n, sector.k), 1.0, axis=1)
    for chosen in subsets(d, sector.m):
        columns = np.zeros(d)
        columns[chosen] = 1
        contrasts = (planted - rows[:, :, None] * columns).reshape(-1, n * d)
        lost = np.maximum(contrasts, 0).sum(axis=1)
        deviation = np.sqrt(np.maximum(0.0, ((contrasts @ proxy) * contrasts).sum(axis=1)))
        largest = max(largest, float((deviation / np.where(lost > 0, lost, np.inf)).max()))
    return sqrt(2 * (log(sector.size - 1) - log(delta))) * largest if sector.size > 1 else 0.0
