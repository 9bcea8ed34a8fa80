"""How far a row stands apart as a whole: from its neighbours in the reference, the nearest and a far one.

A block of m columns sees what its rows share; this sees what is unusual about a row by itself. In a clean reference the
nearest neighbour of an unusual row is far away. A reference that holds unusual rows itself offers them as neighbours;
then a row stands apart if fewer reference rows lie around it than may be unusual themselves. Which of the two counts is
read off the data: see `near_weight`.

The nearest row is looked for in normal scores of the ranks, in which all columns count alike. The
far one is looked for on a scale that keeps how far out a value lies, sign · log(1 + |z|): a few unusual rows in the
reference take its outermost ranks, but not the distance to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Apartness:
    """How far rows stand from their neighbours in the reference.

    Attributes:
        nearest: distance to the nearest reference row.
        near: -log of the share of reference rows that stand as far from their own nearest neighbour.
        far: the same of the far neighbour.
    """

    nearest: NDArray[np.float64]
    near: NDArray[np.float64]
    far: NDArray[np.float64]

    def blend(self, near_weight: float) -> NDArray[np.float64]:
        """The part of each row as a whole: w · near + (1 - w) · far, never negative."""
        return near_weight * self.near + (1 - near_weight) * self.far

    def rows(self, rows: NDArray[np.int64]) -> Apartness:
        """Some of the rows."""
        return Apartness(nearest=self.nearest[rows], near=self.near[rows], far=self.far[rows])

    def spread(self, rows: NDArray[np.int64], length: int) -> Apartness:
        """The same among `length` rows, of which these are at `rows` and the others do not stand apart."""
        full = np.zeros((3, length))
        full[:, rows] = self.nearest, self.near, self.far
        return Apartness(nearest=full[0], near=full[1], far=full[2])


class WholeRow:
    """Rows of the reference in which other rows look for neighbours.

    Args:
        columns: the reference distributions that give ranks.
        sample: residuals of some reference rows.
        seed: draws the few among which the far neighbour is looked for.

    Attributes:
        scores: normal scores of the sample, each row among the others.
        sample: how far each row of the sample stands from the others.
    """

    def __init__(self, columns: Sequence[Distribution], sample: NDArray[np.float64], seed: int):
        from sklearn.neighbors import NearestNeighbors

        self.columns = columns
        few = np.random.default_rng(seed).permutation(len(sample))[:FAR_SAMPLE]
        self._places = np.full((2, len(sample)), -1)  # of each row of the sample among those of both searches
        self._places[0], self._places[1, few] = np.arange(len(sample)), np.arange(len(few))
        self.position = min(int(np.ceil(FAR * len(few))), len(few) - 1)  # of the far neighbour
        far_scores = self._log_scores(sample)
        self._near = NearestNeighbors().fit(self.normal_scores(sample))
        self._far = NearestNeighbors().fit(far_scores[few])
        self.scores = self.normal_scores(sample, own=True)
        nearest = _distances(self._near, self.scores, 1, self._places[0])
        far = _distances(self._far, far_scores, self.position, self._places[1])
        self.near, self.far = exact_distribution(nearest), exact_distribution(far)
        self.sample = Apartness(
            nearest=nearest,
            near=upper_surprise(self.near, nearest, own=True),
            far=upper_surprise(self.far, far, own=True),
        )

    def apartness(self, Z: NDArray[np.float64], places: NDArray[np.int64] | None = None) -> Apartness:
        """How far rows stand from their neighbours.

        Args:
            Z: residuals of the rows.
            places: where rows of the reference itself stand in the sample, -1 for one that is not there; None for rows
                of another table.
        """
        if places is not None and np.array_equal(places, self._places[0]):
            return self.sample
        near_places, far_places = (None, None) if places is None else np.where(places < 0, -1, self._places[:, places])
        nearest = _distances(self._near, self.normal_scores(Z, own=places is not None), 1, near_places)
        far = _distances(self._far, self._log_scores(Z), self.position, far_places)
        near, away = upper_surprise(self.near, nearest), upper_surprise(self.far, far)
        if places is not None:
            inside = np.flatnonzero(places >= 0)
            near[inside], away[inside] = self.sample.near[places[inside]], self.sample.far[places[inside]]
        return Apartness(nearest=nearest, near=near, far=away)

    def normal_scores(self, Z: NDArray[np.float64], *, own: bool = False) -> NDArray[np.float64]:
        """Φ⁻¹ of the middle rank in the reference; of rows of the reference itself, the rank among the others."""
        scores = np.empty(Z.shape)
        for j, column in enumerate(self.columns):
            middle = (column.below(Z[:, j]) + column.at_most(Z[:, j]) - own) / 2
            scores[:, j] = special.ndtri((middle + 0.5) / (column.size + 1 - own))
        return scores

    def _log_scores(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sign times log(1 + |z|), z in standard deviations from the mean of the reference."""
        means, deviations = np.array([(column.mean, column.deviation or 1.0) for column in self.columns]).T
        z = (np.clip(Z, -LARGEST_RESIDUAL, LARGEST_RESIDUAL) - means) / deviations
        return np.sign(z) * np.log1p(np.abs(z))


@dataclass(frozen=True, kw_only=True)
class PoolFacts:
    """A table of which only the heaviest rows were kept.

    Attributes:
        rows: how many it has.
        heavy: every row whose weights sum up to this or more was kept, and its neighbours are looked up.
    """

    rows: int
    heavy: float

    def neighbour_rows(self, totals: NDArray[np.float64]) -> NDArray[np.int64]:
        """The rows whose neighbours are looked up."""
        return np.flatnonzero(totals >= self.heavy)


def near_weight(nearest: NDArray[np.float64], reference: NDArray[np.float64], k: int, rows: int) -> float:
    """How much the nearest neighbour counts against the far one.

    Twice the share of the k most isolated pool rows beyond what as many reference rows would give: 0 where the
    reference explains them, 1 where it leaves half of them unexplained.

    Args:
        nearest: distance of each pool row that is looked up to the nearest reference row.
        reference: the same of reference rows.
        k: how many rows will be chosen.
        rows: of the whole pool.

    Returns:
        A weight from 0 to 1.
    """
    k = min(k, nearest.size)
    threshold = np.partition(nearest, -k)[-k]
    as_isolated = (1 + int((reference >= threshold).sum())) / (1 + reference.size)
    return float(np.clip(2 * (1 - as_isolated * rows / k), 0, 1))


def neighbour_rows(totals: NDArray[np.float64]) -> NDArray[np.int64]:
    """The rows of a pool whose neighbours are looked up, by the sum of each row's weights."""
    return np.argsort(-totals, kind="stable")[:MOST_ROWS]


def _distances(
    index: NearestNeighbors, rows: NDArray[np.float64], number: int, places: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Of each row, to its so many-th neighbour; `places` says which row of the index it is itself, -1 for none."""
    result = []
    for start in range(0, len(rows), CHUNK_ROWS):
        part = rows[start : start + CHUNK_ROWS]
        if places is None:
            result.append(index.kneighbors(part, number)[0][:, -1])
            continue
        distances, neighbours = index.kneighbors(part, min(number + 1, index.n_samples_fit_))
        is_near = (neighbours == places[start : start + CHUNK_ROWS, None]).any(axis=1)
        result.append(np.where(is_near, distances[:, -1], distances[:, -2]))
    return np.concatenate(result).round(DIGITS)
