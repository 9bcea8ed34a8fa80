"""`biselect monitor`: does the calibration still hold? For a scheduler and for a person."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from biselect.cli import options
from biselect.cli.answer import this_command
from biselect.cli.console import Steps, out, printable

CROSSED = 1  # exit code
NAMES = ("monitor.json", "monitor.html")
COLUMNS = ("drift", "in spreads", "feature share", "of ff margin", "of joint margin", "new rows", "new columns")


def monitor(
    table: Annotated[Path, typer.Argument(help="The newer reference; with --window, one table in the order of time.")],
    k: options.K,
    m: options.M,
    older: Annotated[Path | None, typer.Option(help="The older reference, the one in use.", show_default=False)] = None,
    window: Annotated[
        int | None, typer.Option(help="Compare windows of this many rows of TABLE instead.", show_default=False)
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(help="Rows from one window to the next; a whole window if left out.", show_default=False),
    ] = None,
    pool: Annotated[
        Path | None, typer.Option(help="Rows to choose from; otherwise drawn from the newest.", show_default=False)
    ] = None,
    pool_rows: Annotated[int, typer.Option(help="How many rows to draw where there is no --pool.")] = 200,
    max_drift: Annotated[
        float, typer.Option(help="Exit with 1 above this feature-aligned drift, in spreads of the weights.")
    ] = 0.5,
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with 1 if the selection would change.")
    ] = False,
    time_column: options.TimeColumn = None,
    time_format: options.TimeFormat = None,
    label_column: options.LabelColumn = None,
    id_column: options.IdColumn = None,
    features: options.Features = None,
    exclude: options.Exclude = None,
    map: Annotated[str, typer.Option(help="The map in use; the others are shown beside it.")] = "ecdf",
    cap: options.Cap = 10.0,
    marginals: options.Marginals = "bounded",
    coupling_weight: options.CouplingWeight = 1.0,
    missing: options.Missing = "error",
    solver: options.Solver = "auto",
    seed: options.Seed = 0,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Folder for monitor.json and monitor.html.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print monitor.json instead of a table.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Say how far weights drift between references, and whether the selection would change.

    Give an older reference beside the newer TABLE (--older), or let windows of one time-ordered TABLE be compared
    with its newest window (--window). Exit codes: 0 within the threshold, 1 threshold crossed or a feature gone
    constant, 2 bad input.
    """
    given = dict(locals())  # all but what only the command line knows goes to the library as it is
    from biselect.core.files import check_folder, write_folder
    from biselect.report import render_monitor
    from biselect.reviews import monitor_drift

    for name in ("folder", "as_json", "quiet"):
        del given[name]
    if folder is not None:
        check_folder(folder, NAMES)  # before the work, not after it
    steps = Steps(quiet)
    summary = monitor_drift(**{**given, "exclude": exclude or ()}, command=this_command(), progress=steps.step)
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if folder is not None:
        for path in write_folder(folder, dict(zip(NAMES, (text, render_monitor(summary)), strict=True))):
            steps.say(f"wrote {path}")
    if as_json:
        sys.stdout.write(text)
    else:
        show(summary)
    if summary["crossed"]:
        raise typer.Exit(CROSSED)


def show(summary: dict[str, Any]) -> None:
    """The worst point as a table for a terminal."""
    from rich.table import Table

    from biselect.report.monitor import eaten

    console, worst = out(), summary["worst"]
    console.print(printable(summary["verdict"]), style="bold red" if summary["crossed"] else "bold green")
    if summary["lost_features"]:
        gone = ", ".join(summary["lost_features"])
        console.print(printable(f"Gone constant in a newer reference, so no longer watched: {gone}"), style="bold red")
    table = Table(title=printable(worst["words"]), title_justify="left", title_style="bold")
    table.add_column("map", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right")
    for drift in worst["drifts"]:
        table.add_row(
            printable(drift["map"]),
            f"{drift['feature_drift']:.3f}",
            f"{drift['relative_drift']:.2f}",
            f"{100 * drift['shares']['feature']:.0f} %",
            eaten(drift["feature_first"]["eaten"]),
            eaten(drift["joint"]["eaten"]),
            str(drift["replaced_samples"]),
            str(drift["replaced_features"]),
        )
    console.print(table)
    moved = sorted(worst["drifts"][0]["features"], key=lambda row: -abs(row["drift"]))[:5]
    console.print(printable("Most moved: " + ", ".join(f"{row['feature']} {row['drift']:+.2f}" for row in moved)))
