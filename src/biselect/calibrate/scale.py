"""Location and scale of each feature, fit on the reference alone (Eq. zscore)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.column import Column

MAD_TO_SIGMA = 1.4826  # makes the median absolute deviation agree with σ under a normal model
CENTERS = ("median", "mean")
LARGEST_RESIDUAL = 1e100  # of the reference; a MAD so small that one would be larger counts as zero


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """Feature-wise μ̂ and σ̂.

    Attributes:
        location: μ̂, the median or the mean.
        scale: σ̂, 1.4826·MAD or the standard deviation; 0 only where the feature is constant.
        fell_back: features whose MAD is zero (or next to it) although they vary, where the standard deviation
            stands in.
    """

    location: NDArray[np.float64]
    scale: NDArray[np.float64]
    fell_back: NDArray[np.bool_]

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Features without any spread in the reference."""
        return np.equal(self.scale, 0)

    def residuals(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Z = (X - μ̂) / σ̂; a value too far away for a float becomes infinite, and its weight the cap."""
        with np.errstate(over="ignore"):
            Z = X - self.location
            Z /= self.scale
        return Z


def fit_scale(columns: Sequence[Column], center: str) -> Scale:
    """Fit by median and MAD, or by mean and standard deviation."""
    varies = np.array([column.varies for column in columns])
    deviation = np.where(varies, [column.deviation for column in columns], 0.0)
    if center == "mean":
        location = np.array([column.mean for column in columns])
        return Scale(location=location, scale=deviation, fell_back=np.zeros(len(columns), dtype=bool))
    location = np.array([column.quantile(0.5) for column in columns])
    folded = [column.folded(middle) for column, middle in zip(columns, location, strict=True)]
    mad = MAD_TO_SIGMA * np.array([column.quantile(0.5) for column in folded])
    reach = np.array([column.values[-1] for column in folded])
    fell_back = varies & (mad <= reach / LARGEST_RESIDUAL)
    return Scale(location=location, scale=np.where(fell_back, deviation, mad), fell_back=fell_back)
