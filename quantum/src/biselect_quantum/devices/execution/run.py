"""Runs: everything that decides one, fixed before its first shot and never changed after.

A run's folder holds `manifest.json`, the problem and the circuit it names, and then its results. The manifest keeps
what `biselect compile` recorded (problem, target, patch, layouts, mask, angles) and adds where it is run,
shots, repeats and seeds, the threshold and references with the evidence they came from, and the versions at work.

A run consists of measurements: calibration of the readout first, then each repeat. A measurement is a job on a service
and a record in the store. What it is follows from the manifest alone, so a run that was killed between any two of them
goes on at the next.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from biselect.core.checks import check_integer, number
from biselect.core.files import finish_interrupted, write_folder
from biselect.core.untrusted import check_seal, read_json, refused_as, seal
from biselect.errors import InputError
from biselect.solvers import solve
from biselect_quantum.circuits.controls import ROWS
from biselect_quantum.circuits.thresholds import Threshold
from biselect_quantum.devices.circuit_files import NEEDED, circuit_of, json_bytes
from biselect_quantum.devices.device_circuit import DeviceCircuit, installed
from biselect_quantum.devices.execution.samplers import (
    GIVEN,
    KINDS,
    RawShots,
    Sampler,
    fixed_name,
    kind_of,
    sampler_for,
)
from biselect_quantum.devices.readout import ReadoutCalibration, calibration_circuit, prepared, pulse_errors

CALIBRATIONS = 2  # circuits that readout is calibrated by
FULL = "full"  # the row of the circuit itself


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One circuit, measured once.

    Attributes:
        repeat: which repeat it is; None for calibration.
        shots: how many are asked for.
        seed: of its shots.
        part: which of the calibration's circuits.
        frame: seed of what calibration prepares, the same for both circuits.
        row: the circuit itself, `full`, or which of its controls.
    """

    repeat: int | None
    shots: int
    seed: int
    part: int = 0
    frame: int = 0
    row: str = FULL

    @property
    def name(self) -> str:
        """For people."""
        if self.repeat is None:
            return f"calibration {self.part + 1} of {CALIBRATIONS}"
        return f"repeat {self.repeat + 1}" + ("" if self.row == FULL else f", {ROWS[self.row]}")


def measurements(request: Mapping[str, Any]) -> tuple[Measurement, ...]:
    """All that a `plan`, or a fixed run's content, measures, in order."""
    seed, readout = request["seed"], request["readout"]
    calibration = [
        Measurement(
            repeat=None,
            shots=-(-readout // CALIBRATIONS),  # as many for both, so that one job takes them
            seed=_drawn(seed, part, 1),
            part=part,
            frame=_drawn(seed, 0, 2),
        )
        for part in range(CALIBRATIONS if readout else 0)
    ]
    repeats = [
        Measurement(repeat=number, shots=request["shots"], seed=own + place, row=row)
        for number, own in enumerate(request["seeds"])
        for place, row in enumerate((FULL, *request["controls"]))
    ]
    return (*calibration, *repeats)


def circuit_for(measurement: Measurement, circuit: DeviceCircuit) -> DeviceCircuit:
    """What is measured: the compiled circuit, or one that calibrates its readout."""
    if measurement.repeat is not None:
        return circuit if measurement.row == FULL else circuit.controls[measurement.row]
    return calibration_circuit(circuit, measurement.part, measurement.frame)


def by_repeat(planned: Sequence[Measurement], readouts: Sequence[RawShots], row: str = FULL) -> list[RawShots]:
    """The shots of each repeat of the circuit, or of one of its controls."""
    pairs = zip(planned, readouts, strict=True)
    return [readout for each, readout in pairs if each.repeat is not None and each.row == row]


def calibration_of(
    circuit: DeviceCircuit, planned: Sequence[Measurement], readouts: Sequence[RawShots]
) -> ReadoutCalibration | None:
    """What calibration read; None if there was none."""
    pairs = [(each, readout) for each, readout in zip(planned, readouts, strict=True) if each.repeat is None]
    if not pairs:
        return None
    width = circuit.gates.num_clbits
    return ReadoutCalibration(
        prepared=np.array([prepared(width, each.part, each.frame) for each, _ in pairs]),
        read=[readout for _, readout in pairs],
        pulse_errors=pulse_errors(circuit),
    )


def _drawn(seed: int, part: int, use: int) -> int:
    """A seed of its own for each part and use; `repeat_seed` has those without a use."""
    return int(np.random.default_rng([seed, part, use]).integers(1 << 31))


FORMAT = "biselect-run-5"
NAME = "manifest.json"
REFERENCE_SECONDS = 60.0  # for each classical reference
EVIDENCE = ("energy", "bound", "solver", "proven_optimal")  # of each classical reference
PROGRAMS = ("sector", "wide")  # places that measure a program, not its gates
PARTS = ("numpy", "scipy", "qiskit", "qiskit-aer", "qiskit-ibm-runtime")


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredRun:
    """A fixed run.

    Attributes:
        content: the manifest, hash included.
        circuit: what is measured.
        folder: where its files and results are.
    """

    content: dict[str, Any]
    circuit: DeviceCircuit
    folder: Path

    @property
    def on(self) -> str:
        """Where it is run."""
        return str(self.content["on"])

    @property
    def kind(self) -> str:
        """What its shots are: an exact simulation, a noise model, hardware, or those of the caller's own sampler."""
        return str(self.content["kind"])

    @property
    def shots(self) -> int:
        """Shots of one repeat."""
        return int(self.content["shots"])

    @property
    def seeds(self) -> list[int]:
        """One seed a repeat."""
        return list(self.content["seeds"])

    @property
    def hash(self) -> str:
        """Of the manifest."""
        return str(self.content["hash"])

    @property
    def readout(self) -> int:
        """Calibration shots by which readout is corrected; 0 where it is not."""
        return int(self.content["readout"])

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        """All that is measured, in order: each is a record of the store, and a job on a service."""
        return measurements(self.content)

    @property
    def threshold(self) -> Threshold:
        """E_BK, with its evidence."""
        return Threshold(**self.content["threshold"])

    def reference(self, objective: str) -> float:
        """The energy of the strict-feasible classical reference, on the `dense` or the `sparse` objective."""
        return float(self.content["references"][objective]["energy"])


def plan(
    circuit: DeviceCircuit,
    on: Any,
    *,
    shots: int,
    repeats: int,
    seed: int,
    threshold: Threshold | None = None,
    readout: int = 0,
    controls: bool = True,
) -> dict[str, Any]:
    """Plan a run: the part of its manifest that must agree when it is taken up again.

    Args:
        circuit: what is measured.
        on: where, as `sampler_for` takes it: a place by name, or a sampler or backend of the caller's own.
        shots: of each repeat.
        repeats: how many.
        seed: fixes the seeds of all repeats.
        threshold: E_BK; the dense classical reference by default.
        readout: calibration shots, of two circuits together, by which readout is corrected; 0 for no correction.
        controls: whether the circuit's controls are measured beside it, with as many shots each.

    Returns:
        JSON data for `freeze`, seeds of all repeats included.

    Raises:
        InputError: a place that is none, a threshold of another problem, or readout correction where nothing is
            misread.
    """
    name, kind = (fixed_name(on), kind_of(on)) if isinstance(on, str) else _named(sampler_for(on))
    shots, repeats, seed = (
        check_integer("shots", shots),
        check_integer("repeats", repeats),
        check_integer("seed", seed, least=0),
    )
    if threshold is not None:
        threshold.of(circuit.problem)
    if check_integer("readout", readout, least=0) == 1:
        raise InputError("readout needs 2 calibration shots at least, one for each of its circuits")
    if name in PROGRAMS and readout:
        raise InputError(f"{name} measures the program, whose readout does not err; leave readout out there")
    request = {
        "format": FORMAT,
        "circuit": dict(circuit.manifest()),
        "on": name,
        "kind": kind,
        "shots": shots,
        "repeats": repeats,
        "seed": seed,
        "seeds": [repeat_seed(seed, repeat) for repeat in range(repeats)],
        "readout": readout,
        "controls": list(circuit.controls) if controls else [],
        "given_threshold": None if threshold is None else asdict(threshold),
    }
    return dict(json.loads(json.dumps(request, allow_nan=False)))  # as a manifest gives it back


def _named(sampler: Sampler) -> tuple[str, str]:
    return sampler.name, sampler.kind


def repeat_seed(seed: int, repeat: int) -> int:
    """The seed of one repeat; does not depend on how many there are."""
    return int(np.random.default_rng([seed, repeat]).integers(1 << 31))


def freeze(circuit: DeviceCircuit, source: str | Path, folder: str | Path, request: dict[str, Any]) -> StoredRun:
    """Fix a run in a folder, or find the same one fixed there already.

    Args:
        circuit: what is measured.
        source: the folder of its files.
        folder: of the run.
        request: from `plan`.

    Returns:
        The run with its manifest, which now holds classical references of both objectives too.

    Raises:
        InputError: the folder holds another run.
    """
    source, folder = Path(source), Path(folder)
    if is_fixed(folder):
        finish_interrupted(folder)
        fixed = load_run(folder)
        if other := [name for name in request if fixed.content.get(name) != request[name]]:
            raise InputError(f"{folder}: holds another run (it differs in {', '.join(other)}); give another folder")
        return fixed
    problems = {"dense": circuit.problem, "sparse": circuit.surrogate}
    selections = {
        name: solve(problem, "auto", seed=0, time_limit=REFERENCE_SECONDS) for name, problem in problems.items()
    }
    threshold = request["given_threshold"] or asdict(Threshold.from_selection(selections["dense"]))
    references = {name: {fact: getattr(best, fact) for fact in EVIDENCE} for name, best in selections.items()}
    sparse = selections["sparse"]
    references["sparse"]["dense_energy"] = circuit.problem.energy(sparse.samples, sparse.features)
    content = seal({**request, "threshold": threshold, "references": references, "versions": installed(PARTS)})
    needed = {name: (source / name).read_bytes() for name in NEEDED}
    for name in NEEDED:
        if (folder / name).exists() and (folder / name).read_bytes() != needed[name]:
            raise InputError(f"{folder / name}: is there already and is not of this run; give another folder")
    try:
        write_folder(folder, {**needed, NAME: json_bytes(content)}, once=True)
    except FileExistsError:  # another process was first: its run counts
        return freeze(circuit, source, folder, request)
    return StoredRun(content=content, circuit=circuit, folder=folder)


def is_fixed(folder: str | Path) -> bool:
    """Whether a folder holds a manifest already."""
    return (Path(folder) / NAME).exists()


def load_run(folder: str | Path) -> StoredRun:
    """Load a fixed run from its folder.

    Raises:
        InputError: the manifest is of another release, or was changed.
    """
    folder = Path(folder)
    path = folder / NAME
    content = read_json(path)
    if not is_run(content):
        raise InputError(f"{path}: not the manifest of a run ({FORMAT})")
    if content["format"] != FORMAT:
        raise InputError(
            f"{path}: its format is {content['format']}, of another release; this one reads {FORMAT}, so fix the run "
            "anew in another folder"
        )
    check_seal(content, path)
    with refused_as(f"{path}: not the manifest of a run"):
        run = StoredRun(content=content, circuit=circuit_of(content["circuit"], folder), folder=folder)
        seeds = [check_integer("a seed", seed, least=0) for seed in run.seeds]
        if len(seeds) != check_integer("repeats", content["repeats"]) or not check_integer("shots", content["shots"]):
            raise ValueError("it has another number of seeds than of repeats")
        if not set(content["controls"]) <= set(run.circuit.controls):
            raise ValueError("it measures controls that its circuit has not")
        check_integer("the seed", content["seed"], least=0)
        if check_integer("readout", content["readout"], least=0) == 1:
            raise ValueError("it has a single shot for two circuits of calibration")
        _ = run.measurements
        run.threshold.of(run.circuit.problem)
        for objective in ("dense", "sparse"):
            number("the energy of a reference", run.reference(objective))
        if run.kind != kind_of(run.on) and not (run.on.partition(":")[0] in GIVEN and run.kind in KINDS):
            raise ValueError(f"shots of {run.on} are not what it says")
    return run


def is_run(content: Any) -> bool:
    """Whether this is the manifest of a run, of any release, and not that of a circuit."""
    return isinstance(content, dict) and str(content.get("format")).startswith("biselect-run-")
