"""`conformal`: split-conformal p-values with a MAD nonconformity score (Prop. conformal-validity)."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.column import Column
from biselect.calibrate.maps.base import Reference, TailMap
from biselect.calibrate.scale import fit_scale
from biselect.calibrate.steps import Steps, apply_steps


class ConformalMap(TailMap):
    """-log p with p = (1 + #{calibration scores ≥ score}) / (n + 1); a tie counts against the anomaly.

    The score |z - median| / MAD is fit on rows that take no part in the ranking, which makes p super-uniform
    whatever the distribution.
    """

    takes_ranks: ClassVar[bool] = True
    split: ClassVar[float] = 0.5

    def fit(self, reference: Reference) -> None:
        """Fit the score on one window, rank the other."""
        self.scale = fit_scale(reference.fit, "median")
        scored = (
            column.scaled(location, scale).folded(0.0)
            for column, location, scale in zip(
                reference.calibration, self.scale.location, self.scale.scale, strict=True
            )
        )
        self.steps = [_p_value_steps(column) for column in scored]

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """-log p of each residual."""
        return apply_steps(self.steps, np.abs(self.scale.residuals(Z)))


def _p_value_steps(scores: Column) -> Steps:
    below = np.concatenate([[0], scores.counts])
    p = (1 + scores.size - below) / (scores.size + 1)
    return Steps(values=scores.values, levels=-np.log(p), inclusive=False)
