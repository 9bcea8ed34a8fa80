"""`biselect summarise`: a reference without its rows, from tables and from earlier summaries."""

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli.console import Steps
from biselect.cli.from_options import Only
from biselect.cli.options import Output, may_be
from biselect.errors import InputError
from biselect.options import Columns, Compute, Csv
from biselect.pages.terminal import visible


def summarise(
    tables: Annotated[list[Path], typer.Argument(help="Tables of one reference, or summaries (.npz) to merge.")],
    out: Annotated[Path, may_be("--out", metavar="FILE", help="The file to write, ending in .npz.")],
    columns: Annotated[
        Columns,
        Only("label", "id", "features", "exclude", time="Column that dates the rows; not summed up itself."),
    ] = Columns(),
    csv: Csv = Csv(),
    compute: Compute = Compute(),
    output: Annotated[Output, Only("quiet")] = Output(),
) -> None:
    """Write a reference down without its rows: sketches with exact tails, counts of categories, missing cells, dates.

    `monitor --older` takes the file, and so does `Weigher.fit_summary` in Python. Summaries of several months are
    merged by naming them all, so that yesterday's and today's become one. What the ranks may be wrong by is printed.
    """
    from biselect.large.engines import bytes_of, engine_for
    from biselect.large.summaries import summed_up
    from biselect.tables import Table
    from biselect.weights import ReferenceSummary

    if out.suffix != ".npz":
        raise InputError(f"--out {out}: the file of a summary ends in .npz")
    steps = Steps(output.quiet)
    with engine_for(compute.on, compute.memory) as engine:
        parts = [summed_up(Table(path, columns, csv), engine, steps.step, bytes_of(compute.memory)) for path in tables]
    summary = ReferenceSummary.merged(parts)
    summary.save(out)
    dated = f" from {summary.first} to {summary.last}" if summary.first is not None else ""
    typer.echo(
        f"{summary.rows:,} rows{visible(dated)}, {len(summary.columns)} columns; "
        f"no rank is wrong by more than {100 * summary.rank_error:.2g} % of the rows, and none in the tails"
    )
    for name, why in summary.left_out.items():
        typer.echo(visible(f"left out: {name} ({why})"))
    steps.say(f"wrote {out}")
