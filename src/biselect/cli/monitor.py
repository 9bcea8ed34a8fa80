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
from biselect.cli.console import Steps, out, printable
from biselect.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from biselect.calibrate.sweeps import Point

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
    calibration: Annotated[str, typer.Option(help="The map in use; the others are shown beside it.")] = "ecdf",
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
    from biselect.calibrate import Calibrator, Question, compare, lag_sweep, map_names
    from biselect.calibrate.sweeps import Point
    from biselect.core.files import check_folder
    from biselect.report.monitor import summarise_monitor
    from biselect.solvers import solve

    steps = Steps(quiet)
    known_maps = map_names(supervised=False)
    if (older is None) == (window is None):
        raise InputError("give either --older OLD, or --window ROWS to compare windows of TABLE")
    if step is not None and window is None:
        raise InputError("--step goes with --window")
    if calibration not in known_maps:
        known = ", ".join(known_maps)
        raise InputError(f"--calibration {calibration}: monitoring needs a map without labels, one of {known}")
    if not max_drift >= 0:
        raise InputError(f"--max-drift must not be negative, got {max_drift:g}")
    if folder is not None:
        check_folder(folder, NAMES)  # before the work, not after it

    files = [path for path in (table, older, pool) if path is not None]
    with steps.step(f"Reading {' and '.join(path.name for path in files)}"):
        special = {"id_column": id_column, "label_column": label_column, "time_column": time_column}
        newest, previous, candidates, times = _read(table, older, pool, special, time_format, features, exclude)
    if candidates is None:
        candidates, newest, times = _draw(newest, times, window, pool_rows, seed)
    question = Question(
        pool=candidates,
        k=k,
        m=m,
        select=partial(solve, solver=solver, seed=seed),
        coupling_weight=coupling_weight,
        marginals=marginals,
    )
    maps = [calibration, *(name for name in known_maps if name != calibration)]
    make = partial(Calibrator, cap=cap, missing=missing, seed=seed)
    with steps.step(f"Measuring the drift of {len(maps)} maps"):
        if window is not None:
            points = lag_sweep(newest, question, window=window, step=step, maps=maps, calibrator=make)
        else:
            drifts = compare(previous, newest, question, maps=maps, calibrator=make)
            points = [Point(start=0, end=len(previous), drifts=drifts)]
    summary = summarise_monitor(
        points,
        title=f"Does the calibration still hold? {table.name}",
        when=_labels(times, points) if window is not None else [],
        max_drift=max_drift,
        fail_on_change=fail_on_change,
        budgets={"k": k, "m": m, "samples": len(candidates)},
        reproduce=reproduce(seed, files),
    )
    _answer(summary, folder, as_json, steps)
    if summary["crossed"]:
        raise typer.Exit(CROSSED)


def _read(
    table: Path,
    older: Path | None,
    pool: Path | None,
    special: dict[str, str | None],
    time_format: str | None,
    features: list[str] | None,
    exclude: list[str] | None,
) -> tuple[pa.Table, Any, Any, list[Any] | None]:
    """Feature columns of the newer table, the older one and the pool, and the times of the newer one."""
    from biselect.data.pools import Roles
    from biselect.data.tables import numeric, read_table, require_columns

    newest, times = _in_time(read_table(table), special["time_column"], time_format, table.name)
    known = newest.column_names
    roles = Roles(
        id_column=special["id_column"],
        label_column=special["label_column"],
        time_column=special["time_column"],
        features=options.listed(features, known) or None,
        exclude=options.listed(exclude, known),
    )
    columns = roles.feature_columns(newest)

    def others(path: Path | None) -> pa.Table | None:
        if path is None:
            return None
        content = read_table(path)
        require_columns(content, columns, path.name)
        return numeric(content, columns, path.name)

    return numeric(newest, columns, table.name), others(older), others(pool), times


def _in_time(
    table: pa.Table, time_column: str | None, time_format: str | None, where: str
) -> tuple[pa.Table, list[Any] | None]:
    """The table in the order of its time column, and the times; as it is where there is no such column."""
    if time_column is None:
        return table, None
    import pyarrow.compute as pc

    from biselect.data.places import place
    from biselect.data.tables import require_columns
    from biselect.data.times import as_times

    require_columns(table, [time_column], where)
    times = as_times(table[time_column], time_column, time_format=time_format, place_of=partial(place, table))
    order = pc.sort_indices(times)  # stable
    return table.take(order), times.take(order).to_pylist()


def _draw(
    table: pa.Table, times: list[Any] | None, window: int | None, rows: int, seed: int
) -> tuple[pa.Table, pa.Table, list[Any] | None]:
    """A pool from the newest rows, and the table and its times without them."""
    import numpy as np

    from biselect.calibrate import draw_pool

    start = 0 if window is None else max(0, len(table) - window)
    drawn, rest = draw_pool(np.arange(start, len(table)), rows, seed)
    kept = np.concatenate([np.arange(start), rest])
    return table.take(drawn), table.take(kept), None if times is None else [times[row] for row in kept]


def _labels(times: list[Any] | None, points: list[Point]) -> list[str]:
    """Where each older window ends: its last time, or its last row."""
    if times is None:
        return [f"row {point.end:,}" for point in points]
    ends = [times[point.end - 1] for point in points]
    return [str(int(end) if isinstance(end, float) and end.is_integer() else end) for end in ends]


def _answer(summary: dict[str, Any], folder: Path | None, as_json: bool, steps: Steps) -> None:
    from biselect.core.files import write_file
    from biselect.report.monitor import render_monitor

    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in zip(NAMES, (text, render_monitor(summary)), strict=True):
            write_file(folder / name, content)
            steps.say(f"wrote {folder / name}")
    if as_json:
        sys.stdout.write(text)
    else:
        show(summary)


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
