"""Label-free rules that recommend budgets (k, m) from the best scores of neighbouring sectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Rule = Callable[[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]], tuple[int, int]]
"""From best scores (a row per k, a column per m), the weights, and both lists of budgets: the place recommended."""


def standardised(
    scores: NDArray[np.float64], W: NDArray[np.float64], ks: NDArray[np.int64], ms: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How far a sector's best score lies above k·m random cells of the pool, in their standard deviations."""
    cells = ks[:, None] * ms[None, :]
    return (scores - cells * W.mean()) / (np.sqrt(cells) * max(float(W.std()), 1e-12))


def most_unusual(
    scores: NDArray[np.float64], W: NDArray[np.float64], ks: NDArray[np.int64], ms: NDArray[np.int64]
) -> tuple[int, int]:
    """The sector whose best score is furthest above chance."""
    return _place(standardised(scores, W, ks, ms))


def densest(
    scores: NDArray[np.float64], W: NDArray[np.float64], ks: NDArray[np.int64], ms: NDArray[np.int64]
) -> tuple[int, int]:
    """The sector with the largest weight per cell."""
    return _place(scores / (ks[:, None] * ms[None, :]))


def sharpest_drop(
    scores: NDArray[np.float64], W: NDArray[np.float64], ks: NDArray[np.int64], ms: NDArray[np.int64]
) -> tuple[int, int]:
    """At the most unusual m, the k after which the next sample adds least compared with this one."""
    column = most_unusual(scores, W, ks, ms)[1]
    gains = np.diff(scores[:, column], prepend=0.0)
    return int(np.argmax(gains[:-1] / np.maximum(gains[1:], 1e-12))), column


def last_gain(
    scores: NDArray[np.float64], W: NDArray[np.float64], ks: NDArray[np.int64], ms: NDArray[np.int64]
) -> tuple[int, int]:
    """At the most unusual m, the last k whose sample still adds more than half of what the first one added."""
    column = most_unusual(scores, W, ks, ms)[1]
    gains = np.diff(scores[:, column], prepend=0.0)
    falls = np.flatnonzero(gains < gains[0] / 2)
    return (int(falls[0]) - 1 if falls.size else len(ks) - 1), column


def _place(values: NDArray[np.float64]) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(values)), values.shape)
    return int(row), int(column)


RULES: dict[str, Rule] = {
    "most-unusual": most_unusual,
    "densest": densest,
    "sharpest-drop": sharpest_drop,
    "last-gain": last_gain,
}
