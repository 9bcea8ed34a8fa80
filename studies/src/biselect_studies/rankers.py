"""Rules without a search that rank rows by their weights: what joint selection has to beat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.solvers.response import top

Rule = Callable[[NDArray[np.floating[Any]], int, int], NDArray[np.int64]]


def by_weight_sum(W: NDArray[np.floating[Any]], k: int, m: int) -> NDArray[np.int64]:
    """The k rows with the largest sum of all their weights; m plays no part."""
    return top(W.sum(axis=1), k)


def by_largest_weights(W: NDArray[np.floating[Any]], k: int, m: int) -> NDArray[np.int64]:
    """The budget-aware trigger: the k rows with the largest sum of their own m largest weights."""
    return top(np.sort(W, axis=1)[:, -m:].sum(axis=1), k)


def by_tall_columns(W: NDArray[np.floating[Any]], k: int, m: int) -> NDArray[np.int64]:
    """The m columns with the largest sum of their k largest weights, then the k rows with most on those."""
    return top(W[:, top(np.sort(W, axis=0)[-k:].sum(axis=0), m)].sum(axis=1), k)


RULES: dict[str, Rule] = {
    "weight-sum": by_weight_sum,
    "largest-weights": by_largest_weights,
    "tall-columns": by_tall_columns,
}
LABELS = {
    "weight-sum": "sum of all weights",
    "largest-weights": "sum of a row's m largest weights",
    "tall-columns": "columns by their k largest weights",
}
WEIGHING = {
    "feature-first:sum": "feature-first, sum",
    "feature-first:max": "feature-first, max",
    "feature-first:median": "feature-first, median",
    **{f"rule:{name}": label for name, label in LABELS.items()},
}
"""Every plain method that reads the weights, as the experiments name it, for people."""
