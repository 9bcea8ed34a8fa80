"""`biselect reproduce`: tables and figures of the paper from one command, the paper's figures beside ours."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biselect.cli.console import Steps, advise, fail
from biselect.cli.from_options import Only, among
from biselect.errors import InputError, MissingDataError, MissingDependencyError
from biselect.pages.terminal import out, printable, show_table, visible_json
from biselect_quantum.options import RunOptions

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from biselect_studies import OnDevice, Results
    from biselect_studies.results import Entry

READABLE = 60  # of more entries than this a terminal shows only those that the paper prints too
NUMBER = 18  # characters that a number and the paper's, or an interval, may need
BOUNDLESS = 10_000  # the width at which a table is measured as it would like to be


def _studies(incomplete: str) -> list[str]:
    """What the shell offers."""
    from biselect_studies import study_names

    return among(*study_names())(incomplete)


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Studies, by the paper's label.", show_default=False, autocompletion=_studies),
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Name every study and stop.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Run every study.")] = False,
    quick: Annotated[bool, typer.Option(help="Fewer seeds: each study in under a minute.")] = False,
    folder: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Folder for results; finished work in it is kept.")
    ] = Path("reproduction"),
    on: Annotated[str, typer.Option(metavar="PLACE", help="Where to run: local or dask://HOST:PORT.")] = "local",
    device: Annotated[
        str | None,
        typer.Option(
            help="Measure the hardware columns there: ibm:NAME or noisy:FakeBoston.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        RunOptions,
        Only("wait", "resubmit", dry_run="With --device: say what would be submitted and how long; run nothing."),
    ] = RunOptions(),
    as_json: Annotated[bool, typer.Option("--json", help="Print each results.json instead of tables.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")] = False,
) -> None:
    """Reproduce tables and figures: NAMES, or --all of them; index.html in --out shows all that is there.

    A run that is interrupted, however roughly, continues where it was when started again with the same --out. So do
    measurements on a --device: jobs that were handed in are taken up, not paid for again.
    """
    from joblib import cpu_count

    from biselect_studies import OnDevice, load, run_together, study_names
    from biselect_studies.forecast import forecast
    from biselect_studies.page import write_reproduction

    if list_all:
        for name in study_names():
            typer.echo(f"{name}: {load(name).title}")
        return
    if bool(names) == everything:
        raise InputError("name the studies to run, or give --all; --list shows their names")
    wanted = study_names() if everything else names or []
    studies = [load(name) for name in wanted]  # refuses a wrong name before hours are spent on the right ones
    if device is None and (jobs.dry_run or jobs.resubmit or jobs.wait is not None):
        raise InputError("--dry-run, --wait and --resubmit say how to run on a device; name it with --device")
    steps = Steps(quiet)
    measuring: dict[str, OnDevice] = {}
    if device is not None:
        measuring = {
            study.name: OnDevice(
                study, folder, device, quick=quick, wait=jobs.wait, resubmit=jobs.resubmit, say=steps.say
            )
            for study in studies
        }
    if jobs.dry_run:
        return _forecast(measuring, as_json)
    advise("finished work is kept, the same command goes on from there")
    if everything:
        steps.say(forecast(studies, folder, quick).told(cpu_count()))
        with steps.console.status("all studies") as status:
            run_together(
                studies,
                folder,
                quick=quick,
                on=on,
                progress=lambda done, total: status.update(f"all studies: {done:,} of {total:,} tasks"),
            )
    for name in wanted:
        results = _run(name, folder, quick, on, steps, measuring.get(name), skipping=everything)
        if as_json:
            typer.echo(visible_json(results.to_json()), nl=False)
        else:
            _show(results)
    steps.say(f"wrote {write_reproduction(folder)}")
    owed = {circuit: why for each in measuring.values() for circuit, why in each.pending.items()}
    if owed:
        reasons = "".join(f"\n  {circuit}: {why}" for circuit, why in owed.items())
        fail(f"{len(owed)} circuits are pending on {device}; the same command goes on from there{reasons}", code=1)


def _run(
    name: str, folder: Path, quick: bool, on: str, steps: Steps, device: OnDevice | None, *, skipping: bool
) -> Results:
    """One study; of --all, those that lack a table or a package say so in their results instead."""
    from biselect_studies import reproduce as run_study
    from biselect_studies import skip

    start = time.perf_counter()
    with steps.console.status(name) as status:

        def progress(done: int, total: int) -> None:
            status.update(f"{name}: {done} of {total}")

        try:
            results = run_study(name, folder, quick=quick, on=on, progress=progress, device=device)
        except (MissingDataError, MissingDependencyError) as error:
            if not skipping:
                raise
            results = skip(name, folder, str(error), quick=quick)
    steps.say(f"{name}: {time.perf_counter() - start:.1f} s, in {folder / name}")
    return results


def _forecast(measuring: Mapping[str, OnDevice], as_json: bool) -> None:
    """What would be submitted, circuit by circuit, and how long it takes in all; shared circuits count once."""
    from rich.table import Table

    from biselect_quantum.devices.execution.samplers import kind_of

    plans = {each["circuit"]: each for device in measuring.values() for each in device.forecast()}
    on = next(iter(measuring.values())).on
    times = [each["estimated_device_seconds"] for each in plans.values()]
    seconds = None if None in times else sum(times)
    if as_json:
        content = {"on": on, "kind": kind_of(on), "circuits": list(plans.values()), "estimated_device_seconds": seconds}
        typer.echo(json.dumps(content, indent=1))
        return
    table = Table(title=printable(f"Would run on {on} ({kind_of(on)}); nothing was submitted"), title_justify="left")
    table.add_column("circuit", no_wrap=True)
    for heading in ("qubits", "depth", "2q gates", "repeats × shots", "done", "handed in", "seconds"):
        table.add_column(heading, justify="right")
    for each in plans.values():
        took = each["estimated_device_seconds"]
        counts = [each[name] for name in ("repeats_done", "repeats_handed_in")]
        table.add_row(
            each["circuit"],
            *(str(each[name]) for name in ("qubits", "depth", "two_qubit_gates")),
            f"{each['repeats']} × {each['shots']}",
            *("–" if count is None else str(count) for count in counts),
            "unknown" if took is None else f"{took:.1f}",
        )
    console = out()
    show_table(table)
    if busy := [name for name, each in plans.items() if each["being_measured"]]:
        console.print(f"Being measured by another process now: {', '.join(busy)}")
    total = "unknown: the device tells no durations" if seconds is None else f"{seconds:.1f} s"
    console.print(f"Estimated time on the device for what is left, all circuits together, without queue: {total}")


def _show(results: Results) -> None:
    from biselect_studies import load
    from biselect_studies.render import legend
    from biselect_studies.rule import DIFFERS, UNEXPLAINED, VERDICTS, read

    console = out()
    if not results.cells:
        console.print(printable(f"{results.title}: {' '.join(results.notes)}"))
        return
    labels = [f" {device['label']}" for device in results.extra.get("devices", ())]
    ours = [entry for entry in results.cells if not entry.column.endswith(tuple(labels))] if labels else results.cells
    compared = [entry for entry in ours if entry.verdict in VERDICTS]
    entries = list(ours) if len(ours) <= READABLE else compared[:READABLE]
    console.print(printable(f"{results.title} ({results.seeds} seeds)", style="bold"))
    for table in _tables(entries, console):
        console.print(table)
    for label in labels:  # the columns of a device are a table of their own
        console.print(printable(f"The same{label}", style="bold"))
        for table in _tables([entry for entry in results.cells if entry.column.endswith(label)], console, label):
            console.print(table)
    if entries or labels:
        console.print(f"Each entry: {legend(results)}", markup=False)
    if len(entries) < len(ours):
        further = f"{len(ours) - len(entries)} {'further ' if entries else ''}numbers"
        console.print(f"{further} are in table.md and figure.png.")
    counts = Counter(entry.verdict for entry in compared)
    if compared:
        said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
        console.print(f"Held against the paper: {said}.")
    apart = [entry for entry in results.cells if entry.verdict == DIFFERS]
    for reading, differing in read(apart, load(results.study).readings):
        why = UNEXPLAINED if reading is None else reading.text
        more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
        console.print(printable(f"≠ {differing[0].row}, {differing[0].column}{more}: {why}"))
    for note in results.notes:
        console.print(printable(f"- {note}"))


def _tables(entries: list[Entry], console: Console, label: str = "") -> list[Table]:
    """One table where the terminal is wide enough; else intervals below their numbers, and columns in parts.

    A label that the title has already is left out of the headings.
    """
    from biselect_studies.render import axes

    def fits(table: Table) -> bool:
        return console.measure(table, options=console.options.update(max_width=BOUNDLESS)).maximum <= console.width

    _, columns = axes(entries)
    if columns and fits(whole := _table(entries, columns, label, narrow=False, width=console.width)):
        return [whole]
    found: list[Table] = []
    while columns:
        for count in range(len(columns), 0, -1):
            part = _table(entries, columns[:count], label, narrow=True, width=console.width)
            if count == 1 or fits(part):
                break
        found.append(part)
        columns = columns[count:]
    return found


def _table(entries: list[Entry], columns: list[str], label: str, *, narrow: bool, width: int) -> Table:
    from rich.table import Table

    from biselect_studies.render import axes

    table = Table()
    table.add_column("", max_width=width // 4 if narrow else None)
    for column in columns:
        heading = printable(column.removesuffix(label))
        table.add_column(heading, justify="right", max_width=max(NUMBER, width // 3) if narrow else None)
    known = {(entry.row, entry.column): entry for entry in entries if entry.column in columns}
    for row in axes(list(known.values()))[0]:
        found = (known.get((row, column)) for column in columns)
        table.add_row(printable(row), *(_cell(entry, narrow) for entry in found))
    return table


def _cell(entry: Entry | None, narrow: bool) -> Text:
    from biselect_studies.render import shown

    if entry is None:
        return printable("")
    text = shown(entry)
    if narrow and not isnan(entry.ours):  # what is pending has no interval
        ours, interval, paper = text.replace("]", "[").split("[")
        text = f"{ours.rstrip()}{paper}\n[{interval}]"
    return printable(text, style="bold red" if entry.verdict == "differs" else "")
