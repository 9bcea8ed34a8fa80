"""Weigher: fit on a reference table, then weigh any pool against it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.category import CATEGORY, LabelCounts
from biselect.columns.column_type import Cells, ColumnReference
from biselect.columns.distribution import CENTERS, Scale, fit_scale
from biselect.core import SelectionProblem, checks
from biselect.errors import InputError
from biselect.tables import NamedMatrix, align, as_matrix, library_of, refuse_unusable, row_labels
from biselect.weights.maps import WeightMap, make_map, map_name
from biselect.weights.reference import MEMORY, WindowBuilder, Windows, refuse_labels
from biselect.weights.reference_summary import ReferenceSummary, as_windows
from biselect.weights.whole_row import WholeRow, neighbour_rows

MISSING = ("weigh", "median", "error")
MARGINALS = ("isolation", "none")
CHUNK_CELLS = 1 << 21  # weighed at a time

Marginals = Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""From weights W and residuals Z to what each row and each column is worth on its own."""


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


class Weigher:
    """Bounded outlier weights, from a reference alone.

    The weights of a row depend on that row and the reference, never on the other rows of the pool. Numbers weigh by a
    map. Categories (text, booleans, categoricals) weigh by how rare they are in the reference, whatever the map, and so
    does any new value of a feature that is constant there.

    Args:
        map: how extremeness becomes a weight: one of `biselect.weights.map_names()`, or a map of your own, an object
            or a class with the members of `biselect.weights.maps.WeightMap`. Each fit fits a copy of it.
        center: `median` (with 1.4826·MAD) or `mean` (with the standard deviation) for the residuals. Maps fit
            their own location and scale, so weights do not depend on it.
        cap: w_max, the largest weight; None for the map's own.
        missing: `weigh` to weigh a missing entry by how rare missing ones are in its feature, as a flag that is set;
            `median` to fill it with the reference median; or `error`. In a feature that is mostly missing, an entry
            that is there weighs that much more.
        seed: fixes every draw.

    >>> rng = np.random.default_rng(0)
    >>> calibrator = Weigher().fit(rng.normal(size=(1000, 3)))
    >>> calibrator.weights([[0.0, 0.0, 8.0]]).round(1).tolist()
    [[0.1, 0.0, 7.9]]
    """

    def __init__(
        self,
        map: str | WeightMap | type[WeightMap] = "reach",
        center: str = "median",
        cap: float | None = None,
        missing: str = "weigh",
        seed: int = 0,
    ):
        _one_of("center", center, CENTERS)
        _one_of("missing", missing, MISSING)
        if cap is not None and not (isinstance(cap, int | float) and np.isfinite(cap) and cap > 0):
            raise InputError(f"cap (w_max) must be a positive number, got {cap!r}")
        checks.check_integer("seed", seed, least=0)
        self.map = map
        self.center = center
        own = make_map(map)
        self.cap = own.cap if cap is None else float(cap)
        self.needs_rows = own.needs_rows
        self.missing = missing
        self.seed = seed

    def fit(self, reference: Any) -> Weigher:
        """Learn location, scale and tails from the reference table: rows before the time the weights are used in."""
        return self._learn(self.windows(reference), reference)

    def fit_blocks(self, blocks: Iterable[Any], *, memory: int = MEMORY) -> Weigher:
        """Learn from a reference that does not fit into memory, one block of rows after the other.

        Ranks are exact while all entries fit into `memory` bytes; beyond that they come from sketches, and
        `facts.rank_error` bounds how wrong any of them can be.

        Args:
            blocks: tables with the same columns, such as the blocks of a Parquet file.
            memory: bytes that the sketches may hold.
        """
        return self._learn(self._windows(blocks, memory=memory))

    def fit_summary(self, summary: ReferenceSummary) -> Weigher:
        """Learn from the summary of a reference, whose rows are gone."""
        return self._learn(as_windows(summary, missing=self.missing))

    def windows(self, reference: Any) -> Windows:
        """What `fit_windows` takes, of a reference that is at hand."""
        return self._windows([reference], memory=None)

    def fit_windows(self, windows: Windows) -> Weigher:
        """Learn from a reference that was counted column by column, as `biselect.columns.counts` does."""
        return self._learn(windows)

    def for_weights(self) -> Weigher:
        """The same calibration, small enough to travel: it gives residuals and weights, and knows no ranks or rows."""
        light = copy(self)
        light._sample, light._columns = (), ()
        vars(light).pop("_neighbourhood", None)
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
        values, absent = self.read(pool)
        W = np.empty(values.shape)
        rows = max(1, CHUNK_CELLS // values.shape[1])
        for start in range(0, len(values), rows):  # temporaries that stay in the heap cost no page faults
            part = slice(start, start + rows)
            W[part] = self._weigh(self.scale.residuals(values[part]))
        return self._with_gaps(W, absent)

    def numbers_at_most(self, level: float) -> NDArray[np.float64] | None:
        """For each feature of numbers, the ends of an interval within which none weighs more than this.

        2 × features, the wrong way round for categories and where there is no such interval. None where the map cannot
        tell. The intervals are a little too narrow rather than too wide.
        """
        ends = np.stack([np.full(len(self._names), np.inf), np.full(len(self._names), -np.inf)])
        if self._numbers.size:
            there = self._there[self._numbers] if self.missing == "weigh" else 0.0
            found = self._map.interval(np.broadcast_to(level - there, self._numbers.shape))
            if found is None:
                return None
            location, scale = self.scale.location[self._numbers], self.scale.scale[self._numbers]
            margin = 1e-14 * (np.abs(location) + scale * np.where(np.isfinite(found), np.abs(found), 0.0))
            ends[:, self._numbers] = location + scale * found + margin * np.array([[1.0], [-1.0]])
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
        refuse_labels(matrix, self.categories, where="the pool")
        gaps = np.isnan(X).any()
        if gaps and self.missing == "median":
            X = np.where(np.isnan(X) & ~np.isnan(self._medians), self._medians, X)
        if self.categories:
            filled, X = replace(matrix, values=X), X.copy()
            for j, found in self.categories.items():
                reference = ColumnReference(type=CATEGORY, counts=found, rows=0, gaps=0)
                X[:, j] = CATEGORY.weigh(reference, Cells(*filled.coded(j)))
        if not gaps or self.missing == "median":
            return X, None
        absent = np.isnan(X)
        return np.where(absent, self._medians, X), absent

    def absent(self, pool: Any) -> NDArray[np.bool_]:
        """Which cells are missing in the pool."""
        return np.isnan(self._aligned(pool).values)

    @property
    def present(self) -> list[int]:
        """Reference rows that have a value, or a median in its place, by feature."""
        apart = [self.categories[j].counts.get(None, 0) if j in self.categories else 0 for j in range(len(self._names))]
        return [column.size - gaps for column, gaps in zip(self._columns, apart, strict=True)]

    def reference_counts(self, Z: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many reference entries of the same feature lie strictly below and strictly above each residual."""
        self._require_fit()
        below, above = np.zeros(Z.shape, dtype=np.int64), np.zeros(Z.shape, dtype=np.int64)
        for j, column in enumerate(self._columns):
            below[:, j] = column.below(Z[:, j])
            above[:, j] = column.size - column.at_most(Z[:, j])
        return below, above

    def reference_quantiles(self, q: Sequence[float]) -> NDArray[np.float64]:
        """Quantiles of the reference in the features' own units: one row for each of `q`, one column for each feature.

        Of categories those of their weights.
        """
        self._require_fit()
        residuals = np.array([[column.quantile(share) for column in self._columns] for share in q])
        return self.scale.location + self.scale.scale * residuals

    def problem(
        self,
        pool: Any,
        k: int,
        m: int,
        *,
        marginals: str | Marginals = "isolation",
        coupling_weight: float = 1.0,
        sample_names: Sequence[str] | None = None,
        features: Sequence[str] | None = None,
        whole: PoolFacts | None = None,
    ) -> SelectionProblem:
        """The selection problem of a pool: W, its marginals, λ and the budgets.

        Args:
            pool: rows to choose from.
            k: how many samples.
            m: how many features.
            marginals: what rows and columns are worth on their own. `isolation`: m times how far a row stands apart as
                a whole, see `isolation`; `none`; or a function of W and Z, such as `calibrate.paper.paper_marginals`.
            coupling_weight: λ.
            sample_names: names of the rows; None for the index of a pandas pool that names them, or positions.
            features: those to choose from; None for all in use.
            whole: the larger table that these rows were kept from; None where they are the whole pool.
        """
        if not callable(marginals):
            _one_of("marginals", marginals, MARGINALS)
        values, absent = self.read(pool)
        sample_names = row_labels(pool) if sample_names is None else sample_names
        Z = self.scale.residuals(values)
        W = self._with_gaps(self._weigh(Z), absent)
        residuals, totals = Z, W.sum(axis=1)  # of all features: a row stands apart in all of them
        if features is not None:
            columns = [self.feature_names.index(name) for name in features]
            W, Z = W[:, columns], Z[:, columns]
        elif self._named:
            features = self.feature_names
        a, b = marginals(W, Z) if callable(marginals) else (np.zeros(W.shape[0]), np.zeros(W.shape[1]))
        problem = SelectionProblem(
            coupling=W,
            sample_scores=a,
            feature_scores=b,
            k=k,
            m=m,
            coupling_weight=coupling_weight,
            sample_names=None if sample_names is None else tuple(sample_names),
            feature_names=None if features is None else tuple(features),
            library=library_of(pool),
        )
        if marginals == "isolation":
            rows, of = (neighbour_rows(totals), len(W)) if whole is None else (whole.neighbour_rows(totals), whole.rows)
            scores, around = np.zeros(len(W)), self._neighbourhood
            if rows.size:
                own = residuals[rows]
                nearest = around.nearest(own)
                scores[rows] = m * around.evidence(own, around.near_weight(nearest, k, of), nearest)
            return replace(problem, sample_scores=scores)
        return problem

    @property
    def beyond_weights(self) -> NDArray[np.float64]:
        """The least that a number beyond the whole reference weighs, by feature."""
        ends = np.array([(column.values[0], column.values[-1]) for column in self._columns]).T
        return self._weigh(np.nextafter(ends, [[-np.inf], [np.inf]])).min(axis=0)

    def isolation(self, pool: Any, near_weight: float) -> NDArray[np.float64]:
        """How far each row stands apart as a whole, as -log of a share of the reference; see `near_weight`."""
        Z, rows = self.residuals(pool), neighbour_rows(self.weights(pool).sum(axis=1))
        found = np.zeros(len(Z))
        found[rows] = self._neighbourhood.evidence(Z[rows], near_weight)
        return found

    def near_weight(self, pool: Any, k: int) -> float:
        """How much the nearest reference row counts in `isolation` against one further away, from 0 to 1.

        It counts where the reference is clean: where the k rows of the pool that are furthest from it are further than
        its own rows explain.
        """
        Z, rows = self.residuals(pool), neighbour_rows(self.weights(pool).sum(axis=1))
        around = self._neighbourhood
        return around.near_weight(around.nearest(Z[rows]), checks.check_integer("k", k), len(Z))

    @cached_property
    def _neighbourhood(self) -> WholeRow:
        if not self._sample:
            raise InputError("isolation needs rows of the reference, and a summary holds none; choose other marginals")
        rows = np.vstack([self.residuals(block) for block in self._sample])
        return WholeRow(self._columns, np.random.default_rng(self.seed).permutation(rows))

    def _windows(self, blocks: Iterable[Any], *, memory: int | None) -> Windows:
        builder = WindowBuilder(missing=self.missing, seed=self.seed, memory=memory)
        for block in blocks:
            builder.add(block)
        return builder.windows()

    def _learn(self, windows: Windows, table: Any = None) -> Weigher:
        if self.needs_rows and table is None:
            raise InputError(
                f"map {map_name(self.map)!r} needs all rows of the reference at once, which neither a summary nor a "
                "table in parts has: use fit on a part of the rows, or choose another map"
            )
        self._names, self._named = windows.names, windows.named
        self.categories: dict[int, LabelCounts] = dict(windows.categories)
        self._medians = windows.medians
        width = len(self._names)
        self._numbers = np.array([j for j in range(width) if j not in self.categories], dtype=np.intp)
        self.scale = Scale(location=np.zeros(width), scale=np.ones(width), fell_back=np.zeros(width, dtype=bool))
        if self._numbers.size:
            fitted = fit_scale([windows.columns[j] for j in self._numbers], self.center)
            for part in ("location", "scale", "fell_back"):
                getattr(self.scale, part)[self._numbers] = getattr(fitted, part)
        units = zip(windows.columns, self.scale.location, self.scale.scale, strict=True)
        self._columns = tuple(column.scaled(location, scale) for column, location, scale in units)
        self._gap, self._there = np.zeros(width), np.zeros(width)  # a missing number is a flag that is set
        for j in self._numbers:
            gaps = int(windows.absent[j])
            flag = LabelCounts({"": windows.rows - gaps, None: gaps})
            self._gap[j], self._there[j] = flag.weight([gaps, windows.rows - gaps])
        if self._numbers.size:
            self._map = make_map(self.map)
            self._map.fit([self._columns[j] for j in self._numbers], self._rows(table) if self.needs_rows else None)
        self._sample = windows.sample
        vars(self).pop("_neighbourhood", None)  # of an earlier fit
        self.facts = self._facts(windows)
        return self

    def _rows(self, table: Any) -> NDArray[np.float64]:
        """Residuals of the reference itself, NaN where a number is missing."""
        values, absent = self.read(table)
        Z = self.scale.residuals(values)
        return (Z if absent is None else np.where(absent, np.nan, Z))[:, self._numbers]

    def _facts(self, windows: Windows) -> WeighingFacts:
        far = np.full((1, len(self._names)), np.finfo(np.float64).max)
        new = [0.0 if self._numbers.size else found.weight(0) for found in self.categories.values()]
        far[0, [*self.categories]] = new
        one_value = {j for j, found in self.categories.items() if len(found.counts) == 1}
        ties = {self._names[j]: self._columns[j].tied_share for j in self._numbers}
        absent = {name: int(gaps) for name, gaps in zip(self._names, windows.absent, strict=True) if gaps}
        return WeighingFacts(
            reference_rows=windows.rows,
            features=len(self._names),
            categories=tuple(self._names[j] for j in sorted(self.categories.keys() - one_value)),
            constant=tuple(self._names[j] for j in sorted(one_value)),
            zero_mad=tuple(self._names[j] for j in np.flatnonzero(self.scale.fell_back)),
            tied=ties,
            filled=sum(absent.values()) if self.missing == "median" else 0,
            absent={} if self.missing == "median" else absent,
            largest_weight=float(max(self._weigh(far).max(), self._weigh(-far).max())),
            map=map_name(self.map),
            rank_error=max(column.rank_error / column.size for column in windows.columns),
        )

    def _weigh(self, Z: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.categories:
            with np.errstate(over="ignore"):
                scores = self._map.weigh(Z)
        else:
            scores = Z.copy()  # categories were weighed when they were read
            if self._numbers.size:
                with np.errstate(over="ignore"):
                    scores[:, self._numbers] = self._map.weigh(Z[:, self._numbers])
        if self.missing == "weigh" and self._there.any():
            scores += self._there
        return np.clip(scores, 0.0, self.cap, out=scores)

    def _with_gaps(self, W: NDArray[np.float64], absent: NDArray[np.bool_] | None) -> NDArray[np.float64]:
        """The weights in which a missing number weighs as much as its being missing."""
        if absent is not None and self.missing == "weigh":
            W[absent] = np.broadcast_to(np.minimum(self._gap, self.cap), W.shape)[absent]
        return W

    def _aligned(self, pool: Any) -> NamedMatrix:
        """The pool with the columns of the reference."""
        self._require_fit()
        return align(as_matrix(pool), self._names, named=self._named, where="the pool")

    def _require_fit(self) -> None:
        if not hasattr(self, "categories"):
            raise InputError("this Weigher has not been fit; call fit(reference) first")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, got {value!r}")
