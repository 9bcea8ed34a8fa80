"""`biselect select`: from a table to a selection."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biselect.cli.answer import answer, check_place, open_in_browser, without_neighbours
from biselect.cli.console import Steps, show_json
from biselect.cli.from_options import FIRST, Only
from biselect.cli.options import Output, Reference, may_be
from biselect.errors import InputError
from biselect.options import Columns, Compute, Csv, Flag, Kinds, Options, RowRules, Search, Split, Weighing
from biselect.pages.terminal import show_answer


@dataclass(frozen=True, kw_only=True)
class Budgets(Options, heading=FIRST):
    """How many rows and columns to choose."""

    k: Annotated[int | None, Flag("How many rows to choose; 20 if left out, at most a fifth.", "-k")] = None
    m: Annotated[int | None, Flag("How many columns; 4 if left out, fewer where there are few.", "-m")] = None


def select(
    pool: Annotated[
        Path, typer.Argument(metavar="POOL", help="Table to choose from: CSV, Parquet, Excel, a database …")
    ],
    budgets: Budgets = Budgets(),
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

    The reference is a second table (--reference), or the earlier rows of POOL (--time-column and --reference-until);
    without either each row of POOL is compared with the others.
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
        compute=compute,
        progress=steps.step,
    )
    answer(best, output, steps)


TITLE = "Ten card transactions to review, and the four columns that show why"


def demo(
    weighing: Annotated[Weighing, Only("preset")] = Weighing(),
    kinds: Annotated[Kinds, Only("kinds")] = Kinds(),
    search: Annotated[Search, Only("seed")] = Search(),
    output: Annotated[
        Output, Only("open", "json", "more", "quiet", out="Folder for the report and the files.")
    ] = Output(out=Path("demo-report")),
) -> None:
    """Choose 10 of 600 real card transactions and 4 of 29 columns, prove the choice and write a report.

    The reference is 13,145 earlier transactions of the same table. The labels are shown, never used.
    """
    from biselect.reviews import review
    from biselect.tables import table
    from biselect.tables.demo import COLUMNS, demo_tables

    check_place(output)
    steps = Steps(output.quiet)
    pool, reference = demo_tables()
    best = review(
        *(table(pool, columns=COLUMNS), reference),
        k=10,
        m=4,
        weighing=weighing,
        kinds=kinds,
        search=search,
        title=TITLE,
        progress=steps.step,
    )
    answer(best, output, steps)


def report(
    folder: Annotated[Path, typer.Argument(help="A folder written with --out.")],
    out: Annotated[
        Path | None, may_be(metavar="FILE", help="Where to write the page; otherwise report.html in FOLDER.")
    ] = None,
    output: Annotated[Output, Only("open", "more", json="Print report.json instead of tables.")] = Output(),
) -> None:
    """Render report.html anew from report.json, and show the answer."""
    from biselect.core.files import finish_interrupted, write_file
    from biselect.core.untrusted import read_json, refused_as
    from biselect.pages import render_html

    source = folder / "report.json"
    finish_interrupted(folder)  # an answer that was killed on its way into the folder is finished first
    if not source.exists():
        raise InputError(f"{source}: no such file; give a folder that was written with --out")
    with refused_as(f"{source}: cannot be read as a report"):
        view = read_json(source)
        page = render_html(view)
        if not output.json:
            show_answer(view, more=output.more)
    place = out or folder / "report.html"
    write_file(place, page)
    if output.json:
        show_json(view)
    if output.open:
        open_in_browser(place, Steps())
