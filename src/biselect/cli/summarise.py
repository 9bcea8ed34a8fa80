"""`biselect summarise`: a reference without its rows, from tables and from earlier summaries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli import options
from biselect.cli.console import Steps, visible
from biselect.errors import InputError


def summarise(
    tables: Annotated[list[Path], typer.Argument(help="Tables of one reference, or summaries (.npz) to merge.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write, ending in .npz.")],
    time_column: Annotated[
        str | None, options.a_column(help="Column that dates the rows; not summed up itself.")
    ] = None,
    date_format: options.DateFormat = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    thousands: options.Thousands = None,
    na_values: options.NaValues = None,
    label_column: options.LabelColumn = None,
    id_column: options.IdColumn = None,
    features: options.Features = None,
    exclude: options.Exclude = None,
    on: options.On = None,
    memory: options.Memory = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a reference down without its rows: sketches with exact tails, counts of categories, missing cells, dates.

    `monitor --older` takes the file, and so does `Calibrator.fit_summary` in Python. Summaries of several months are
    merged by naming them all, so that yesterday's and today's become one. What the ranks may be wrong by is printed.
    """
    from biselect.calibrate import ReferenceSummary
    from biselect.engines.choose import bytes_of, engine_for
    from biselect.reviews.summaries import summed_up

    if out.suffix != ".npz":
        raise InputError(f"out={str(out)!r}: the file of a summary ends in .npz")
    steps = Steps(quiet)
    roles = {
        "time_column": time_column,
        "date_format": date_format,
        "label_column": label_column,
        "id_column": id_column,
        "features": features,
        "exclude": exclude or (),
        "encoding": encoding,
        "delimiter": delimiter,
        "decimal": decimal,
        "thousands": thousands,
        "na_values": na_values or (),
    }
    with engine_for(on, memory) as engine:
        parts = [summed_up(path, engine, steps.step, bytes_of(memory), **roles) for path in tables]
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
