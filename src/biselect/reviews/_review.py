"""`review`: from tables, or from a problem, to a Review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from biselect.core import SelectionProblem
from biselect.core.checks import check_integer
from biselect.errors import InputError
from biselect.large.engines import check_engine
from biselect.large.opening import large_tables, needs_all_rows
from biselect.options import Compute, Kinds, RowRules, Search, Split, Weighing, spell
from biselect.pages.words import phrase
from biselect.progress import Steps, steps_of
from biselect.reviews.caveats import Caveats, budget_caveats, filled_caveats, table_caveats
from biselect.reviews.kinds import find_kinds, kind_seconds, only, refuse_kinds
from biselect.reviews.result import (
    Review,
    find_answer,
    find_neighbours,
    find_null,
    make_review,
    refuse_reach,
    review_problem,
)
from biselect.tables import (
    Table,
    call_in_words,
    library_of,
    paths_of,
    provenance,
    row_labels,
    tables_of,
)
from biselect.weights.paper import Form
from biselect.weights.weighed_tables import WeighedTables


def review(
    pool: Any,
    reference: Any = None,
    *,
    k: int | None = None,
    m: int | None = None,
    split: Split = Split(),
    weighing: Weighing = Weighing(),
    rules: RowRules = RowRules(),
    kinds: Kinds = Kinds(),
    search: Search = Search(),
    compute: Compute = Compute(),
    title: str | None = None,
    progress: Steps | bool | None = None,
) -> Review:
    """Choose the k rows and m columns of a pool that together stand out most against a reference.

    Columns that have no role are features: numbers, or categories (text, booleans, categoricals), which weigh by how
    rare they are in the reference. The index of a pandas pool names the rows unless it just counts them.

    Args:
        pool: rows to choose from: what `biselect.table` gives, or what it takes, where nothing has to be said about
            columns; or a `SelectionProblem`, which no table stands behind.
        reference: normal rows, read as the pool is; None to compare the pool with itself, or with `Columns.time` and
            `Split.until` to split it in time.
        k: how many rows; 20 unless given, at most a fifth of the pool.
        m: how many columns; 4 unless given, fewer where the table has few.
        split: how to split `pool` in time.
        weighing: what counts as unusual.
        rules: what must and what must not be chosen.
        kinds: how many kinds of unusual to look for. The first is the answer; a further one has other rows, and at most
            half of the directed columns of each before it.
        search: who solves it, and for how long.
        compute: where a table is read that is too large to be held. The answer is the same everywhere.
        title: the heading of the report.
        progress: called with the name of each step; gives a context manager around it, which may give the callback
            that `biselect.solve` takes. None shows a bar to whoever watches, in a terminal or a notebook, after two
            seconds; False shows none.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> best = review(np.vstack([rng.normal(size=(9, 3)), [0, 9, 0]]), rng.normal(size=(50, 3)), k=1, m=1)
    >>> best.selection.sample_names, best.selection.feature_names
    (['9'], ['1'])
    """
    if isinstance(pool, SelectionProblem):
        if (k, m, reference) != (None, None, None):
            raise InputError("a SelectionProblem has its own k and m, and no reference; leave them out")
        return review_problem(pool, search=search, title=title, progress=progress)
    table, reference = tables_of(pool, reference)
    request = _Request(table, reference, k, m, split, weighing, rules, kinds, search, compute, title)
    request.refuse_unclear()
    step, caveats, form = steps_of(progress), Caveats(), request.form
    if (answer := _review_in_parts(request, step)) is not None:
        return answer

    tables = WeighedTables.read(table, reference, form, seed=search.seed, step=step, split=split, rules=rules)
    reproduce = request.reproduce(tables.pool.read_as)
    with step(phrase("steps.weighing")):
        tables = tables.scored(k, m, rules)
        problem = tables.problem(rules)
    caveats.look_over(tables.pool, table.columns.label, rules, problem, tables.moved, form.drift)
    weights, reference = tables.scoring.pool.cells.weights, tables.weigher.sample.rows
    caveats.collect("misleading", table_caveats, tables.weigher, weights, reference, tables.weighed, tables.constant)
    caveats.collect("misleading", budget_caveats, problem, problem.n_samples)

    selection = find_answer(problem, search, step)
    if form.missing == "median":
        caveats.collect("filled", filled_caveats, tables.raw, selection)
    nearby = find_neighbours(selection, search, step, caveats)
    with step(phrase("steps.kinds")):
        options: Any = {"solver": search.solver, "seed": search.seed, "time_limit": kind_seconds(search)}
        unusual = caveats.attempt("kinds", find_kinds, selection, kinds=form.kinds, **options) or only(selection)
    null = find_null(tables, problem, search, step, caveats)
    report: dict[str, Any] = {"title": request.heading, "reproduce": reproduce, "index": request.index}
    return make_review(unusual, nearby, caveats, table=tables, null=null, **report)


@dataclass(frozen=True, eq=False)
class _Request:
    """All that `review` is asked for, and what follows from it before anything is read."""

    table: Table
    reference: Any
    k: Any
    m: Any
    split: Split
    weighing: Weighing
    rules: RowRules
    kinds: Kinds
    search: Search
    compute: Compute
    title: str | None

    def refuse_unclear(self) -> None:
        """Refuse options that cannot be, or that do not go together, before a table is read."""
        for name, budget in (("k", self.k), ("m", self.m)):
            if budget is not None:
                check_integer(name, budget)
        self.form.weigher(self.search.seed)
        refuse_reach(self.search.neighbours)
        refuse_kinds(self.form.kinds)
        check_engine(self.compute.on, self.compute.memory)
        if self.needs_rows is not None and self.compute.on is not None:
            on = spell(Compute(on=self.compute.on))
            why = f"{self.needs_rows} needs all rows at hand; leave one of them out"
            raise InputError(f"{on} reads tables in parts, but {why}")

    @cached_property
    def form(self) -> Form:
        """How rows are weighed, all defaults filled in."""
        return Form.of(self.weighing, self.kinds)

    @cached_property
    def needs_rows(self) -> str | None:
        """The first option for which all rows must be at hand; None where a few passes over them will do."""
        weigher = self.form.weigher(self.search.seed)
        return needs_all_rows(weigher, self.form, self.table.columns, self.weighing)

    @property
    def sources(self) -> list[Any]:
        """Pool and reference as they came; the pool alone where it is split in time."""
        return [source for source in (self.table.source, self.reference) if source is not None]

    @property
    def heading(self) -> str:
        """The heading of the report."""
        names = [path.name for path in paths_of(self.sources)]
        if self.title or not names:
            return self.title or phrase("page.title")
        if len(self.sources) == 1 and self.split.until is None:
            return phrase("page.title_self", pool=names[0])
        return phrase("page.title_pair" if len(names) == 2 else "page.title_one", pool=names[0], reference=names[-1])

    @property
    def index(self) -> Any:
        """The index of a pandas pool, where that names the rows; else None."""
        source = self.table.source
        return source.index if self.table.columns.id is None and row_labels(source) else None

    def reproduce(self, read_as: Mapping[str, Sequence[str]] | None = None) -> dict[str, Any]:
        """What it takes to get the answer again; `read_as` says how files were read, where that is not plain."""
        call = call_in_words(
            "review",
            {"pool": self.table, "reference": self.reference},
            k=self.k,
            m=self.m,
            split=self.split,
            weighing=self.weighing,
            rules=self.rules,
            kinds=self.kinds,
            search=self.search,
            compute=self.compute,
        )
        return provenance(call, self.search.seed, self.sources, read_as)


def _review_in_parts(request: _Request, step: Steps) -> Review | None:
    """The review of tables that are too large to be held; None where they are not, or all rows must be at hand."""
    if request.needs_rows is not None:
        return None
    table, form, search = request.table, request.form, request.search
    opening = large_tables(
        *(table, request.reference, step),
        per=request.rules.per,
        split=request.split,
        missing=form.missing,
        seed=search.seed,
        compute=request.compute,
    )
    with opening as tables:
        if tables is None:
            return None
        from biselect.reviews._large_review import LargeReview  # loads numba

        large = LargeReview(tables=tables, k=request.k, m=request.m, rules=request.rules, form=form, search=search)
        return large.review(request.heading, request.reproduce(), library_of(table.source), request.index)
