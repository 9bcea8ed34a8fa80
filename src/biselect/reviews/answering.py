"""The stages after weights: solve a problem and its neighbours, and tell all about the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from biselect.core import Selection, SelectionProblem
from biselect.errors import InputError
from biselect.options import ANY, Columns, Search, spell
from biselect.pages.words import phrase
from biselect.progress import Steps, steps_of
from biselect.reviews._explorer import explore
from biselect.reviews._headline import null_for
from biselect.reviews._view import WholeTable, summarise
from biselect.reviews.caveats import Caveats, caveat_of
from biselect.reviews.kinds import KindList
from biselect.reviews.result import Review
from biselect.solvers import neighbours as solve_neighbours
from biselect.solvers import solve
from biselect.solvers.budgets import PATIENCE
from biselect.solvers.representatives import memory_in_words
from biselect.tables import call_in_words, paths_of, provenance
from biselect.tables.problem_files import read_problem
from biselect.weights.evidence import WeighedPool

ANSWER_WORK = 5_000_000  # sums that a check of an answer's proof may take: .2 s


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
    """Review a problem of any weights, which no table stands behind.

    Args:
        problem: what to solve, or the path of a file that `biselect.tables.problem_files.read_problem` reads.
        k: how many rows, where the file is a table of weights.
        m: how many columns, likewise.
        columns: of such a table, which names the rows and which to leave out.
        search: who solves it, and for how long.
        title: the heading of the report.
        progress: as for `biselect.review`.

    Returns:
        The review, without kinds, and with chance by shuffled columns.
    """
    step, caveats = steps_of(progress), Caveats()
    refuse_reach(search.neighbours)
    loaded, heading = problem, "Selection"
    if not isinstance(loaded, SelectionProblem):
        [name] = [source.name for source in paths_of([problem])]
        with step(phrase("steps.reading", name=name)):
            loaded, heading = read_problem(loaded, k, m, columns.id, columns.exclude), f"Selection from {name}"
    reproduce = provenance(call_in_words("review", {"pool": problem}, search=search), search.seed, [problem])
    selection = solved(loaded, search, step)
    nearby = neighbouring(selection, search, step, caveats)
    with step(phrase("steps.chance")):
        chance = caveats.attempt("chance", null_for, loaded, None, None, seed=search.seed)
    return told(selection, nearby, caveats, title=title or heading, reproduce=reproduce, chance=chance)


def solved(problem: SelectionProblem, search: Search, step: Steps) -> Selection:
    """The answer."""
    memory = memory_in_words(problem, search.solver)
    limits: dict[str, Any] = {"time_limit": search.time_limit, "check_work": ANSWER_WORK}
    with step(phrase("steps.solving", solver=search.solver, memory=memory)) as progress:
        return solve(problem, search.solver, seed=search.seed, progress=progress, **limits)


def neighbouring(
    selection: Selection,
    search: Search,
    step: Steps,
    caveats: Caveats,
    answer: Callable[[SelectionProblem, float], Selection] | None = None,
) -> list[Selection]:
    """The answer and those of neighbouring budgets; the answer alone where the others fail or are interrupted.

    Args:
        selection: the answer.
        search: how far to look, the seed and the time limit.
        step: tells a person what is done.
        caveats: what fails is added to them.
        answer: solves the problem of a neighbouring budget within so many seconds; None for `exact`.
    """
    if not any(search.neighbours):
        return [selection]
    rows, columns = search.neighbours
    limit = PATIENCE if search.time_limit is None else min(PATIENCE, search.time_limit)
    options: dict[str, Any] = {"rows": rows, "columns": columns, "seed": search.seed, "time_limit": limit}
    try:
        with step(phrase("steps.neighbours")) as progress:
            options |= {"answer": answer, "progress": progress}
            return caveats.attempt("neighbours", solve_neighbours, selection, **options) or [selection]
    except KeyboardInterrupt:  # the answer is there; a second interrupt ends it all
        caveats.append(caveat_of("interrupted"))
        return [selection]


def told(
    selection: Selection,
    nearby: Sequence[Selection],
    caveats: Caveats,
    *,
    table: WeighedPool | None = None,
    kinds: KindList | None = None,
    whole: WholeTable | None = None,
    index: Any = None,
    calibration: bytes | None = None,
    **report: Any,
) -> Review:
    """The Review of an answer.

    Args:
        selection: the answer.
        nearby: answers of neighbouring budgets, this one among them.
        caveats: what the reader must know; what fails here is added to them.
        table: the tables behind the problem; None for a problem of weights.
        kinds: of unusual; None where they were not looked for.
        whole: the table that the problem's rows were kept from; None where they are all of it.
        index: of a pandas pool whose index names the rows.
        calibration: what the rows of the whole table are weighed with, to be stored; None where all are in the problem.
        report: what else `summarise` takes.
    """
    budgets = selection.problem.k, selection.problem.m
    here = next(one for one in nearby if (one.problem.k, one.problem.m) == budgets)
    view = caveats.attempt("explorer", explore, here, nearby, table)
    shared: dict[str, Any] = {"table": table, "kinds": kinds, "whole": whole}
    summary = summarise(selection, caveats=caveats, view=view, **shared, **report)
    names = set(selection.sample_names)
    return Review(
        selection=selection,
        neighbours=tuple(nearby),
        warnings=tuple(caveats),
        summary=summary,
        kinds=kinds,
        calibrator=None if table is None else table.calibrator,
        calibration=calibration,
        index=None if index is None else index[[str(label) in names for label in index]],
    )


def refuse_reach(neighbours: tuple[int, int]) -> None:
    """Refuse what are not two numbers of neighbouring budgets."""
    if len(neighbours) != 2 or min(neighbours) < 0:
        reach = " ".join(map(str, neighbours))
        raise InputError(f"{spell(Search(neighbours=ANY))} takes two numbers from 0 up, got {reach}")
