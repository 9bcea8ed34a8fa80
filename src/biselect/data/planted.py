"""Planted instances of the QAOA studies.

The paper leaves its instances open; these recipes are those of many tried that come closest to its tables. All are
made of `synthetic.planted_block` with the paper's marginals, a_i = max_j W_ij and b_j = Var_i |Z_ij|, and λ = 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.marginals import marginals
from biselect.core import SelectionProblem
from biselect.data.synthetic import Seed, planted_block
from biselect.errors import InputError

Size = tuple[int, int, int, int]
"""N, D, k, m."""

DEPTH_SIZE: Size = (14, 10, 3, 3)
PANEL_SIZE: Size = (12, 8, 3, 5)
__all__ = ["depth_problem", "panel_problem", "planted_problem"]

PANEL_COUPLINGS = 10
PANEL_DEGREE = 2


def planted_problem(
    size: Size,
    signal: float,
    *,
    seed: Seed,
    mode: str = "residual",
    place: str = "random",
    absolute: bool = False,
    couplings: int | None = None,
    degree: int = PANEL_DEGREE,
) -> SelectionProblem:
    """A planted block as a selection problem.

    Args:
        size: N, D, k, m.
        signal: μ.
        seed: fixes the instance.
        mode: `residual` or `mixed`, see `planted_block`.
        place: `random` or `first`, see `planted_block`.
        absolute: whether `W = |Z|` instead of Z.
        couplings: how many of the heaviest couplings are kept; None for all. Marginals are those of all of them.
        degree: how many kept couplings a sample or a feature may have.

    >>> planted_problem((5, 4, 2, 2), 2.0, seed=0, couplings=3).coupling.astype(bool).sum()
    np.int64(3)
    """
    n, d, k, m = size
    block = planted_block(n, d, k, m, signal, seed=seed, mode=mode, place=place)
    if absolute:
        block = replace(block, weights=np.abs(block.residuals))
    a, b = marginals(block.weights, block.residuals, "paper")
    kept = block.weights if couplings is None else heaviest(block.weights, couplings, degree)
    return SelectionProblem(coupling=kept, sample_scores=a, feature_scores=b, k=k, m=m)


def depth_problem(signal: float, mode: str, *, seed: Seed, size: Size = DEPTH_SIZE) -> SelectionProblem:
    """An instance of the depth family: W = Z, and the block is the first k samples and m features.

    A block at random places gives a higher α and a far higher probability of the optimum.
    """
    return planted_problem(size, signal, seed=seed, mode=mode, place="first")


def panel_problem(*, seed: Seed, size: Size = PANEL_SIZE, signal: float = 3.0) -> SelectionProblem:
    """An instance of the best-known-threshold panel: `W = |Z|`, a random block, ten couplings of degree two at most."""
    return planted_problem(size, signal, seed=seed, absolute=True, couplings=PANEL_COUPLINGS, degree=PANEL_DEGREE)


def heaviest(weights: NDArray[np.float64], count: int, degree: int) -> NDArray[np.float64]:
    """The heaviest couplings, taken one by one while neither end has `degree` of them; all others are zero."""
    if count < 1 or degree < 1:
        raise InputError(f"couplings and degree must be at least 1, got {count} and {degree}")
    kept = np.zeros_like(weights)
    rows, columns = np.zeros(weights.shape[0], dtype=int), np.zeros(weights.shape[1], dtype=int)
    for cell in np.argsort(-weights, axis=None, kind="stable"):
        i, j = divmod(int(cell), weights.shape[1])
        if rows[i] < degree and columns[j] < degree:
            kept[i, j] = weights[i, j]
            rows[i] += 1
            columns[j] += 1
            if rows.sum() == count:
                return kept
    raise InputError(
        f"{count} couplings of degree {degree} at most were asked for; {weights.shape[0]} samples and "
        f"{weights.shape[1]} features leave room for {int(rows.sum())}: take fewer couplings or a larger degree"
    )
