"""`biselect select`: from a table to a selection."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from biselect.cli.answer import answer, check_place, without_neighbours
from biselect.cli.console import Steps
from biselect.cli.options import Budgets, Output, Reference
from biselect.options import Columns, Compute, Csv, Kinds, RowRules, Search, Split, Weighing


def select(
    pool: Annotated[
        Path, typer.Argument(metavar="POOL", help="Table to choose from: CSV, Parquet, Excel, a database …")
    ],
    budgets: Budgets,
    reference: Reference = None,
    split: Split = Split(),
    columns: Columns = Columns(),
    csv: Csv = Csv(),
    rules: RowRules = RowRules(),
    weighing: Weighing = Weighing(),
    kinds: Kinds = Kinds(),
    search: Search = Search(),
    compute: Compute = Compute(),
    output: Output = Output(),
) -> None:
    """Choose the k rows and m columns of POOL that together stand out most against the reference.

    Give the reference as a second table (--reference), or split POOL itself in time (--time-column and
    --reference-until).
    """
    from biselect.reviews import review
    from biselect.tables import table

    check_place(output)
    steps = Steps(output.quiet)
    best = review(
        table(pool, columns=columns, csv=csv),
        reference,
        k=budgets.k,
        m=budgets.m,
        split=split,
        weighing=weighing,
        rules=rules,
        kinds=kinds,
        search=without_neighbours(search) if output.out is None else search,
        compute=replace(compute, resume=output.out),
        progress=steps.step,
    )
    answer(best, output, steps)
