"""`biselect monitor`: does the reference still hold? For a scheduler and for a person."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from biselect.cli import options
from biselect.cli.answer import check_place, open_in_browser, this_command
from biselect.cli.console import Steps, out, printable, visible_json
from biselect.cli.tables import show_table

CROSSED = 1  # exit code
NAMES = ("monitor.json", "monitor.html")
SHOWN = 10  # changed columns; the rest is in the JSON


def monitor(
    table: Annotated[
        Path,
        typer.Argument(help="The newer reference, or a summary (.npz); with --window, one table in the order of time."),
    ],
    older: Annotated[
        Path | None,
        options.a_table(help="The older reference, the one in use: a table or a summary (.npz)."),
    ] = None,
    window: Annotated[
        int | None, typer.Option(help="Compare windows of this many rows of TABLE instead.", show_default=False)
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(help="Rows from one window to the next; a whole window if left out.", show_default=False),
    ] = None,
    false_alarms: Annotated[
        float,
        typer.Option(help="How often a run may alarm although nothing changed, over all columns and windows."),
    ] = 0.05,
    min_effect: Annotated[float, typer.Option(help="Smaller changes are told but do not alarm.")] = 0.0,
    k: Annotated[int | None, options.may_be("-k", help="Choose rows too: how many a selection takes.")] = None,
    m: Annotated[int | None, options.may_be("-m", help="How many columns it takes.")] = None,
    pool: Annotated[Path | None, options.a_table(help="Rows to choose from; otherwise drawn from the newest.")] = None,
    pool_rows: Annotated[
        int | None, options.may_be(help="How many rows to draw; 200, at most half of the newest, if left out.")
    ] = None,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with 1 if the selection would change, too.")
    ] = False,
    time_column: options.TimeColumn = None,
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
    map: Annotated[
        str,
        typer.Option(metavar="NAME", autocompletion=options.completion.maps, help="How extremeness becomes a weight."),
    ] = "reach",
    cap: options.Cap = None,
    solver: options.Solver = "auto",
    seed: options.Seed = 0,
    on: options.On = None,
    memory: options.Memory = None,
    folder: Annotated[Path | None, options.a_folder("--out", help="Folder for monitor.json and monitor.html.")] = None,
    open_page: options.Open = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print monitor.json instead of a table.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Say which columns have changed beyond chance since the reference, and by how much.

    Give an older reference beside the newer TABLE (--older), or let windows of one time-ordered TABLE be compared
    with its newest window (--window). With -k and -m it also says which rows and columns of the selection a
    new reference would replace. Exit codes: 0 no alarm, 1 alarm, 2 bad input.
    """
    given = dict(locals())  # all but what only the command line knows goes to the library as it is
    from biselect.core.files import write_folder
    from biselect.report import render_monitor
    from biselect.reviews import monitor_drift

    for name in ("folder", "open_page", "as_json", "quiet"):
        del given[name]
    check_place(folder, NAMES, page=open_page)
    steps = Steps(quiet)
    summary = monitor_drift(
        **{**given, "exclude": exclude or (), "na_values": na_values or ()}, command=this_command(), progress=steps.step
    )
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if folder is not None:
        for path in write_folder(folder, dict(zip(NAMES, (text, render_monitor(summary)), strict=True))):
            steps.say(f"wrote {path}")
    if as_json:
        sys.stdout.write(visible_json(text))
    else:
        show(summary)
    if open_page and folder is not None:
        open_in_browser(folder / NAMES[1], steps)
    if summary["crossed"]:
        raise typer.Exit(CROSSED)


def show(summary: dict[str, Any]) -> None:
    """Alarms as a table for a terminal, and what they do to the selection where it was asked for."""
    from rich.table import Table

    from biselect.report.monitor import chance, clearest

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

    from biselect.report.monitor import replacements

    out().print(printable(summary["selection_verdict"]), style="bold")
    shown = replacements(summary["points"])
    if shown:
        table = Table(title_justify="left")
        for name in shown[0]:
            table.add_column(name.replace("_", " "))
        for row in shown:
            table.add_row(*(printable(text) for text in row.values()))
        show_table(table)
