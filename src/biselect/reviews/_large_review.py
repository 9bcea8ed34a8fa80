"""`review` of two tables in parts: a problem over the rows kept, solved for the whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from biselect.core import Selection, SelectionProblem
from biselect.core.proof import Screen
from biselect.core.sector import check_budget
from biselect.errors import InfeasibleError
from biselect.large.gathering import KeptPool, gather
from biselect.large.sides import Tables
from biselect.options import RowRules, Search, possible_names
from biselect.pages.words import phrase
from biselect.progress import Progress
from biselect.reviews._view import WholeTable
from biselect.reviews.caveats import Caveats, budget_caveats, caveat_of, table_caveats
from biselect.reviews.kinds import KindList, find_kinds, kind_seconds, only
from biselect.reviews.result import ANSWER_WORK, Review, find_neighbours, find_null, make_review
from biselect.solvers.representatives import is_open, of_kept_rows, solve_for_whole
from biselect.weights.maps import stored_name
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables

CLOSER_LOOKS = 2  # passes beyond the first three, where rows that were not kept could matter
NEAR = 0.02  # rows that weigh so little less than the weakest chosen one are looked at in the first of them


@dataclass(frozen=True, kw_only=True, eq=False)
class LargeReview:
    """A review of two tables that are not held.

    Attributes:
        tables: what is read.
        k: how many rows to choose; None for the usual number.
        m: how many columns; None for the usual number.
        rules: by name.
        form: how rows are weighed.
        search: who solves, and for how long.
    """

    tables: Tables
    k: int | None
    m: int | None
    rules: RowRules
    form: Form
    search: Search

    def __post_init__(self) -> None:
        stored_name(self.form.map)

    def review(self, title: str, reproduce: dict[str, Any], library: str | None, index: Any = None) -> Review:
        """Make the passes, solve, and look closer where rows that were not kept could matter."""
        if self.k is not None:
            check_budget("k", self.k, self.tables.pool.rows, "samples")
        ids = frozenset(name for names in (self.rules.must, self.rules.never) for name in possible_names(names))
        weigher = self.form.weigher(self.search.seed)
        kept_pool = gather(self.tables, weigher, k=self.k, m=self.m, drift=self.form.drift, ids=ids)
        caveats = Caveats()
        kept_pool, table, problem = self._with_room(kept_pool, library)
        for look in range(CLOSER_LOOKS + 1):
            kinds, doubts = self._kinds(kept_pool, problem, caveats)
            if not doubts or look == CLOSER_LOOKS:
                break
            lower = 1 - NEAR * 4**look
            kept_pool = kept_pool.closer(problem.m, lower * min(map(_weakest, doubts)))
            table, problem = self._question(kept_pool, library)
        self._look_over(kept_pool, problem, caveats)
        answer = kinds[0].selection
        nearby = find_neighbours(answer, self.search, self.tables.step, caveats, self._neighbour(kept_pool))
        return make_review(
            kinds,
            nearby,
            caveats,
            table=table,
            null=find_null(table, problem, self.search, self.tables.step, caveats),
            whole=self._whole(kept_pool, problem),
            index=index,
            calibration=kept_pool.weighing(self._asked(problem)).to_bytes(),
            title=title,
            reproduce=reproduce,
        )

    def _with_room(self, kept_pool: KeptPool, library: str | None) -> tuple[KeptPool, WeighedTables, SelectionProblem]:
        """The first problem; with more rows where the rules leave too few of the heaviest."""
        try:
            return kept_pool, *self._question(kept_pool, library)
        except InfeasibleError:
            wider = kept_pool.closer(kept_pool.rows.collecting.views[0].m, 0.0)
            try:
                return wider, *self._question(wider, library)
            except InfeasibleError as error:
                rows = wider.rows.positions.size
                raise InfeasibleError(f"among the {rows:,} heaviest rows of the pool: {error}") from error

    def _question(self, kept_pool: KeptPool, library: str | None) -> tuple[WeighedTables, SelectionProblem]:
        """The rows that were kept, weighed, and the problem over them."""
        k = kept_pool.usual_rows if self.k is None else self.k
        table = kept_pool.weighed(self.form, per=self.rules.per, library=library)
        table = table.scored(k, self.m, self.rules, kept_pool.whole)
        return table, table.problem(self.rules)

    def _options(self, bar: Progress | None = None) -> dict[str, Any]:
        return {"seed": self.search.seed, "time_limit": self.search.time_limit, "progress": bar or False}

    def _solve(self, kept_pool: KeptPool, problem: SelectionProblem) -> Selection:
        most = kept_pool.most(problem.m)
        with self.tables.step(phrase("steps.solving_kept", solver=self.search.solver, rows=problem.n_samples)) as bar:
            selection = solve_for_whole(problem, most, self.search.solver, check_work=ANSWER_WORK, **self._options(bar))
        if selection.proof is None or most is None:
            return selection
        screen = Screen(
            rows=kept_pool.tables.pool.rows,
            kept_rows=kept_pool.rows.positions.tolist(),
            heavy=float(kept_pool.rows.collecting.heavy),
        )
        return replace(selection, proof=replace(selection.proof, screen=screen))

    def _kinds(
        self, kept_pool: KeptPool, problem: SelectionProblem, caveats: Caveats
    ) -> tuple[KindList, list[Selection]]:
        """The answer and further kinds; and those for which rows that were not kept could matter."""
        solved, doubts = self._solve(kept_pool, problem), []
        first = of_kept_rows(solved, problem)
        if is_open(solved):
            doubts.append(first)

        def answer(question: SelectionProblem) -> Selection:
            options = {**self._options(), "time_limit": kind_seconds(self.search)}
            selection = solve_for_whole(question, kept_pool.most(problem.m), self.search.solver, **options)
            if is_open(selection):
                doubts.append(of_kept_rows(selection, question))
            return selection

        with self.tables.step(phrase("steps.kinds")):
            options: Any = {"kinds": self.form.kinds, "solved": solved, "answer": answer}
            return caveats.attempt("kinds", find_kinds, first, **options) or only(first, solved), doubts

    def _asked(self, problem: SelectionProblem) -> dict[str, Any]:
        """The question as plain data, for whoever checks the answer."""
        asked = {"k": problem.k, "m": problem.m, "drift": self.form.drift, "rules": vars(self.rules)}
        return asked | {"is_own_reference": self.tables.is_own_reference}

    def _neighbour(self, kept_pool: KeptPool) -> Callable[[SelectionProblem, float], Selection]:
        def answer(problem: SelectionProblem, seconds: float) -> Selection:
            options = {**self._options(), "time_limit": seconds}
            return of_kept_rows(solve_for_whole(problem, kept_pool.most(problem.m), "exact", **options), problem)

        return answer

    def _look_over(self, kept_pool: KeptPool, problem: SelectionProblem, caveats: Caveats) -> None:
        """Add what the reader must know; shares of the pool are those of its sample."""
        if not problem.sample_scores.any():
            caveats.append(caveat_of("large-table", sentence="not-isolated"))
        caveats.append(caveat_of("large-table", sentence="not-held"))
        caveats.look_over(
            kept_pool.rows.pool, self.tables.roles.label_column, self.rules, problem, kept_pool.shifted, self.form.drift
        )
        rows, weights = self.tables.pool.rows, kept_pool.weigher.weights(kept_pool.sampled)
        samples = (kept_pool.reference, kept_pool.sampled)
        caveats.collect("misleading", table_caveats, kept_pool.weigher, weights, *samples, kept_pool.same, rows)
        caveats.collect("misleading", budget_caveats, problem, rows)

    def _whole(self, kept_pool: KeptPool, problem: SelectionProblem) -> WholeTable:
        reference, pool = kept_pool.surveys
        return WholeTable(
            kept=problem,
            rows=pool.rows,
            reference_rows=reference.rows,
            most=kept_pool.most(problem.m),
            positives=kept_pool.positives,
            missing=int(pool.absent.sum()),
        )


def _weakest(selection: Selection) -> float:
    """What the weakest chosen row adds."""
    return float(selection.explain(nearest=0).sample_values.min())
