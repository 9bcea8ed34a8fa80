"""From tables to a selection problem: read, roles, columns moved back, weights, one score. Every door goes this way."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from biselect.core import SelectionProblem
from biselect.options import RowRules, Split, names_in
from biselect.pages.words import phrase, words_of
from biselect.progress import Steps
from biselect.tables import NamedMatrix, Pool, Table, library_of, open_pool, paths_of, varying
from biselect.tables.row_rules import apply_rules
from biselect.weights import Weigher
from biselect.weights.alignment import ShiftedColumn, move_back
from biselect.weights.directed import usual_columns, usual_rows
from biselect.weights.paper import Form
from biselect.weights.scoring import Scoring
from biselect.weights.whole_row import PoolFacts


@dataclass(frozen=True, kw_only=True, eq=False)
class WeighedTables:
    """A pool weighed against a reference.

    Attributes:
        pool: both tables as they were read.
        form: map, cap, missing values and drift.
        weigher: fitted on the reference.
        reference: the reference's columns in use; of a large table those of a sample.
        raw: the same of the pool, nothing moved back.
        weighed: the same as they are weighed, moved columns put back.
        moved: the columns that moved against the reference.
        constant: columns left out, as they hold one and the same value in both tables.
        time_column: which column holds the times that `pool` knows.
        id_column: which column names the rows.
        per: the column that the groups of the sample rules are made from.
        library: that the pool's frame came in; None for a file or an array.
        reference_name: the file of the reference, or `reference`.
        is_own_reference: whether the pool is compared with itself.
        score: pool and reference on one scale, for given budgets; None before `scored`.
    """

    pool: Pool
    form: Form
    weigher: Weigher
    reference: NamedMatrix
    raw: NamedMatrix
    weighed: NamedMatrix
    moved: tuple[ShiftedColumn, ...] = ()
    constant: tuple[str, ...] = ()
    time_column: str | None = None
    id_column: str | None = None
    per: str | None = None
    library: str | None = None
    reference_name: str = "reference"
    is_own_reference: bool = False
    score: Scoring | None = field(default=None, repr=False)

    @classmethod
    def read(
        cls,
        table: Table,
        reference: Any,
        form: Form,
        *,
        seed: int,
        step: Steps,
        split: Split = Split(),
        rules: RowRules = RowRules(),
    ) -> Self:
        """Read both tables and weigh the pool.

        Args:
            table: the pool, with what its columns are.
            reference: normal rows; None to split the table in time, or to compare it with itself.
            form: map, cap, missing values and drift.
            seed: fixes every draw of the weigher.
            step: tells a person what is done.
            split: where to split the table.
            rules: whose `per` names a column.
        """
        form.weigher(seed)  # refuses what cannot be before anything is read
        files = [path.name for path in paths_of(source for source in (table.source, reference) if source is not None)]
        with step(words_of().reading(files)):
            pool = open_pool(table, reference, split=split, per=rules.per)
        with step(phrase("steps.calibrating", rows=pool.reference.num_rows)):
            tables = cls.of(pool, form, seed=seed)
        names = [path.name for path in paths_of([reference])]
        return replace(
            tables,
            time_column=pool.columns.time,
            id_column=pool.columns.id,
            per=rules.per,
            library=library_of(table.source),
            reference_name=names[0] if names else tables.reference_name,
        )

    @classmethod
    def of(cls, pool: Pool, form: Form, *, seed: int) -> Self:
        """Weigh a pool whose tables and roles are known."""
        pool.refuse_unusable(form.missing)
        reference, raw, constant = varying(*pool.matrices)
        aligned, shifts = (raw, ()) if pool.is_own_reference else move_back(reference, raw, form.drift)
        weigher = form.weigher(seed).fit(reference)
        tables: Any = {"reference": reference, "raw": raw, "weighed": aligned}
        facts: Any = {"moved": shifts, "constant": constant, "is_own_reference": pool.is_own_reference}
        return cls(pool=pool, form=form, weigher=weigher, **tables, **facts)

    @property
    def scoring(self) -> Scoring:
        """Pool and reference on one scale."""
        assert self.score is not None, "scored() was not called"
        return self.score

    def scored(
        self, k: int | None, m: int | None, rules: RowRules = RowRules(), whole: PoolFacts | None = None
    ) -> Self:
        """The same for k rows and m columns, the usual numbers where these are None.

        Args:
            k: how many rows; None for 20, at most a fifth of the pool.
            m: how many columns; None for 4, fewer where there are few.
            rules: whose `must_columns` are chosen whatever their direction.
            whole: the larger table that the pool's rows were kept from; None if they are the whole pool.
        """
        names = self.weigher.feature_names
        must = [names.index(name) for name in names_in(rules.must_columns, names) if name in names]
        k = usual_rows(len(self.weighed)) if k is None else k
        m = max(usual_columns(len(names)), len(must)) if m is None else m
        cells = self.weigher.cells(self.weighed, places=self.weigher.own_places if self.pool.is_own_reference else None)
        score = Scoring.of(self.weigher, cells, k, m, must=must, whole=whole, marginals=self.form.marginals)
        return replace(self, score=score)

    def problem(self, rules: RowRules = RowRules()) -> SelectionProblem:
        """The selection problem of the pool, with rules by name."""
        problem = self.scoring.problem(self.pool.sample_names, self.library)
        return apply_rules(rules, problem, self.pool.per)
