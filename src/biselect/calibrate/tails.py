"""Beyond the end of the reference: how a weight goes on growing with the distance."""

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.column import Column

OUTER = 0.05  # share of the reference at either end, whose length is the unit beyond it
LEAST_LENGTH = 1e-6  # of a standard deviation; a shorter end is one of ties


def beyond(excess: NDArray[np.float64], length: float) -> NDArray[np.float64]:
    """What a value weighs for lying beyond the whole reference, by how far it does: the tail goes on as 1/(1 + x)."""
    return np.log1p(excess / length)


def outer_length(length: float, column: Column) -> float:
    """The length of the outer five per cent; the standard deviation where that is next to nothing."""
    spread = column.deviation or 1.0
    return length if length > LEAST_LENGTH * spread else spread


def upper_surprise(column: Column, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """-log of the share of the reference at or above x, which goes on growing beyond its largest value.

    >>> from biselect.calibrate.column import exact_column
    >>> upper_surprise(exact_column(np.arange(9.0)), np.array([0.0, 8.0, 20.0])).round(2).tolist()
    [0.0, 1.61, 5.74]
    """
    last = column.values[-1]
    length = outer_length(last - column.quantile(1 - OUTER), column)
    share = (1 + column.size - column.below(x)) / (column.size + 1)
    return -np.log(share) + beyond(np.maximum(x - last, 0), length)
