"""`review`: from tables, or from a problem, to a Review."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.large.engines import check_engine
from biselect.large.opening import large_tables, needs_all_rows
from biselect.options import ANY, Columns, Compute, Kinds, RowRules, Search, Split, Weighing, spell
from biselect.pages.words import phrase, words_of
from biselect.progress import Steps, steps_of
from biselect.reviews._false_share import false_share, refuse_level
from biselect.reviews._headline import null_for
from biselect.reviews._how_many import how_many
from biselect.reviews.answering import Question, answered, refuse_reach, review_problem
from biselect.reviews.caveats import Caveats, table_caveats
from biselect.reviews.kinds import KindList, find_kinds, kind_seconds, null_scores, refuse_kinds, sides_of
from biselect.reviews.outside_scores import outside_scores, row_scores
from biselect.reviews.result import Review
from biselect.tables import (
    NamedMatrix,
    Pool,
    call_in_words,
    library_of,
    open_pool,
    paths_of,
    provenance,
    row_labels,
    tables_of,
    varying,
)
from biselect.tables.row_rules import apply_rules
from biselect.weights import Weigher
from biselect.weights.alignment import move_back
from biselect.weights.evidence import WeighedPool
from biselect.weights.paper import Form

FEWEST_HELD_OUT = 100  # reference rows below which no row could hold at a useful false share


def review(
    pool: Any,
    reference: Any = None,
    *,
    k: int | None = None,
    m: int | str | None = None,
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
        reference: normal rows, read as the pool is; or None, with `Columns.time` and `Split.until`, to split `pool` in
            time.
        k: how many rows.
        m: how many columns; `auto` for the number after which more add little beyond chance, see `summary["how_many"]`.
        split: how to split `pool` in time.
        weighing: what counts as unusual.
        rules: what must and what must not be chosen.
        kinds: how many kinds of unusual to look for beside the best block of all columns. A kind is a block of k rows
            and m columns too, each column in one direction.
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
    if k is None or m is None:
        raise InputError(f"a table has no budgets; give both {spell(k=ANY)} and {spell(m=ANY)}")
    if isinstance(m, str) and m != "auto":
        raise InputError(f"m must be a number or 'auto', got {m!r}")
    step = steps_of(progress)
    table, reference = tables_of(pool, reference)
    form = Form.of(weighing, kinds)
    calibrator = Weigher(form.map, cap=weighing.cap, missing=weighing.missing, seed=search.seed)
    refuse_reach(search.neighbours)
    refuse_level(kinds.false_share)
    refuse_kinds(form.kinds)
    columns = None if isinstance(m, str) else m
    sources = [source for source in (table.source, reference) if source is not None]
    files = [path.name for path in paths_of(sources)]
    heading = title or " in ".join(["What stands out", *files[:1]])
    call = call_in_words(
        "review",
        {"pool": table, "reference": reference},
        k=k,
        m=m,
        split=split,
        weighing=weighing,
        rules=rules,
        kinds=kinds,
        search=search,
        compute=compute,
    )
    check_engine(compute.on, compute.memory)
    needs_rows = needs_all_rows(calibrator, form, m, table.columns, weighing)
    if needs_rows is not None and compute.on is not None:
        on = spell(Compute(on=compute.on))
        raise InputError(f"{on} reads tables in parts, but {needs_rows} needs all rows at hand; leave one of them out")
    index = table.source.index if table.columns.id is None and row_labels(table.source) else None
    if columns is not None and needs_rows is None:
        opening = large_tables(
            *(table, reference, step),
            per=rules.per,
            split=split,
            missing=weighing.missing,
            seed=search.seed,
            compute=compute,
        )
        with opening as tables:
            if tables is not None:
                from biselect.reviews._large_review import LargeReview  # loads numba

                large = LargeReview(
                    tables=tables, calibrator=calibrator, k=k, m=columns, rules=rules, form=form, search=search
                )
                made_by = provenance(call, search.seed, sources)
                question = large.question(heading, made_by, library_of(table.source), index)
                return answered(question, search, step)
    with step(words_of().reading(files)):
        rows = open_pool(table, reference, split=split, per=rules.per)
    before, now, same = varying(*rows.matrices)
    caveats = Caveats()
    with step(phrase("steps.calibrating", rows=len(before))):
        rows.refuse_unusable(weighing.missing)
        aligned, moved = move_back(before, now, form.drift)
        calibrator.fit(before)

        def problem_of(columns: int) -> SelectionProblem:
            plain = calibrator.problem(aligned, k, columns, marginals=form.marginals, sample_names=rows.sample_names)
            own = _with_row_scores(plain, weighing.row_scores, table.columns.score, rows, calibrator, now)
            return replace(apply_rules(rules, own, rows.per), library=library_of(table.source))

        problem = problem_of(len(now.names) if columns is None else columns)
        guarantee = None
        if len(before) >= FEWEST_HELD_OUT:
            rank = partial(false_share, before, aligned, level=kinds.false_share, seed=search.seed)
            guarantee = caveats.attempt("false_share", rank)
    with step(phrase("steps.how_many")):
        compare = partial(how_many, problem, calibrator, before, asked=columns, seed=search.seed)
        compared = compare() if columns is None else caveats.attempt("how_many", compare)
    if columns is None and compared is not None:
        problem = problem_of(compared["m"])
    look_for_kinds = None
    if form.kinds > 1 and not rules.must_columns:
        outside = table.columns.score is not None or weighing.row_scores is not None
        plain = problem if outside else _without_marginals(problem)
        draws = kinds.null_draws
        look_for_kinds = partial(_look_for_kinds, plain, calibrator, before, aligned, form.kinds, draws, search)
    caveats.look_over(rows, table.columns.label, rules, problem, moved, form.drift)
    caveats.collect("misleading", table_caveats, calibrator, problem, before, aligned, same)
    question = Question(
        problem=problem,
        title=heading,
        reproduce=provenance(call, search.seed, sources, rows.read_as),
        table=WeighedPool(
            pool=rows,
            calibrator=calibrator,
            time_column=table.columns.time,
            per=rules.per,
            weighed=aligned,
            moved=moved,
        ),
        found=caveats,
        index=index,
        find_kinds=look_for_kinds,
        guarantee=guarantee,
        compared=compared,
        find_chance=partial(null_for, problem, calibrator, before, seed=search.seed),
    )
    return answered(question, search, step)


def _with_row_scores(
    problem: SelectionProblem, source: Any, column: str | None, rows: Pool, calibrator: Weigher, pool: NamedMatrix
) -> SelectionProblem:
    """The problem whose rows' own scores come from outside, where any were given."""
    if source is None and column is None:
        return problem
    if source is not None and column is not None:
        both = f"{spell(Weighing(row_scores=ANY))} or {spell(Columns(score=column))}"
        raise InputError(f"give either {both}, not both")
    if column is not None:
        try:
            source = [float(text) for text in rows.shown[column]]
        except ValueError:
            score = spell(Columns(score=column))
            raise InputError(f"{score} must hold a number in every row of the pool") from None
    own = row_scores(outside_scores(source, calibrator.values(pool)), problem.m)
    return replace(_without_marginals(problem), sample_scores=own)


def _without_marginals(problem: SelectionProblem) -> SelectionProblem:
    rows, columns = problem.coupling.shape
    return replace(problem, sample_scores=np.zeros(rows), feature_scores=np.zeros(columns))


def _look_for_kinds(
    problem: SelectionProblem,
    calibrator: Weigher,
    reference: NamedMatrix,
    pool: NamedMatrix,
    kinds: int,
    draws: int,
    search: Search,
) -> KindList:
    if problem.sample_scores.any() or problem.sample_rules:
        draws = 0  # a draw from the reference has no rules and no scores from outside
    chance = null_scores(calibrator, reference, problem, draws=draws, seed=search.seed) if draws else None
    return find_kinds(
        problem,
        sides_of(calibrator, pool),
        kinds=kinds,
        solver=search.solver,
        time_limit=kind_seconds(search),
        seed=search.seed,
        null_scores=chance,
    )
