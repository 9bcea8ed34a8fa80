"""A difference of two weight fields, split into global, row, feature and residual parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Decomposition:
    """Δ_ij = mean + row_i + feature_j + residual_ij; the four parts are orthogonal.

    Attributes:
        mean: Δ̄, common to all cells.
        row: δ^row, one per sample, summing to zero.
        feature: δ^feat, one per feature, summing to zero: what feature-first selection amplifies.
        residual: what is left, N × D.
    """

    mean: float
    row: NDArray[np.float64]
    feature: NDArray[np.float64]
    residual: NDArray[np.float64]

    @property
    def shares(self) -> dict[str, float]:
        """Squared Frobenius norm of each part over that of Δ; all zero where Δ is."""
        n, d = self.residual.shape
        squares = {
            "global": n * d * self.mean**2,
            "row": d * float(self.row @ self.row),
            "feature": n * float(self.feature @ self.feature),
            "residual": float((self.residual**2).sum()),
        }
        total = sum(squares.values())
        return {name: square / total if total else 0.0 for name, square in squares.items()}

    @property
    def largest(self) -> dict[str, float]:
        """Sup-norm of each part."""
        return {
            "global": abs(self.mean),
            "row": float(np.abs(self.row).max()),
            "feature": float(np.abs(self.feature).max()),
            "residual": float(np.abs(self.residual).max()),
        }


def decompose(delta: NDArray[np.float64]) -> Decomposition:
    """The parts of a weight difference (paper, Section S4).

    >>> parts = decompose(np.array([[1.0, 3.0], [1.0, 3.0]]))
    >>> parts.mean, parts.feature.tolist(), parts.shares["residual"]
    (2.0, [-1.0, 1.0], 0.0)
    """
    mean = float(delta.mean())
    rows, features = delta.mean(axis=1) - mean, delta.mean(axis=0) - mean
    return Decomposition(
        mean=mean, row=rows, feature=features, residual=delta - mean - rows[:, None] - features[None, :]
    )
