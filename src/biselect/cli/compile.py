"""`biselect compile`: a problem and its angles to a circuit that a device takes, and what it costs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.cli import options
from biselect.cli.console import Steps, out, printable
from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.hardware.bundle import Bundle
    from biselect.hardware.resources import Resources
    from biselect.qaoa import Training

TARGETS = "boston, pittsburgh, aachen, iqm-54, another recorded device, or a snapshot (.json)."
PATHS = (
    "y-frame, y-frame-quiet (by recorded errors), opt3-cz, opt3-fractional, complete-cz, complete-fractional, "
    "strongest-qiskit."
)
REGISTERS = "trees (more couplings) or paths (shorter circuits)."
SURROGATES = "mask, or mean-field to keep the mean of dropped couplings in the fields."


def compile_(
    problem: options.Problem,
    angles: Annotated[
        str | None,
        typer.Option(
            help="What `biselect train` wrote (.json), a JSON list, or numbers separated by commas; left out, they are "
            "trained for this very circuit where the problem is small.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[str, typer.Option(help=TARGETS)] = "boston",
    path: Annotated[str, typer.Option(help=PATHS)] = "y-frame",
    depth: Annotated[
        int | None, typer.Option(min=1, help="p; known for angles from a file, else 2.", show_default=False)
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(help="Schedule of the angles; known for those from a file, else bilinear.", show_default=False),
    ] = None,
    registers: Annotated[str, typer.Option(help=REGISTERS)] = "trees",
    start: Annotated[str, typer.Option(help="random, canonical, dicke, or a selection.json to start from.")] = "random",
    surrogate: Annotated[str, typer.Option(help=SURROGATES)] = "mask",
    k: options.KOfTable = None,
    m: options.MOfTable = None,
    id_column: options.RowNames = None,
    exclude: options.Exclude = None,
    seed: options.Seed = 0,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for circuit.qpy, circuit.qasm, manifest.json, target.json, problem.npz, patch.svg and, where "
            "they were trained for this circuit, angles.json.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest instead of a table.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Compile PROBLEM for a device, on hardware edges alone, and compare with plain Qiskit.

    Angles that suit the whole problem on a ring rarely suit the couplings and mixer of a chip: train them here, or with
    `biselect train --target`.

    The manifest holds what is needed to read the measured bits: layouts, placement, mask, and the hashes of all files.
    """
    from biselect.core.files import check_folder
    from biselect.data.problem_files import read_problem
    from biselect.hardware.bundle import compile_problem
    from biselect.report.circuit import NAMES, write_circuit

    steps = Steps(quiet)
    if folder is not None:
        check_folder(folder, NAMES)  # before the work, not after it
    made = compile_problem(
        read_problem(problem, k, m, id_column, exclude or []),
        target,
        read_angles(angles),
        depth=depth,
        schedule=schedule,
        path=path,
        registers=registers,
        start=read_start(start),
        surrogate=surrogate,
        seed=seed,
        progress=steps.say,
    )
    written = [] if folder is None else write_circuit(folder, made)
    if as_json:
        sys.stdout.write(json.dumps(made.manifest(), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        _show(made)
    for note in made.notes:
        steps.say(
            f"warning: {note}. Such angles may do no better than chance; leave --angles out to train them for this "
            "very circuit",
            style="bold yellow",
        )
    for file in written:
        steps.say(f"wrote {file}")


def read_angles(text: str | None) -> Training | list[float] | None:
    """Angles from a file or as they stand."""
    from biselect.qaoa.training import load_angles

    if text is None:
        return None
    if text.lower().endswith(".json"):
        return load_angles(text)
    try:
        return [float(part) for part in text.strip("[] ").split(",")]
    except ValueError:
        raise InputError(f"--angles {text}: give a .json file, or numbers separated by commas") from None


def read_start(text: str) -> Any:
    """A start by its name, or the choice that a selection.json holds."""
    from biselect.core.files import read_json

    if text in ("random", "canonical", "dicke"):
        return text
    content = read_json(text)
    try:
        return list(content["sample_indices"]), list(content["feature_indices"])
    except (KeyError, TypeError) as error:
        raise InputError(f"{text}: holds no selection to start from ({error})") from error


def _show(made: Bundle) -> None:
    from rich.table import Table

    compiled, manifest = made.compiled, made.manifest()
    console = out()
    n, d = made.patch.n_samples, made.patch.n_features
    title = f"{n} + {d} qubits of {compiled.target}, p = {manifest['depth']}, {made.schedule}"
    table = Table(title=printable(title), title_justify="left", title_style="bold")
    table.add_column("path", overflow="fold")
    for column in ("depth", "2q depth", "2q gates", "SWAPs", "µs", "gates, µs"):
        table.add_column(column, justify="right")
    for name, resources in made.references.items():
        table.add_row(name, *_cells(resources))
    table.add_row(compiled.path.name, *_cells(compiled.resources), style="bold")
    console.print(table)
    for name, other in made.references.items():
        ours = compiled.resources
        console.print(
            printable(
                f"Against {name}: depth {_cut(ours.depth, other.depth)}, two-qubit gates "
                f"{_cut(ours.two_qubit_gates, other.two_qubit_gates)}, time {_cut(ours.duration, other.duration)}"
            )
        )
    proof = (
        "proven the most" if made.placement.proven_optimal else f"within {100 * made.placement.gap:.0f} % of the most"
    )
    console.print(
        printable(
            f"{len(made.patch.cross_edges)} of {n * d} couplings stay: {100 * manifest['retained_share']:.2f} % of the "
            f"mass, {proof} that any placement on this patch keeps"
        )
    )


def _cells(resources: Resources) -> list[str]:
    times = [resources.duration, resources.gate_duration]
    return [
        str(resources.depth),
        str(resources.two_qubit_depth),
        str(resources.two_qubit_gates),
        str(resources.swaps),
        *("unknown" if seconds is None else f"{1e6 * seconds:.2f}" for seconds in times),
    ]


def _cut(ours: float | None, theirs: float | None) -> str:
    return "unknown" if ours is None or not theirs else f"{100 * (ours / theirs - 1):+.1f} %"
