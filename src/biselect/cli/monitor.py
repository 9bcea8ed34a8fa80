"""`biselect monitor`: does the reference still hold? For a scheduler and for a person."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from biselect.cli.answer import check_place, open_in_browser
from biselect.cli.console import Steps
from biselect.cli.from_options import Only
from biselect.cli.options import Output, a_table, may_be
from biselect.errors import InputError
from biselect.options import Columns, Compute, Csv, Search, Watch, Weighing
from biselect.pages.terminal import show_monitoring, visible, visible_json
from biselect.pages.words import phrase

CROSSED = 1  # exit code
NAMES = ("monitor.json", "monitor.html")
OUT, JSON = "Folder for monitor.json and monitor.html.", "Print monitor.json instead of a table."


def monitor(
    table: Annotated[
        Path,
        typer.Argument(help="The newer reference, or a summary (.npz); with --window, one table in the order of time."),
    ],
    older: Annotated[
        Path | None, a_table(help="The older reference, the one in use: a table or a summary (.npz).")
    ] = None,
    k: Annotated[int | None, may_be("-k", help="Choose rows too: how many a selection takes.")] = None,
    m: Annotated[int | None, may_be("-m", help="How many columns it takes.")] = None,
    pool: Annotated[Path | None, a_table(help="Rows to choose from; otherwise drawn from the newest.")] = None,
    watch: Watch = Watch(),
    columns: Annotated[Columns, Only("time", "id", "label", "features", "exclude")] = Columns(),
    csv: Csv = Csv(),
    weighing: Annotated[Weighing, Only("map", "cap")] = Weighing(map="reach"),
    search: Annotated[Search, Only("solver", "seed")] = Search(),
    compute: Compute = Compute(),
    output: Annotated[Output, Only("open", "quiet", out=OUT, json=JSON)] = Output(),
) -> None:
    """Say which columns have changed beyond chance since the reference, and by how much.

    Give an older reference beside the newer TABLE (--older), or let windows of one time-ordered TABLE be compared
    with its newest window (--window). With -k and -m it also says which rows and columns of the selection a
    new reference would replace. Exit codes: 0 no alarm, 1 alarm, 2 bad input.
    """
    from biselect.core.files import write_folder
    from biselect.pages import render_monitor
    from biselect.reviews import monitor as compare
    from biselect.tables import Table

    check_place(output, NAMES)
    steps = Steps(output.quiet)
    view = compare(
        *(Table(table, columns, csv), older),
        k=k,
        m=m,
        pool=pool,
        watch=watch,
        weighing=weighing,
        search=search,
        compute=compute,
        progress=steps.step,
    )
    text = json.dumps(view, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if output.out is not None:
        for path in write_folder(output.out, dict(zip(NAMES, (text, render_monitor(view)), strict=True))):
            steps.say(phrase("terminal.wrote", path=path))
    if output.json:
        sys.stdout.write(visible_json(text))
    else:
        show_monitoring(view)
    if output.open and output.out is not None:
        open_in_browser(output.out / NAMES[1], steps)
    if view["crossed"]:
        raise typer.Exit(CROSSED)


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

    `monitor --older` takes the file, and so does `Weigher.fit` in Python. Summaries of several months are
    merged by naming them all, so that yesterday's and today's become one. What the ranks may be wrong by is printed.
    """
    from biselect.large.engines import bytes_of, engine_for
    from biselect.large.summaries import summed_up
    from biselect.tables import Table
    from biselect.weights import Reference

    if out.suffix != ".npz":
        raise InputError(f"--out {out}: the file of a summary ends in .npz")
    steps = Steps(output.quiet)
    with engine_for(compute.on, compute.memory) as engine:
        parts = [summed_up(Table(path, columns, csv), engine, steps.step, bytes_of(compute.memory)) for path in tables]
    summary = Reference.merged(parts)
    summary.save(out)
    dated = "" if summary.first is None else phrase("terminal.dated", first=summary.first, last=summary.last)
    facts = {"rows": summary.rows, "columns": len(summary.columns), "error": 100 * summary.rank_error}
    typer.echo(visible(phrase("terminal.summary", **facts, dated=dated)))
    for name, why in summary.left_out.items():
        typer.echo(visible(phrase("terminal.left_out", name=name, why=why)))
    steps.say(phrase("terminal.wrote", path=out))
