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
    target: Annotated[
        str, typer.Option(help="boston, pittsburgh, aachen, iqm-54, another recorded device, or a snapshot (.json).")
    ] = "boston",
    path: Annotated[
        str,
        typer.Option(
            help="y-frame, y-frame-quiet (by recorded errors), opt3-cz, opt3-fractional, complete-cz, "
            "complete-fractional, strongest-qiskit."
        ),
    ] = "y-frame",
    depth: Annotated[
        int | None, typer.Option(min=1, help="p; known for angles from a file, else 2.", show_default=False)
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option(help="Schedule of the angles; known for those from a file, else bilinear.", show_default=False),
    ] = None,
    registers: Annotated[str, typer.Option(help="trees (more couplings) or paths (shorter circuits).")] = "trees",
    start: Annotated[str, typer.Option(help="random, canonical, dicke, or a selection.json to start from.")] = "random",
    surrogate: Annotated[
        str, typer.Option(help="mask, or mean-field to keep the mean of dropped couplings in the fields.")
    ] = "mask",
    k: options.KOfTable = None,
    m: options.MOfTable = None,
    id_column: options.RowNames = None,
    exclude: options.Exclude = None,
    seed: options.Seed = 0,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for circuit.qpy, circuit.qasm, manifest.json, target.json, problem.npz and patch.svg.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest instead of a table.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Compile PROBLEM for a device, on hardware edges alone, and compare with plain Qiskit.

    Angles that suit the whole problem on a ring rarely suit the couplings and mixer of a chip: train them here.

    The manifest holds what is needed to read the measured bits: layouts, placement, mask, and the hashes of all files.
    """
    from biselect.core.files import check_folder
    from biselect.data.problem_files import read_problem
    from biselect.hardware.bundle import compile_problem
    from biselect.report.circuit import NAMES, write_circuit

    steps = Steps(quiet)
    if folder is not None:
        check_folder(folder, NAMES)  # before the work, not after it
    loaded = read_problem(problem, k, m, id_column, exclude or [])
    numbers, wanted_schedule, wanted_depth = _angles(angles, schedule, depth, loaded.digest, steps)
    warm = start if start in ("random", "canonical", "dicke") else _selection(Path(start))
    made = compile_problem(
        loaded,
        target,
        numbers,
        depth=wanted_depth,
        schedule=wanted_schedule,
        path=path,
        registers=registers,
        start=warm,
        surrogate=surrogate,
        seed=seed,
        progress=steps.say,
    )
    written = [] if folder is None else write_circuit(folder, made)
    if as_json:
        sys.stdout.write(json.dumps(made.manifest(), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        _show(made)
    for file in written:
        steps.say(f"wrote {file}")


def _angles(
    text: str | None, schedule: str | None, depth: int | None, digest: str, steps: Steps
) -> tuple[list[float] | None, str, int]:
    """Angles (None to train them), their schedule and their depth."""
    if text is None:
        return None, schedule or "bilinear", depth or 2
    content = _read_json(Path(text), "angles") if text.lower().endswith(".json") else _numbers(text)
    if isinstance(content, dict):
        try:
            numbers, of_schedule, of_depth = content["angles"], str(content["schedule"]), int(content["depth"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{text}: not angles written by biselect train: {error}") from error
        for name, given, known in (("--schedule", schedule, of_schedule), ("--depth", depth, of_depth)):
            if given is not None and given != known:
                raise InputError(f"{name} {given}, but {text} was trained with {known}; leave {name} out")
        if content.get("problem_hash", digest) != digest:
            steps.say("note: these angles were trained on another problem", style="yellow")
        steps.say(
            "warning: these angles were trained for another circuit, of all couplings, with another mixer and start. "
            "On the few couplings of a chip they may do no better than chance; leave --angles out to train them for "
            "this very circuit",
            style="bold yellow",
        )
        schedule, depth = of_schedule, of_depth
    else:
        numbers = content
    if depth is None:
        raise InputError("give --depth: a list of angles does not say how many layers it is for")
    if not isinstance(numbers, list) or not all(
        isinstance(x, int | float) and not isinstance(x, bool) for x in numbers
    ):
        raise InputError(f"--angles {text}: the angles must be a list of numbers")
    try:
        return [float(number) for number in numbers], schedule or "bilinear", depth
    except OverflowError:
        raise InputError(f"--angles {text}: an angle is beyond all numbers that a circuit can hold") from None


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.strip("[] ").split(",")]
    except ValueError:
        raise InputError(f"--angles {text}: give a .json file, or numbers separated by commas") from None


def _selection(path: Path) -> tuple[list[int], list[int]]:
    content = _read_json(path, "a start (random, canonical, dicke or a selection.json)")
    try:
        return list(content["sample_indices"]), list(content["feature_indices"])
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: holds no selection to start from ({error})") from error


def _read_json(path: Path, what: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; it was given for {what}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error


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
