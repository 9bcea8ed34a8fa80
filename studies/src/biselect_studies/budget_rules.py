"""Label-free rules that recommend budgets (k, m) from the best scores of neighbouring sectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Neighbours:
    """Sectors of one pool.

    Attributes:
        scores: the best score of each, a row per k, a column per m.
        W: the pool's weights.
        ks: the budgets of the rows.
        ms: the budgets of the columns.
    """

    scores: NDArray[np.float64]
    W: NDArray[np.float64]
    ks: NDArray[np.int64]
    ms: NDArray[np.int64]

    def recommended(self) -> dict[str, tuple[int, int]]:
        """The place that each rule recommends.

        `most-unusual` is the sector whose best score lies furthest above k·m random cells of the pool, in their
        standard deviations; `densest` the one with the largest weight per cell. At the most unusual m, `sharpest-drop`
        takes the k after which the next sample adds least compared with this one, and `last-gain` the last k whose
        sample still adds more than half of what the first one added.
        """
        cells = self.ks[:, None] * self.ms[None, :]
        unusual = (self.scores - cells * self.W.mean()) / (np.sqrt(cells) * max(float(self.W.std()), 1e-12))
        row, column = _largest(unusual)
        gains = np.diff(self.scores[:, column], prepend=0.0)
        falls = np.flatnonzero(gains < gains[0] / 2)
        return {
            "most-unusual": (row, column),
            "densest": _largest(self.scores / cells),
            "sharpest-drop": (int(np.argmax(gains[:-1] / np.maximum(gains[1:], 1e-12))), column),
            "last-gain": (int(falls[0]) - 1 if falls.size else len(self.ks) - 1, column),
        }


RULES = ("most-unusual", "densest", "sharpest-drop", "last-gain")


def _largest(values: NDArray[np.float64]) -> tuple[int, int]:
    row, column = np.unravel_index(int(np.argmax(values)), values.shape)
    return int(row), int(column)
