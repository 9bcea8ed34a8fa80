"""Noise models: how far a signed sum of entries strays, and how seldom it strays further."""

from dataclasses import dataclass
from math import sqrt
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_studies.recovery.contrasts import Contrasts


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
