"""How far a row stands apart as a whole: from its neighbours in the reference, the nearest and a far one.

A block of m columns sees what its rows share; this sees what is unusual about a row by itself. In a clean reference the
nearest neighbour of an unusual row is far away. A reference that holds unusual rows itself offers them as neighbours;
then a row stands apart if fewer reference rows lie around it than may be unusual themselves. Which of the two counts is
read off the data: see `WholeRow.near_weight`.

The nearest row is looked for in normal scores of the ranks, in which all columns count alike. The
far one is looked for on a scale that keeps how far out a value lies, sign · log(1 + |z|): a few unusual rows in the
reference take its outermost ranks, but not the distance to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biselect.columns.distribution import LARGEST_RESIDUAL, Distribution, exact_distribution, upper_surprise

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors

SAMPLE = 8_192  # reference rows that the nearest is looked for among, at most
FAR_SAMPLE = 2_048  # the same for the far one: a share of the rows needs fewer of them
FAR = 0.05  # share of the reference that may be unusual itself: the neighbour so far down the list is the far one
MOST_ROWS = 50_000  # of a pool that are looked up, those with the largest weights; the others do not stand apart
CHUNK_ROWS = 1 << 13  # looked up at a time
DIGITS = 6  # of a distance; rounding makes equal rows differ beyond them


class WholeRow:
    """A sample of the reference in which rows look for neighbours.

    Args:
        columns: the reference distributions that give ranks.
        sample: residuals of some reference rows, in random order.
    """

    def __init__(self, columns: Sequence[Distribution], sample: NDArray[np.float64]):
        from sklearn.neighbors import NearestNeighbors

        self.columns = columns
        scores, few = self._normal_scores(sample[:SAMPLE]), self._log_scores(sample[:FAR_SAMPLE])
        self.position = int(np.ceil(FAR * len(few)))  # of the far neighbour
        self._near, self._far = NearestNeighbors().fit(scores), NearestNeighbors().fit(few)
        # a row of the sample finds itself first
        self.near = exact_distribution(_distance(self._near, scores, 2))
        self.far = exact_distribution(_distance(self._far, few, min(self.position + 1, len(few))))

    def nearest(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """How far the nearest neighbour of each row is."""
        return _distance(self._near, self._normal_scores(Z), 1)

    def near_weight(self, nearest: NDArray[np.float64], k: int, rows: int) -> float:
        """How much the nearest neighbour counts against the far one, from 0 to 1.

        Twice the share of the k most isolated pool rows beyond what as many reference rows would give: 0 where the
        reference explains them, 1 where it leaves half of them unexplained.

        Args:
            nearest: of the rows that are looked up.
            k: how many rows will be chosen.
            rows: of the whole pool.
        """
        k = min(k, nearest.size)
        threshold = np.partition(nearest, -k)[-k]
        as_isolated = (1 + self.near.size - int(self.near.below(threshold))) / (1 + self.near.size)
        return float(np.clip(2 * (1 - as_isolated * rows / k), 0, 1))

    def evidence(
        self, Z: NDArray[np.float64], near_weight: float, nearest: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """How far each row stands apart: w · near + (1 - w) · far, each as -log of a share of the reference.

        Args:
            Z: residuals of the rows that are looked up.
            near_weight: w.
            nearest: of these rows, where it is known.
        """
        found = np.zeros(len(Z))
        if near_weight > 0:
            near = self.nearest(Z) if nearest is None else nearest
            found += near_weight * upper_surprise(self.near, near)
        if near_weight < 1:
            far = _distance(self._far, self._log_scores(Z), self.position)
            found += (1 - near_weight) * upper_surprise(self.far, far)
        return found

    def _normal_scores(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Φ⁻¹ of the middle rank in the reference."""
        out = np.empty(Z.shape)
        for j, column in enumerate(self.columns):
            middle = (column.below(Z[:, j]) + column.at_most(Z[:, j])) / 2
            out[:, j] = special.ndtri((middle + 0.5) / (column.size + 1))
        return out

    def _log_scores(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sign times log(1 + |z|), z in standard deviations from the mean of the reference."""
        means, deviations = np.array([(column.mean, column.deviation or 1.0) for column in self.columns]).T
        z = (np.clip(Z, -LARGEST_RESIDUAL, LARGEST_RESIDUAL) - means) / deviations
        return np.sign(z) * np.log1p(np.abs(z))


def neighbour_rows(totals: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of a pool whose neighbours are looked up, by the sum of each row's weights."""
    return np.argsort(-totals, kind="stable")[:MOST_ROWS]


def _distance(index: NearestNeighbors, rows: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """Of each row, to its so many-th neighbour."""
    chunks = (rows[start : start + CHUNK_ROWS] for start in range(0, len(rows), CHUNK_ROWS))
    return np.concatenate([index.kneighbors(chunk, number)[0][:, -1] for chunk in chunks]).round(DIGITS)
