"""The maps that the studies compare: the paper's own to the letter, and others that it may have had among its nine.

Of the paper's, `ecdf-paper` ranks ties as its formula does, and `gaussian-robust` is its 2Φ(-|Z|) of median and MAD.
"""

from numpy.typing import ArrayLike

from biselect.weights import WeightMap
from biselect_studies.extensions.maps import LogisticMap

LABEL_FREE = ("ecdf-paper", "conformal", "gaussian-robust", "abs-z", "mad-z", "student-t", "laplace", "pareto")
STUDIED = (*LABEL_FREE, "logistic")
REFITTED = "gaussian"
"""Ours: 2Φ(-|z|) with z from mean and standard deviation of the reference."""


def studied_map(name: str, labels: ArrayLike) -> str | WeightMap:
    """What a calibrator takes; the supervised map is told the labels of the reference."""
    return LogisticMap(labels) if name == "logistic" else name
