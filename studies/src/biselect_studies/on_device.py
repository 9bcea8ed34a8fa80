"""The circuits of a hardware table on a device: compiled for it, fixed as runs, measured, and taken up again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.core.files import write_folder
from biselect.errors import InputError
from biselect_quantum.circuits.thresholds import Threshold
from biselect_quantum.devices import DeviceCircuit
from biselect_quantum.devices.circuit_files import circuit_contents, load_circuit
from biselect_quantum.devices.execution.outcomes import conclude, device_seconds
from biselect_quantum.devices.execution.remote import ConnectionLostError, Service, ServiceError, StillWaitingError
from biselect_quantum.devices.execution.run import StoredRun, freeze, is_fixed, load_run, plan
from biselect_quantum.devices.execution.runner import execute, progress
from biselect_quantum.devices.execution.samplers import EXACT, HARDWARE, Sampler, kind_of, sampler_for
from biselect_quantum.devices.execution.store import BusyError
from biselect_quantum.devices.targets import from_snapshot, load_target
from biselect_studies.measured import ORIGIN, RUNS, Circuit, home_name, kept_run, run_folder
from biselect_studies.task import experiment_module

if TYPE_CHECKING:
    from biselect_studies.experiments.heron import Prepared
    from biselect_studies.study import Study

COMPILED = "circuit"
SEED = 0
Say = Callable[[str], None]


class OnDevice:
    """A study's circuits on one device.

    Args:
        study: one with hardware columns.
        folder: as `reproduce` takes it.
        on: the device: noisy:NAME or ibm:NAME.
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
        if study.device is None:
            raise InputError(f"{study.name} has no hardware columns, so there is nothing to run on a device")
        if kind_of(on) == EXACT:
            raise InputError(f"{on} is no device: give noisy:NAME or ibm:NAME")
        self.on = on
        self.pending: dict[str, str] = {}
        self._circuits = study.device.circuits(quick)
        self._left = list(self._circuits)  # those that this call has still to ask about
        self._home = folder / RUNS / home_name(on)
        self._wait, self._resubmit, self._say = wait, resubmit, say

    @cached_property
    def _sampler(self) -> Sampler | Service:
        """Connected to when it is first needed: finished runs need nobody."""
        return sampler_for(self.on)

    @cached_property
    def _target(self) -> Any:
        """The device as it is now."""
        if not isinstance(self._sampler, Service):
            return load_target(self.on.partition(":")[2])
        content = self._sampler.snapshot()
        if content is None:
            raise InputError(f"{self.on} does not say what it can do, so nothing can be compiled for it")
        return from_snapshot(content)

    def forecast(self) -> list[dict[str, Any]]:
        """What is to be run, circuit by circuit, with the device's estimated time; runs nothing."""
        found = []
        for circuit in self._circuits:
            compiled = self._compiled(circuit)
            repeats, shots = circuit.size(self.on)
            run = kept_run(self._home, circuit)
            done: int | None
            handed_in: int | None
            try:
                done, handed_in = (0, 0) if run is None else progress(run)
                left = repeats - done - handed_in
            except BusyError:  # another process sees to what is left
                done, handed_in, left = None, None, 0
            found.append(
                {
                    "circuit": circuit.name,
                    "qubits": compiled.program.qubits,
                    "depth": compiled.resources.depth,
                    "two_qubit_gates": compiled.resources.two_qubit_gates,
                    "shots": shots,
                    "repeats": repeats,
                    "being_measured": done is None,
                    "repeats_done": done,
                    "repeats_handed_in": handed_in,
                    "repeats_left": left,
                    "estimated_device_seconds": device_seconds(compiled.resources, shots * left),
                }
            )
        return found

    def hand_in(self) -> None:
        """Compile and fix what is not yet, and give a service all its jobs; nobody waits."""
        stored = {circuit: self._compiled(circuit) for circuit in self._circuits}
        for circuit in self._circuits:  # all of them before the first is fixed
            if not is_fixed(run_folder(self._home, circuit)):
                self._sampler.check(stored[circuit])
        for circuit in self._circuits:
            run = self._fixed(circuit, stored[circuit])
            if kind_of(self.on) == HARDWARE and circuit in self._left:
                self._attempt(circuit, run, wait=0.0, resubmit=self._resubmit)

    def collect(self) -> None:
        """Measure, or wait for what was handed in; what does not come stays in `pending`, with the reason."""
        for circuit in list(self._left):
            try:
                self._attempt(circuit, load_run(run_folder(self._home, circuit)), wait=self._wait)
            except InputError as error:  # a run that was damaged meanwhile; what others found is kept
                self.pending[circuit.name] = str(error)

    def _compiled(self, circuit: Circuit) -> DeviceCircuit:
        """The circuit as it was compiled when it was first asked for, whatever the device has become since."""
        folder = self._home / circuit.name / COMPILED
        if not folder.exists():
            self._say(f"{circuit.name}: choosing a patch, placing, finding angles and compiling")
            prepare = getattr(import_module(experiment_module(circuit.experiment)), f"{circuit.experiment}_circuit")
            _store(prepare(dict(circuit.cell), self._target), circuit.origin(self.on), folder)
        stored = load_circuit(folder)
        circuit.check(stored, self.on, folder)
        return stored

    def _fixed(self, circuit: Circuit, stored: DeviceCircuit) -> StoredRun:
        known = stored.manifest()[ORIGIN]["threshold"]
        threshold = None if known is None else Threshold(**known)
        repeats, shots = circuit.size(self.on)
        sizes = {"shots": shots, "repeats": repeats, "seed": SEED}
        asked = plan(stored, self.on, **sizes, threshold=threshold, controls=False)
        return freeze(stored, self._home / circuit.name / COMPILED, run_folder(self._home, circuit), asked)

    def _attempt(self, circuit: Circuit, run: StoredRun, *, wait: float | None, resubmit: bool = False) -> None:
        """Do what is left of a run. A job that failed is not handed in twice in one call: that costs money."""

        def say(text: str) -> None:
            self._say(f"{circuit.name}: {text}")

        try:
            sampler = None if progress(run)[0] == len(run.measurements) else self._sampler
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


def _store(prepared: Prepared, origin: dict[str, Any], folder: Path) -> None:
    """Write a circuit's files, sealed with what it is for and its threshold; the folder appears whole or not at all."""
    bundle, threshold = prepared
    sealed = {**origin, "threshold": None if threshold is None else asdict(threshold)}
    contents = circuit_contents(bundle, facts={ORIGIN: sealed})
    with suppress(FileExistsError):  # another process was first, and its circuit is as good
        write_folder(folder, contents, once=True)
