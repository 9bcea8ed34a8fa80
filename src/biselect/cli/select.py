"""`biselect select`: from a table to a selection."""

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli import options
from biselect.cli.answer import answer, check_place, this_command
from biselect.cli.console import Steps


def select(
    pool: Annotated[
        Path, typer.Argument(metavar="POOL", help="Table to choose from: CSV, Parquet, Excel, a database …")
    ],
    k: options.K,
    m: options.M,
    reference: options.Reference = None,
    time_column: options.TimeColumn = None,
    date_format: options.DateFormat = None,
    reference_until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME|SHARE%",
            help="Split POOL in time: rows up to this time, or this share of the rows (60%), are the reference.",
            show_default=False,
        ),
    ] = None,
    pool_last: Annotated[
        int | None, typer.Option(help="Of the rows after the reference keep only the latest.", show_default=False)
    ] = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    features: options.Features = None,
    exclude: options.Exclude = None,
    show: options.Show = None,
    at_most: options.AtMost = None,
    per: options.Per = None,
    must: options.Must = None,
    never: options.Never = None,
    must_columns: options.MustColumns = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    thousands: options.Thousands = None,
    na_values: options.NaValues = None,
    duplicates: options.Duplicates = "error",
    categories: options.Categories = None,
    numbers: options.Numbers = None,
    dates: options.Dates = None,
    preset: options.Preset = "default",
    map: options.Map = None,
    center: Annotated[
        str, options.one_of("median", "mean", help="Residuals from median and MAD, or from mean.")
    ] = "median",
    cap: options.Cap = None,
    marginals: options.Marginals = None,
    coupling_weight: options.CouplingWeight = 1.0,
    missing: options.Missing = "weigh",
    kinds: options.Kinds = None,
    apart: Annotated[str, options.one_of("columns", "rows", "both", help="What no two kinds share.")] = "columns",
    sides: Annotated[bool, typer.Option(help="Tell low from high values of a column in kinds.")] = True,
    null_draws: Annotated[
        int, typer.Option(min=0, help="Draws from the reference that say what score chance alone gives.")
    ] = 19,
    drift: Annotated[
        str | None,
        options.one_of(
            "recentre",
            "keep",
            show_default=False,
            help="Columns that moved against the reference: recentre them, or keep them as they are.",
        ),
    ] = None,
    score_column: Annotated[
        str | None,
        options.a_column(help="Column of POOL with your own score of each row, higher for odder."),
    ] = None,
    expected_false_share: Annotated[
        float, typer.Option(help="For the statement how many rows stand out from the reference.")
    ] = 0.1,
    solver: options.Solver = "auto",
    time_limit: options.TimeLimit = None,
    seed: options.Seed = 0,
    on: options.On = None,
    memory: options.Memory = None,
    out: options.Out = None,
    open_page: options.Open = False,
    proof: options.Proof = False,
    neighbours: options.Neighbours = options.NEIGHBOURS,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose the k rows and m columns of POOL that together stand out most against the reference.

    Give the reference as a second table (--reference), or split POOL itself in time (--time-column and
    --reference-until).
    """
    given = dict(locals())  # all but what only the command line knows goes to the library as it is
    from biselect.reviews import review

    for name in ("out", "open_page", "proof", "as_json", "quiet"):
        del given[name]
    for name in ("exclude", "show", "must", "never", "must_columns", "na_values", "categories", "numbers", "dates"):
        given[name] = given[name] or ()
    check_place(out, proof=proof, page=open_page)
    if out is None and min(neighbours) >= 0:
        given["neighbours"] = (0, 0)  # budgets can be moved only in a page
    steps = Steps(quiet)
    found = review(**given, resume=out, command=this_command(), progress=steps.step)
    answer(found, folder=out, proof=proof, page=open_page, as_json=as_json, steps=steps)
