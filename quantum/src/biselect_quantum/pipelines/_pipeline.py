"""`pipeline`: from a problem to decoded shots beside their nulls. Every stage is a file, and is taken up again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.core.checks import free_memory
from biselect.core.files import write_file, write_folder
from biselect.core.sector import count_in_words
from biselect.core.untrusted import read_json
from biselect.errors import InputError
from biselect.options import non_defaults, spell
from biselect.progress import Progress, Steps, steps_of
from biselect.solvers import solve
from biselect.weights.directed import undirected
from biselect_quantum.circuits.angle_selection import WideShots, fixed_angles, select_by_paper, warm_starts
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.controls import CIRCUITS, FEWEST, control, nulls, recipe
from biselect_quantum.circuits.starts import Choice
from biselect_quantum.circuits.thresholds import Threshold, save_thresholds
from biselect_quantum.circuits.training import Training
from biselect_quantum.circuits.training.first_angles import ramp
from biselect_quantum.circuits.training.trainer import backend_for
from biselect_quantum.devices import DeviceCircuit, compile_problem, load_circuit, place_circuit
from biselect_quantum.devices.circuit_files import NAMES, json_bytes, write_circuit
from biselect_quantum.devices.device_circuit import TRAINABLE
from biselect_quantum.devices.execution import execute, freeze, plan
from biselect_quantum.devices.execution.outcomes import Outcome, conclude, shots_of
from biselect_quantum.options import CircuitOptions, RunOptions, TrainingOptions
from biselect_quantum.pipelines.page import PipelineFacts, render_pipeline, view_of

REQUEST, THRESHOLDS, PAGE, VIEW = "request.json", "thresholds.json", "index.html", "view.json"
DEVICE, DEPTH, SHOTS, WIDE_SHOTS = "boston", 3, 2048, 1024
SCHEDULES = ("tied", "bilinear", "fully-grouped")  # one, two and three γ for the paper's components
PROOF_SECONDS = 60.0
MAX_BOND = 2048  # bond states of the paper's angle selection; more are refused
SITE_BYTES = 32  # of a site for each pair of bond states: two complex numbers
FIXED = "fixed"  # the strategy that takes π/4 for every angle (Section S5.1)
HEIGHT = 0.5  # of the ramp that angles are selected around
PAPER: dict[str, Any] = {"path": "complete-fractional", "strategy": "threshold"}
"""What `preset="paper"` takes: its compilation path (Section S6) and its fixed-threshold protocol (Section S5.1)."""

Step = Callable[[str], Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pipeline:
    """What a pipeline found.

    Attributes:
        folder: where all stages are kept.
        problem: the problem that the circuit is of.
        circuit: compiled, with its controls.
        outcome: figures of its shots, hits beside their nulls.
        view: what the page shows, as plain data.
    """

    folder: Path
    problem: SelectionProblem
    circuit: DeviceCircuit
    outcome: Outcome
    view: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What the circuit found and what its nulls would have, in one sentence."""
        return str(self.view["title"])

    @property
    def page(self) -> Path:
        """The file of the page."""
        return self.folder / PAGE


def pipeline(
    problem: SelectionProblem,
    folder: str | Path,
    *,
    circuit: CircuitOptions = CircuitOptions(),
    training: TrainingOptions = TrainingOptions(),
    run: RunOptions = RunOptions(),
    on: str | None = None,
    preset: str = "default",
    source: str = "a problem",
    progress: Steps | bool | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Pipeline:
    """Prove, place, train, compile, measure and hold against nulls, and write one page about it.

    Up to a million choices angles are trained on the exact sector. Beyond, they are selected as the paper does it: from
    warm starts, by shots of the sparse circuit from an exact tensor network (Section S5.1).

    Args:
        problem: of plain columns, or of directed ones, whose undirected problem is then taken.
        folder: keeps every stage. Killed and called again with the same arguments, the pipeline goes on from there.
        circuit: which circuit; on Boston and with three layers unless it says otherwise.
        training: how angles are trained, on up to a million choices; `nulls` seeds of each control. Beyond, only the
            strategy `fixed`, which takes π/4 for every angle.
        run: shots and repeats, 2,048 of one unless it says otherwise, 1,024 on more than a million choices.
        on: where shots are taken, as `sampler_for` takes it; the recorded noise of the device unless given.
        preset: `default`, or `paper` for the paper's compilation path and its threshold known beforehand.
        source: where the problem is from, in words for the page.
        progress: as for `biselect.review`.
        say: told what is going to be held, and what a run does.

    Returns:
        The circuit, the figures of its shots, and what the page shows.

    Raises:
        InputError: options that do not fit, or a folder that holds another pipeline.
    """
    folder, plain = Path(folder), undirected(problem)
    wide = plain.sector.size > TRAINABLE
    circuit, training, run = _settled(circuit, training, run, preset, wide)
    on = on or f"noisy:{circuit.target}"
    request = {
        "problem": problem.digest, "circuit": asdict(circuit), "training": asdict(training), "run": asdict(run),
        "on": on, "preset": preset,
    }  # fmt: skip
    _fix(folder, json.loads(json.dumps(request, default=str)))
    say(_what_it_holds(plain, wide))
    step = steps_of(progress)
    with step("Proving the optimum"):
        optimum = _kept(folder / "optimum.json", lambda: _proven(problem, plain))
    threshold = Threshold(
        problem_hash=plain.digest, value=optimum["energy"], pool=f"solver {optimum['solver']}",
        recipe={"proven_optimal": optimum["proven"]},
    )  # fmt: skip
    if preset == "paper":
        training = replace(training, objective="hit-rate", threshold=threshold.value)
    figures: dict[str, Any] = {}
    place = {name: value for name, value in vars(circuit).items() if value is not None and name != "target"}
    compiled = folder / "circuit"
    if not (folder / THRESHOLDS).exists():
        save_thresholds(folder / THRESHOLDS, [threshold])
    if wide:
        if not (compiled / NAMES[-1]).exists():
            fixed_by_name = training.strategy == FIXED
            write_circuit(compiled, _selected(plain, circuit, place, step, fixed_by_name))
    else:
        trained, figures = _trained(plain, circuit, place, training, folder, step)
        if not (compiled / NAMES[-1]).exists():
            with step("Compiling, beside Qiskit"):
                write_circuit(compiled, compile_problem(plain, circuit.target, trained, **place))
    made = load_circuit(compiled)
    request = plan(
        made, on, shots=run.shots or SHOTS, repeats=run.repeats or 1, seed=run.seed or 0, threshold=threshold,
        readout=run.readout or 0, controls=not run.alone,
    )  # fmt: skip
    with step("Measuring the circuit and its controls"):
        fixed = freeze(made, compiled, folder / "run", request)
        readouts = execute(fixed, wait=run.wait, resubmit=run.resubmit, say=say)
        outcome = conclude(fixed, readouts)
    with step("Writing the page"):
        facts = PipelineFacts(
            source=source, preset=preset, optimum=optimum, circuit=made, outcome=outcome,
            shots=shots_of(fixed, readouts), figures=figures, folded=problem is not plain, wide=wide,
        )  # fmt: skip
        view = view_of(facts)
        write_folder(folder, {VIEW: json_bytes(view), PAGE: render_pipeline(view).encode()}, shared=True)
    return Pipeline(folder=folder, problem=plain, circuit=made, outcome=outcome, view=view)


def _settled(
    circuit: CircuitOptions, training: TrainingOptions, run: RunOptions, preset: str, wide: bool
) -> tuple[CircuitOptions, TrainingOptions, RunOptions]:
    """The options, and those of the preset and the size where they say nothing."""
    if preset not in ("default", "paper"):
        raise InputError(f"there is no preset {preset!r}; choose one of: default, paper")
    if circuit.mixer is not None:
        raise InputError("on a device the mixer runs on its edges; leave mixer out")
    other = [name for name in non_defaults(training) if name != "strategy" or training.strategy != FIXED]
    if wide and other:
        raise InputError(
            f"beyond a million choices angles are selected by shots; leave {', '.join(other)} out, or take "
            f"{spell(strategy=FIXED)} for the fixed angles of π/4"
        )
    if training.strategy == FIXED and not wide:
        raise InputError("fixed angles are for more than a million choices; up to there angles are trained")
    paper = preset == "paper"
    path = circuit.path or (PAPER["path"] if paper else "y-frame")
    schedule = circuit.schedule or ("bilinear" if wide else "fully-grouped")
    if paper and training.strategy == "multistart" and not wide:
        training = replace(training, strategy=PAPER["strategy"])
    circuit = replace(
        circuit, target=circuit.target or DEVICE, depth=circuit.depth or DEPTH, schedule=schedule, path=path
    )
    run = replace(run, shots=run.shots or (WIDE_SHOTS if wide else SHOTS))
    return circuit, training, run


def _what_it_holds(problem: SelectionProblem, wide: bool) -> str:
    """What will be in memory, before anything is placed."""
    choices = count_in_words(problem.sector.size)
    if not wide:
        needed = 5 * 16 * problem.sector.size / 2**20  # state, adjoint and tables in double precision
        return f"{choices} choices: states of all of them are held, {max(needed, 1):.0f} MiB at most"
    bond = _bond_limit(problem)
    needed = (problem.n_samples + problem.n_features) * SITE_BYTES * bond**2 / 2**30
    return (
        f"{choices} choices: no state of them is held. Angles are selected by shots of the sparse circuit (the paper's "
        f"Section S5.1) from exact tensor networks of {bond:,} bond states and {needed:.1f} GiB at most"
    )


def _bond_limit(problem: SelectionProblem) -> int:
    """Bond states that half of the free memory holds at every site, of as many as are wanted."""
    free = free_memory() or 2**33
    return min(MAX_BOND, int(sqrt(free / 2 / (SITE_BYTES * (problem.n_samples + problem.n_features)))))


def _fix(folder: Path, request: dict[str, Any]) -> None:
    """Keep what is wanted, or refuse a folder that holds something else."""
    path = folder / REQUEST
    if path.exists():
        fixed = read_json(path)
        if other := [name for name in request if not isinstance(fixed, dict) or fixed.get(name) != request[name]]:
            raise InputError(
                f"{folder}: holds another pipeline (it differs in {', '.join(other)}); give another folder"
            )
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_file(path, json_bytes(request))


def _kept(path: Path, make: Callable[[], Any]) -> Any:
    """What a stage gave, from its file if it is there."""
    if not path.exists():
        write_file(path, json_bytes(make()))
    return read_json(path)


def _proven(problem: SelectionProblem, plain: SelectionProblem) -> dict[str, Any]:
    """The optimum of the problem that the circuit is of; of directed columns the directed one beside it."""
    best = solve(plain, seed=0, time_limit=PROOF_SECONDS)
    directed = None if problem is plain else solve(problem, seed=0, time_limit=PROOF_SECONDS)
    return {
        "samples": best.samples.tolist(),
        "features": best.features.tolist(),
        "energy": best.energy,
        "proven": best.proven_optimal,
        "bound": best.bound,
        "solver": best.solver,
        "directed_energy": None if directed is None else directed.energy,
    }


def _trained(
    problem: SelectionProblem,
    circuit: CircuitOptions,
    place: Mapping[str, Any],
    training: TrainingOptions,
    folder: Path,
    step: Step,
) -> tuple[Training, dict[str, Any]]:
    """Angles, and what hits are without noise: beside their nulls, by depth and by schedule."""
    with step("Choosing qubits"):
        placed = place_circuit(problem, circuit.target, **place)
    with step("Training"):
        path = folder / "angles.json"
        if not path.exists():
            placed.train(replace(training, nulls=None), checkpoint=folder / ".training").to_json(path)
            (folder / ".training").unlink(missing_ok=True)
        trained = Training.from_json(path)
    evaluations = training.evaluations or 2000
    ansatz = Ansatz.from_spec(placed.spec, backend=backend_for(problem, placed.spec.depth, evaluations))

    def held_against(progress: Progress | None) -> dict[str, Any]:
        seeds = FEWEST if training.nulls is None else training.nulls
        return nulls(ansatz, trained, seeds=max(seeds, FEWEST), progress=progress).to_dict()

    def hits(row: str, depth: int, schedule: str) -> dict[str, Any]:
        spec = control(placed.spec.changed(depth=depth, schedule=schedule), row, circuit.seed)
        on = Ansatz.from_spec(spec, backend=ansatz.backend)
        other = on.train(seed=circuit.seed, **recipe(trained))
        angles = on.size - len(other.inert)
        rate = on.optimum_mass(other.angles)
        return {"row": row, "depth": depth, "schedule": schedule, "angles": angles, "rate": rate}

    def by_depth() -> list[dict[str, Any]]:
        depths, name = range(1, placed.spec.depth), trained.schedule
        return [hits(row, depth, name) for depth in depths for row in CIRCUITS]

    def by_schedule() -> list[dict[str, Any]]:
        return [hits("full", placed.spec.depth, name) for name in SCHEDULES]

    with step("Training controls") as progress:
        table = _kept(folder / "nulls.json", partial(held_against, progress))
    with step("Training at other depths"):
        depths = _kept(folder / "depths.json", by_depth)
    with step("Training with fewer angles"):
        schedules = _kept(folder / "schedules.json", by_schedule)
    figures = {"nulls": table, "depths": depths, "schedules": schedules}
    return trained, {**figures, "ansatz": ansatz, "trained": trained}


def _selected(
    problem: SelectionProblem, circuit: CircuitOptions, place: Mapping[str, Any], step: Step, fixed: bool
) -> DeviceCircuit:
    """A circuit from a warm start with selected angles, and its controls selected alike."""
    with step("Finding warm starts"):
        starts = warm_starts(problem, seed=circuit.seed)
    if place.get("start") not in (None, "auto"):
        raise InputError("beyond a million choices a circuit begins from warm starts; leave start out")
    with step("Choosing qubits"):
        placed = place_circuit(problem, circuit.target, **{**place, "start": starts[0]})
    angles: dict[str, Any] = {}
    begin: list[Choice] = list(starts)
    for row in reversed(CIRCUITS):  # the circuit itself first: it settles the start
        if fixed:
            angles[row], begin = fixed_angles(placed.spec.schedule), begin[:1]
            continue
        with step(f"Selecting angles: {row}"):
            spec = control(placed.spec, row, circuit.seed)
            draw = WideShots(spec, max_bond=_bond_limit(problem))
            selection = select_by_paper(problem, draw, begin, ramp(spec, HEIGHT, 1), seed=circuit.seed)
        angles[row], begin = np.asarray(selection.angles), [selection.start]
    with step("Compiling, beside Qiskit"):
        made = replace(placed, source=placed.spec.changed(start=begin[0])).compile(angles.pop("full"))
        return made.with_controls(angles)
