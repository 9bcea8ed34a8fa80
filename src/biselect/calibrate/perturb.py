"""Structured calibration errors: the five modes of the robustness study, and weights that suffered them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError


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
"""No error is beyond ±1."""


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
