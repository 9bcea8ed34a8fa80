"""`biselect monitor`: does the reference still hold? For a scheduler and for a person."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from biselect.cli.answer import check_place, open_in_browser
from biselect.cli.console import Steps
from biselect.cli.from_options import Only
from biselect.cli.options import Output, a_table, may_be
from biselect.options import Columns, Compute, Csv, Search, Watch, Weighing
from biselect.pages.terminal import out, printable, show_table, visible_json

CROSSED = 1  # exit code
NAMES = ("monitor.json", "monitor.html")
OUT, JSON = "Folder for monitor.json and monitor.html.", "Print monitor.json instead of a table."
SHOWN = 10  # changed columns; the rest is in the JSON


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
    summary = compare(
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
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if output.out is not None:
        for path in write_folder(output.out, dict(zip(NAMES, (text, render_monitor(summary)), strict=True))):
            steps.say(f"wrote {path}")
    if output.json:
        sys.stdout.write(visible_json(text))
    else:
        show(summary)
    if output.open and output.out is not None:
        open_in_browser(output.out / NAMES[1], steps)
    if summary["crossed"]:
        raise typer.Exit(CROSSED)


def show(summary: dict[str, Any]) -> None:
    """Alarms as a table for a terminal, and what they do to the selection where it was asked for."""
    from rich.table import Table

    from biselect.pages._monitor_view import chance, clearest

    console = out()
    console.print(printable(summary["verdict"]), style="bold red" if summary["crossed"] else "bold green")
    for name, why in summary["untested"].items():
        console.print(printable(f"Not tested: {name} ({why})"))
    for remark in summary["remarks"]:
        console.print(printable(remark))
    changes = clearest(summary, SHOWN)
    if changes:
        table = Table(title=None if summary["changed_columns"] else "Nearest to an alarm", title_justify="left")
        table.add_column("column", no_wrap=True)
        table.add_column("older → newer")
        for name in ("effect", "chance"):
            table.add_column(name, justify="right")
        timed = len(summary["points"]) > 1
        if timed:
            table.add_column("window up to")
        for change in changes:
            effect = f"{change['measure']} {change['effect']:.3f}"
            cells = [change["column"], change["words"], effect, chance(change["adjusted_p"])]
            table.add_row(*map(printable, [*cells, change["when"]] if timed else cells))
        show_table(table)
    if (more := len(summary["changed_columns"]) - SHOWN) > 0:
        console.print(f"and {more} more columns, in monitor.json")
    if summary["budgets"] is not None:
        show_replaced(summary)


def show_replaced(summary: dict[str, Any]) -> None:
    """Which rows and columns of the answer the newest reference replaces."""
    from rich.table import Table

    from biselect.pages._monitor_view import replacements

    out().print(printable(summary["selection_verdict"]), style="bold")
    shown = replacements(summary["points"])
    if shown:
        table = Table(title_justify="left")
        for name in shown[0]:
            table.add_column(name.replace("_", " "))
        for row in shown:
            table.add_row(*(printable(text) for text in row.values()))
        show_table(table)
