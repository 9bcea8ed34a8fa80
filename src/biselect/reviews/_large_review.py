"""`review` of two tables in parts: a problem over the rows kept, solved for the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from biselect.core import Selection, SelectionProblem
from biselect.core.checks import check_integer
from biselect.core.proof import Screen
from biselect.core.sector import check_budget
from biselect.errors import InfeasibleError
from biselect.large.gathering import KeptPool, gather
from biselect.large.sides import Tables
from biselect.options import RowRules, Search, possible_names
from biselect.pages.words import phrase
from biselect.progress import Progress
from biselect.reviews._view import WholeTable
from biselect.reviews.caveats import Caveat, Caveats, caveat_of, table_caveats
from biselect.reviews.kinds import KindList, find_kinds, kind_seconds
from biselect.reviews.result import ANSWER_WORK, Review, find_neighbours, make_review
from biselect.reviews.weighed_tables import weights_alone
from biselect.solvers.representatives import is_open, of_kept_rows, solve_for_whole
from biselect.tables.row_rules import apply_rules
from biselect.weights.evidence import WeighedPool
from biselect.weights.maps import stored_name
from biselect.weights.paper import Form

CLOSER_LOOKS = 2  # passes beyond the first three, where rows that were not kept could matter
NEAR = 0.02  # rows that weigh so little less than the weakest chosen one are looked at in the first of them


@dataclass(frozen=True, kw_only=True, eq=False)
class LargeReview:
    """A review of two tables that are not held.

    Attributes:
        tables: what is read.
        k: how many rows to choose.
        m: how many columns.
        rules: by name.
        form: how rows are weighed.
        search: who solves, and for how long.
    """

    tables: Tables
    k: int
    m: int
    rules: RowRules
    form: Form
    search: Search

    def __post_init__(self) -> None:
        stored_name(self.form.map)

    def review(self, title: str, reproduce: dict[str, Any], library: str | None, index: Any = None) -> Review:
        """Make the passes, solve, and look closer where rows that were not kept could matter."""
        check_budget("k", self.k, self.tables.pool.rows, "samples")
        check_integer("m", self.m)
        ids = frozenset(name for names in (self.rules.must, self.rules.never) for name in possible_names(names))
        weigher = self.form.weigher(self.search.seed)
        kept_pool = gather(self.tables, weigher, k=self.k, m=self.m, drift=self.form.drift, ids=ids)
        caveats = Caveats()
        kept_pool, problem = self._with_room(kept_pool, library)
        for look in range(CLOSER_LOOKS + 1):
            selection = self._solve(kept_pool, problem)
            looked = caveats.attempt("kinds", self._kinds, kept_pool, problem)
            kinds, doubts = looked or (None, [])
            if is_open(selection):
                doubts.insert(0, (range(problem.n_features), of_kept_rows(selection, problem)))
            if not doubts or look == CLOSER_LOOKS:
                break
            lower = 1 - NEAR * 4**look
            before = kept_pool.rows.positions, problem.sample_scores
            kept_pool = kept_pool.with_views([(columns, self.m, lower * _weakest(best)) for columns, best in doubts])
            problem = self._problem(kept_pool, library, "none")
            scores = np.zeros(problem.n_samples)  # rows that were added are not heavy enough to be looked up
            scores[np.searchsorted(kept_pool.rows.positions, before[0])] = before[1]
            problem = replace(problem, sample_scores=scores)
        self._look_over(kept_pool, problem, caveats)
        answer = of_kept_rows(selection, problem)
        nearby = find_neighbours(answer, self.search, self.tables.step, caveats, self._neighbour(kept_pool))
        table = WeighedPool(
            pool=kept_pool.rows.pool,
            calibrator=kept_pool.calibrator,
            time_column=self.tables.roles.time_column,
            per=self.rules.per,
            weighed=kept_pool.rows.matrix,
            moved=kept_pool.shifted,
        )
        return make_review(
            selection,
            nearby,
            caveats,
            table=table,
            kinds=kinds,
            whole=self._whole(kept_pool, problem),
            index=index,
            calibration=kept_pool.weighing(self._asked()).to_bytes(),
            title=title,
            reproduce=reproduce,
            how_many=_not_compared(self.m),
        )

    def _with_room(self, kept_pool: KeptPool, library: str | None) -> tuple[KeptPool, SelectionProblem]:
        """The first problem; with more rows where the rules leave too few of the heaviest."""
        try:
            return kept_pool, self._problem(kept_pool, library, self.form.marginals)
        except InfeasibleError:
            every = range(len(kept_pool.calibrator.feature_names))
            wider = kept_pool.with_views([(every, self.m, 0.0)])
            try:
                return wider, self._problem(wider, library, self.form.marginals)
            except InfeasibleError as error:
                rows = wider.rows.positions.size
                raise InfeasibleError(f"among the {rows:,} heaviest rows of the pool: {error}") from error

    def _problem(self, kept_pool: KeptPool, library: str | None, marginals: str) -> SelectionProblem:
        plain = kept_pool.calibrator.problem(
            kept_pool.rows.matrix,
            self.k,
            self.m,
            marginals=marginals,
            sample_names=kept_pool.rows.pool.sample_names,
            whole=kept_pool.whole,
        )
        return replace(apply_rules(self.rules, plain, kept_pool.rows.pool.per), library=library)

    def _most(self, kept_pool: KeptPool, columns: Sequence[int], m: int) -> float | None:
        return kept_pool.most(columns, m)

    def _solve(self, kept_pool: KeptPool, problem: SelectionProblem) -> Selection:
        most = self._most(kept_pool, range(problem.n_features), self.m)
        with self.tables.step(phrase("steps.solving_kept", solver=self.search.solver, rows=problem.n_samples)) as bar:
            selection = solve_for_whole(problem, most, self.search.solver, check_work=ANSWER_WORK, **self._options(bar))
        if selection.proof is None or most is None:
            return selection
        screen = Screen(
            rows=kept_pool.tables.pool.rows,
            kept_rows=kept_pool.rows.positions.tolist(),
            heavy=float(kept_pool.rows.collecting.heavy) if self.form.marginals == "isolation" else None,
        )
        return replace(selection, proof=replace(selection.proof, screen=screen))

    def _options(self, bar: Progress | None = None) -> dict[str, Any]:
        return {"seed": self.search.seed, "time_limit": self.search.time_limit, "progress": bar or False}

    def _kinds(
        self, kept_pool: KeptPool, problem: SelectionProblem
    ) -> tuple[KindList | None, list[tuple[Sequence[int], Selection]]]:
        """Kinds; and the columns and answers for which rows that were not kept could matter."""
        if self.form.kinds <= 1 or self.rules.must_columns:
            return None, []
        doubts: list[tuple[Sequence[int], Selection]] = []

        def answer(part: SelectionProblem, columns: list[int]) -> Selection:
            most = self._most(kept_pool, columns, self.m)
            options = {**self._options(), "time_limit": kind_seconds(self.search)}
            selection = solve_for_whole(part, most, self.search.solver, **options)
            if is_open(selection):
                doubts.append((columns, of_kept_rows(selection, part)))
            return selection

        with self.tables.step(phrase("steps.kinds")):
            sides = kept_pool.calibrator.directions(kept_pool.rows.matrix)
            return find_kinds(weights_alone(problem), sides, kinds=self.form.kinds, answer=answer), doubts

    def _asked(self) -> dict[str, Any]:
        """The question as plain data, for whoever checks the answer."""
        weighed_by = {"marginals": self.form.marginals, "drift": self.form.drift}
        return {"k": self.k, "m": self.m, **weighed_by, "rules": vars(self.rules)}

    def _neighbour(self, kept_pool: KeptPool) -> Callable[[SelectionProblem, float], Selection]:
        def answer(problem: SelectionProblem, seconds: float) -> Selection:
            most = self._most(kept_pool, range(problem.n_features), problem.m)
            options = {**self._options(), "time_limit": seconds}
            return of_kept_rows(solve_for_whole(problem, most, "exact", **options), problem)

        return answer

    def _look_over(self, kept_pool: KeptPool, problem: SelectionProblem, caveats: Caveats) -> None:
        """Add what the reader must know; shares of the pool are those of its sample."""
        if self.form.marginals == "isolation" and not problem.sample_scores.any():
            caveats.append(caveat_of("large-table", sentence="not-isolated"))
        caveats.append(caveat_of("large-table", sentence="not-held"))
        caveats.look_over(
            kept_pool.rows.pool, self.tables.roles.label_column, self.rules, problem, kept_pool.shifted, self.form.drift
        )
        caveats.collect("misleading", self._misleading, kept_pool)

    def _misleading(self, kept_pool: KeptPool) -> Iterator[Caveat]:
        sampled = kept_pool.calibrator.problem(kept_pool.sampled, 1, self.m, marginals="none")
        samples, rows = (kept_pool.reference, kept_pool.sampled), kept_pool.tables.pool.rows
        yield from table_caveats(kept_pool.calibrator, sampled, *samples, kept_pool.same, rows)

    def _whole(self, kept_pool: KeptPool, problem: SelectionProblem) -> WholeTable:
        reference, pool = kept_pool.surveys
        return WholeTable(
            kept=problem,
            rows=pool.rows,
            reference_rows=reference.rows,
            most=self._most(kept_pool, range(problem.n_features), self.m),
            positives=kept_pool.positives,
            calibration=partial(_pool_facts, kept_pool),
        )


def _pool_facts(kept_pool: KeptPool) -> dict[str, Any]:
    """What the whole pool says about the calibration."""
    beyond = kept_pool.calibrator.weights(kept_pool.sampled) >= kept_pool.calibrator.facts.largest_weight
    return {"missing_pool": int(kept_pool.surveys[1].absent.sum()), "clipped_pool": float(beyond.mean())}


def _weakest(selection: Selection) -> float:
    """What the weakest chosen row adds, in units of weights."""
    return float(selection.explain(nearest=0).sample_values.min() / (selection.problem.coupling_weight or 1.0))


def _not_compared(m: int) -> dict[str, Any]:
    why = phrase("how_many.not_held")
    words = phrase("how_many.not_compared", columns=phrase("how_many.columns", n=m), why=why)
    return {"m": m, "auto": False, "knee": None, "by_m": [], "words": words}
