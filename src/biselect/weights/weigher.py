"""Weigher: fit on a reference table, then weigh any pool against it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns import directions
from biselect.columns.category import FLAG, LabelCounts
from biselect.columns.column_type import ColumnReference
from biselect.columns.distribution import Distribution, Scale
from biselect.core import SelectionProblem, checks
from biselect.errors import InputError
from biselect.tables import NamedMatrix, align, as_matrix, library_of, refuse_unusable, row_labels
from biselect.weights.directed import CellWeights
from biselect.weights.maps import WeightMap, make_map, map_name
from biselect.weights.reference import Reference, refuse_labels
from biselect.weights.scoring import Marginals, Scoring
from biselect.weights.whole_row import WholeRow

MISSING = ("weigh", "median", "error")
CHUNK_CELLS = 1 << 21  # weighed at a time


@dataclass(frozen=True, kw_only=True)
class WeighingFacts:
    """What a reader should know about a fitted calibration.

    Attributes:
        reference_rows: n, all rows of the reference.
        features: how many features there are.
        categories: those that are weighed by how rare their values are, those of `constant` aside.
        constant: those of which the reference holds one value only: any other weighs most.
        zero_mad: features scaled by the standard deviation because their MAD is zero.
        tied: share of reference entries that equal another entry of their feature, by feature.
        filled: missing reference entries that the median replaced.
        absent: missing reference entries by feature, where there are any and they are weighed.
        largest_weight: the weight of a number beyond everything in the reference; of a new category without numbers.
        map: the map in use.
        rank_error: no rank is wrong by more than this share of the rows; 0 unless the reference was sketched.
    """

    reference_rows: int
    features: int
    categories: tuple[str, ...]
    constant: tuple[str, ...]
    zero_mad: tuple[str, ...]
    tied: dict[str, float]
    filled: int
    absent: dict[str, int]
    largest_weight: float
    map: str
    rank_error: float


class Weigher:
    """Bounded outlier weights, from a reference alone.

    The weights of a row depend on that row and the reference, never on the other rows of the pool. Numbers weigh by a
    map. Categories (text, booleans, categoricals) weigh by how rare they are in the reference, whatever the map, and so
    does any new value of a feature that is constant there.

    Args:
        map: how extremeness becomes a weight: one of `biselect.weights.map_names()`, or a map of your own, an object
            or a class with the members of `biselect.weights.maps.WeightMap`. Each fit fits a copy of it.
        cap: w_max, the largest weight; None for the map's own.
        missing: `weigh` to weigh a missing entry by how rare missing ones are in its feature, as a flag that is set;
            `median` to fill it with the reference median; or `error`. In a feature that is mostly missing, an entry
            that is there weighs that much more.
        seed: fixes every draw.

    >>> rng = np.random.default_rng(0)
    >>> weigher = Weigher().fit(rng.normal(size=(1000, 3)))
    >>> weigher.weights([[0.0, 0.0, 8.0]]).round(1).tolist()
    [[0.1, 0.0, 7.9]]
    """

    columns: Sequence[ColumnReference]
    scale: Scale

    def __init__(
        self,
        map: str | WeightMap | type[WeightMap] = "reach",
        cap: float | None = None,
        missing: str = "weigh",
        seed: int = 0,
    ):
        _one_of("missing", missing, MISSING)
        if cap is not None and not (isinstance(cap, int | float) and np.isfinite(cap) and cap > 0):
            raise InputError(f"cap (w_max) must be a positive number, got {cap!r}")
        checks.check_integer("seed", seed, least=0)
        self.map = map
        own = make_map(map)
        self.cap = own.cap if cap is None else float(cap)
        self.needs_rows = own.needs_rows
        self.missing = missing
        self.seed = seed

    def fit(self, reference: Any) -> Weigher:
        """Learn location, scale and tails of each column.

        Args:
            reference: rows from before the time that the weights are used in: a table, or a `Reference` whose rows are
                gone, such as one that was stored or counted in parts.

        Raises:
            InputError: the reference has too few rows, or a column that cannot be weighed.
        """
        table = None if isinstance(reference, Reference) else reference
        if self.needs_rows and table is None:
            raise InputError(
                f"map {map_name(self.map)!r} needs all rows of the reference at once, which neither a summary nor a "
                "table in parts has: use fit on a part of the rows, or choose another map"
            )
        counted = reference if table is None else Reference.of([table], missing=self.missing, seed=self.seed)
        self.columns = tuple(counted.fitted(self.missing))
        self._names, self._named = tuple(counted.columns), counted.named
        self._sample, self._sample_rows = counted.sample, counted.sample_rows
        self._ranked = np.array([j for j, one in enumerate(self.columns) if one.type.is_ranked], dtype=np.intp)
        self._labelled = tuple(j for j, one in enumerate(self.columns) if not one.type.is_ranked)
        counts = {j: self.columns[j].counts for j in self._labelled}
        self._flags = [j for j, own in counts.items() if isinstance(own, LabelCounts) and own.are_flags]
        self._middles = np.array([column.middle for column in self.columns])
        self.scale = Scale(
            location=np.array([column.location for column in self.columns]),
            scale=np.array([column.scale for column in self.columns]),
        )
        self._gap, self._there = np.zeros(
            (2, 2, len(self.columns))
        )  # for rows of other tables, and for the reference's own
        for j in self._ranked:  # a missing number is a flag that is set
            gaps = counted.missing[self._names[j]]
            flag = LabelCounts({"": counted.rows - gaps, None: gaps})
            for own in (False, True):
                sizes = np.maximum([gaps, counted.rows - gaps], own)  # a row of the reference has one of both
                self._gap[int(own), j], self._there[int(own), j] = flag.weight(sizes, own=own)
        if self._ranked.size:
            self._map = make_map(self.map)
            rows = self._rows(table) if self.needs_rows else None
            self._map.fit(self._distributions, rows)
        for name in ("sample", "whole_row"):  # of an earlier fit
            vars(self).pop(name, None)
        self.facts = self._facts(counted)
        return self

    def for_weights(self) -> Weigher:
        """The same weights, small enough to travel: without ranks and rows of the reference."""
        light = copy(self)
        light.columns = tuple(replace(one, counts=None) if one.type.is_ranked else one for one in self.columns)
        light._sample = None
        for name in ("sample", "whole_row"):
            vars(light).pop(name, None)
        return light

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features, in the order of the columns of `weights`."""
        self._require_fit()
        return self._names

    @property
    def varying(self) -> tuple[str, ...]:
        """The features of which the reference holds more than one value."""
        return tuple(name for name in self.feature_names if name not in self.facts.constant)

    def residuals(self, pool: Any) -> NDArray[np.float64]:
        """Z of the pool; of a category what it weighs."""
        return self.scale.residuals(self.values(pool))

    def weights(self, pool: Any) -> NDArray[np.float64]:
        """W of the pool, from 0 to w_max (Eq. weights)."""
        return self._weights(*self.read(pool))

    def numbers_at_most(self, level: float) -> NDArray[np.float64] | None:
        """For each feature of numbers, the ends of an interval within which none weighs more than this.

        2 × features, the wrong way round for categories and where there is no such interval. None where the map cannot
        tell. The intervals are a little too narrow rather than too wide.
        """
        ends = np.stack([np.full(len(self._names), np.inf), np.full(len(self._names), -np.inf)])
        if self._ranked.size:
            there = self._there[0, self._ranked] if self.missing == "weigh" else 0.0
            found = self._map.interval(np.broadcast_to(level - there, self._ranked.shape))
            if found is None:
                return None
            location, scale = self.scale.location[self._ranked], self.scale.scale[self._ranked]
            margin = 1e-14 * (np.abs(location) + scale * np.where(np.isfinite(found), np.abs(found), 0.0))
            ends[:, self._ranked] = location + scale * found + margin * np.array([[1.0], [-1.0]])
        return ends

    def values(self, pool: Any) -> NDArray[np.float64]:
        """The pool's numbers, the reference median for missing ones; of a category what it weighs."""
        return self.read(pool)[0]

    def read(self, pool: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
        """The pool as `values` says it, and which of its numbers are missing; None where none are."""
        matrix = self._aligned(pool)
        X = matrix.values
        if len(X) == 0:
            raise InputError("the pool has no rows")
        refuse_unusable(X, self._names, where="the pool", missing=self.missing)
        refuse_labels(matrix, self._labelled, where="the pool")
        gaps = np.isnan(X).any()
        if gaps and self.missing == "median":
            X = np.where(np.isnan(X) & ~np.isnan(self._middles), self._middles, X)
        if self._labelled:
            filled, X = replace(matrix, values=X), X.copy()
            for j in self._labelled:
                X[:, j] = self.columns[j].type.weigh(self.columns[j], filled.cells(j))
        if not gaps or self.missing == "median":
            return X, None
        absent = np.isnan(X)
        return np.where(absent, self._middles, X), absent

    def absent(self, pool: Any) -> NDArray[np.bool_]:
        """Which cells are missing in the pool."""
        return np.isnan(self._aligned(pool).values)

    def cells(self, pool: Any, *, places: NDArray[np.int64] | None = None) -> CellWeights:
        """Weigh the cells of a pool and find their directions.

        Args:
            pool: rows to choose from.
            places: of rows of the reference itself, such as `own_places`; each is then weighed against the others.
        """
        return self._cells(self._aligned(pool), places)

    @property
    def own_places(self) -> NDArray[np.int64]:
        """Where each row of the reference stands in its sample, -1 for those that do not."""
        places = np.full(self.facts.reference_rows, -1)
        if self._sample_rows is not None:
            places[self._sample_rows] = np.arange(len(self._sample_rows))
        return places

    @cached_property
    def sample(self) -> CellWeights:
        """Some rows of the reference, each weighed against the others.

        Raises:
            InputError: the reference is a summary, which holds no rows.
        """
        if self._sample is None:
            raise InputError("the part of a row as a whole needs rows of the reference, and a summary holds none")
        return self._cells(self._sample, np.arange(len(self._sample)))

    @cached_property
    def whole_row(self) -> WholeRow:
        """The sample of the reference, in which rows look for their neighbours."""
        columns = [column.distribution for column in self.columns]
        return WholeRow(columns, self.scale.residuals(self.sample.values), self.seed)

    def problem(self, pool: Any, k: int, m: int, *, sample_names: Sequence[str] | None = None) -> SelectionProblem:
        """The selection problem of a pool: which k rows and m directed columns stand out most together?

        Args:
            pool: rows to choose from.
            k: how many samples.
            m: how many columns.
            sample_names: names of the rows; None for the index of a pandas pool that names them, or positions.
        """
        names = row_labels(pool) if sample_names is None else sample_names
        return Scoring.of(self, self.cells(pool), k, m).problem(names, library_of(pool))

    def plain_problem(
        self,
        pool: Any,
        k: int,
        m: int,
        *,
        marginals: Marginals | None = None,
        coupling_weight: float = 1.0,
        sample_names: Sequence[str] | None = None,
        features: Sequence[str] | None = None,
    ) -> SelectionProblem:
        """The problem of plain columns: the weights of cells, whatever their direction, and marginals of your own.

        Args:
            pool: rows to choose from.
            k: how many samples.
            m: how many features.
            marginals: from W and Z to what rows and columns are worth on their own, such as
                `biselect.weights.paper.paper_marginals`; None for nothing.
            coupling_weight: λ.
            sample_names: as for `problem`.
            features: those to choose from; None for all in use.
        """
        values, absent = self.read(pool)
        W, Z = self._weights(values, absent), self.scale.residuals(values)
        if features is not None:
            columns = [self.feature_names.index(name) for name in features]
            W, Z = W[:, columns], Z[:, columns]
        elif self._named:
            features = self.feature_names
        a, b = (None, None) if marginals is None else marginals(W, Z)
        return SelectionProblem(
            coupling=W,
            sample_scores=a,
            feature_scores=b,
            k=k,
            m=m,
            coupling_weight=coupling_weight,
            sample_names=row_labels(pool) if sample_names is None else sample_names,
            feature_names=features,
            library=library_of(pool),
        )

    @property
    def beyond_weights(self) -> NDArray[np.float64]:
        """The least that a value beyond the whole reference weighs, by feature; of labels, a new one."""
        columns = [column.distribution for column in self.columns]
        ends = np.array([(column.values[0], column.values[-1]) for column in columns]).T
        weights = self._weigh(np.nextafter(ends, [[-np.inf], [np.inf]])).min(axis=0)
        for j in self._labelled:
            weights[j] = min(self.columns[j].type.beyond(self.columns[j]), self.cap)
        return weights

    def _cells(self, matrix: NamedMatrix, places: NDArray[np.int64] | None) -> CellWeights:
        """Rows as they are weighed; `places` is as for `CellWeights`."""
        values, absent = self.read(matrix)
        own = places is not None
        sides = np.empty(values.shape, dtype=np.int8)
        for j, column in enumerate(self.columns):
            positions = np.array([directions().index(name) for name in column.type.directions], dtype=np.int8)
            sides[:, j] = positions[column.type.direction(column, values[:, j])]
        if absent is not None:
            sides[absent] = directions().index("missing")
        weights = self._weights(values, absent, matrix if own else None)
        return CellWeights(rows=matrix, values=values, weights=weights, sides=sides, places=places)

    def _rows(self, table: Any) -> NDArray[np.float64]:
        """Residuals of the reference itself, NaN where a number is missing."""
        values, absent = self.read(table)
        Z = self.scale.residuals(values)
        return (Z if absent is None else np.where(absent, np.nan, Z))[:, self._ranked]

    def _facts(self, reference: Reference) -> WeighingFacts:
        names, labelled = self._names, self._labelled
        far = np.full((1, len(names)), np.finfo(np.float64).max)
        for j in labelled:
            far[0, j] = 0.0 if self._ranked.size else self.columns[j].type.beyond(self.columns[j])
        constant = [j for j in labelled if self.columns[j].type.constant(self.columns[j]) is not None]
        quantities = {name for name in names if reference.column(name).type.is_ranked}
        absent = {name: reference.missing[name] for name in names if reference.missing[name]}
        filled = {name: gaps for name, gaps in absent.items() if name in quantities and self.missing == "median"}
        spreads = [column.distribution for column in self.columns]
        return WeighingFacts(
            reference_rows=reference.rows,
            features=len(names),
            categories=tuple(names[j] for j in labelled if j not in constant),
            constant=tuple(names[j] for j in constant),
            zero_mad=tuple(name for name, column in zip(names, self.columns, strict=True) if column.fell_back),
            tied={names[j]: spreads[j].tied_share for j in self._ranked},
            filled=sum(filled.values()),
            absent={name: gaps for name, gaps in absent.items() if name not in filled},
            largest_weight=float(max(self._weigh(far).max(), self._weigh(-far).max())),
            map=map_name(self.map),
            rank_error=max(spread.rank_error / spread.size for spread in spreads),
        )

    def _weights(
        self, values: NDArray[np.float64], absent: NDArray[np.bool_] | None, own: NamedMatrix | None = None
    ) -> NDArray[np.float64]:
        """Weights of rows that were read; `own` are the same rows where they are the reference's."""
        W = np.empty(values.shape)
        rows = max(1, CHUNK_CELLS // values.shape[1])
        for start in range(0, len(values), rows):  # temporaries that stay in the heap cost no page faults
            part = slice(start, start + rows)
            W[part] = self._weigh(self.scale.residuals(values[part]), own=own is not None)
        if own is not None:
            for j in self._labelled:
                weights = self.columns[j].type.weigh(self.columns[j], own.cells(j), own=True)
                W[:, j] = np.clip(weights, 0.0, self.cap)
        if absent is not None and self.missing == "weigh":
            gap = np.minimum(self._gap[int(own is not None)], self.cap)
            W[absent] = np.broadcast_to(gap, W.shape)[absent]
        return W

    def _weigh(self, Z: NDArray[np.float64], *, own: bool = False) -> NDArray[np.float64]:
        """Weights of residuals; of labels, which were weighed when they were read, the same again."""
        scores = Z.copy()
        if self._ranked.size:
            numbers = Z if not self._labelled else Z[:, self._ranked]
            with np.errstate(over="ignore"):
                if own:
                    scores[:, self._ranked] = self._map.weigh_own(numbers, self._distributions)
                else:
                    scores[:, self._ranked] = self._map.weigh(numbers)
        if self.missing == "weigh" and self._there.any():
            scores += self._there[int(own)]
        return np.clip(scores, 0.0, self.cap, out=scores)

    @property
    def _distributions(self) -> list[Distribution]:
        """Of the columns that the map weighs."""
        return [self.columns[j].distribution for j in self._ranked]

    def _aligned(self, pool: Any) -> NamedMatrix:
        """The pool with the columns of the reference; flags may be numbers there."""
        self._require_fit()
        matrix = align(as_matrix(pool), self._names, named=self._named, where="the pool")
        numbers = {j: matrix.values[:, j] for j in self._flags if j not in matrix.labels}
        flags = [j for j, own in numbers.items() if ((own == 0) | (own == 1) | np.isnan(own)).all()]
        return replace(matrix, labels={**matrix.labels, **dict.fromkeys(flags, FLAG)}) if flags else matrix

    def _require_fit(self) -> None:
        if not hasattr(self, "columns"):
            raise InputError("this Weigher has not been fit; call fit(reference) first")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, got {value!r}")
