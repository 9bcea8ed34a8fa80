"""`ecdf`: two-sided tail of the smoothed empirical distribution (Eq. tail-calibration)."""

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.calibrate.column import Column
from biselect.calibrate.maps.base import Reference
from biselect.calibrate.steps import Steps, apply_steps


class EcdfMap:
    """-log 2·min(F̂, 1 - F̂), F̂ read off the ranks of the reference."""

    takes_ranks: ClassVar[bool] = True
    split: ClassVar[float] = 0.0
    needs_labels: ClassVar[bool] = False

    def fit(self, reference: Reference) -> None:
        """Tabulate the score of every rank."""
        self.steps = [tail_steps(column) for column in reference.calibration]

    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each residual's rank."""
        return apply_steps(self.steps, Z)


def smoothed_cdf(ranks: ArrayLike, n: int) -> NDArray[np.float64]:
    """F̂ = clip((R + ½)/(n + 1), 1/(n + 1), n/(n + 1)): never 0, never 1."""
    return np.clip((np.asarray(ranks) + 0.5) / (n + 1), 1 / (n + 1), n / (n + 1))


def tail_steps(column: Column) -> Steps:
    """-log 2·min(F̂, 1 - F̂) as a function of the residual."""
    cdf = smoothed_cdf(np.concatenate([[0], column.counts]), column.size)
    return Steps(values=column.values, levels=-np.log(2 * np.minimum(cdf, 1 - cdf)), inclusive=True)
