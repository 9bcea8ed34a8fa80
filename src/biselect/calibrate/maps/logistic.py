"""`logistic`: a supervised scorer per feature, for references with known anomalies."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biselect.calibrate.maps.base import Reference, TailMap
from biselect.calibrate.scale import fit_scale
from biselect.errors import InputError

RIDGE = 1.0  # on the slopes; keeps them finite where one feature separates the classes


class LogisticMap(TailMap):
    """How far a value raises the log-odds of an anomaly above their base rate, never below it.

    One logistic regression per feature on log(1 + |z|) of either side of the median, with slopes of at least
    zero: the score can be one-sided, but it never falls as a value moves outwards. The logarithm keeps a few
    wild normals from flattening the slope. Fit it on rows from before the period it is used in.
    """

    needs_labels: ClassVar[bool] = True

    def fit(self, reference: Reference) -> None:
        """Fit one regression per feature."""
        if reference.rows is None or reference.labels is None:
            raise InputError("the logistic map needs a table and its labels: fit(reference, labels=...)")
        if not 0 < reference.labels.sum() < reference.labels.size:
            raise InputError("the labels name one class only; the logistic map needs anomalies and normal rows")
        self.scale = fit_scale(reference.fit, "median")
        below, above = self._sides(reference.rows)
        fits = [_regress(below[:, j], above[:, j], reference.labels) for j in range(below.shape[1])]
        self.offset, self.slope_below, self.slope_above = np.array(fits).T

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-odds of an anomaly minus its log-odds over the whole reference."""
        below, above = self._sides(Z)
        return self.offset + self.slope_below * below + self.slope_above * above

    def _sides(self, Z: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        z = np.clip(self.scale.residuals(Z), -1e300, 1e300)  # a slope of zero times infinity is no number
        return np.log1p(np.maximum(-z, 0)), np.log1p(np.maximum(z, 0))


def _regress(
    below: NDArray[np.float64], above: NDArray[np.float64], labels: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Intercept over the base rate, and two slopes ≥ 0, by penalised maximum likelihood."""
    from scipy.optimize import minimize

    base = float(special.logit(labels.mean()))
    design = np.column_stack([np.ones(below.size), below, above])
    counted = design.T @ labels
    ridge = np.array([0.0, RIDGE, RIDGE])

    def loss(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        odds = design @ parameters + base
        value = np.logaddexp(0, odds).sum() - counted @ parameters + ridge @ parameters**2 / 2
        return float(value), design.T @ special.expit(odds) - counted + ridge * parameters

    found = minimize(loss, np.zeros(3), jac=True, method="L-BFGS-B", bounds=[(None, None), (0, None), (0, None)])
    return tuple(found.x.tolist())
