"""What a selector has to get right: planted set against competitor, as signed sums of entries.

Every recovery statement of the paper compares a planted choice with competitors. Such a comparison is a signed sum
of entries of W: signal on one side, noise on both. Competitors that swap out s samples and f features all look
alike, so they form a class, and nothing here grows with the number of competitors.
"""

from dataclasses import dataclass
from math import lgamma

import numpy as np
from numpy.typing import NDArray

from biselect.core import Sector


@dataclass(frozen=True, kw_only=True, eq=False)
class Contrasts:
    """Classes of signed sums Σ c_ij W_ij with c_ij ∈ {-1, 0, 1}; one number per class in each array.

    Attributes:
        signal: how many planted entries it holds net; its mean is μ·signal.
        entries: how many c_ij are not zero.
        aligned: Σ_j (Σ_i c_ij)², what noise shared within a feature is multiplied by.
        log_members: logarithm of how many comparisons are in the class.
        samples_out: s, planted samples that the competitor lacks.
        features_out: f, planted features that the competitor lacks.
    """

    signal: NDArray[np.float64]
    entries: NDArray[np.float64]
    aligned: NDArray[np.float64]
    log_members: NDArray[np.float64]
    samples_out: NDArray[np.float64]
    features_out: NDArray[np.float64]


def joint_contrasts(sector: Sector) -> Contrasts:
    """The planted pair against every other pair.

    With s samples and f features swapped, d = km - (k-s)(m-f) planted cells are lost and as many others gained. A
    kept column gains as many cells as it loses; each of the 2f swapped columns has k cells of one sign.
    """
    n, d, k, m = sector.n_samples, sector.n_features, sector.k, sector.m
    ways = np.add.outer(_log_swaps(k, n - k), _log_swaps(m, d - m))
    s, f = np.indices(ways.shape, dtype=np.float64).reshape(2, -1)[:, 1:]  # s = f = 0 is the planted pair itself
    lost = k * m - (k - s) * (m - f)
    return Contrasts(
        signal=lost,
        entries=2 * lost,
        aligned=2 * f * k * k,
        log_members=ways.ravel()[1:],
        samples_out=s,
        features_out=f,
    )


def column_contrasts(sector: Sector) -> Contrasts:
    """A planted column sum against another, over all N samples: what feature-first ranks by."""
    n, m = float(sector.n_samples), sector.m
    pairs = m * (sector.n_features - m)
    here = np.ones(1 if pairs else 0)  # with m = D there is nothing to compare
    return Contrasts(
        signal=sector.k * here,
        entries=2 * n * here,
        aligned=2 * n * n * here,
        log_members=np.log(pairs * here),
        samples_out=0 * here,
        features_out=here,
    )


def _log_swaps(inside: int, outside: int) -> NDArray[np.float64]:
    """How many ways there are to swap t chosen items for t others, for t = 0, 1 and so on, as logarithms."""
    return np.array(
        [_log_choose(inside, t) + _log_choose(outside, t) for t in range(min(inside, outside) + 1)], dtype=np.float64
    )


def _log_choose(n: int, t: int) -> float:
    return lgamma(n + 1) - lgamma(t + 1) - lgamma(n - t + 1)
