"""`abs-z` and `mad-z`: plain distances in units of spread, without a probability."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.maps.base import Reference, TailMap
from biselect.calibrate.scale import fit_scale


class AbsoluteZMap(TailMap):
    """|x - mean| / standard deviation."""

    center: ClassVar[str] = "mean"

    def fit(self, reference: Reference) -> None:
        """Fit location and scale."""
        self.scale = fit_scale(reference.fit, self.center)

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The distance from the location."""
        return np.abs(self.scale.residuals(Z))


class MadZMap(AbsoluteZMap):
    """|x - median| / 1.4826·MAD; the standard deviation stands in where the MAD is zero."""

    center: ClassVar[str] = "median"
