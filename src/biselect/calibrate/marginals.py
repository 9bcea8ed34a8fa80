"""Marginal scores a and b: what a sample or a feature is worth on its own."""

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError

MARGINALS = ("bounded", "paper", "none")


def marginals(
    W: NDArray[np.float64], Z: NDArray[np.float64], kind: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sample scores a and feature scores b of a pool.

    - `paper`: a_i = max_j W_ij, `b_j = Var_i |Z_ij|`. Raw residuals are unbounded, so one heavy-tailed feature can
      hold nearly the whole score.
    - `bounded`: the same a; b_j = std_i W_ij, in the units of W and at most half the cap.
    - `none`: zeros, the core bilinear objective.
    """
    if kind not in MARGINALS:
        raise InputError(f"marginals must be one of {', '.join(MARGINALS)}, got {kind!r}")
    if kind == "none":
        return np.zeros(W.shape[0]), np.zeros(W.shape[1])
    spread = W.std(axis=0) if kind == "bounded" else np.abs(Z).var(axis=0)
    return W.max(axis=1), spread
