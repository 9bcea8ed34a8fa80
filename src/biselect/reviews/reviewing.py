"""`review` and `review_problem`: from tables, or from a problem, to a Review."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from biselect.calibrate import Calibrator
from biselect.calibrate.frames import NamedMatrix, library_of, row_labels, varying
from biselect.core import SelectionProblem
from biselect.data.pools import Pool
from biselect.data.problem_files import read_problem
from biselect.engines.choose import check_engine
from biselect.errors import InputError
from biselect.progress import Steps, steps_of
from biselect.reviews.answering import Question, answered
from biselect.reviews.evidence import CalibratedPool
from biselect.reviews.false_share import false_share, refuse_level
from biselect.reviews.finding import chance_for
from biselect.reviews.how_many import how_many
from biselect.reviews.inputs import call_in_words, form_from, open_pool, paths_of, provenance, roles_from
from biselect.reviews.kinds import KIND_SECONDS, Kinds, find_kinds, null_scores, refuse_kinds, sides_of
from biselect.reviews.large.asking import LargeReview
from biselect.reviews.large.opening import large_tables, needs_all_rows
from biselect.reviews.named_rules import NamedRules
from biselect.reviews.presets import with_preset
from biselect.reviews.recentre import move_back
from biselect.reviews.result import Review
from biselect.reviews.row_evidence import outside_scores, row_scores
from biselect.reviews.warnings import Findings, table_findings

FEWEST_HELD_OUT = 100  # reference rows below which no row could hold at a useful false share


def review(
    pool: Any,
    reference: Any = None,
    *,
    k: int,
    m: int | str,
    id_column: str | None = None,
    label_column: str | None = None,
    time_column: str | None = None,
    date_format: str | None = None,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    show: Sequence[str] = (),
    reference_until: Any = None,
    pool_last: int | None = None,
    must: Sequence[Any] = (),
    never: Sequence[Any] = (),
    must_columns: Sequence[str] = (),
    at_most: int | None = None,
    per: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    na_values: Sequence[str] = (),
    duplicates: str = "error",
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    dates: Sequence[str] = (),
    preset: str = "default",
    map: Any = None,
    center: str = "median",
    cap: float | None = None,
    missing: str = "weigh",
    marginals: Any = None,
    coupling_weight: float = 1.0,
    kinds: int | None = None,
    apart: str = "columns",
    sides: bool = True,
    null_draws: int = 19,
    drift: str | None = None,
    score_column: str | None = None,
    row_evidence: Any = None,
    expected_false_share: float = 0.1,
    solver: str = "auto",
    time_limit: float | None = None,
    seed: int = 0,
    neighbours: tuple[int, int] = (2, 1),
    on: str | None = None,
    memory: int | str | None = None,
    resume: str | Path | None = None,
    title: str | None = None,
    command: str | None = None,
    progress: Steps | bool | None = None,
) -> Review:
    """Choose the k rows and m columns of a pool that together stand out most against a reference.

    Tables may be pandas, polars or Arrow, NumPy arrays, or paths (.csv, .parquet, .arrow, .jsonl). Columns that have
    no role are features: numbers, or categories (text, booleans, categoricals), which weigh by how rare they are in the
    reference. The index of a pandas pool names the rows unless it just counts them. Lists of names may hold names
    separated by commas.

    Args:
        pool: rows to choose from.
        reference: normal rows; or None, with `time_column` and `reference_until`, to split `pool` in time.
        k: how many rows.
        m: how many columns; `auto` for the number after which more add little beyond chance, see `summary["how_many"]`.
        id_column: names the rows; otherwise their position does.
        label_column: known positives (1, true, yes, ja, fraud and the like), shown with the answer and never used;
            `fraud=declined` names the positive value too.
        time_column: orders the rows; never a feature.
        date_format: how dates are written, as `strptime` takes it; None to find it out.
        features: columns to use; None for all without a role.
        exclude: columns to leave out.
        show: columns shown beside the rows, never used to choose.
        reference_until: rows up to this time, or this share of the rows (`60%`), are the reference.
        pool_last: of the rows after the reference keep only so many of the latest.
        must: ids of rows that must be chosen.
        never: ids of rows that must not be.
        must_columns: columns that must be chosen.
        at_most: how many chosen rows may share a value of `per`.
        per: the column that `at_most` is about; shown, never a feature.
        encoding: of a CSV file, such as `cp1252`; None to find it out, as for the next four.
        delimiter: between its values.
        decimal: before the decimals of its numbers, a comma or a point.
        thousands: between thousands: a point, a comma, an apostrophe, a space; empty for nothing.
        na_values: what means missing, beside NA and its like.
        duplicates: of rows with one id keep the `first` or the `last`, or make them an `error`.
        categories: columns of numbers that name things, such as postcodes.
        numbers: columns of numbers that do not, although they look like codes.
        dates: date columns to use and their parts, such as `created:hour,weekday,gap`; just the name means hour and
            weekday, `gap` is the number of seconds since the row before.
        preset: what the options `map`, `marginals`, `kinds` and `drift` are unless given: `default` (`reach`,
            `isolation`, 5, `recentre`) or the paper's form, `paper` (`ecdf-paper`, the paper's, 1, `keep`).
        map: how extremeness becomes a weight, one of `biselect.calibrate.map_names()`, or a map of your own.
        center: residuals from `median` and MAD, or from `mean`.
        cap: the largest weight; None for the map's own.
        missing: `weigh` a missing value by how rare missing ones are in its column, fill it with the `median`, or
            `error`.
        marginals: scores of rows and columns on their own: `isolation` (how far a row stands apart as a whole)
            or `none`.
        coupling_weight: λ, the weight of the block against the marginals.
        kinds: how many kinds of unusual to look for beside the best block of all columns; 1 for that block alone,
            the paper's answer. A kind is a block of k rows and m columns too, each column in one direction.
        apart: what no two kinds share: `columns`, `rows` or `both`.
        sides: whether low and high values of a column are told apart in kinds.
        null_draws: equally large draws from the reference that say what score chance alone gives; 0 for none.
        drift: `recentre` to move columns whose bulk moved back to the reference before weighing; `keep` not to.
        score_column: column of the pool with somebody's own score of each row, higher for more unusual; shown, and
            taken for the rows' own scores in place of `marginals`.
        row_evidence: the same as an array, or a fitted scikit-learn or PyOD detector.
        expected_false_share: for the statement how many chosen rows stand out by rows of the reference held out.
        solver: one of `biselect.solver_names()`.
        time_limit: seconds after which the solver returns the best found, with a bound.
        seed: fixes every draw.
        neighbours: how far k and m can be moved in the report; each budget is solved ahead.
        on: where passes over a table that is too large to be held are run: `dask://HOST:PORT`;
            None for threads of this process. The answer is the same everywhere.
        memory: how much of it this process may use for such a table, such as `2 GiB`, which it is unless given.
        resume: a folder in which finished passes over such a table are kept until the answer is there, so that a run
            that was stopped goes on after the last of them.
        title: the heading of the report.
        command: how a reader gets this answer again; the call itself unless given.
        progress: called with the name of each step; gives a context manager around it, which may give the callback
            that `biselect.solve` takes. None shows a bar to whoever watches, in a terminal or a notebook, after two
            seconds; False shows none.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = review(np.vstack([rng.normal(size=(9, 3)), [0, 9, 0]]), rng.normal(size=(50, 3)), k=1, m=1)
    >>> found.selection.sample_names, found.selection.feature_names
    (['9'], ['1'])
    """
    given = dict(locals())
    step = steps_of(progress)
    rules = NamedRules(must=must, never=never, must_columns=must_columns, at_most=at_most, per=per)
    chosen = with_preset(preset, map=map, marginals=marginals, kinds=kinds, drift=drift)
    map, marginals, kinds, drift = chosen.values()
    calibrator = Calibrator(map, center, cap, missing, seed)
    _refuse_reach(neighbours)
    refuse_level(expected_false_share)
    refuse_kinds(kinds, apart)
    if isinstance(m, str) and m != "auto":
        raise InputError(f"m must be a number or 'auto', got {m!r}")
    asked = None if isinstance(m, str) else m
    roles = roles_from({**given, "show": [*show, *([score_column] if score_column else [])]})
    form = form_from(given)
    sources = [source for source in (pool, reference) if source is not None]
    files = [path.name for path in paths_of(sources)]
    heading = title or " in ".join(["What stands out", *files[:1]])
    call = command or call_in_words(review, given)
    check_engine(on, memory)
    needs_rows = needs_all_rows(calibrator, {**given, "marginals": marginals})
    if needs_rows is not None and on is not None:
        raise InputError(
            f"on={on!r} reads tables in parts, but {needs_rows} needs all rows at hand; leave one of them out"
        )
    if asked is not None and needs_rows is None:
        passed_on = ("reference_until", "pool_last", "missing", "seed", "on", "memory", "resume")
        options = {name: given[name] for name in passed_on}
        with large_tables(pool, reference, roles, form, step, **options) as tables:
            if tables is not None:
                large = LargeReview(
                    tables=tables,
                    calibrator=calibrator,
                    k=k,
                    m=asked,
                    rules=rules,
                    marginals=marginals,
                    coupling_weight=coupling_weight,
                    kinds=kinds,
                    apart=apart,
                    sides=sides,
                    drift=drift,
                    solver=solver,
                    time_limit=time_limit,
                    label_column=label_column,
                )
                index = pool.index if id_column is None and row_labels(pool) else None
                question = large.question(heading, provenance(call, seed, sources), library_of(pool), index)
                return answered(
                    question, solver=solver, time_limit=time_limit, seed=seed, neighbours=neighbours, step=step
                )
    with step(f"Reading {' and '.join(files) or 'the tables'}"):
        rows = open_pool(
            pool,
            reference,
            roles,
            reference_until=reference_until,
            pool_last=pool_last,
            form=form,
        )
    before, now, same = varying(*rows.matrices)
    found = Findings()
    with step(f"Calibrating on {len(before):,} reference rows"):
        rows.refuse_unusable(missing)
        weighed, moved = move_back(before, now, drift)
        calibrator.fit(before)

        def problem_of(columns: int) -> SelectionProblem:
            plain = calibrator.problem(
                weighed,
                k,
                columns,
                marginals=marginals,
                coupling_weight=coupling_weight,
                sample_names=rows.sample_names,
            )
            own = _with_row_evidence(plain, row_evidence, score_column, rows, calibrator, now)
            return replace(rules.applied(own, rows.per), library=library_of(pool))

        problem = problem_of(len(now.names) if asked is None else asked)
        guarantee = None
        if len(before) >= FEWEST_HELD_OUT:
            rank = partial(false_share, before, weighed, level=expected_false_share, seed=seed)
            guarantee = found.attempt("how many rows stand out at an expected false share", rank)
    with step("Comparing numbers of columns"):
        compare = partial(how_many, problem, calibrator, before, asked=asked, seed=seed)
        compared = compare() if asked is None else found.attempt("what other numbers of columns show", compare)
    if asked is None and compared is not None:
        problem = problem_of(compared["m"])
    outside = score_column is not None or row_evidence is not None
    kinds_asked = None
    if kinds > 1 and not must_columns:
        kinds_asked = partial(
            _kinds,
            problem if outside else _without_marginals(problem),
            calibrator,
            before,
            weighed,
            kinds=kinds,
            apart=apart,
            sides=sides,
            null_draws=null_draws,
            solver=solver,
            time_limit=time_limit,
            seed=seed,
        )
    found.look_over(rows, label_column, rules, problem, moved, drift)
    found.collect("columns that could mislead", table_findings, calibrator, problem, before, weighed, same)
    question = Question(
        problem=problem,
        title=heading,
        reproduce=provenance(call, seed, sources, rows.read_as),
        table=CalibratedPool(
            pool=rows, calibrator=calibrator, time_column=time_column, per=per, weighed=weighed, moved=moved
        ),
        found=found,
        index=pool.index if id_column is None and row_labels(pool) else None,
        find_kinds=kinds_asked,
        guarantee=guarantee,
        compared=compared,
        find_chance=partial(chance_for, problem, calibrator, before, seed=seed),
    )
    return answered(question, solver=solver, time_limit=time_limit, seed=seed, neighbours=neighbours, step=step)


def review_problem(
    problem: SelectionProblem | str | Path,
    *,
    k: int | None = None,
    m: int | None = None,
    id_column: str | None = None,
    exclude: Sequence[str] = (),
    solver: str = "auto",
    time_limit: float | None = None,
    seed: int = 0,
    neighbours: tuple[int, int] = (2, 1),
    title: str | None = None,
    command: str | None = None,
    progress: Steps | bool | None = None,
) -> Review:
    """The same for a problem of any weights, which no table stands behind.

    Where `problem` is a path, `biselect.read_problem` reads it with `k`, `m`, `id_column` and `exclude`; all other
    options are as for `review`.
    """
    given = dict(locals())
    step = steps_of(progress)
    _refuse_reach(neighbours)
    if isinstance(problem, SelectionProblem):
        if (k, m, id_column) != (None, None, None) or exclude:
            raise InputError("k=, m=, id_column= and exclude= are for files; a SelectionProblem has its own")
        loaded, named = problem, "Selection"
    else:
        [name] = [source.name for source in paths_of([problem])]
        with step(f"Reading {name}"):
            loaded, named = read_problem(problem, k, m, id_column, exclude), f"Selection from {name}"
    question = Question(
        problem=loaded,
        title=title or named,
        reproduce=provenance(command or call_in_words(review_problem, given), seed, [problem]),
        find_chance=partial(chance_for, loaded, None, None, seed=seed),
    )
    return answered(question, solver=solver, time_limit=time_limit, seed=seed, neighbours=neighbours, step=step)


def _with_row_evidence(
    problem: SelectionProblem, source: Any, column: str | None, rows: Pool, calibrator: Calibrator, pool: NamedMatrix
) -> SelectionProblem:
    """The problem whose rows' own scores come from outside, where any were given."""
    if source is None and column is None:
        return problem
    if source is not None and column is not None:
        raise InputError("give either row_evidence= or score_column=, not both")
    if column is not None:
        try:
            source = [float(text) for text in rows.shown[column]]
        except ValueError:
            raise InputError(f"score_column={column!r} must hold a number in every row of the pool") from None
    own = row_scores(outside_scores(source, calibrator.values(pool)), problem.m)
    return replace(_without_marginals(problem), sample_scores=own)


def _without_marginals(problem: SelectionProblem) -> SelectionProblem:
    rows, columns = problem.coupling.shape
    return replace(problem, sample_scores=np.zeros(rows), feature_scores=np.zeros(columns))


def _kinds(
    problem: SelectionProblem,
    calibrator: Calibrator,
    reference: NamedMatrix,
    pool: NamedMatrix,
    *,
    kinds: int,
    apart: str,
    sides: bool,
    null_draws: int,
    solver: str,
    time_limit: float | None,
    seed: int,
) -> Kinds:
    told_apart = sides_of(calibrator, pool) if sides else None
    plain = not problem.sample_scores.any() and not problem.sample_rules
    draws = null_draws if plain else 0  # a draw from the reference has no rules and no evidence from outside
    null = null_scores(calibrator, reference, problem, draws=draws, sided=sides, seed=seed) if draws else None
    limit = KIND_SECONDS if time_limit is None else min(time_limit, KIND_SECONDS)
    return find_kinds(
        problem, told_apart, kinds=kinds, apart=apart, solver=solver, time_limit=limit, seed=seed, null_scores=null
    )


def _refuse_reach(neighbours: tuple[int, int]) -> None:
    if len(neighbours) != 2 or min(neighbours) < 0:
        raise InputError(f"neighbours= takes two numbers from 0 up, got {' '.join(str(reach) for reach in neighbours)}")
