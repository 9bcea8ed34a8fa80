"""The circuits of a hardware table on a device: compiled for it, fixed as runs, measured, and taken up again.

`runs/` lies beside the cells and is shared like them, so a circuit that stands in two tables is paid for once:
`runs/DEVICE/CIRCUIT/circuit` is what was compiled for the device as it was then, `runs/DEVICE/CIRCUIT/10x4096` a run as
`biselect run` makes it, with its manifest, jobs and results.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.hardware.execute import Outcome, Run, StoredCircuit
    from biselect.hardware.execute.remote import Service
    from biselect.hardware.execute.samplers import Sampler
    from biselect.studies.experiments.heron_case import Prepared
    from biselect.studies.study import Study

RUNS, CIRCUIT, THRESHOLD = "runs", "circuit", "threshold.json"
SEED = 0
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Circuit:
    """One circuit of a hardware table.

    Attributes:
        name: of its folder.
        experiment: module of `studies.experiments` whose `prepare(cell, target)` compiles it.
        cell: its parameters, as pairs.
        hardware: repeats, and shots of each, on hardware.
        model: the same under a noise model, where every shot costs processor time.
    """

    name: str
    experiment: str
    cell: tuple[tuple[str, Any], ...]
    hardware: tuple[int, int]
    model: tuple[int, int]

    def size(self, device: str) -> tuple[int, int]:
        """Repeats and shots on a device, or in the folder of one."""
        return self.hardware if device.startswith(("ibm", "iqm")) else self.model


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """What a device found of a study's circuits.

    Attributes:
        on: the device.
        kind: what its shots are: hardware, or a noise model.
        outcomes: by circuit; None for one that is pending.
    """

    on: str
    kind: str
    outcomes: Mapping[Circuit, Outcome | None]

    @property
    def label(self) -> str:
        """What the column of the device is marked with."""
        return f"on {self.on} ({self.kind.partition(',')[0]})"

    @property
    def owed(self) -> list[str]:
        """Circuits that are pending."""
        return [circuit.name for circuit, found in self.outcomes.items() if found is None]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: every figure of every finished run, and which are pending."""
        return {
            "on": self.on,
            "kind": self.kind,
            "label": self.label,
            "runs": {
                circuit.name: "pending" if found is None else found.to_dict()
                for circuit, found in self.outcomes.items()
            },
        }


def measured(study: Study, folder: Path, quick: bool) -> list[Measured]:
    """What the runs in a folder have found of a study; asks no device. One that none was fixed for is left out."""
    from biselect.hardware.execute.devices import kind_of

    if study.device is None or not (folder / RUNS).is_dir():
        return []
    found = []
    for home in sorted((folder / RUNS).iterdir()):
        runs = {circuit: _kept_run(home, circuit) for circuit in study.device.circuits(quick)}
        fixed = [run for run in runs.values() if run is not None]
        if fixed:
            outcomes = {circuit: None if run is None else _kept_outcome(run) for circuit, run in runs.items()}
            found.append(Measured(on=fixed[0].on, kind=kind_of(fixed[0].on), outcomes=outcomes))
    return found


def device_note(devices: Sequence[Measured]) -> str:
    """What a reader must know of the columns of devices, or that there are none."""
    if not devices:
        return "No column was measured on a device; --device does that."
    said = "; ".join(f"{device.on}: {device.kind}" for device in devices)
    owed = [f"{name} on {device.on}" for device in devices for name in device.owed]
    return (
        f"Columns of devices ({said}): the same conditions, compiled for the device's own best patch with angles found "
        "for it, beside the paper's device and not compared. p_BK is pooled over all shots with its exact 95 % "
        "interval; 'by repeat' is the median with the lowest and highest repeat, exact-budget mass the mean with both; "
        "a gap is that of the best shot, up to the worst repeat's. All that the runs say is under 'devices' in "
        "results.json." + (f" Pending: {', '.join(owed)}." if owed else "")
    )


class OnDevice:
    """A study's circuits on one device.

    Args:
        study: one with hardware columns.
        folder: as `reproduce` takes it.
        on: the device: noisy:NAME, local:NAME, ibm:NAME or iqm:ADDRESS.
        quick: the short form.
        wait: seconds to wait for each job of a service; without end by default.
        resubmit: as `execute` takes it.
        say: told what happens.
    """

    def __init__(
        self,
        study: Study,
        folder: Path,
        on: str,
        *,
        quick: bool = False,
        wait: float | None = None,
        resubmit: bool = False,
        say: Say = lambda text: None,
    ) -> None:
        from biselect.hardware.execute.devices import kind_of
        from biselect.hardware.execute.samplers import EXACT

        if study.device is None:
            raise InputError(f"{study.name} has no hardware columns, so there is nothing to run on a device")
        if kind_of(on) == EXACT:
            raise InputError(f"{on} is no device: give noisy:NAME, local:NAME, ibm:NAME or iqm:ADDRESS")
        self.on = on
        self.pending: dict[str, str] = {}
        self._circuits = study.device.circuits(quick)
        self._left = list(self._circuits)  # those that this call has still to ask about
        self._home = folder / RUNS / "".join(c if c.isalnum() else "-" for c in on)
        self._wait, self._resubmit, self._say = wait, resubmit, say

    @cached_property
    def _sampler(self) -> Sampler | Service:
        """Connected to when it is first needed: finished runs need nobody."""
        from biselect.hardware.execute.devices import sampler_for

        return sampler_for(self.on)

    @cached_property
    def _target(self) -> Any:
        """The device as it is now."""
        from biselect.hardware.execute.remote import Service
        from biselect.hardware.targets import from_snapshot, load_target

        if not isinstance(self._sampler, Service):
            return load_target(self.on.partition(":")[2])
        content = self._sampler.snapshot()
        if content is None:
            raise InputError(f"{self.on} does not say what it can do, so nothing can be compiled for it")
        return from_snapshot(content)

    def forecast(self) -> list[dict[str, Any]]:
        """What is to be run, circuit by circuit, with the device's estimated time; runs nothing."""
        from biselect.hardware.execute.findings import device_seconds
        from biselect.hardware.execute.runner import standing

        found = []
        for circuit in self._circuits:
            compiled = self._compiled(circuit).compiled
            repeats, shots = circuit.size(self.on)
            run = _kept_run(self._home, circuit)
            done, handed_in = (0, 0) if run is None else standing(run)
            left = repeats - done - handed_in
            found.append(
                {
                    "circuit": circuit.name,
                    "qubits": compiled.program.qubits,
                    "depth": compiled.resources.depth,
                    "two_qubit_gates": compiled.resources.two_qubit_gates,
                    "shots": shots,
                    "repeats": repeats,
                    "repeats_done": done,
                    "repeats_handed_in": handed_in,
                    "repeats_left": left,
                    "estimated_device_seconds": device_seconds(compiled.resources, shots, left),
                }
            )
        return found

    def hand_in(self) -> None:
        """Compile and fix what is not yet, and give a service all its jobs; nobody waits."""
        from biselect.hardware.execute.devices import kind_of
        from biselect.hardware.execute.manifest import is_fixed
        from biselect.hardware.execute.samplers import HARDWARE

        stored = {circuit: self._compiled(circuit) for circuit in self._circuits}
        for circuit in self._circuits:  # all of them before the first is fixed
            if not is_fixed(_run_folder(self._home, circuit)):
                self._sampler.check(stored[circuit].compiled)
        for circuit in self._circuits:
            run = self._fixed(circuit, stored[circuit])
            if kind_of(self.on) == HARDWARE and circuit in self._left:
                self._attempt(circuit, run, wait=0.0, resubmit=self._resubmit)

    def collect(self) -> None:
        """Measure, or wait for what was handed in; what does not come stays in `pending`, with the reason."""
        from biselect.hardware.execute.manifest import load_run

        for circuit in list(self._left):
            self._attempt(circuit, load_run(_run_folder(self._home, circuit)), wait=self._wait)

    def _compiled(self, circuit: Circuit) -> StoredCircuit:
        """The circuit as it was compiled when it was first asked for, whatever the device has become since."""
        from biselect.hardware.execute.circuit_files import load_circuit

        folder = self._home / circuit.name / CIRCUIT
        if not folder.exists():
            self._say(f"{circuit.name}: choosing a patch, placing, finding angles and compiling")
            module = import_module(f"biselect.studies.experiments.{circuit.experiment}")
            _store(module.prepare(dict(circuit.cell), self._target), folder)
        return load_circuit(folder)

    def _fixed(self, circuit: Circuit, stored: StoredCircuit) -> Run:
        from biselect.hardware.execute.manifest import freeze, plan
        from biselect.qaoa.thresholds import load_thresholds

        source = self._home / circuit.name / CIRCUIT
        known = load_thresholds(source / THRESHOLD) if (source / THRESHOLD).exists() else [None]
        repeats, shots = circuit.size(self.on)
        asked = plan(stored, self.on, shots=shots, repeats=repeats, seed=SEED, threshold=known[0])
        return freeze(stored, source, _run_folder(self._home, circuit), asked)

    def _attempt(self, circuit: Circuit, run: Run, *, wait: float | None, resubmit: bool = False) -> None:
        """Do what is left of a run. A job that failed is not handed in twice in one call: that costs money."""
        from biselect.hardware.execute.findings import conclude
        from biselect.hardware.execute.remote import ConnectionLostError, ServiceError, StillWaitingError
        from biselect.hardware.execute.runner import execute, standing
        from biselect.hardware.execute.store import BusyError

        def say(text: str) -> None:
            self._say(f"{circuit.name}: {text}")

        try:
            sampler = None if standing(run)[0] == len(run.seeds) else self._sampler
            conclude(run, execute(run, sampler, wait=wait, resubmit=resubmit, say=say))
        except StillWaitingError as error:
            self.pending[circuit.name] = str(error)
            return
        except (ServiceError, BusyError) as error:
            self.pending[circuit.name] = str(error)
            if isinstance(error, ConnectionLostError):
                self.pending |= {each.name: "the connection was lost" for each in self._left if each != circuit}
                self._left = []
        else:
            self.pending.pop(circuit.name, None)
        if circuit in self._left:
            self._left.remove(circuit)


def _run_folder(home: Path, circuit: Circuit) -> Path:
    repeats, shots = circuit.size(home.name)
    return home / circuit.name / f"{repeats}x{shots}"


def _kept_run(home: Path, circuit: Circuit) -> Run | None:
    from biselect.hardware.execute.manifest import is_fixed, load_run

    folder = _run_folder(home, circuit)
    return load_run(folder) if is_fixed(folder) else None


def _kept_outcome(run: Run) -> Outcome | None:
    """The figures of a finished run; None for one that is not, or that another process is at."""
    from biselect.hardware.execute.findings import outcome
    from biselect.hardware.execute.runner import execute, standing
    from biselect.hardware.execute.store import BusyError

    try:
        return outcome(run, execute(run)) if standing(run)[0] == len(run.seeds) else None
    except BusyError:
        return None


def _store(prepared: Prepared, folder: Path) -> None:
    """Write a circuit's files and its threshold; the folder appears whole or not at all."""
    from biselect.hardware.execute.circuit_files import circuit_contents
    from biselect.qaoa.thresholds import save_thresholds

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".writing-") as name:
            staging = Path(name) / CIRCUIT
            staging.mkdir()
            for each, content in circuit_contents(prepared.bundle).items():
                (staging / each).write_bytes(content)
            if prepared.threshold is not None:
                save_thresholds(staging / THRESHOLD, [prepared.threshold])
            if not folder.exists():  # else another process was first
                os.replace(staging, folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot write there: {error.strerror or error}") from error
