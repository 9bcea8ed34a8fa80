"""`biselect reproduce`: tables and figures of the paper from one command, the paper's figures beside ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biselect.cli import options
from biselect.cli.console import Steps, fail, out
from biselect.errors import InputError, MissingDataError, MissingDependencyError

if TYPE_CHECKING:
    from rich.text import Text

    from biselect.studies import Results
    from biselect.studies.results import Entry

READABLE = 60  # of more entries than this a terminal shows only those that the paper prints too


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
    """Reproduce tables and figures: NAMES, or --all of them; index.html in --out shows all that is there.

    A run that is interrupted, however roughly, continues where it was when started again with the same --out.
    """
    from biselect.report.reproduction import write_reproduction
    from biselect.studies import load, study_names

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
    try:
        for name in wanted:
            results = _run(name, folder, quick, on, steps, skipping=everything)
            if as_json:
                typer.echo(results.to_json(), nl=False)
            else:
                _show(results)
        steps.say(f"wrote {write_reproduction(folder)}")
    except KeyboardInterrupt:
        fail("interrupted; finished work is kept, the same command goes on from there", code=130)


def _run(name: str, folder: Path, quick: bool, on: str, steps: Steps, *, skipping: bool) -> Results:
    """One study; of --all, those that lack a table or a package say so in their results instead."""
    from biselect.studies import reproduce as run_study
    from biselect.studies import skip

    start = time.perf_counter()
    with steps.console.status(name) as status:

        def progress(done: int, total: int) -> None:
            status.update(f"{name}: {done} of {total}")

        try:
            results = run_study(name, folder, quick=quick, on=on, progress=progress)
        except (MissingDataError, MissingDependencyError) as error:
            if not skipping:
                raise
            results = skip(name, folder, str(error), quick=quick)
    steps.console.print(f"{name}: {time.perf_counter() - start:.1f} s, in {folder / name}", style="dim")
    return results


def _show(results: Results) -> None:
    from rich.table import Table
    from rich.text import Text

    from biselect.studies import load
    from biselect.studies.readings import UNEXPLAINED, read
    from biselect.studies.render import axes

    console = out()
    if not results.cells:
        console.print(Text(f"{results.title}: {' '.join(results.notes)}"))
        return
    compared = [entry for entry in results.cells if entry.paper is not None]
    entries = results.cells if len(results.cells) <= READABLE else compared[:READABLE]
    rows, columns = axes(entries)
    title = f"{results.title} ({results.seeds} seeds)"
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    table.add_column("")
    for column in columns:
        table.add_column(Text(column), justify="right")
    known = {(entry.row, entry.column): entry for entry in entries}
    for row in rows:
        found = (known.get((row, column)) for column in columns)
        table.add_row(Text(row), *(_cell(entry) for entry in found))
    console.print(table)
    console.print("Ours [95 % interval] · paper; ≠ differs beyond noise.")
    if len(entries) < len(results.cells):
        console.print(f"{len(results.cells) - len(entries)} further numbers are in table.md and figure.png.")
    if compared:
        judged = [entry.verdict for entry in compared if entry.verdict != "not compared"]
        agreeing = len(judged) - judged.count("differs")
        console.print(f"{agreeing} of {len(judged)} figures agree with the paper within noise.")
    for reading, entries in read(results.cells, load(results.study).readings):
        why = UNEXPLAINED if reading is None else reading.text
        more = f" and {len(entries) - 1} more" if len(entries) > 1 else ""
        console.print(Text(f"≠ {entries[0].row}, {entries[0].column}{more}: {why}"))
    for note in results.notes:
        console.print(Text(f"- {note}"))


def _cell(entry: Entry | None) -> Text:
    from rich.text import Text

    from biselect.studies.render import shown

    if entry is None:
        return Text("")
    return Text(shown(entry), style="bold red" if entry.verdict == "differs" else "")
