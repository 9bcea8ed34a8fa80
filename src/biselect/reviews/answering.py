"""From a question to a Review: solve it and its neighbours, look for kinds, and say everything as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from biselect.core import Selection, SelectionProblem
from biselect.errors import InputError
from biselect.options import ANY, Columns, Search, spell
from biselect.pages.words import phrase
from biselect.progress import Steps, steps_of
from biselect.reviews._explorer import explore
from biselect.reviews._false_share import FalseShare
from biselect.reviews._headline import Chance, null_for
from biselect.reviews._view import WholeTable, summarise
from biselect.reviews.caveats import Caveat, Caveats, caveat_of
from biselect.reviews.kinds import KindList
from biselect.reviews.result import Review
from biselect.solvers import neighbours as solve_neighbours
from biselect.solvers import solve
from biselect.solvers.budgets import PATIENCE
from biselect.solvers.representatives import memory_in_words, of_kept_rows
from biselect.tables import call_in_words, paths_of, provenance
from biselect.tables.problem_files import read_problem
from biselect.weights.evidence import WeighedPool


@dataclass(frozen=True, kw_only=True, eq=False)
class Question:
    """A problem, and what stands behind it.

    Attributes:
        problem: what is to be solved.
        title: of the report.
        reproduce: what it takes to get the answer again.
        find_chance: how far chance gets; None where it was not compared.
        table: the tables behind the problem; None for a problem of weights.
        found: what the reader must know before anything is chosen.
        find_kinds: looks for kinds of unusual; None where they were not asked for.
        guarantee: which rows hold at an expected false share.
        compared: what other numbers of columns show.
        index: of a pandas pool whose index names the rows.
        whole: the table that the problem's rows were kept from; None where they are all of it.
        solved: the answer, where it is known already.
        answer: solves the problem of a neighbouring budget within so many seconds; None for `exact`.
        calibration: what the rows of the whole table are weighed with, to be stored; None where all are in the problem.
    """

    problem: SelectionProblem
    title: str
    reproduce: dict[str, Any]
    find_chance: Callable[[], Chance | None]
    table: WeighedPool | None = None
    found: Sequence[Caveat] = ()
    find_kinds: Callable[[], KindList] | None = None
    guarantee: FalseShare | None = None
    compared: dict[str, Any] | None = None
    index: Any = None
    whole: WholeTable | None = None
    solved: Selection | None = None
    answer: Callable[[SelectionProblem, float], Selection] | None = None
    calibration: bytes | None = None


def answered(question: Question, search: Search, step: Steps) -> Review:
    """Solve the problem and its neighbours, and say everything about them."""
    problem, table = question.problem, question.table
    selection = question.solved
    if selection is None:
        with step(
            phrase("steps.solving", solver=search.solver, memory=memory_in_words(problem, search.solver))
        ) as progress:
            limits: dict[str, Any] = {"seed": search.seed, "time_limit": search.time_limit}
            selection = solve(problem, search.solver, **limits, progress=progress)
    shown = selection if question.whole is None else of_kept_rows(selection, problem)
    nearby = [shown]
    caveats = Caveats(question.found)
    if any(search.neighbours):
        limit = PATIENCE if search.time_limit is None else min(PATIENCE, search.time_limit)
        rows, columns = search.neighbours
        options: dict[str, Any] = {"rows": rows, "columns": columns, "seed": search.seed, "time_limit": limit}
        options["answer"] = question.answer
        try:
            with step(phrase("steps.neighbours")) as told:
                near = caveats.attempt("neighbours", solve_neighbours, shown, progress=told, **options)
                nearby = near or nearby
        except KeyboardInterrupt:  # the answer is there; a second interrupt ends it all
            caveats.append(caveat_of("interrupted"))
    kinds = None
    if question.find_kinds is not None:
        with step(phrase("steps.kinds")):
            kinds = caveats.attempt("kinds", question.find_kinds)
    with step(phrase("steps.chance")):
        chance = caveats.attempt("chance", question.find_chance)
    summary = summarise(
        selection,
        title=question.title,
        reproduce=question.reproduce,
        caveats=caveats,
        view=caveats.attempt("explorer", explore, shown, nearby, table),
        table=table,
        kinds=kinds,
        guarantee=question.guarantee,
        how_many=question.compared,
        chance=chance,
        whole=question.whole,
    )
    return Review(
        selection=selection,
        neighbours=tuple(nearby),
        warnings=tuple(caveats),
        summary=summary,
        kinds=kinds,
        calibrator=None if table is None else table.calibrator,
        calibration=question.calibration,
        index=None if question.index is None else _chosen(question.index, set(selection.sample_names)),
    )


def _chosen(index: Any, names: set[str]) -> Any:
    """The labels of a pandas index that name these rows."""
    return index[[str(label) in names for label in index]]


def review_problem(
    problem: SelectionProblem | str | Path,
    *,
    k: int | None = None,
    m: int | None = None,
    columns: Columns = Columns(),
    search: Search = Search(),
    title: str | None = None,
    progress: Steps | bool | None = None,
) -> Review:
    """The same for a problem of any weights, which no table stands behind.

    Where `problem` is a path, `biselect.tables.problem_files.read_problem` reads it with `k`, `m` and the names of
    `columns`.
    """
    step = steps_of(progress)
    refuse_reach(search.neighbours)
    if isinstance(problem, SelectionProblem):
        loaded, named = problem, "Selection"
    else:
        [name] = [source.name for source in paths_of([problem])]
        with step(phrase("steps.reading", name=name)):
            loaded, named = read_problem(problem, k, m, columns.id, columns.exclude), f"Selection from {name}"
    question = Question(
        problem=loaded,
        title=title or named,
        reproduce=provenance(call_in_words("review", {"pool": problem}, search=search), search.seed, [problem]),
        find_chance=partial(null_for, loaded, None, None, seed=search.seed),
    )
    return answered(question, search, step)


def refuse_reach(neighbours: tuple[int, int]) -> None:
    """Refuse what are not two numbers of neighbouring budgets."""
    if len(neighbours) != 2 or min(neighbours) < 0:
        reach = " ".join(map(str, neighbours))
        raise InputError(f"{spell(Search(neighbours=ANY))} takes two numbers from 0 up, got {reach}")
