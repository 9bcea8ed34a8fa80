"""Structured calibration errors: the five modes of the robustness study, and weights that suffered them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError

Shape = tuple[int, int]


def entrywise(rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Every cell on its own."""
    return rng.uniform(-1, 1, size=shape)


def row(rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """One error per sample: it cancels from column sums' order."""
    return np.repeat(rng.uniform(-1, 1, size=(shape[0], 1)), shape[1], axis=1)


def feature(rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """One error per feature: column sums carry it N times."""
    return np.repeat(rng.uniform(-1, 1, size=(1, shape[1])), shape[0], axis=0)


def centred_rank_one(rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """u_i v_j with Σ u_i = 0: it cancels from column sums."""
    u = rng.uniform(-1, 1, size=shape[0])
    u -= u.mean()
    return np.outer(u / max(1.0, np.abs(u).max()), rng.uniform(-1, 1, size=shape[1]))


def shifted_rank_one(rng: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """u_i v_j with u_i ≥ 0: it acts on column sums like an error per feature."""
    return np.outer(rng.uniform(0, 1, size=shape[0]), rng.uniform(-1, 1, size=shape[1]))


MODES: dict[str, Callable[[np.random.Generator, Shape], NDArray[np.float64]]] = {
    "entrywise": entrywise,
    "row": row,
    "feature": feature,
    "centred-rank-one": centred_rank_one,
    "shifted-rank-one": shifted_rank_one,
}


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
    delta = eta * MODES[mode](np.random.default_rng(seed), (W.shape[0], W.shape[1]))
    return np.clip(W + delta, 0.0, cap)
