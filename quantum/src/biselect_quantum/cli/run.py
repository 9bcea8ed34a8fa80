"""`biselect run`: take a compiled circuit to shots, anywhere, the same way."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.cli.console import Steps
from biselect.cli.from_options import FIRST, Only, among
from biselect.cli.options import Output
from biselect.errors import InputError
from biselect.pages.terminal import figures, printable, show_line, show_table
from biselect_quantum.cli._readers import read_threshold
from biselect_quantum.options import RunOptions

if TYPE_CHECKING:
    from biselect_quantum.devices.analysis import Range
    from biselect_quantum.devices.execution.outcomes import Outcome

SHOTS, REPEATS = 4096, 1
FIXED = ("shots", "repeats", "seed", "threshold", "readout")  # by the manifest of a run
PLACES = ("sector", "wide", "aer", "noisy:FakeBoston", "ibm:")


def run(
    manifest: Annotated[
        Path, typer.Argument(help="What `biselect compile` wrote, or the manifest of a run that is to go on.")
    ],
    on: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            show_default=False,
            autocompletion=among(*PLACES),
            rich_help_panel=FIRST,
            help="sector, wide, aer, noisy:DEVICE or ibm:DEVICE.",
        ),
    ] = None,
    options: RunOptions = RunOptions(),
    output: Annotated[
        Output, Only("quiet", out="Folder of the run; else one beside the manifest.", json="Print the figures as JSON.")
    ] = Output(),
) -> None:
    """Measure a compiled circuit, and say what the shots are worth.

    Everything that decides the run is fixed in the manifest of its folder before the first shot. Each repeat is kept
    as it ends; the same command, or the run's own manifest, takes an interrupted run up where it was. Credentials come
    from the service's own account store or environment and are never written.
    """
    from biselect.core.untrusted import read_json
    from biselect_quantum.devices.circuit_files import circuit_of
    from biselect_quantum.devices.execution import execute
    from biselect_quantum.devices.execution.outcomes import conclude, forecast
    from biselect_quantum.devices.execution.remote import UnknownJobStateError
    from biselect_quantum.devices.execution.run import (
        circuit_for,
        freeze,
        is_fixed,
        is_run,
        load_run,
        measurements,
        plan,
    )
    from biselect_quantum.devices.execution.samplers import FORMS, foreign_device, kind_of, sampler_for

    steps = Steps(output.quiet)
    if manifest.is_dir():
        manifest = manifest / "manifest.json"
    content = read_json(manifest)
    fixed_run = sampler = None
    if is_run(content):
        typed = {"on": on, **{name: getattr(options, name) for name in FIXED}, "out": output.out}
        typed["alone"] = options.alone or None
        if fixed := [f"--{name}" for name, value in typed.items() if value is not None]:
            raise InputError(f"{manifest}: is the manifest of a run, which fixes {', '.join(fixed)}; leave them out")
        fixed_run = load_run(manifest.parent)
        circuit, wishes = fixed_run.circuit, fixed_run.content
    else:
        if on is None:
            raise InputError(f"say where to run it with --on: {FORMS}")
        kind_of(on)
        circuit = circuit_of(content, manifest.parent)
        goal = read_threshold(options.threshold, circuit.problem)
        wishes = plan(
            circuit,
            on,
            shots=options.shots or SHOTS,
            repeats=options.repeats or REPEATS,
            seed=options.seed or 0,
            threshold=goal,
            readout=options.readout or 0,
            controls=not options.alone,
        )
    if warning := foreign_device(wishes["on"], circuit.manifest()["target"]["name"]):
        steps.say(f"warning: {warning}", style="bold yellow")
    if options.dry_run:
        return _show_plan(forecast(circuit, wishes), output.json)
    if fixed_run is None:
        folder = output.out or manifest.parent / f"run-{''.join(c if c.isalnum() else '-' for c in wishes['on'])}"
        if not is_fixed(folder):  # refuse what cannot be measured there before anything is written
            sampler = sampler_for(wishes["on"])
            for each in {each.repeat is None: each for each in measurements(wishes)}.values():  # one of each kind
                sampler.check(circuit_for(each, circuit))
        with steps.step("Fixing the manifest, with its classical references"):
            fixed_run = freeze(circuit, manifest.parent, folder, wishes)
    steps.say(f"{fixed_run.on}: {kind_of(fixed_run.on)}")
    with steps.step("Measuring"):
        try:
            readouts = execute(fixed_run, sampler, wait=options.wait, resubmit=options.resubmit, say=steps.say)
        except UnknownJobStateError as error:
            raise UnknownJobStateError(str(error).replace("resubmit=True", "--resubmit")) from None
    outcome = conclude(fixed_run, readouts)
    if output.json:
        sys.stdout.write(json.dumps(outcome.to_dict(), indent=1, allow_nan=False) + "\n")
    else:
        _show(outcome)
    steps.say(f"kept in {fixed_run.folder}")


def _show_plan(facts: dict[str, Any], as_json: bool) -> None:
    from biselect_quantum.devices.execution.outcomes import REP_DELAY

    if as_json:
        sys.stdout.write(json.dumps(facts, indent=1) + "\n")
        return
    seconds = facts["estimated_device_seconds"]
    time = "unknown: the target lacks a duration" if seconds is None else f"{seconds:.1f} s"
    for line in (
        f"Would run on {facts['on']} ({facts['kind']}); nothing was submitted.",
        f"{facts['repeats']} × {facts['shots']} shots of {facts['qubits']} qubits, {facts['path']}: depth "
        f"{facts['depth']}, {facts['two_qubit_gates']} two-qubit gates, compiled for {facts['target']['name']}",
        f"{facts['circuits']} circuits, {facts['shots_taken']} shots in all"
        + (f", {facts['readout']} of them to calibrate the readout" if facts["readout"] else ""),
        f"Estimated time on a device: {time} ({1e6 * REP_DELAY:.0f} µs between shots, without queue and start-up)",
    ):
        show_line(line)


def _show(outcome: Outcome) -> None:
    from rich.table import Table

    strict, repaired, run = outcome.strict, outcome.repaired, outcome.run
    several = strict.repeats > 1  # one repeat has no range
    pooled = _between(strict.feasible_interval, "95 % interval, pooled" if several else "95 % interval")
    proven = ", proven optimal" if run.threshold.recipe.get("proven_optimal") else ""
    evidence = f"E_BK {strict.threshold:.6g} from {run.threshold.pool}{proven}"
    by_repeat = "lowest and highest repeat"
    rows = [
        ("shots", str(strict.shots), f"in {strict.repeats} repeats" if several else "in one repeat"),
        ("exact-budget mass", _percent(strict.feasible_rate.value), pooled),
        *([("", "", _between(strict.feasible_rate, by_repeat))] if several else []),
        ("over chance", f"{strict.over_chance:,.4g} ×", f"chance {strict.chance:.3g}"),
        ("best energy", _number(strict.best_energy), evidence),
        ("CVaR₅", _number(strict.tail_energy), "lowest 5 % of feasible shots"),
        ("mean energy", _number(strict.mean_energy), f"z_rand {_number(strict.z_rand)}"),
        ("dense gap", _number(strict.dense_gap, "+"), "best above the classical reference"),
        ("g_dense", f"{outcome.dense_gain:.3g}", "1: its sparse optimum is the dense one; 0: chance"),
    ]
    title = printable(f"{run.on}: {outcome.kind}")
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    for row in rows:
        table.add_row(*map(printable, row))
    show_table(table)
    _show_hits(outcome)
    if outcome.uncorrected:
        show_line(f"Readout was not corrected: {outcome.uncorrected}")
    if corrected := outcome.corrected:
        show_line(
            f"Readout corrected, an estimate: exact-budget mass {_percent(corrected.feasible_rate.value)} "
            f"{_between(corrected.feasible_rate, '95 %')}; a bit is "
            f"misread in {_percent(corrected.misread)} of {corrected.calibration_shots} calibration shots"
        )
    show_line(
        f"Band-1 repair, apart: {_percent(repaired.accepted_rate)} accepted, sparse gap "
        f"{_number(repaired.band_1_gap, '+')} after repair, {_number(repaired.strict_gap, '+')} without"
    )


def _show_hits(outcome: Outcome) -> None:
    """Hits of the threshold, each row beside the others; circuits as measured, what is classical without errors."""
    strict, run = outcome.strict, outcome.run
    if not outcome.nulls:
        show_line("No hit rate: it says nothing without its controls, which this run does not measure")
        return
    known = run.circuit.manifest()["knowledge"] or "angles of unknown training"
    title = f"Hits of energy ≤ {strict.threshold:.6g} in {strict.shots:,} shots, {known}"
    table = figures(title, "", "hits", "share", "95 % interval", "seen", "beats start", "in budget")
    for row in outcome.nulls:
        measured = strict if row["row"] == "full" else outcome.controls.get(row["row"])
        rate: Range = row["rate"]
        between = "exact" if rate.low == rate.high else f"{_percent(rate.low)}, {_percent(rate.high)}"
        cells = [f"{row['hits']:.4g}", _percent(rate.value), between, f"{row['seen']:.3f}"]
        cells += ["", ""] if measured is None else [_share(measured.improved), _percent(measured.feasible_rate.value)]
        table.add_row(row["what"], *cells, style="bold" if measured is strict else None)
    show_table(table)


def _share(value: float | None) -> str:
    return "" if value is None else _percent(value)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _between(figure: Range, of: str) -> str:
    return f"[{_percent(figure.low)}, {_percent(figure.high)}] {of}"


def _number(value: float | None, sign: str = "") -> str:
    return "none" if value is None else f"{round(value, 9) + 0.0:{sign}.4g}"
