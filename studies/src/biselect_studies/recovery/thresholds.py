"""Signal μ from which recovery is certain up to δ: joint, class-wise and feature-first.

All statements of the paper are one formula: a contrast with mean μ·signal must exceed what noise reaches with
probability δ / (number of comparisons), plus what perturbations and marginals may take away. Theorem
joint-noise-superiority, Prop bernstein-tail, Cor clipped-residual, Prop covariance-aware and their calibrated forms
follow by choice of the noise model; the high-probability transfer of Cor calibration-transfer by giving δ_noise for
δ and η_n,δ_cal for η.
"""

from dataclasses import dataclass
from math import lgamma, log, sqrt
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import Sector
from biselect.core.checks import check_positions
from biselect.core.sector import count_in_words, subsets
from biselect.errors import InputError


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


class Noise(Protocol):
    """Tails of contrasts of centred entries, class by class."""

    def reach(self, contrasts: Contrasts, exponent: float) -> NDArray[np.float64]:
        """Deviations that are exceeded on one side with probability at most e^-exponent."""

    def exponent(self, contrasts: Contrasts, deviation: NDArray[np.float64]) -> NDArray[np.float64]:
        """The inverse of `reach`: e^-exponent bounds the chance to exceed `deviation`."""


@dataclass(frozen=True, kw_only=True)
class SubGaussian:
    """σ-sub-Gaussian entries, features independent, equicorrelated within a feature.

    Attributes:
        sigma: σ.
        correlation: r between two samples of one feature; 0 for independent entries (Thm
            joint-noise-superiority), otherwise Prop covariance-aware-joint-recovery.
    """

    sigma: float
    correlation: float = 0.0

    def __post_init__(self) -> None:
        _positive("sigma (σ)", self.sigma)
        if not 0 <= self.correlation <= 1:
            raise InputError(f"the correlation within a feature must lie in 0..1, got {self.correlation:g}")

    def proxy_variance(self, contrasts: Contrasts) -> NDArray[np.float64]:
        """c·Γc of each contrast."""
        shared = self.correlation
        return self.sigma**2 * ((1 - shared) * contrasts.entries + shared * contrasts.aligned)

    def reach(self, contrasts: Contrasts, exponent: float) -> NDArray[np.float64]:
        """√(2 L c·Γc)."""
        return np.sqrt(2 * exponent * self.proxy_variance(contrasts))

    def exponent(self, contrasts: Contrasts, deviation: NDArray[np.float64]) -> NDArray[np.float64]:
        """t² / (2 c·Γc); infinite where a fully shared noise cancels."""
        proxy = self.proxy_variance(contrasts)
        return np.divide(deviation**2, 2 * proxy, out=np.full(proxy.shape, np.inf), where=proxy > 0)


@dataclass(frozen=True, kw_only=True)
class Bernstein:
    """Independent entries with E exp(tε) ≤ exp(t²v²/2) for `|t| < 1/b` (Lemma entrywise-bernstein-signed-sums).

    Attributes:
        v: variance proxy, as a standard deviation.
        b: scale of the exponential tail.
    """

    v: float
    b: float

    def __post_init__(self) -> None:
        _positive("v", self.v)
        _positive("b", self.b)

    @classmethod
    def of_bounded(cls, deviation: float, largest: float) -> Self:
        """Centred entries with this standard deviation and absolute value at most `largest`.

        Bernstein's inequality bounds the moment-generating function by `exp(t²s²/2 / (1 - |t|B/3))`; for
        `|t| ≤ 3/(2B)` the bracket is at least ½, hence v = √2·s and b = 2B/3.
        """
        return cls(v=sqrt(2) * deviation, b=2 * largest / 3)

    def reach(self, contrasts: Contrasts, exponent: float) -> NDArray[np.float64]:
        """max(v √(2 r L), 2 b L) over r entries."""
        return np.maximum(self.v * np.sqrt(2 * contrasts.entries * exponent), 2 * self.b * exponent)

    def exponent(self, contrasts: Contrasts, deviation: NDArray[np.float64]) -> NDArray[np.float64]:
        """½ min(t²/(r v²), t/b)."""
        return np.minimum(deviation**2 / (contrasts.entries * self.v**2), deviation / self.b) / 2


def clipped(tau: float) -> SubGaussian:
    """Residuals clipped to [-τ, τ], then centred: Hoeffding makes them τ-sub-Gaussian (Cor clipped-residual)."""
    return SubGaussian(sigma=tau)


def _positive(name: str, value: float) -> None:
    if not 0 < value < float("inf"):
        raise InputError(f"{name} must be a positive number, got {value:g}")


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

    >>> from biselect_studies.recovery.thresholds import SubGaussian
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
