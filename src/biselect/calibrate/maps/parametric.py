"""`gaussian`, `laplace` and `student-t`: two-sided tails of a fitted distribution."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biselect.calibrate.column import Column
from biselect.calibrate.maps.base import Reference, TailMap
from biselect.calibrate.scale import fit_scale

DEGREES_OF_FREEDOM = np.geomspace(1.0, 200.0, 400)  # Cauchy to all but Gaussian
BODY, TAIL = 0.5, 0.95  # the quantiles of |z| whose ratio tells how heavy a tail is


class GaussianMap(TailMap):
    """-log P(|N(mean, deviation)| is further out)."""

    def fit(self, reference: Reference) -> None:
        """Fit mean and standard deviation."""
        self.scale = fit_scale(reference.fit, "mean")

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log 2Φ(-|z|), accurate far beyond where the probability itself underflows."""
        return -(np.log(2) + special.log_ndtr(-np.abs(self.scale.residuals(Z))))


class LaplaceMap(TailMap):
    """-log P(|Laplace(median, mean absolute deviation)| is further out): the distance itself."""

    def fit(self, reference: Reference) -> None:
        """Fit by maximum likelihood."""
        self.location = np.array([column.quantile(0.5) for column in reference.fit])
        self.spread = np.array(
            [column.folded(middle).mean for column, middle in zip(reference.fit, self.location, strict=True)]
        )

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """|z - median| / spread."""
        return np.abs(Z - self.location) / self.spread


class StudentTMap(TailMap):
    """-log P(|t| is further out), degrees of freedom and scale matched to the median and the 95 % quantile of |z|."""

    def fit(self, reference: Reference) -> None:
        """Match two quantiles; a spike at the median gives the heaviest tail on offer."""
        self.location = np.array([column.quantile(0.5) for column in reference.fit])
        pairs = zip(reference.fit, self.location, strict=True)
        body, tail = np.array([_body_and_tail(column.folded(middle)) for column, middle in pairs]).T
        deviation = np.array([column.deviation for column in reference.fit])

        body_of_t, tail_of_t = (special.stdtrit(DEGREES_OF_FREEDOM, (1 + q) / 2) for q in (BODY, TAIL))
        # log(body / tail) rises with the degrees of freedom; an empty body is below them all
        with np.errstate(divide="ignore", invalid="ignore"):
            heaviness = np.nan_to_num(np.log(body / tail), nan=-np.inf)
        self.freedom = np.interp(heaviness, np.log(body_of_t / tail_of_t), DEGREES_OF_FREEDOM)
        self.spread = np.where(tail > 0, tail, deviation) / special.stdtrit(self.freedom, (1 + TAIL) / 2)

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log 2T(-|t|)."""
        p = 2 * special.stdtr(self.freedom, -np.abs(Z - self.location) / self.spread)
        return -np.log(np.maximum(p, np.finfo(np.float64).tiny))


def _body_and_tail(distances: Column) -> tuple[float, float]:
    return distances.quantile(BODY), distances.quantile(TAIL)
