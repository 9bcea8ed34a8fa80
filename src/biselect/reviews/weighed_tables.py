"""From two tables to a selection problem: read, roles, columns moved back, weights. Every door goes this way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.options import ANY, Columns, RowRules, Split, Weighing, spell
from biselect.pages.words import phrase, words_of
from biselect.progress import Steps
from biselect.reviews.outside_scores import outside_scores, row_scores
from biselect.tables import NamedMatrix, Pool, Table, library_of, open_pool, paths_of, varying
from biselect.tables.row_rules import apply_rules
from biselect.weights import Weigher
from biselect.weights.alignment import move_back
from biselect.weights.evidence import WeighedPool
from biselect.weights.paper import Form


@dataclass(frozen=True, kw_only=True, eq=False)
class WeighedTables(WeighedPool):
    """A pool weighed against a reference, beside what `WeighedPool` holds.

    Attributes:
        form: map, cap, missing values, drift and marginals.
        reference: the reference's columns in use.
        raw: the same of the pool, nothing moved back.
        constant: columns left out, as they hold one and the same value in both tables.
        library: that the pool's frame came in; None for a file or an array.
        outside: somebody's own score of each row of the pool, in place of what rows are worth by themselves.
    """

    form: Form
    reference: NamedMatrix
    raw: NamedMatrix
    weighed: NamedMatrix
    constant: tuple[str, ...] = ()
    library: str | None = None
    outside: NDArray[np.float64] | None = field(default=None, repr=False)

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
        outside: Any = None,
    ) -> Self:
        """Read both tables and weigh the pool.

        Args:
            table: the pool, with what its columns are.
            reference: normal rows; None to split the table in time.
            form: map, cap, missing values, drift and marginals.
            seed: fixes every draw of the weigher.
            step: tells a person what is done.
            split: where to split the table.
            rules: whose `per` names a column.
            outside: scores of rows, as `Weighing.row_scores` takes them; None for those of `Columns.score`, if any.
        """
        form.weigher(seed)  # refuses what cannot be before anything is read
        files = [path.name for path in paths_of(source for source in (table.source, reference) if source is not None)]
        with step(words_of().reading(files)):
            pool = open_pool(table, reference, split=split, per=rules.per)
        with step(phrase("steps.calibrating", rows=pool.reference.num_rows)):
            tables = cls.of(pool, form, seed=seed)
            tables = replace(tables, time_column=pool.columns.time, per=rules.per, library=library_of(table.source))
            return replace(tables, outside=tables._outside(outside, table.columns.score))

    @classmethod
    def of(cls, pool: Pool, form: Form, *, seed: int) -> Self:
        """Weigh a pool whose tables and roles are known."""
        pool.refuse_unusable(form.missing)
        reference, raw, constant = varying(*pool.matrices)
        aligned, shifts = move_back(reference, raw, form.drift)
        return cls(
            pool=pool,
            calibrator=form.weigher(seed).fit(reference),
            weighed=aligned,
            moved=shifts,
            form=form,
            reference=reference,
            raw=raw,
            constant=constant,
        )

    def problem(self, k: int, m: int, rules: RowRules = RowRules()) -> SelectionProblem:
        """The selection problem of the pool: weights, what rows are worth by themselves, budgets and rules."""
        names, per = self.pool.sample_names, self.pool.per
        problem = problem_of(
            self.calibrator, self.weighed, self.form, k=k, m=m, rules=rules, per=per, sample_names=names
        )
        if self.outside is not None:
            problem = replace(weights_alone(problem), sample_scores=row_scores(self.outside, problem.m))
        return replace(problem, library=self.library)

    def plain_problem(self, k: int, m: int) -> SelectionProblem:
        """The same without rules, of weights alone: what kinds are looked for in."""
        names = self.pool.sample_names
        return self.calibrator.problem(self.weighed, k, m, marginals="none", sample_names=names)

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The pool as it is weighed, rows × columns: numbers without gaps; of a category what it weighs."""
        return self.calibrator.values(self.weighed)

    @cached_property
    def reference_values(self) -> NDArray[np.float64]:
        """The reference likewise."""
        return self.calibrator.values(self.reference)

    def _outside(self, source: Any, column: str | None) -> NDArray[np.float64] | None:
        """Scores of rows that come from outside, where any were given."""
        if source is None and column is None:
            return None
        if source is not None and column is not None:
            both = f"{spell(Weighing(row_scores=ANY))} or {spell(Columns(score=column))}"
            raise InputError(f"give either {both}, not both")
        if column is not None:
            try:
                source = [float(text) for text in self.pool.shown[column]]
            except ValueError:
                score = spell(Columns(score=column))
                raise InputError(f"{score} must hold a number in every row of the pool") from None
        return outside_scores(source, self.calibrator.values(self.raw))


def problem_of(
    weigher: Weigher,
    pool: Any,
    form: Form,
    *,
    k: int,
    m: int,
    rules: RowRules = RowRules(),
    per: Sequence[str | None] | None = None,
    sample_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> SelectionProblem:
    """The selection problem of rows that are ready to be weighed.

    Args:
        weigher: fitted on the reference.
        pool: its rows, columns that moved put back.
        form: says what rows and columns are worth by themselves.
        k: how many rows.
        m: how many columns.
        rules: by name.
        per: for `at_most` of the rules, one label a row.
        sample_names: names of the rows; None for their positions.
        feature_names: names of the columns; None for those of the pool.
    """
    problem = weigher.problem(pool, k, m, marginals=form.marginals, sample_names=sample_names)
    if feature_names is not None:
        problem = replace(problem, feature_names=tuple(feature_names))
    return apply_rules(rules, problem, per)


def weights_alone(problem: SelectionProblem) -> SelectionProblem:
    """The problem in which rows and columns are worth nothing by themselves."""
    rows, columns = problem.coupling.shape
    return replace(problem, sample_scores=np.zeros(rows), feature_scores=np.zeros(columns))
