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
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from biselect.studies import Results
    from biselect.studies.results import Entry

READABLE = 60  # of more entries than this a terminal shows only those that the paper prints too
NUMBER = 18  # characters that a number and the paper's, or an interval, may need
BOUNDLESS = 10_000  # the width at which a table is measured as it would like to be


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
    from rich.text import Text

    from biselect.studies.render import LEGEND

    console = out()
    if not results.cells:
        console.print(Text(f"{results.title}: {' '.join(results.notes)}"))
        return
    compared = [entry for entry in results.cells if entry.paper is not None]
    entries = list(results.cells) if len(results.cells) <= READABLE else compared[:READABLE]
    console.print(Text(f"{results.title} ({results.seeds} seeds)", style="bold"))
    if entries:
        for table in _tables(entries, console):
            console.print(table)
        console.print(f"Each entry: {LEGEND}")
    if len(entries) < len(results.cells):
        further = f"{len(results.cells) - len(entries)} {'further ' if entries else ''}numbers"
        console.print(f"{further} are in table.md and figure.png.")
    judged = [entry.verdict for entry in compared if entry.verdict != "not compared"]
    if judged:
        agreeing = len(judged) - judged.count("differs")
        console.print(f"{agreeing} of {len(judged)} figures agree with the paper within noise.")
    for note in results.notes:
        console.print(Text(f"- {note}"))


def _tables(entries: list[Entry], console: Console) -> list[Table]:
    """One table where the terminal is wide enough; else intervals below their numbers, and columns in parts."""
    from biselect.studies.render import axes

    def fits(table: Table) -> bool:
        return console.measure(table, options=console.options.update(max_width=BOUNDLESS)).maximum <= console.width

    _, columns = axes(entries)
    whole = _table(entries, columns, narrow=False, width=console.width)
    if fits(whole):
        return [whole]
    found: list[Table] = []
    while columns:
        for count in range(len(columns), 0, -1):
            part = _table(entries, columns[:count], narrow=True, width=console.width)
            if count == 1 or fits(part):
                break
        found.append(part)
        columns = columns[count:]
    return found


def _table(entries: list[Entry], columns: list[str], *, narrow: bool, width: int) -> Table:
    from rich.table import Table
    from rich.text import Text

    from biselect.studies.render import axes

    table = Table()
    table.add_column("", max_width=width // 4 if narrow else None)
    for column in columns:
        table.add_column(Text(column), justify="right", max_width=max(NUMBER, width // 3) if narrow else None)
    known = {(entry.row, entry.column): entry for entry in entries if entry.column in columns}
    for row in axes(list(known.values()))[0]:
        found = (known.get((row, column)) for column in columns)
        table.add_row(Text(row), *(_cell(entry, narrow) for entry in found))
    return table


def _cell(entry: Entry | None, narrow: bool) -> Text:
    from rich.text import Text

    from biselect.studies.render import shown

    if entry is None:
        return Text("")
    text = shown(entry)
    if narrow:
        ours, interval, paper = text.replace("]", "[").split("[")
        text = f"{ours.rstrip()}{paper}\n[{interval}]"
    return Text(text, style="bold red" if entry.verdict == "differs" else "")
