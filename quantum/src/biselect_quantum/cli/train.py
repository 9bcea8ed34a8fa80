"""`biselect train`: choose the angles of a QAOA circuit for a problem, and show what they do."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.cli.console import Steps
from biselect.cli.from_options import FIRST, Only
from biselect.cli.options import ROW_NAMES, KOfTable, MOfTable, Output, Problem
from biselect.errors import InputError
from biselect.options import Columns
from biselect.pages.terminal import figures, show_line, show_table, visible_json
from biselect_quantum.cli._nulls import seeds_of, show_nulls
from biselect_quantum.cli._readers import read_angles, read_start, read_threshold
from biselect_quantum.options import CircuitOptions, TrainingOptions

if TYPE_CHECKING:
    from biselect.core import SelectionProblem
    from biselect.core.sector import TooLargeError
    from biselect_quantum.circuits import Ansatz, AnsatzSpec, Training

LARGE = 1_000_000  # choices beyond which the picture and the optimum take longer than --seconds may leave
GUESS = 2000  # evaluations that a training without a budget may take; decides whether compiling pays


def train(
    problem: Problem,
    k: KOfTable = None,
    m: MOfTable = None,
    columns: Annotated[Columns, Only("exclude", id=ROW_NAMES)] = Columns(),
    circuit: Annotated[
        CircuitOptions,
        Only(
            *("depth", "schedule", "mixer", "start", "path", "registers", "keep", "seed"),
            target="Train for the circuit that `biselect compile` makes for a device by name, or a snapshot (.json).",
        ),
    ] = CircuitOptions(),
    training: TrainingOptions = TrainingOptions(),
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            rich_help_panel=FIRST,
            help="File for the angles; a picture (.svg) goes beside it.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not take up an interrupted training of the same --out.")
    ] = False,
    output: Annotated[Output, Only("quiet", json="Print angles.json instead of a table.")] = Output(),
) -> None:
    """Train the angles of a constraint-preserving QAOA circuit for PROBLEM on a simulator of its sector.

    With --target they are for the circuit that `biselect compile` with the same options makes, and takes them.

    With --out an interrupted training is taken up again by the same command and ends at the same angles.
    """
    from dataclasses import replace

    import numpy as np

    from biselect.core.files import write_folder
    from biselect.core.sector import TooLargeError
    from biselect.core.threads import NEVER, OutOfTimeError, run_until
    from biselect.tables.problem_files import read_problem
    from biselect_quantum.circuits import Ansatz
    from biselect_quantum.circuits.controls import nulls
    from biselect_quantum.circuits.training.records import OtherTrainingError
    from biselect_quantum.circuits.training.trainer import TooShortError, backend_for
    from biselect_quantum.plot.circuit_figures import training_picture
    from biselect_quantum.simulate.limits import check_memory

    began, steps = time.perf_counter(), Steps(output.quiet)
    _check_place(out, problem, training.threshold)
    with steps.step(f"Reading {problem.name}"):
        loaded = read_problem(problem, k, m, columns.id, columns.exclude)
        goal = read_threshold(training.threshold, loaded)
    try:  # before anything is placed; a training holds the state and its adjoint
        check_memory(loaded.sector, training.dtype, states=2)
    except TooLargeError as error:
        raise InputError(f"{error.figures}; {_ways_out(error, circuit.target)}") from None
    spec = _spec(loaded, circuit, steps)
    checkpoint = None if out is None else out.with_name(f".{out.name}.training")
    if fresh and checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    how = {"backend": backend_for(loaded, spec.depth, training.evaluations or GUESS), "dtype": training.dtype}
    end = np.inf if training.seconds is None else began + training.seconds
    name = f"Training {spec.schedule.name}, p = {spec.depth}"
    try:
        with steps.step("Building the circuit"):
            ansatz = run_until(end, lambda stop: Ansatz.from_spec(spec, **how, stop=stop)).ended_by(NEVER)
        with steps.step(name, shown_as="objective (higher is better)") as progress:
            trained = ansatz.train(
                strategy=training.strategy,
                objective=None if training.objective is None else _parts(training.objective),
                threshold=None if goal is None else goal.value,
                share=training.share,
                evaluations=training.evaluations,
                seconds=None if training.seconds is None else max(1e-3, end - time.perf_counter()),
                seed=circuit.seed,
                seeds=training.seeds,
                workers=training.workers,
                checkpoint=checkpoint,
                progress=progress,
                start_from=read_angles(training.start_from),
            )
    except TooLargeError as error:
        raise InputError(f"{error.figures}; {_ways_out(error, circuit.target)}") from None
    except (OutOfTimeError, TooShortError):
        single = "" if training.dtype == "complex64" else ", give --dtype complex64"
        raise InputError(
            f"--seconds {training.seconds:g} are too few to build this circuit and evaluate it once; give more, train "
            f"on fewer rows or columns{single}, or draw shots of a sparse circuit with `biselect solve --solver qaoa`"
        ) from None
    except OtherTrainingError as error:
        raise InputError(
            f"{out}: another training for it was interrupted (it differs in {', '.join(error.differs)}); "
            "give --fresh to begin anew, or name another --out"
        ) from None
    in_full = training.seconds is None or loaded.sector.size <= LARGE
    seeds = training.nulls
    if seeds is None:
        seeds = 0 if training.seconds is not None else seeds_of(trained.seconds or 0.0)
    if seeds:
        with steps.step("Training controls", shown_as="rows") as progress:
            table = nulls(ansatz, trained, seeds=seeds, progress=progress)
        trained = replace(trained, nulls=table.to_dict())
    if out is not None and checkpoint is not None:
        files: dict[str, str | bytes] = {out.name: trained.to_json()}
        if in_full:
            files = {out.with_suffix(".svg").name: training_picture(ansatz, trained), **files}
        write_folder(out.parent, files, shared=True)
        checkpoint.unlink(missing_ok=True)
        for file in reversed(files):
            steps.say(f"wrote {out.with_name(file)}")
    if output.json:
        sys.stdout.write(visible_json(trained.to_json()))
    else:
        _show(ansatz, trained, in_full)
    if not in_full:
        steps.say("note: the optimum and the picture need all choices; leave out --seconds to have them")
    if not seeds:
        steps.say("note: a hit rate says nothing without its nulls, so none is printed; --nulls 8 trains them")
    for note in trained.notes:
        steps.say(f"note: {note}", style="yellow")


def _spec(problem: SelectionProblem, circuit: CircuitOptions, steps: Steps) -> AnsatzSpec:
    """The circuit of the whole problem, or the one on a device; what is not given is left to the library."""
    from biselect_quantum.circuits import AnsatzSpec

    settings: dict[str, Any] = {name: value for name, value in vars(circuit).items() if value is not None}
    target = settings.pop("target", None)
    if circuit.start is not None:
        settings["start"] = read_start(circuit.start, problem)
    if target is None:
        if useless := [f"--{name}" for name in ("path", "registers", "keep") if name in settings]:
            raise InputError(f"{', '.join(useless)}: say for which device, with --target")
        return AnsatzSpec(problem, **{"depth": 3, "mixer": "ring", **settings})
    from biselect_quantum.devices import place_circuit

    if "mixer" in settings:
        raise InputError("--mixer: with --target the mixer runs on the edges of the device; leave it out")
    return place_circuit(problem, target, progress=steps.say, **settings).spec


def _check_place(output: Path | None, problem: Path, threshold: str | None) -> None:
    """Refuse a place that could not be written to, or that holds what is read, before the work."""
    if output is None:
        return
    if output.suffix == ".svg":
        raise InputError(f"{output}: the angles are JSON; name the file .json, the picture goes beside it")
    if output.is_dir():
        raise InputError(f"{output}: is a folder; give a file for the angles, such as {output / 'angles.json'}")
    if not output.absolute().parent.is_dir():
        raise InputError(f"{output}: there is no folder {output.parent}; make it first")
    read = {"problem": problem, **({} if threshold is None else {"manifest of thresholds": Path(threshold)})}
    for what, source in read.items():
        for written in (output, output.with_suffix(".svg")):
            if written.resolve() == source.resolve():
                raise InputError(f"{written}: is the {what}, which must stay; name another --out for the angles")


def _parts(text: str) -> str | dict[str, float]:
    """`cvar`, or `energy=1,hit-rate=0.5`."""
    if "=" not in text:
        return text
    try:
        pairs = (part.split("=") for part in text.split(","))
        return {name.strip(): float(weight) for name, weight in pairs}
    except ValueError:
        raise InputError(f"--objective {text}: write a blend as energy=1,hit-rate=0.5") from None


def _ways_out(error: TooLargeError, target: str | None) -> str:
    """What this command has against a sector that does not fit."""
    first = "give --dtype complex64, which fits, " if "complex64" in error.ways else ""
    if target is not None:
        first += (
            "let `biselect quantum` select angles by shots, or do so in Python "
            "(biselect_quantum.circuits.angle_selection) and give them to `biselect compile` with --angles, "
        )
    return (
        f"{first}train on fewer rows or columns, draw shots of a sparse circuit with `biselect solve --solver qaoa`, "
        "or let `biselect solve` choose without a circuit"
    )


def _show(ansatz: Ansatz, trained: Training, in_full: bool) -> None:
    """The figures before and after; those that need the energies of all choices only in full."""
    from biselect_quantum.uniform import uniform_energy

    title = f"{trained.schedule}, p = {trained.depth}, {trained.strategy}"
    table = figures(title, "", "uniform feasible", "trained")
    table.add_row("expected energy", f"{uniform_energy(ansatz.problem)[0]:.4g}", f"{trained.energy:.4g}")
    last = f"{trained.evaluations} evaluations, {trained.knowledge}"
    if in_full:
        table.add_row("α (1 is the optimum)", "0", f"{ansatz.approximation(trained.angles):.4g}")
        last += f"; optimum energy {float(ansatz.energies.min()):.6g}"
    show_table(table)
    for name, (low, middle, high) in (trained.spread or {}).items():
        if name != "hit_rate" or trained.nulls:
            show_line(f"{name.replace('_', ' ')} over seeds: median {middle:.4g}, quartiles {low:.4g} and {high:.4g}")
    if trained.nulls:
        show_nulls(trained.nulls)
    angles = zip(trained.angle_names, trained.angles, strict=True)
    show_line("Angles: " + ", ".join(f"{name} = {angle:.4f}" for name, angle in angles if name not in trained.inert))
    if trained.inert:
        show_line("Inert, whatever their value: " + ", ".join(trained.inert))
    show_line(last)
