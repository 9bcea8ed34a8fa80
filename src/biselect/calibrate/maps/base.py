"""What a map is: fit on the reference, then how unusual any residual is, feature by feature."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.column import Column


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """Reference residuals as the maps see them.

    Attributes:
        fit: one column per feature, from the rows that parameters are fit on.
        calibration: one column per feature, from the rows that ranks are taken among; `fit` itself where the
            reference is not split.
        rows: the residuals row by row; None where the reference was streamed.
        labels: one per row, True for a known anomaly; None where there are none.
    """

    fit: tuple[Column, ...]
    calibration: tuple[Column, ...]
    rows: NDArray[np.float64] | None = None
    labels: NDArray[np.bool_] | None = None


class TailMap(ABC):
    """From residuals to scores that grow with extremeness; each cell depends on itself and the reference alone.

    Attributes:
        takes_ranks: whether the map ranks among reference entries, so that a split reference has a meaning.
        split: share of the reference that is set aside for ranks unless the caller says otherwise.
        needs_labels: whether the map is supervised.
    """

    takes_ranks: ClassVar[bool] = False
    split: ClassVar[float] = 0.0
    needs_labels: ClassVar[bool] = False

    @abstractmethod
    def fit(self, reference: Reference) -> None:
        """Learn from the reference."""

    @abstractmethod
    def surprise(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The score of each residual before it is cut to [0, w_max]: -log p where the map has a probability."""
