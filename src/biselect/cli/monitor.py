"""`biselect monitor`: does the calibration still hold? For a scheduler and for a person."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.cli import options
from biselect.cli.answer import reproduce
from biselect.cli.console import Steps, out
from biselect.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from biselect.calibrate.sweeps import Point
    from biselect.data.pools import Roles

CROSSED = 1  # exit code
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
    time_column: Annotated[
        str | None, typer.Option(help="Column that orders the rows; never a feature.", show_default=False)
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Known positives: never a feature.", show_default=False)
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Column that names the rows: never a feature.", show_default=False)
    ] = None,
    features: Annotated[
        list[str] | None, typer.Option(help="Columns to use; repeat or separate by commas.", show_default=False)
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Columns to leave out; repeat or separate by commas.", show_default=False)
    ] = None,
    calibration: Annotated[str, typer.Option(help="The map in use; the others are shown beside it.")] = "ecdf",
    cap: Annotated[float, typer.Option(help="Largest weight, w_max.")] = 10.0,
    marginals: options.Marginals = "bounded",
    coupling_weight: Annotated[float, typer.Option(help="λ, the weight of the block against the marginals.")] = 1.0,
    missing: Annotated[str, typer.Option(help="Missing values: error, or median to fill them.")] = "error",
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
    with its newest window (--window). Exit codes: 0 within the threshold, 1 threshold crossed, 2 bad input.
    """
    from biselect.calibrate import Calibrator, map_names
    from biselect.calibrate.drift import Question
    from biselect.calibrate.sweeps import Point, compare, draw_pool, lag_sweep
    from biselect.cli.select import _names
    from biselect.data.pools import Roles
    from biselect.report.monitor import summarise_monitor
    from biselect.solvers import solve

    steps = Steps(quiet)
    if (older is None) == (window is None):
        raise InputError("give either --older OLD, or --window ROWS to compare windows of TABLE")
    if calibration not in map_names(supervised=False):
        known = ", ".join(map_names(supervised=False))
        raise InputError(f"--calibration {calibration}: monitoring needs a map without labels, one of {known}")
    if not max_drift >= 0:
        raise InputError(f"--max-drift must not be negative, got {max_drift:g}")
    roles = Roles(
        id_column=id_column,
        label_column=label_column,
        time_column=time_column,
        features=_names(features) or None,
        exclude=_names(exclude),
    )
    with steps.step(f"Reading {table.name}"):
        newest, times = _read(table, roles)
        previous = None if older is None else _read(older, roles)[0]
        candidates = None if pool is None else _read(pool, roles)[0]
    if candidates is None:
        tail = len(newest) if window is None else min(window, len(newest))
        candidates, rest = draw_pool(newest.slice(len(newest) - tail), pool_rows, seed)
        newest = _joined(newest.slice(0, len(newest) - tail), rest)
    question = Question(
        pool=candidates,
        k=k,
        m=m,
        select=partial(solve, solver=solver, seed=seed),
        coupling_weight=coupling_weight,
        marginals=marginals,
    )
    maps = [calibration, *(name for name in map_names(supervised=False) if name != calibration)]
    make = partial(Calibrator, cap=cap, missing=missing, seed=seed)
    with steps.step(f"Measuring the drift of {len(maps)} maps"):
        if previous is not None:
            drifts = compare(previous, newest, question, maps=maps, calibrator=make)
            points = [Point(start=0, end=len(previous), drifts=drifts)]
        else:
            assert window is not None
            points = lag_sweep(newest, question, window=window, step=step, maps=maps, calibrator=make)
    files = [path for path in (table, older, pool) if path is not None]
    summary = summarise_monitor(
        points,
        title=f"Does the calibration still hold? {table.name}",
        when=[] if previous is not None else _labels(times, points),
        max_drift=max_drift,
        fail_on_change=fail_on_change,
        budgets={"k": k, "m": m, "samples": len(candidates)},
        reproduce=reproduce(seed, files),
    )
    _answer(summary, folder, as_json, steps)
    if summary["crossed"]:
        raise typer.Exit(CROSSED)


def _read(path: Path, roles: Roles) -> tuple[pa.Table, list[Any] | None]:
    """Feature columns of a file, sorted by time where there is a time column, and the times."""
    import pyarrow.compute as pc

    from biselect.data.tables import numeric, read_table, require_columns

    table, times = read_table(path), None
    if roles.time_column is not None and roles.time_column in table.column_names:
        table = table.take(pc.sort_indices(table[roles.time_column]))  # stable
        times = table[roles.time_column].to_pylist()
    names = roles.feature_columns(table)
    require_columns(table, names, path.name)
    return numeric(table, names, path.name), times


def _joined(first: pa.Table, second: pa.Table) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables([first, second])


def _labels(times: list[Any] | None, points: list[Point]) -> list[str]:
    """Where each older window ends: its last time, or its last row."""
    if times is None:
        return [f"row {point.end:,}" for point in points]
    ends = [times[point.end - 1] for point in points]
    return [str(int(end) if isinstance(end, float) and end.is_integer() else end) for end in ends]


def _answer(summary: dict[str, Any], folder: Path | None, as_json: bool, steps: Steps) -> None:
    from biselect.report.files import write_text
    from biselect.report.monitor import render_monitor

    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{folder}: cannot write there: {error.strerror or error}") from error
        for name, content in (("monitor.json", text), ("monitor.html", render_monitor(summary))):
            write_text(folder / name, content)
            steps.console.print(f"wrote {folder / name}", style="dim")
    if as_json:
        sys.stdout.write(text)
    else:
        show(summary)


def show(summary: dict[str, Any]) -> None:
    """The worst point as a table for a terminal."""
    from rich.table import Table
    from rich.text import Text

    from biselect.report.monitor import eaten

    console, worst = out(), summary["worst"]
    console.print(Text(summary["verdict"], style="bold red" if summary["crossed"] else "bold green"))
    table = Table(title=Text(worst["words"]), title_justify="left", title_style="bold")
    table.add_column("map", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right")
    for drift in worst["drifts"]:
        table.add_row(
            Text(drift["map"]),
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
    console.print(Text("Most moved: " + ", ".join(f"{row['feature']} {row['drift']:+.2f}" for row in moved)))
