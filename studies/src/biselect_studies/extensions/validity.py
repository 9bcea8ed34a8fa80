"""What calibration guarantees: bands, coefficient bounds, lost margins (paper, Section S2); and errors to try it on."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import ising
from biselect.errors import InputError
from biselect_quantum import conventions

__all__ = ["angle_bound", "coupling_bound", "ecdf_band", "tail_band"]


def ecdf_band(n: int, delta: float) -> float:
    """ε + 1/(n+1): with probability 1 - δ no smoothed, clipped rank estimate F̂(z) is further from F(z).

    ε = √(log(2/δ) / 2n) is the Dvoretzky-Kiefer-Wolfowitz band in Massart's form; the rest is what smoothing and
    clipping can add (Prop. pit-validity). It holds for references drawn independently of the score map: rank
    among rows that nothing else was fit on to be entitled to it.

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
    return abs(ising.COUPLING_OF_PRODUCT) * coupling_weight * cap


def angle_bound(gamma: ArrayLike, cap: float, coupling_weight: float = 1.0) -> NDArray[np.float64]:
    """The largest R_ZZ angle of a cost layer: `|γ| λ w_max / 2` (Lemma bounded-weights)."""
    return conventions.rzz_angle(np.abs(gamma), coupling_bound(cap, coupling_weight))


def joint_margin_loss(eta: float) -> float:
    """2η: what entrywise error up to η can take from the joint margin (Prop. calibration-perturbation)."""
    return 2 * eta


def feature_first_margin_loss(eta: float, n_samples: int) -> float:
    """2Nη: what it can take from the margin of column sums (Cor. sequential-calibration-sensitivity)."""
    return 2 * n_samples * eta


def _centred(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entries that sum to zero, none beyond ±1."""
    u = u - u.mean()
    return u / max(1.0, np.abs(u).max())


MODES: dict[str, Callable[[np.random.Generator, int, int], NDArray[np.float64]]] = {
    # every cell on its own
    "entrywise": lambda rng, n, d: rng.uniform(-1, 1, size=(n, d)),
    # one error per sample: it cancels from column sums' order
    "row": lambda rng, n, d: np.repeat(rng.uniform(-1, 1, size=(n, 1)), d, axis=1),
    # one error per feature: column sums carry it N times
    "feature": lambda rng, n, d: np.repeat(rng.uniform(-1, 1, size=(1, d)), n, axis=0),
    # u_i v_j with Σ u_i = 0: it cancels from column sums
    "centred-rank-one": lambda rng, n, d: np.outer(_centred(rng.uniform(-1, 1, size=n)), rng.uniform(-1, 1, size=d)),
    # u_i v_j with u_i ≥ 0: it acts on column sums like an error per feature
    "shifted-rank-one": lambda rng, n, d: np.outer(rng.uniform(0, 1, size=n), rng.uniform(-1, 1, size=d)),
}
"""The five modes of the robustness study; no error is beyond ±1."""


def perturb(
    W: NDArray[np.float64], mode: str, eta: float, *, cap: float, seed: int | np.random.Generator | None
) -> NDArray[np.float64]:
    """`clip(W + Δ, 0, w_max)` with one of `MODES` and `|Δ_ij| ≤ η`; clipping never takes a cell further than η.

    >>> perturb(np.array([[1.0, 2.0]]), "feature", 0.5, cap=10.0, seed=0).round(2).tolist()
    [[1.14, 1.77]]
    """
    if mode not in MODES:
        raise InputError(f"there is no perturbation mode {mode!r}; choose one of: {', '.join(MODES)}")
    if not eta >= 0:
        raise InputError(f"eta must not be negative, got {eta!r}")
    delta = eta * MODES[mode](np.random.default_rng(seed), *W.shape)
    return np.clip(W + delta, 0.0, cap)
