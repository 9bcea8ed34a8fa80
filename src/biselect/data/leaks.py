"""Leaks: features that know the label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError

ENOUGH = 20  # rows of each class from which perfect separation is no accident


def refuse_label_copies(X: NDArray[np.float64], names: Sequence[str], labels: ArrayLike) -> None:
    """Refuse a feature that copies the label, or splits the classes without a single exception.

    A threshold on one honest feature does not separate the classes of a table that is worth a study. With few
    positives chance might do it, so fewer than `ENOUGH` are held to the exact copy alone. What leaks only in part,
    or only together with another feature, is not found.
    """
    marks = np.asarray(labels, dtype=bool)
    if marks.all() or not marks.any():
        return
    for j, name in enumerate(names):
        column = X[:, j]
        inside, outside = column[marks], column[~marks]
        if inside[0] != outside[0] and (inside == inside[0]).all() and (outside == outside[0]).all():
            raise InputError(f"feature {name!r} is a copy of the label; leave it out, or the study measures nothing")
        if min(inside.size, outside.size) >= ENOUGH and (inside.min() > outside.max() or inside.max() < outside.min()):
            raise InputError(
                f"feature {name!r} separates the label without exception; leave it out, or the study measures nothing"
            )
