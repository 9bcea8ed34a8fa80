"""Signal μ from which recovery is certain up to δ: joint, class-wise and feature-first.

All statements of the paper are one formula: a contrast with mean μ·signal must exceed what noise reaches with
probability δ / (number of comparisons), plus what perturbations and marginals may take away. Theorem
joint-noise-superiority, Prop bernstein-tail, Cor clipped-residual, Prop covariance-aware and their calibrated forms
follow by choice of the noise model; the high-probability transfer of Cor calibration-transfer by giving δ_noise for
δ and η_n,δ_cal for η.
"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from biselect.core import Sector
from biselect.errors import InputError
from biselect_studies.recovery.contrasts import Contrasts, column_contrasts, joint_contrasts
from biselect_studies.recovery.noise import Noise

PAPER_LOOSENESS = sqrt(2)
"""Cor sequential-snr takes the difference of two column sums as 2σ√N-sub-Gaussian; it is σ√(2N)."""


@dataclass(frozen=True, kw_only=True)
class Burden:
    """What stands against the signal beside noise.

    Attributes:
        error: η, the largest error of any coefficient after calibration (a clipping bias ρ adds to it).
        sample_bound: A_max / λ, the largest `|a_i|` in units of W.
        feature_bound: B_max / λ, the largest `|b_j|` in units of W.
    """

    error: float = 0.0
    sample_bound: float = 0.0
    feature_bound: float = 0.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 <= value < float("inf"):
                raise InputError(f"{name} must be a number ≥ 0, got {value:g}")

    def of(self, contrasts: Contrasts) -> NDArray[np.float64]:
        """The most that it takes from each contrast: every entry that differs may be wrong by η."""
        marginals = self.sample_bound * contrasts.samples_out + self.feature_bound * contrasts.features_out
        return self.error * contrasts.entries + 2 * marginals


NOTHING = Burden()


def joint_threshold(sector: Sector, noise: Noise, *, delta: float, burden: Burden = NOTHING) -> float:
    """The paper's condition: every competitor gets an equal share δ/(M - 1) of the failure probability.

    >>> from biselect_studies.recovery.noise import SubGaussian
    >>> round(joint_threshold(Sector(n_samples=8, n_features=6, k=2, m=2), SubGaussian(sigma=1.0), delta=0.1), 3)
    4.084
    """
    _refuse_unless_probability(delta)
    if sector.size == 1:
        return 0.0  # there is no competitor
    contrasts = joint_contrasts(sector)
    exponent = log(sector.size - 1) - log(delta)
    worst = float((noise.reach(contrasts, exponent) / contrasts.signal).max())
    marginals = 2 * burden.sample_bound / sector.m + 2 * burden.feature_bound / sector.k
    return worst + 2 * burden.error + marginals


def classwise_threshold(sector: Sector, noise: Noise, *, delta: float, burden: Burden = NOTHING) -> float:
    """The smallest μ for which the failure probabilities of all competitors add up to δ at most.

    Far competitors fail exponentially more seldom than near ones, so that an equal share wastes most of δ. Valid
    under the same assumptions as `joint_threshold` and never above it.
    """
    low, high = 0.0, joint_threshold(sector, noise, delta=delta, burden=burden)
    contrasts = joint_contrasts(sector)
    while low < (middle := (low + high) / 2) < high:
        if failure_bound(contrasts, noise, middle, burden) <= delta:
            high = middle
        else:
            low = middle
    return high


def failure_bound(contrasts: Contrasts, noise: Noise, mu: float, burden: Burden = NOTHING) -> float:
    """Union bound on the chance that some comparison goes wrong at signal μ, at most 1."""
    left = mu * contrasts.signal - burden.of(contrasts)
    if (left <= 0).any():
        return 1.0
    return min(1.0, float(np.exp(np.minimum(0.0, contrasts.log_members - noise.exponent(contrasts, left))).sum()))


def feature_first_threshold(
    sector: Sector, noise: Noise, *, delta: float, burden: Burden = NOTHING, looseness: float = 1.0
) -> float:
    """μ from which ranking columns by their sums finds all planted features; it says nothing on the samples.

    Args:
        sector: sizes and budgets.
        noise: of the entries.
        delta: allowed failure probability.
        burden: only its `error` counts: the statement is on the bilinear core.
        looseness: `PAPER_LOOSENESS` for Cor sequential-snr as printed.
    """
    _refuse_unless_probability(delta)
    contrasts = column_contrasts(sector)
    if contrasts.signal.size == 0:
        return 0.0  # every feature is chosen, none can be missed
    reach = looseness * noise.reach(contrasts, contrasts.log_members[0] - log(delta))
    return float((reach + burden.error * contrasts.entries)[0] / sector.k)


def tolerated_joint_error(mu: float, threshold: float) -> float | None:
    """The largest η that a joint certificate at signal μ bears, from its threshold at η = 0; None if not even that."""
    return (mu - threshold) / 2 if mu >= threshold else None


def tolerated_feature_first_error(mu: float, threshold: float, sector: Sector) -> float | None:
    """The same for the feature-first certificate, where an error counts once for each of the N samples."""
    return (mu - threshold) * sector.k / (2 * sector.n_samples) if mu >= threshold else None


def _refuse_unless_probability(delta: float) -> None:
    if not 0 < delta < 1:
        raise InputError(f"delta (δ) must lie between 0 and 1, got {delta:g}")
