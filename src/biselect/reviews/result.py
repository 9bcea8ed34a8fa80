"""Review: the answer, what could mislead and its page; and the stages after weights that make one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from biselect.core import Selection, SelectionProblem
from biselect.core.selection import Explanation, as_frame, free_name
from biselect.errors import InputError
from biselect.options import ANY, Columns, Search, spell
from biselect.pages import render_html
from biselect.pages.answer_files import write_outputs
from biselect.pages.notebook import review_html
from biselect.pages.words import phrase, strongest_reason
from biselect.progress import Steps, steps_of
from biselect.reviews._null import Null
from biselect.reviews._view import WholeTable, report_data
from biselect.reviews.caveats import Caveat, Caveats, caveat_of
from biselect.reviews.finding import Finding, find, holding_rows
from biselect.reviews.kinds import KindList, kinds_bytes, only
from biselect.solvers import neighbours as solve_neighbours
from biselect.solvers import solve
from biselect.solvers.budgets import PATIENCE
from biselect.solvers.representatives import memory_in_words
from biselect.tables import call_in_words, paths_of, provenance
from biselect.tables.problem_files import read_problem
from biselect.weights.weighed_tables import WeighedTables


@dataclass(frozen=True, kw_only=True, eq=False)
class Review:
    """k rows and m columns to look at, why, and how good the choice is; made by `biselect.review`.

    Attributes:
        selection: the answer, with its proof or bound.
        kinds: kinds of unusual, each with its own block and proof; the first is the answer.
        finding: what the answer amounts to beside the reference; None for a problem of weights.
        warnings: what could mislead a reader: columns that look like clocks or ids, constants, filled cells.
        summary: all of it as plain data, the content of `report.json`.
        neighbours: the answers for neighbouring budgets, `selection` among them.
        tables: pool and reference as they were weighed and scored; None for a problem of weights.
        calibration: what the rows of a table that is not held are weighed with, the content of `calibration.npz`; None
            where all rows are in the problem.
        index: the chosen rows in the index of a pandas pool, where that names them.
    """

    selection: Selection
    kinds: KindList
    finding: Finding | None
    warnings: tuple[Caveat, ...]
    summary: dict[str, Any] = field(repr=False)
    neighbours: tuple[Selection, ...] = field(repr=False)
    tables: WeighedTables | None = field(default=None, repr=False)
    calibration: bytes | None = field(default=None, repr=False)
    index: Any = field(default=None, repr=False)

    @property
    def problem(self) -> SelectionProblem:
        """What was solved: weights, budgets and rules."""
        return self.selection.problem

    def explain(self, nearest: int = 10) -> Explanation:
        """What each chosen row, column and cell adds, and the nearest swaps; see `Selection.explain`."""
        return self.selection.explain(nearest=nearest)

    def to_frame(self) -> Any:
        """The chosen rows, the highest score first.

        Returns:
            A frame of the library that the pool came in; one of pandas has the pool's own index where that names the
            rows. Columns: `sample`, what is shown beside it, the values of the chosen columns, `score`, the strongest
            `reason`, and the parts that sum to the score: `+ NAME` of every column with a reason or chosen, and
            `+ others`. A column whose name is taken gets a star.
        """
        rows = self.summary["kinds"]["list"][0]["rows"]
        content: dict[str, list[Any]] = {"sample": [row["name"] for row in rows]}

        def put(name: str, column: list[Any]) -> None:
            content[free_name(name, {*content, "score", "reason"})] = column

        for name in rows[0]["shown"]:
            put(name, [row["shown"][name] for row in rows])
        parts = [{part["column"]: part for part in row["parts"]} for row in rows]
        for name in self.kinds[0].column_names if self.tables is not None else ():
            put(name, [own[name]["value"] for own in parts])
        content["score"] = [row["score"] for row in rows]
        content["reason"] = [strongest_reason(row) for row in rows]
        reasons = {row["parts"][at]["column"] for row in rows for at in row["reasons"]}
        apart = [name for name in parts[0] if name in reasons or name in self.kinds[0].column_names]
        for name in apart:
            put(f"+ {name}", [own[name]["part"] for own in parts])
        put("+ others", [fsum(part["part"] for name, part in own.items() if name not in apart) for own in parts])
        frame = as_frame(content, self.problem.library)
        places = {} if self.index is None else {str(label): at for at, label in enumerate(self.index)}
        if places.keys() >= set(content["sample"]):
            frame.index = self.index[[places[name] for name in content["sample"]]]
        return frame

    def parts(self, rows: Sequence[int] | None = None) -> Any:
        """What each column adds to the score of pool rows, chosen or not.

        Args:
            rows: positions in the pool; None for all.

        Returns:
            A frame with one line a row: `sample`, the part of every column, and `score`, their sum.

        Raises:
            InputError: no table stands behind the problem.
        """
        if self.tables is None:
            raise InputError("a problem of weights has no table whose columns could be told apart; see explain()")
        scoring = self.tables.scoring
        positions = np.arange(self.problem.n_samples) if rows is None else np.asarray(rows, dtype=np.int64)
        parts = scoring.parts(positions, self.selection.features)
        content: dict[str, list[Any]] = {"sample": [self.problem.sample_name(i) for i in positions.tolist()]}
        for name, column in zip(scoring.features.names, parts.T, strict=True):
            content[free_name(name, {*content, "score"})] = column.tolist()
        content["score"] = scoring.pool_scores(self.selection.features)[positions].tolist()
        return as_frame(content, self.problem.library)

    def __repr__(self) -> str:
        problem, selection = self.problem, self.selection
        sizes = f"{problem.k} of {problem.n_samples} rows, {problem.m} of {len(problem.column_names)} columns"
        quality = (
            f"score={selection.score:.6g}, proven_optimal={selection.proven_optimal}, warnings={len(self.warnings)}"
        )
        return f"Review({sizes}, {quality})"

    def _repr_html_(self) -> str:
        return review_html(self.summary)

    def show(self) -> None:
        """Show the whole page: below the cell of a notebook, elsewhere in the browser."""
        from biselect.pages.html import show_page

        show_page(self.report())

    def report(self) -> str:
        """The answer as one self-contained HTML page."""
        return render_html(self.summary)

    def save(self, folder: str | Path, *, proof: bool = False) -> list[Path]:
        """Write selection.json, explanation.csv, report.json, report.html, run.json and problem.npz into a folder.

        With `proof` also proof.json, which `biselect check` follows; an answer that is not proven has none. For a table
        that is not held also calibration.npz, with which its rows can be weighed again; for further kinds also
        kinds.npz, with their proofs.
        """
        kinds = kinds_bytes(self.kinds) if proof and len(self.kinds) > 1 else None
        solved, calibration = self.kinds[0].solved, self.calibration
        return write_outputs(folder, solved, self.summary, proof=proof, calibration=calibration, kinds=kinds)


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
        The review, of one kind and without a finding.
    """
    step, caveats = steps_of(progress), Caveats()
    refuse_reach(search.neighbours)
    loaded, heading = problem, "Selection"
    if not isinstance(loaded, SelectionProblem):
        [name] = [source.name for source in paths_of([problem])]
        with step(phrase("steps.reading", name=name)):
            loaded, heading = read_problem(loaded, k, m, columns.id, columns.exclude), f"Selection from {name}"
    reproduce = provenance(call_in_words("review", {"pool": problem}, search=search), search.seed, [problem])
    selection = find_answer(loaded, search, step)
    nearby = find_neighbours(selection, search, step, caveats)
    return make_review(only(selection), nearby, caveats, title=title or heading, reproduce=reproduce)


def find_answer(problem: SelectionProblem, search: Search, step: Steps) -> Selection:
    """The answer."""
    memory = memory_in_words(problem, search.solver)
    limits: dict[str, Any] = {"time_limit": search.time_limit, "check_work": ANSWER_WORK}
    with step(phrase("steps.solving", solver=search.solver, memory=memory)) as progress:
        return solve(problem, search.solver, seed=search.seed, progress=progress, **limits)


def find_neighbours(
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


def find_null(
    table: WeighedTables, problem: SelectionProblem, search: Search, step: Steps, caveats: Caveats
) -> Null | None:
    """Draws of the reference; None if the pool was compared with itself, or if they fail."""
    if table.is_own_reference:
        return None
    with step(phrase("steps.chance")):
        forced = np.array(problem.feature_rules.forced_in, dtype=np.int64)
        return caveats.attempt("chance", Null.of, table.scoring, forced, seed=search.seed)


def make_review(
    kinds: KindList,
    nearby: Sequence[Selection],
    caveats: Caveats,
    *,
    table: WeighedTables | None = None,
    null: Null | None = None,
    whole: WholeTable | None = None,
    index: Any = None,
    calibration: bytes | None = None,
    **report: Any,
) -> Review:
    """The Review of an answer.

    Args:
        kinds: of unusual; the first is the answer.
        nearby: answers of neighbouring budgets, this one among them.
        caveats: what the reader must know; what fails here is added to them.
        table: the tables behind the problem; None for a problem of weights.
        null: draws of the reference; None where the pool was compared with itself, or with nothing.
        whole: the table that the problem's rows were kept from; None if they are all of it.
        index: of a pandas pool whose index names the rows.
        calibration: what the rows of the whole table are weighed with, to be stored; None if all are in the problem.
        report: what else `report_data` takes.
    """
    answer, found, holds = kinds[0].selection, None, None
    if table is not None:
        found = caveats.attempt("finding", find, answer, table.scoring, null)
        if null is not None:
            kinds = caveats.attempt("kinds", kinds.tested, table.scoring, null) or kinds
        holds = caveats.attempt("false_share", holding_rows, found, table, answer.features)
    report |= {"table": table, "finding": found, "holds": holds, "whole": whole}
    summary = report_data(kinds, nearby, caveats, **report)
    names = set(answer.sample_names)
    return Review(
        selection=kinds[0].solved,
        kinds=kinds,
        finding=found,
        neighbours=tuple(nearby),
        warnings=tuple(caveats),
        summary=summary,
        tables=table,
        calibration=calibration,
        index=None if index is None else index[[str(label) in names for label in index]],
    )


def refuse_reach(neighbours: tuple[int, int]) -> None:
    """Refuse what are not two numbers of neighbouring budgets."""
    if len(neighbours) != 2 or min(neighbours) < 0:
        reach = " ".join(map(str, neighbours))
        raise InputError(f"{spell(Search(neighbours=ANY))} takes two numbers from 0 up, got {reach}")
