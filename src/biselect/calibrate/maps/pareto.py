"""`pareto`: ranks in the body, a generalised Pareto tail beyond the outer five per cent on either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.column import Column
from biselect.calibrate.maps.base import Reference, TailMap
from biselect.calibrate.maps.ecdf import smoothed_cdf, tail_steps
from biselect.calibrate.steps import apply_steps

OUTER = 0.05  # share of the reference on either side that the tail is fit to


@dataclass(frozen=True, kw_only=True)
class Tail:
    """P(further out than threshold + y) = p · (1 + ξy/β)^(-1/ξ)."""

    threshold: float
    p: float
    shape: float
    scale: float

    def surprise(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log of twice that probability: it keeps growing beyond the last reference entry."""
        decay = y / self.scale if self.shape == 0 else np.log1p(y * (self.shape / self.scale)) / self.shape
        return decay - np.log(2 * self.p)


class ParetoMap(TailMap):
    """Peaks over threshold, so that values beyond the reference's reach can still be told apart."""

    takes_ranks: ClassVar[bool] = True

    def fit(self, reference: Reference) -> None:
        """Fit both tails on one window; the body and the thresholds' own ranks come from the other."""
        self.steps = [tail_steps(column) for column in reference.calibration]
        self.tails: list[tuple[Tail, Tail]] = []
        for column, ranks in zip(reference.fit, reference.calibration, strict=True):
            low, high = column.quantile(OUTER), column.quantile(1 - OUTER)
            p_low, p_high = smoothed_cdf([ranks.below(low), ranks.size - ranks.at_most(high)], ranks.size)
            under, over = column.values < low, column.values > high
            self.tails.append(
                (
                    _fit_tail(low, p_low, (low - column.values[under])[::-1], column.weights[under][::-1], column),
                    _fit_tail(high, p_high, column.values[over] - high, column.weights[over], column),
                )
            )

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The body's score, or the tail's where the residual lies beyond a threshold."""
        scores = apply_steps(self.steps, Z)
        for j, (low, high) in enumerate(self.tails):
            z = Z[:, j]
            under, over = z < low.threshold, z > high.threshold
            scores[under, j] = low.surprise(low.threshold - z[under])
            scores[over, j] = high.surprise(z[over] - high.threshold)
        return scores


def _fit_tail(
    threshold: float, p: float, excess: NDArray[np.float64], weights: NDArray[np.int64], column: Column
) -> Tail:
    """Probability-weighted moments; a tail that would end (ξ < 0) is taken as exponential, so that order is kept.

    With nothing beyond the threshold the tail is exponential on the feature's own scale.
    """
    if excess.size == 0:
        return Tail(threshold=threshold, p=p, shape=0.0, scale=column.deviation)
    total = weights.sum()
    mean = float(excess @ weights / total)
    survival = 1 - (np.cumsum(weights) - weights / 2) / total
    weighted = float((excess * survival) @ weights / total)
    shape = 2 - mean / (mean - 2 * weighted) if mean > 2 * weighted else 0.0
    if shape <= 0:
        return Tail(threshold=threshold, p=p, shape=0.0, scale=mean)
    return Tail(threshold=threshold, p=p, shape=shape, scale=mean * (1 - shape))
