"""Leaks: features that know the label, or the future."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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


def looks_ahead(features: Callable[[Any], dict[str, NDArray[Any]]], table: Any, altered: Any, rows: int) -> list[str]:
    """Features of the first rows that change when only later rows do: they look ahead.

    Args:
        features: columns by name from a table.
        table: rows in the order of time.
        altered: the same first `rows` rows, anything after them.
        rows: how many rows come before the change.
    """
    before, after = features(table), features(altered)
    return [
        name
        for name, column in before.items()
        if not np.array_equal(column[:rows], after[name][:rows], equal_nan=np.issubdtype(column.dtype, np.floating))
    ]
