"""The one score: rows of pool and reference on one scale, for one question, and what each column adds to it.

A row scores the sum of its cells in the chosen directed columns and of one part "as a whole". Pool rows are weighed
against the reference, reference rows against the other reference rows, so that both can be compared. The part as a
whole is shared out among all columns: by how far each lies from what the reference rows most like this one have there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from biselect.columns.distribution import Scale
from biselect.core import SelectionProblem
from biselect.core.sector import check_budget
from biselect.weights.directed import CellWeights, DirectedColumns, WeighsColumns, at_best
from biselect.weights.whole_row import DIGITS, Apartness, PoolFacts, WholeRow, near_weight, neighbour_rows

SIMILAR = 20  # reference rows that a row is compared with
ORDINARY = 0.9  # share of the reference rows to compare with, those that score least: a row's own kind is no standard
CHUNK_ROWS = 512  # compared at a time
LEAST_AWAY = 1e-9  # of a squared difference, so that a row that differs nowhere shares its part evenly


Marginals = Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""From weights W and residuals Z to what each row and each column is worth on its own."""


class WeighsRows(WeighsColumns, Protocol):
    """What scores ask of a `Weigher` that was fitted on rows."""

    scale: Scale

    @property
    def sample(self) -> CellWeights:
        """Some rows of the reference, each weighed against the others."""
        ...

    @property
    def whole_row(self) -> WholeRow:
        """The same rows, in which others look for their neighbours."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredRows:
    """Rows of a table on the scale of the reference.

    Attributes:
        cells: the rows and their weights by column.
        weights: rows × features, their weights in the directed columns.
        apartness: how far they stand from their neighbours in the reference.
    """

    cells: CellWeights
    weights: NDArray[np.float64]
    apartness: Apartness

    def scores(self, own: NDArray[np.float64], features: NDArray[np.int64]) -> NDArray[np.float64]:
        """The score of each row, given its part as a whole and the chosen features."""
        return own + self.weights[:, features].sum(axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scoring:
    """Pool and reference on one scale, for k rows and m columns.

    Attributes:
        weigher: fitted on the reference.
        features: the directed columns.
        k: how many rows are to be chosen.
        m: how many columns.
        rows: of the whole pool, of which the heaviest may be all that is here.
        near_weight: how much the nearest neighbour counts in the part as a whole, from 0 to 1.
        pool: the rows to choose from.
        reference: a sample of the reference rows, each weighed against the others.
        marginals: what rows and columns are worth on their own in place of the part as a whole, as the paper has it;
            then columns are plain. None for the product's form.
    """

    weigher: WeighsRows
    features: DirectedColumns
    k: int
    m: int
    rows: int
    near_weight: float
    pool: ScoredRows
    reference: ScoredRows
    marginals: Marginals | None = None

    @classmethod
    def of(
        cls,
        weigher: WeighsRows,
        cells: CellWeights,
        k: int,
        m: int,
        *,
        must: Collection[int] = (),
        whole: PoolFacts | None = None,
        marginals: Marginals | None = None,
    ) -> Scoring:
        """Score a pool.

        Args:
            weigher: fitted on the reference.
            cells: the pool as it was weighed.
            k: how many rows are to be chosen.
            m: how many columns.
            must: columns that must be chosen.
            whole: the larger table that these rows were kept from; None if they are the whole pool.
            marginals: as for the attribute.
        """
        size = len(cells.weights) if whole is None else whole.rows
        check_budget("k", k, size, "samples")
        check_budget("m", m, len(weigher.columns), "columns")
        features = DirectedColumns.of(weigher, cells, must)
        if marginals is not None:
            features = DirectedColumns.plain(features.names)
        around, sample = weigher.whole_row, weigher.sample
        totals = at_best(weigher, cells.weights).sum(axis=1)
        rows = neighbour_rows(totals) if whole is None else whole.neighbour_rows(totals)
        rows = np.sort(rows)  # as rows of the sample stand, where the pool is the reference
        places = None if cells.places is None else cells.places[rows]
        apart = around.apartness(weigher.scale.residuals(cells.values[rows]), places)
        return cls(
            weigher=weigher,
            features=features,
            k=k,
            m=m,
            rows=size,
            near_weight=near_weight(apart.nearest, around.sample.nearest, k, size) if rows.size else 0.0,
            pool=ScoredRows(
                cells=cells, weights=features.weights(weigher, cells), apartness=apart.spread(rows, len(totals))
            ),
            reference=ScoredRows(cells=sample, weights=features.weights(weigher, sample), apartness=around.sample),
            marginals=marginals,
        )

    @cached_property
    def pool_parts(self) -> NDArray[np.float64]:
        """The part of each pool row as a whole."""
        return self._parts(self.pool, self.near_weight)

    @cached_property
    def reference_parts(self) -> NDArray[np.float64]:
        """The part of each reference row as a whole."""
        return self._parts(self.reference, self.near_weight)

    def drawn_parts(self, drawn: NDArray[np.int64], rest: NDArray[np.int64], k: int) -> NDArray[np.float64]:
        """The same where some reference rows stand for a pool, of which k are to be chosen, and the others for all."""
        nearest = self.reference.apartness.nearest
        return self._parts(self.reference, near_weight(nearest[drawn], nearest[rest], k, drawn.size))

    def _parts(self, rows: ScoredRows, weight: float) -> NDArray[np.float64]:
        if self.marginals is None:
            return self.m * rows.apartness.blend(weight)
        residuals = self.weigher.scale.residuals(rows.cells.values)
        return self.marginals(rows.weights, residuals)[0]

    def pool_scores(self, features: NDArray[np.int64]) -> NDArray[np.float64]:
        """The score of each pool row in these features."""
        return self.pool.scores(self.pool_parts, features)

    def reference_scores(self, features: NDArray[np.int64]) -> NDArray[np.float64]:
        """The score of each reference row in these features."""
        return self.reference.scores(self.reference_parts, features)

    def scores_of(self, cells: CellWeights, features: NDArray[np.int64]) -> NDArray[np.float64]:
        """The score that further rows would have in these features, on the same scale."""
        around, weights = self.weigher.whole_row, self.features.weights(self.weigher, cells)
        apart = around.apartness(self.weigher.scale.residuals(cells.values), cells.places)
        rows = ScoredRows(cells=cells, weights=weights, apartness=apart)
        return rows.scores(self._parts(rows, self.near_weight), features)

    def problem(self, sample_names: Sequence[str] | None = None, library: str | None = None) -> SelectionProblem:
        """The selection problem: which k rows and m directed columns hold the highest score?

        Args:
            sample_names: names of the rows; None for their positions.
            library: the frame library that answers come in.
        """
        names, cells, columns = self.features.names, self.pool.cells, None
        if self.marginals is not None:
            columns = self.marginals(self.pool.weights, self.weigher.scale.residuals(cells.values))[1]
        return SelectionProblem(
            coupling=self.pool.weights,
            sample_scores=self.pool_parts,
            feature_scores=columns,
            k=self.k,
            m=self.m,
            sample_names=sample_names,
            feature_names=[names[j] for j in self.features.columns],
            directions=self.features.directions if self.marginals is None else None,
            feature_rules=self.features.rules,
            library=library,
        )

    def similar(self, rows: NDArray[np.int64], features: NDArray[np.int64]) -> NDArray[np.int64]:
        """The ordinary reference rows that are most like these pool rows, nearest first.

        Ordinary are the nine tenths of the reference that score least in the same features.

        Args:
            rows: positions in the pool.
            features: the chosen features.

        Returns:
            Rows × 20 positions in the sample of the reference; fewer columns if there are fewer rows.
        """
        scores, around, places = self.reference_scores(features), self.weigher.whole_row, self.pool.cells.places
        ordinary = np.flatnonzero(scores <= np.quantile(scores, ORDINARY))
        standard, near = around.scores[ordinary], []
        for start in range(0, len(rows), CHUNK_ROWS):
            part = rows[start : start + CHUNK_ROWS]
            distances = cdist(self._normal_scores(part), standard, "sqeuclidean").round(DIGITS)
            if places is not None:
                distances[ordinary == places[part, None]] = np.inf  # a row is no standard for itself
            number = max(1, min(SIMILAR, ordinary.size - (places is not None)))
            closest = np.sort(np.argpartition(distances, number - 1, axis=1)[:, :number], axis=1)
            order = np.argsort(np.take_along_axis(distances, closest, axis=1), axis=1, kind="stable")
            near.append(ordinary[np.take_along_axis(closest, order, axis=1)])
        return np.concatenate(near) if near else np.empty((0, 1), dtype=np.int64)

    def parts(
        self, rows: NDArray[np.int64], features: NDArray[np.int64], similar: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """What each column of the table adds to the score of pool rows.

        Args:
            rows: positions in the pool.
            features: the chosen features.
            similar: what `similar` returned for them, where that is known.

        Returns:
            Rows × columns; each row sums to its score.
        """
        parts = np.zeros((len(rows), len(self.features.names)))
        for feature in features.tolist():
            parts[:, self.features.columns[feature]] += self.pool.weights[rows, feature]
        similar = self.similar(rows, features) if similar is None else similar
        usual = self.weigher.whole_row.scores[similar].mean(axis=1)
        away = (self._normal_scores(rows) - usual) ** 2 + LEAST_AWAY
        return parts + self.pool_parts[rows, None] * away / away.sum(axis=1, keepdims=True)

    def _normal_scores(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        cells, around = self.pool.cells, self.weigher.whole_row
        return around.normal_scores(self.weigher.scale.residuals(cells.values[rows]), own=cells.places is not None)
