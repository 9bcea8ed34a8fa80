"""`biselect solve`: any bipartite selection, from a problem file or a table of weights."""

from typing import Annotated

from biselect.cli.answer import answer, check_place, without_neighbours
from biselect.cli.console import Steps
from biselect.cli.from_options import Only
from biselect.cli.options import ROW_NAMES, KOfTable, MOfTable, Output, Problem
from biselect.options import Columns, Search


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
    from biselect.reviews.answering import review_problem

    check_place(output)
    steps = Steps(output.quiet)
    if output.out is None:
        search = without_neighbours(search)
    best = review_problem(problem, k=k, m=m, columns=columns, search=search, progress=steps.step)
    answer(best, output, steps)
