"""Location and scale of each feature, fit on the reference alone (Eq. zscore)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAD_TO_SIGMA = 1.4826  # makes the median absolute deviation agree with σ under a normal model
CENTERS = ("median", "mean")


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """Feature-wise μ̂ and σ̂.

    Attributes:
        location: μ̂, the median or the mean.
        scale: σ̂, 1.4826·MAD or the standard deviation; 0 only where the feature is constant.
        fell_back: features whose MAD is zero although they vary, where the standard deviation stands in.
    """

    location: NDArray[np.float64]
    scale: NDArray[np.float64]
    fell_back: NDArray[np.bool_]

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Features without any spread in the reference."""
        return np.equal(self.scale, 0)

    def residuals(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Z = (X - μ̂) / σ̂."""
        return (X - self.location) / self.scale


def fit_scale(X: NDArray[np.float64], center: str) -> Scale:
    """Fit by median and MAD, or by mean and standard deviation."""
    varies = X.max(axis=0) > X.min(axis=0)
    deviation = np.where(varies, X.std(axis=0), 0.0)
    if center == "mean":
        return Scale(location=X.mean(axis=0), scale=deviation, fell_back=np.zeros(X.shape[1], dtype=bool))
    location = np.median(X, axis=0)
    mad = MAD_TO_SIGMA * np.median(np.abs(X - location), axis=0)
    fell_back = (mad == 0) & varies
    return Scale(location=location, scale=np.where(fell_back, deviation, mad), fell_back=fell_back)
