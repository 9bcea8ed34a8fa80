"""What calibration guarantees, as functions: bands, coefficient bounds and lost margins (paper, Section S2)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import conventions
from biselect.errors import InputError

__all__ = ["angle_bound", "coupling_bound", "ecdf_band", "tail_band"]


def ecdf_band(n: int, delta: float) -> float:
    """ε + 1/(n+1): with probability 1 - δ no smoothed, clipped rank estimate F̂(z) is further from F(z).

    ε = √(log(2/δ) / 2n) is the Dvoretzky-Kiefer-Wolfowitz band in Massart's form; the rest is what smoothing and
    clipping can add (Prop. pit-validity). It holds for references drawn independently of the score map: split
    the reference (`Calibrator(split=...)`) to be entitled to it.

    >>> round(ecdf_band(1000, delta=0.05), 4)
    0.0439
    """
    if n < 1:
        raise InputError(f"the band needs at least one reference row, got {n}")
    if not 0 < delta < 1:
        raise InputError(f"delta must lie between 0 and 1, got {delta!r}")
    return float(np.sqrt(np.log(2 / delta) / (2 * n)) + 1 / (n + 1))


def tail_band(n: int, delta: float) -> float:
    """How far a two-sided tail probability 2·min(F̂, 1 - F̂) can be from its ideal value: twice the band of F̂."""
    return 2 * ecdf_band(n, delta)


def coupling_bound(cap: float, coupling_weight: float = 1.0) -> float:
    """The largest `|J_ij|` that weights up to `cap` can give: λ w_max / 4 (Lemma bounded-weights)."""
    return abs(conventions.COUPLING_OF_PRODUCT) * coupling_weight * cap


def angle_bound(gamma: ArrayLike, cap: float, coupling_weight: float = 1.0) -> NDArray[np.float64]:
    """The largest R_ZZ angle of a cost layer: `|γ| λ w_max / 2` (Lemma bounded-weights)."""
    return conventions.rzz_angle(np.abs(gamma), coupling_bound(cap, coupling_weight))


def joint_margin_loss(eta: float) -> float:
    """2η: what entrywise error up to η can take from the joint margin (Prop. calibration-perturbation)."""
    return 2 * eta


def feature_first_margin_loss(eta: float, n_samples: int) -> float:
    """2Nη: what it can take from the margin of column sums (Cor. sequential-calibration-sensitivity)."""
    return 2 * n_samples * eta
