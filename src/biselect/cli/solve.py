"""`biselect solve`: any bipartite selection, from a problem file or a table of weights."""

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli.answer import answer, check_place, without_neighbours
from biselect.cli.console import Steps
from biselect.cli.from_options import Only
from biselect.cli.options import ROW_NAMES, KOfTable, MOfTable, Output, Problem, a_table, may_be
from biselect.errors import InputError
from biselect.options import Columns, Compute, Search
from biselect.pages.terminal import printable
from biselect.pages.words import phrase


def solve(
    problem: Problem,
    k: KOfTable = None,
    m: MOfTable = None,
    columns: Annotated[Columns, Only("exclude", id=ROW_NAMES)] = Columns(),
    search: Search = Search(),
    output: Output = Output(),
) -> None:
    """Choose k rows and m columns of PROBLEM so that the block between them weighs most.

    A .json problem holds `coupling` (a list of rows), `k`, `m` and, if wanted, `sample_scores`, `feature_scores`,
    `coupling_weight`, `sample_names`, `feature_names`. A table (.csv, .parquet, .arrow, .jsonl) holds weights only;
    then -k and -m are required. Given with a problem file, -k and -m replace its budgets.
    """
    from biselect.reviews.result import review_problem

    check_place(output)
    steps = Steps(output.quiet)
    if output.out is None:
        search = without_neighbours(search)
    best = review_problem(problem, k=k, m=m, columns=columns, search=search, progress=steps.step)
    answer(best, output, steps)


def check(
    folder: Annotated[Path, typer.Argument(help="A folder written with --out and --proof.")],
    table: Annotated[
        Path | None,
        a_table(help="Of a large table: the pool, whose rows are weighed again, part by part."),
    ] = None,
    part: Annotated[int | None, may_be(min=0, help="Weigh only this part of the table again, counted from 0.")] = None,
    columns: Annotated[Columns, Only(id="The table's column of ids, where the answer names another.")] = Columns(),
    compute: Compute = Compute(),
    output: Annotated[Output, Only("quiet")] = Output(),
) -> None:
    """Check the proofs in FOLDER in exact arithmetic, with none of the solver's code, and that its files tell the same.

    A problem from a large table holds its heaviest rows, and rows that stand for all others. With --table, every row is
    weighed again: ids, weights and own scores must be those of the problem, and no other row may be heavier.
    """
    from biselect.reviews.answer_check import check_answer

    if table is None and (part is not None or columns.id is not None):
        raise InputError("--part and --id-column need a --table")
    progress = Steps(output.quiet).step
    words, *more = check_answer(folder, table, part=part, id_column=columns.id, compute=compute, progress=progress)
    for line in (phrase("terminal.checked", words=words), *more):
        typer.echo(printable(line))
