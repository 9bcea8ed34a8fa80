"""The passes in order: survey both tables, calibrate on the reference, collect the heavy rows of the pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.columns.flag import as_texts, label_flags
from biselect.core.exact_sums import at_least, number_units
from biselect.errors import InputError
from biselect.large._collecting import Collecting, Heavy, QuickLook, moved_back, view_of
from biselect.large._counting import counting_of, reference_from
from biselect.large._survey import (
    FeatureColumns,
    Survey,
    Surveyed,
    constant_in_both,
    row_limit,
    sample_matrix,
    sample_share,
)
from biselect.large._weighing import Weighing
from biselect.large.dataset import ORIGIN, Partitions
from biselect.large.passes import unpacked
from biselect.large.sides import Tables
from biselect.options import Columns, spell
from biselect.tables import NamedMatrix, Pool, Roles, from_two_tables, unused_name
from biselect.weights import Reference, Weigher
from biselect.weights.alignment import Shift, ShiftedColumn, moved_numbers
from biselect.weights.directed import at_best, usual_columns, usual_rows
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables
from biselect.weights.whole_row import PoolFacts

EXACT_CELLS = 1 << 18  # of a reference that calibrates by its own rows; what travels to the workers stays small
FEW_TIES = 0.25  # four times as many rows as were meant are not too many
LOOKED_UP = 1 << 15  # rows of the pool whose neighbours are looked up, about
KEPT_ROWS = 1 << 15  # rows of the pool that are kept for each view, about
MOST_KEPT = 1 << 17  # the same where these do not settle a question


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptRows:
    """Heavy rows of the pool, and what is known of all others.

    Attributes:
        collecting: the pass that kept them, with all views so far.
        table: the rows as they are stored.
        pool: the rows as a pool of their own.
        raw: their features as they stand.
        matrix: the same as they are weighed.
        positions: where they stand in the whole table.
    """

    collecting: Collecting
    table: pa.Table
    pool: Pool
    raw: NamedMatrix
    matrix: NamedMatrix
    positions: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptPool:
    """What the passes brought: everything that the answer is made from.

    Attributes:
        tables: what was read.
        weigher: fitted on the whole reference.
        normal: what it was fitted on.
        reference: rows of the reference, a sample of them where it is large.
        sampled: rows of the pool in the same way, as they are weighed.
        rows: of the pool, to choose from.
        shifted: columns that moved against the reference.
        same: features left out, the same in every row.
        surveys: of reference and pool.
        positive: the value of the label column that means a known positive.
    """

    tables: Tables
    weigher: Weigher
    normal: Reference
    reference: NamedMatrix
    sampled: NamedMatrix
    rows: KeptRows
    shifted: tuple[ShiftedColumn, ...]
    same: tuple[str, ...]
    surveys: tuple[Surveyed, Surveyed]
    positive: str

    @property
    def whole(self) -> PoolFacts:
        """The table that the rows were kept from."""
        return PoolFacts(rows=self.tables.pool.rows, heavy=self.rows.collecting.heavy)

    @property
    def positives(self) -> int | None:
        """Known positives in the whole pool; None without a label column."""
        return self.surveys[1].positives.get(self.positive, 0) if self.tables.roles.label_column is not None else None

    @property
    def usual_rows(self) -> int:
        """How many rows are chosen where nobody says."""
        return usual_rows(self.tables.pool.rows)

    def weighed(self, form: Form, *, per: str | None = None, library: str | None = None) -> WeighedTables:
        """The rows that were kept, weighed against the reference.

        Args:
            form: how rows are weighed.
            per: column that the groups of the row rules are made from.
            library: that the pool's frame came in; None for a file.
        """
        return WeighedTables(
            pool=self.rows.pool,
            form=form,
            weigher=self.weigher,
            reference=self.reference,
            raw=self.rows.raw,
            weighed=self.rows.matrix,
            moved=self.shifted,
            constant=self.same,
            time_column=self.tables.roles.time_column,
            id_column=self.tables.roles.id_column,
            per=per,
            library=library,
            reference_name=self.tables.reference.name,
            is_own_reference=self.tables.is_own_reference,
        )

    def weighing(self, question: Mapping[str, Any]) -> Weighing:
        """How rows are weighed, and for which question, to be stored."""
        collecting = self.rows.collecting
        return Weighing(
            features=collecting.features,
            weigher=collecting.weigher,
            reference=self.normal,
            shifts=collecting.shifts,
            roles=self.tables.roles,
            question=question,
        )

    def most(self, m: int) -> float | None:
        """What any other row adds at most to a choice of m columns, rounded up; None if every row was kept."""
        if self.rows.positions.size == self.tables.pool.rows:
            return None
        return at_least(number_units(1.0) * number_units(self.rows.collecting.most(m)))

    def closer(self, m: int, heavy: float) -> KeptPool:
        """The same with one more pass, which keeps more rows.

        Args:
            m: how many columns are chosen.
            heavy: what counts as heavy, unless too many rows would.
        """
        W, share, collecting = self._sample_weights, self.surveys[1].share, self.rows.collecting
        view = view_of(m, W, share, row_limit(MOST_KEPT, W.shape[1]))
        if view.heavy.above <= heavy:
            view = replace(view, heavy=Heavy(above=heavy))
        closer = replace(collecting, name="Looking closer at the pool", views=(view,), heavy=np.inf, ids=())
        table, positions = _collected(self.tables, closer)
        new = np.flatnonzero(~np.isin(positions, self.rows.positions))
        order = np.argsort(places := np.concatenate([self.rows.positions, positions[new]]), kind="stable")
        table = pa.concat_tables([self.rows.table, table.take(new)]).take(order)
        collecting = replace(collecting, views=(*collecting.views, view))
        return replace(self, rows=_kept(self.tables, collecting, table, places[order], self.positive))

    @property
    def _sample_weights(self) -> NDArray[np.float64]:
        return at_best(self.weigher, self.weigher.weights(self.sampled))


def gather(
    tables: Tables, weigher: Weigher, *, k: int | None, m: int | None, drift: str, ids: frozenset[str]
) -> KeptPool:
    """Make the passes.

    Args:
        tables: what to read.
        weigher: not fitted yet.
        k: how many rows will be chosen; None for the usual number.
        m: how many columns; None for the usual number.
        drift: `recentre` or `keep`.
        ids: rows of the pool that are kept in any case.
    """
    names, _ = tables.features()
    plain = FeatureColumns(
        names=tuple(names),
        categories=tuple(name for name in tables.roles.categories if name in names),
        dates=tuple(tables.roles.dates),
        missing=tables.missing,
    )
    reference = _survey(tables, tables.reference, replace(plain, where="the reference"), None)
    pool = _survey(tables, tables.pool, plain, tables.roles.label_column)
    positive = _positive(tables.roles, pool)
    same = constant_in_both(reference, pool)
    varying = tuple(name for name in reference.names if name not in same)
    before = replace(plain, where="the reference", kept=varying)
    sample = sample_matrix(reference, before)
    if reference.share == 1 and sample.values.size <= EXACT_CELLS:
        normal = Reference.of([sample], missing=tables.missing, seed=tables.seed)
    else:
        counting = counting_of(reference, before)
        counts = tables.run(counting, tables.reference)
        normal = reference_from(counts, counting, reference, before, seed=tables.seed)
    weigher.fit(normal)
    features = replace(plain, kept=varying)
    raw = sample_matrix(pool, features)
    ends = reference.ends[:, [reference.names.index(name) for name in varying]]
    shifted = moved_numbers(sample, raw, drift, ends)
    shifts = Shift.of(sample.values, raw.values, shifted) if shifted and drift == "recentre" else None
    sampled = moved_back(raw, shifts)
    W = at_best(weigher, weigher.weights(sampled))
    columns = len(varying)
    m = usual_columns(columns) if m is None else min(m, columns)
    k = usual_rows(tables.pool.rows) if k is None else k
    target = max(row_limit(KEPT_ROWS, columns), 4 * k)
    collecting = Collecting(
        name="Collecting heavy rows of the pool",
        features=features,
        beside=tables.beside,
        weigher=weigher.for_weights(),
        shifts=shifts,
        quick=QuickLook.of(weigher, shifts),
        views=(view_of(m, W, pool.share, target),),
        heavy=neighbour_cutoff(W.sum(axis=1), pool.share, columns),
        seed=tables.seed,
        id_column=tables.roles.id_column,
        ids=tuple(sorted(ids)),
    )
    return KeptPool(
        tables=tables,
        weigher=weigher,
        normal=normal,
        reference=sample,
        sampled=sampled,
        rows=_kept(tables, collecting, *_collected(tables, collecting), positive),
        shifted=shifted,
        same=same,
        surveys=(reference, pool),
        positive=positive,
    )


def neighbour_cutoff(totals: NDArray[np.float64], share: float, columns: int) -> float:
    """What the cells of a row must weigh together at best for its neighbours to be looked up; ties all or none.

    Args:
        totals: of each row of the pool's sample, what its cells weigh together at best.
        share: of the pool that was drawn.
        columns: how many features there are.
    """
    heavy = Heavy.of(totals, share, row_limit(LOOKED_UP, columns))
    return heavy.above if heavy.share > FEW_TIES else float(np.nextafter(heavy.above, np.inf))


def _survey(tables: Tables, table: Partitions, features: FeatureColumns, label: str | None) -> Surveyed:
    share = sample_share(table.rows, len(features.names))
    survey = Survey(
        name=f"Looking at {features.where}",
        features=features,
        label=label,
        share=share,
        seed=tables.seed,
    )
    return Surveyed.of(tables.run(survey, table), share)


def _positive(roles: Roles, pool: Surveyed) -> str:
    """The label's value that means a known positive, by all values in the pool."""
    if roles.label_column is None:
        return ""
    if pool.unlabelled and roles.label_value is None:
        raise InputError(
            f"the pool: label column {roles.label_column!r} has {pool.unlabelled:,} missing values; to count them as "
            f"negative, name the positive value: {spell(Columns(label=f'{roles.label_column}=VALUE'))}"
        )
    values = pa.table({roles.label_column: pa.array(list(pool.positives), pa.string())})
    return label_flags(values, roles.label_column, "the pool", roles.label_value)[1]


def _collected(tables: Tables, collecting: Collecting) -> tuple[pa.Table, NDArray[np.int64]]:
    """Make the pass: the rows that it kept, and where they stand."""
    arrays = tables.run(collecting, tables.pool)
    if not arrays["sizes"].size:
        columns = dict.fromkeys([*collecting.features.names, *collecting.beside])
        return next(iter(tables.pool.parts[0].blocks(list(columns))))[1].slice(0, 0), np.empty(0, dtype=np.int64)
    return unpacked(arrays), arrays["at"].astype(np.int64)


def _kept(
    tables: Tables, collecting: Collecting, table: pa.Table, positions: NDArray[np.int64], positive: str
) -> KeptRows:
    """A pool of the rows that were kept."""
    if not positions.size:
        raise InputError("no row of the pool weighs anything against the reference")
    rows = replace(
        pool_of(table, positions, tables.roles, collecting.features, tables.reference.schema.empty_table()),
        ignored=tables.ignored(),
        excluded=tuple(tables.roles.exclude),
        guess=tables.guess,
        times=tables.times,
    )
    label = tables.roles.label_column
    if label is not None:
        flags = [text == positive != "" for text in as_texts(table[label]).to_pylist()]
        rows = replace(rows, labels=np.array(flags), positive=positive)
    raw = collecting.features.matrix(table, positions)
    return KeptRows(
        collecting=collecting,
        table=table,
        pool=replace(rows, unused_dates=tables.features()[1]),
        raw=raw,
        matrix=moved_back(raw, collecting.shifts),
        positions=positions,
    )


def pool_of(
    table: pa.Table, positions: NDArray[np.int64], roles: Roles, features: FeatureColumns, reference: pa.Table
) -> Pool:
    """Rows of a table as a pool of their own, named by their positions where there are no ids.

    Args:
        table: the rows as they are stored.
        positions: where they stand in the whole table.
        roles: of its columns.
        features: how these are read.
        reference: a table with the columns of the reference, of which the types count.
    """
    names = list(features.names)
    plain: Any = {"label_column": None, "label_value": None, "time_column": None, "exclude": (), "numbers": ()}
    roles = replace(roles, **plain, features=names, categories=list(features.categories))
    if roles.id_column is None:
        name = unused_name("row", table)
        origin = table[ORIGIN].to_numpy() if ORIGIN in table.column_names else positions
        table = table.append_column(name, pa.array(origin.astype(str)))
        roles = replace(roles, id_column=name)
    return from_two_tables(reference.select(names), table, roles)
