"""`biselect reproduce`: tables and figures of the paper from one command, the paper's figures beside ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biselect.cli import options
from biselect.cli.console import Steps, out
from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.studies import Results

UNREADABLE = 40  # more entries than this are a picture, not a table for a terminal


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Studies, by the paper's label.", show_default=False)
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Name every study and stop.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Run every study.")] = False,
    quick: Annotated[bool, typer.Option(help="Fewer seeds: each study in under a minute.")] = False,
    folder: Annotated[Path, typer.Option("--out", help="Folder for results; finished work in it is kept.")] = Path(
        "reproduction"
    ),
    on: Annotated[str, typer.Option(help="Where to run: local, dask://HOST:PORT, ray or ray://HOST:PORT.")] = "local",
    as_json: Annotated[bool, typer.Option("--json", help="Print each results.json instead of tables.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Reproduce tables and figures: NAMES, or --all of them.

    A run that is interrupted, however roughly, continues where it was when started again with the same --out.
    """
    from biselect.studies import load, study_names
    from biselect.studies import reproduce as run_study

    if list_all:
        for name in study_names():
            typer.echo(f"{name}: {load(name).title}")
        return
    if bool(names) == everything:
        raise InputError("name the studies to run, or give --all; --list shows their names")
    wanted = study_names() if everything else names or []
    for name in wanted:
        load(name)  # refuses a wrong name before hours are spent on the right ones
    steps = Steps(quiet)
    for name in wanted:
        start = time.perf_counter()
        with steps.console.status(name) as status:
            results = run_study(
                name,
                folder,
                quick=quick,
                on=on,
                progress=lambda done, total, name=name: status.update(f"{name}: {done} of {total}"),  # type: ignore[misc]
            )
        steps.console.print(f"{name}: {time.perf_counter() - start:.1f} s, in {folder / name}", style="dim")
        if as_json:
            typer.echo(results.to_json(), nl=False)
        else:
            _show(results)


def _show(results: Results) -> None:
    from rich.table import Table
    from rich.text import Text

    from biselect.studies.render import axes, shown

    console = out()
    differing = [entry for entry in results.cells if entry.verdict == "differs"]
    compared = [entry for entry in results.cells if entry.paper is not None]
    if len(results.cells) <= UNREADABLE:
        rows, columns = axes(results)
        table = Table(title=Text(f"{results.title} ({results.seeds} seeds)"), title_justify="left", title_style="bold")
        table.add_column("")
        for column in columns:
            table.add_column(Text(column), justify="right")
        known = {(entry.row, entry.column): entry for entry in results.cells}
        for row in rows:
            found = (known.get((row, column)) for column in columns)
            texts = [
                Text("") if entry is None else Text(shown(entry), style="bold red" if entry in differing else "")
                for entry in found
            ]
            table.add_row(Text(row), *texts)
        console.print(table)
        console.print("Ours [95 % interval] · paper; ≠ differs beyond noise.")
    else:
        console.print(Text(f"{results.title}: {len(results.cells)} numbers, see table.md and figure.png"))
    if compared:
        console.print(f"{len(compared) - len(differing)} of {len(compared)} figures agree with the paper.")
    for note in results.notes:
        console.print(Text(f"- {note}"))
