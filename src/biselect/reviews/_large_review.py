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
from biselect.reviews.answering import neighbouring, told
from biselect.reviews.caveats import Caveat, Caveats, caveat_of, table_caveats
from biselect.reviews.kinds import KindList, find_kinds, kind_seconds
from biselect.reviews.result import Review
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
        gathered = gather(self.tables, weigher, k=self.k, m=self.m, drift=self.form.drift, ids=ids)
        found = Caveats()
        gathered, problem = self._with_room(gathered, library)
        for look in range(CLOSER_LOOKS + 1):
            selection = self._solve(gathered, problem)
            looked = found.attempt("kinds", self._kinds, gathered, problem)
            kinds, doubts = looked or (None, [])
            if is_open(selection):
                doubts.insert(0, (range(problem.n_features), of_kept_rows(selection, problem)))
            if not doubts or look == CLOSER_LOOKS:
                break
            lower = 1 - NEAR * 4**look
            before = gathered.kept.positions, problem.sample_scores
            gathered = gathered.with_views([(columns, self.m, lower * _weakest(best)) for columns, best in doubts])
            problem = self._problem(gathered, library, "none")
            scores = np.zeros(problem.n_samples)  # rows that were added are not heavy enough to be looked up
            scores[np.searchsorted(gathered.kept.positions, before[0])] = before[1]
            problem = replace(problem, sample_scores=scores)
        self._look_over(gathered, problem, found)
        kept = of_kept_rows(selection, problem)
        nearby = neighbouring(kept, self.search, self.tables.step, found, self._neighbour(gathered))
        table = WeighedPool(
            pool=gathered.kept.pool,
            calibrator=gathered.calibrator,
            time_column=self.tables.roles.time_column,
            per=self.rules.per,
            weighed=gathered.kept.weighed,
            moved=gathered.moved,
        )
        return told(
            selection,
            nearby,
            found,
            table=table,
            kinds=kinds,
            whole=self._whole(gathered, problem),
            index=index,
            calibration=gathered.weighing(self._asked()).to_bytes(),
            title=title,
            reproduce=reproduce,
            how_many=_not_compared(self.m),
        )

    def _with_room(self, gathered: KeptPool, library: str | None) -> tuple[KeptPool, SelectionProblem]:
        """The first problem; with more rows where the rules leave too few of the heaviest."""
        try:
            return gathered, self._problem(gathered, library, self.form.marginals)
        except InfeasibleError:
            every = range(len(gathered.calibrator.feature_names))
            wider = gathered.with_views([(every, self.m, 0.0)])
            try:
                return wider, self._problem(wider, library, self.form.marginals)
            except InfeasibleError as error:
                rows = wider.kept.positions.size
                raise InfeasibleError(f"among the {rows:,} heaviest rows of the pool: {error}") from error

    def _problem(self, gathered: KeptPool, library: str | None, marginals: str) -> SelectionProblem:
        plain = gathered.calibrator.problem(
            gathered.kept.weighed,
            self.k,
            self.m,
            marginals=marginals,
            sample_names=gathered.kept.pool.sample_names,
            whole=gathered.whole,
        )
        return replace(apply_rules(self.rules, plain, gathered.kept.pool.per), library=library)

    def _most(self, gathered: KeptPool, columns: Sequence[int], m: int) -> float | None:
        return gathered.most(columns, m)

    def _solve(self, gathered: KeptPool, problem: SelectionProblem) -> Selection:
        most = self._most(gathered, range(problem.n_features), self.m)
        with self.tables.step(phrase("steps.solving_kept", solver=self.search.solver, rows=problem.n_samples)) as told:
            found = solve_for_whole(problem, most, self.search.solver, **self._options(told))
        if found.proof is None or most is None:
            return found
        screen = Screen(
            rows=gathered.tables.pool.rows,
            kept_rows=gathered.kept.positions.tolist(),
            heavy=float(gathered.kept.asked.heavy) if self.form.marginals == "isolation" else None,
        )
        return replace(found, proof=replace(found.proof, screen=screen))

    def _options(self, told: Progress | None = None) -> dict[str, Any]:
        return {"seed": self.search.seed, "time_limit": self.search.time_limit, "progress": told or False}

    def _kinds(
        self, gathered: KeptPool, problem: SelectionProblem
    ) -> tuple[KindList | None, list[tuple[Sequence[int], Selection]]]:
        """Kinds; and the columns and answers for which rows that were not kept could matter."""
        if self.form.kinds <= 1 or self.rules.must_columns:
            return None, []
        doubts: list[tuple[Sequence[int], Selection]] = []

        def answer(asked: SelectionProblem, columns: list[int]) -> Selection:
            most = self._most(gathered, columns, self.m)
            options = {**self._options(), "time_limit": kind_seconds(self.search)}
            found = solve_for_whole(asked, most, self.search.solver, **options)
            if is_open(found):
                doubts.append((columns, of_kept_rows(found, asked)))
            return found

        with self.tables.step(phrase("steps.kinds")):
            sides = gathered.calibrator.directions(gathered.kept.weighed)
            return find_kinds(weights_alone(problem), sides, kinds=self.form.kinds, answer=answer), doubts

    def _asked(self) -> dict[str, Any]:
        """The question as plain data, for whoever checks the answer."""
        weighed_by = {"marginals": self.form.marginals, "drift": self.form.drift}
        return {"k": self.k, "m": self.m, **weighed_by, "rules": vars(self.rules)}

    def _neighbour(self, gathered: KeptPool) -> Callable[[SelectionProblem, float], Selection]:
        def answer(asked: SelectionProblem, seconds: float) -> Selection:
            most = self._most(gathered, range(asked.n_features), asked.m)
            options = {**self._options(), "time_limit": seconds}
            return of_kept_rows(solve_for_whole(asked, most, "exact", **options), asked)

        return answer

    def _look_over(self, gathered: KeptPool, problem: SelectionProblem, found: Caveats) -> None:
        """Add what the reader must know; shares of the pool are those of its sample."""
        if self.form.marginals == "isolation" and not problem.sample_scores.any():
            found.append(caveat_of("large-table", sentence="not-isolated"))
        found.append(caveat_of("large-table", sentence="not-held"))
        found.look_over(
            gathered.kept.pool, self.tables.roles.label_column, self.rules, problem, gathered.moved, self.form.drift
        )
        found.collect("misleading", self._misleading, gathered)

    def _misleading(self, gathered: KeptPool) -> Iterator[Caveat]:
        sampled = gathered.calibrator.problem(gathered.sampled, 1, self.m, marginals="none")
        samples, rows = (gathered.reference, gathered.sampled), gathered.tables.pool.rows
        yield from table_caveats(gathered.calibrator, sampled, *samples, gathered.same, rows)

    def _whole(self, gathered: KeptPool, problem: SelectionProblem) -> WholeTable:
        reference, pool = gathered.surveys
        return WholeTable(
            kept=problem,
            rows=pool.rows,
            reference_rows=reference.rows,
            most=self._most(gathered, range(problem.n_features), self.m),
            positives=gathered.positives,
            calibration=partial(_pool_facts, gathered),
        )


def _pool_facts(gathered: KeptPool) -> dict[str, Any]:
    """What the whole pool says about the calibration."""
    beyond = gathered.calibrator.weights(gathered.sampled) >= gathered.calibrator.facts.largest_weight
    return {"missing_pool": int(gathered.surveys[1].absent.sum()), "clipped_pool": float(beyond.mean())}


def _weakest(selection: Selection) -> float:
    """What the weakest chosen row adds, in units of weights."""
    return float(selection.explain(nearest=0).sample_values.min() / (selection.problem.coupling_weight or 1.0))


def _not_compared(m: int) -> dict[str, Any]:
    why = phrase("how_many.not_held")
    words = phrase("how_many.not_compared", columns=phrase("how_many.columns", n=m), why=why)
    return {"m": m, "auto": False, "knee": None, "by_m": [], "words": words}
