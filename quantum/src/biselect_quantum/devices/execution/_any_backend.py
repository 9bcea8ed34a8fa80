"""Samplers that the caller holds: any BaseSamplerV2 and any BackendV2, whoever made it.

Such a one gets the compiled circuit on the device's own qubits if it knows a device or its errors, and else on the
circuit's own qubits alone, for a simulator may set up a state of every qubit that it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import BiselectError, InputError, MissingDependencyError
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.execution.remote import Service, ServiceError, mask_secrets
from biselect_quantum.devices.execution.samplers import DEVICE, EXACT, HARDWARE, NOISE_MODEL, UNKNOWN, RawShots, Sampler
from biselect_quantum.devices.qiskit_circuits import cut, foreign_gate, to_qiskit

try:
    from qiskit import QuantumCircuit
    from qiskit.primitives import BaseSamplerV2, StatevectorSampler
    from qiskit.providers import BackendV2
except ImportError as error:
    raise MissingDependencyError("samplers need Qiskit: pip install ./quantum") from error

RUNTIME = "qiskit_ibm_runtime"
NO_CALIBRATION = "0" * 64
RECORDED = (f"{RUNTIME}.fake_provider", "qiskit.providers.fake_provider")  # backends that simulate a device's errors


def as_sampler(sampler: Any) -> Sampler:
    """The sampler of ours that takes its shots from the given one."""
    if _package(sampler) == RUNTIME and not _is_recorded(sampler) and _is_mode(sampler):
        return _of_runtime(sampler)
    if isinstance(sampler, BaseSamplerV2):
        backend = _backend_of(sampler)
        if _package(sampler) == RUNTIME and _package(backend) == RUNTIME and not _is_recorded(backend):
            return _with_own_options(sampler, backend)
        return (GivenService if with_seed(sampler, 0) is None else GivenSampler)(sampler, backend)
    if isinstance(sampler, BackendV2):
        return GivenBackend(sampler) if hasattr(sampler.options, "seed_simulator") else GivenService(sampler, sampler)
    raise InputError(
        f"a {type(sampler).__name__} takes no shots; give a BaseSamplerV2 or a BackendV2 of Qiskit, or a place by name"
    )


class _Given(Sampler):
    """What both kinds share."""

    _backend: Any

    def check(self, circuit: DeviceCircuit) -> None:
        """A device must have every gate where it is used; a simulator may take another for one without errors."""
        if self._backend is not None and _is_placed(self._backend):
            if foreign := foreign_gate(circuit.gates, self._backend.target):
                raise InputError(
                    f"{self.name} has no {foreign}, which the circuit uses: it was compiled for "
                    f"{circuit.target.description!r}; give this backend to compile_problem instead"
                )

    def _wires(self, circuit: DeviceCircuit) -> QuantumCircuit:
        """The compiled circuit, on the device's qubits or on its own."""
        return circuit.gates if self._backend is not None and _is_placed(self._backend) else cut(circuit.gates)

    @contextmanager
    def _guarded_run(self) -> Iterator[None]:
        """Whatever goes wrong in the caller's sampler, as one error; its text may hold what must not be seen."""
        try:
            yield
        except BiselectError:
            raise
        except Exception as error:
            message = mask_secrets(error) or type(error).__name__
            raise BiselectError(f"{self.name} gave no shots: {type(error).__name__}: {message}") from None


class GivenSampler(_Given):
    """Shots of a BaseSamplerV2 that takes a seed, one circuit at a time: most give the same shots again for a seed."""

    def __init__(self, sampler: BaseSamplerV2, backend: BackendV2 | None) -> None:
        self._sampler, self._backend = sampler, backend
        self.name, self.kind = _sampler_name(sampler, backend), _sampler_kind(sampler, backend)

    def sample(self, circuit: DeviceCircuit, shots: int, seed: int) -> RawShots:
        """Measure with this seed."""
        logical = _keeps_budgets(self._sampler)
        gates = to_qiskit(circuit.bound) if logical else self._wires(circuit)
        with self._guarded_run():
            result = with_seed(self._sampler, seed).run([gates], shots=shots).result()
            bits = bits_of(result[0].data, gates)
            return RawShots.of_variables(circuit, bits) if logical else RawShots.of(bits)


class GivenBackend(_Given):
    """Shots of a BackendV2 that takes a seed, by its own `run`."""

    def __init__(self, backend: BackendV2) -> None:
        self._backend = backend
        self.name, self.kind = f"backend:{_plain(backend.name)}", _kind(backend)

    def sample(self, circuit: DeviceCircuit, shots: int, seed: int) -> RawShots:
        """Measure with this seed."""
        gates = self._wires(circuit)
        with self._guarded_run():
            job = self._backend.run(gates, shots=shots, seed_simulator=seed)
            return RawShots.of(job.result().get_counts(), gates.num_clbits)


class GivenService(_Given, Service):
    """Shots of the caller's sampler or backend that takes no seed: jobs, whose ids are kept before anyone waits.

    A job is asked for again after a kill where the backend gives it by its id (`retrieve_job`, or a service's `job`).
    """

    finds_jobs = False

    def __init__(self, given: Any, backend: BackendV2 | None) -> None:
        self._given, self._backend, self._jobs = given, backend, dict[str, Any]()
        self._is_sampler = isinstance(given, BaseSamplerV2)
        self.name = _sampler_name(given, backend) if self._is_sampler else f"backend:{_plain(given.name)}"
        self.kind = _sampler_kind(given, backend) if self._is_sampler else _kind(given)
        self.remark = f"{self.name} takes no seed: it would not give the same shots again"

    def _job(self, number: str) -> Any:
        if number in self._jobs:
            return self._jobs[number]
        services = [getattr(self._backend, name, None) for name in ("service", "provider")]
        for owner in (self._given, self._backend, *services):
            for name in ("retrieve_job", "job"):
                if callable(give := getattr(owner, name, None)):
                    return give(number)
        raise ServiceError(f"{self.name} gives no job by its number")

    def find(self, tag: str) -> None:
        """Nobody knows it by its tag."""

    def snapshot(self) -> dict[str, Any]:
        """The calibration of the moment, where a backend is known."""
        return {"hash": NO_CALIBRATION} if self._backend is None else super().snapshot()

    def _run(self, circuits: Sequence[DeviceCircuit], shots: int, tag: str) -> Any:
        job = self._given.run([self._wires(circuit) for circuit in circuits], shots=shots)
        self._jobs[str(job.job_id())] = job
        return job

    def _measured(self, job: str, circuits: Sequence[DeviceCircuit], wait: float | None) -> Sequence[Any]:
        result = self._job(job).result()
        if self._is_sampler:
            return [bits_of(pub.data, self._wires(circuit)) for pub, circuit in zip(result, circuits, strict=True)]
        counts = result.get_counts()
        tables = [counts] if isinstance(counts, Mapping) else counts
        return [RawShots.of(each, circuit.gates.num_clbits) for each, circuit in zip(tables, circuits, strict=True)]

    def _meaning(self, error: Exception) -> type[ServiceError]:
        return ServiceError


def with_seed(sampler: BaseSamplerV2, seed: int) -> Any:
    """The same sampler with this seed, the given one untouched; None where it takes none.

    Every repeat of a run needs a seed of its own: most samplers give the same shots again each time they are run.
    """
    options: Any = getattr(sampler, "options", None)
    try:
        if hasattr(getattr(options, "simulator", None), "seed_simulator"):  # Qiskit Runtime's
            twin = _with_own_copy_of_options(sampler)
            twin.options.simulator.seed_simulator = seed + 1  # SamplerV2 takes a seed of 0 for none
            return twin
        if hasattr(options, "seed_simulator"):  # BackendSamplerV2
            twin = _with_own_copy_of_options(sampler)
            twin.options.seed_simulator = seed
            return twin
        if hasattr(sampler, "seed"):  # StatevectorSampler, Aer's SamplerV2, SectorSampler
            twin = copy(sampler)
            twin._seed = seed
            return twin if twin.seed == seed else None
    except Exception:  # one that will not be changed has no seed to us
        return None
    return None


def _with_own_copy_of_options(sampler: Any) -> Any:
    twin = copy(sampler)
    own = deepcopy(sampler.options)
    try:
        twin.options = own
    except AttributeError:  # it only shows them
        twin._options = own
    if twin.options is not own:
        raise InputError("its options cannot be set")
    return twin


def bits_of(data: Any, circuit: QuantumCircuit) -> NDArray[np.uint8]:
    """Shots × classical bits of a pub's result, column c classical bit c, from all registers of the circuit."""
    table: NDArray[np.uint8] | None = None
    for register in circuit.cregs:
        if not len(register):
            continue
        part = data[register.name].to_bool_array("little").reshape(-1, len(register)).astype(np.uint8)
        if table is None:
            table = np.zeros((len(part), circuit.num_clbits), dtype=np.uint8)
        table[:, [circuit.find_bit(bit).index for bit in register]] = part
    if table is None:
        raise InputError("the circuit measures nothing")
    return table


def _of_runtime(mode: Any) -> Sampler:
    """A device, Session or Batch of Qiskit Runtime, with the sampler that `ibm:DEVICE` takes."""
    from biselect_quantum.devices.execution._ibm import IbmSampling, runtime_sampler

    sampler = runtime_sampler(mode, {})
    backend = sampler.backend()
    return GivenSampler(sampler, backend) if _is_recorded(backend) else IbmSampling(mode, backend.service)


def _with_own_options(sampler: Any, backend: Any) -> Sampler:
    """The caller's sampler of an IBM device: its jobs are tagged and found again as ours are."""
    from biselect_quantum.devices.execution._ibm import IbmSampling

    def tagged(mode: Any, options: dict[str, Any]) -> Any:
        twin = copy(sampler)
        twin.options = deepcopy(sampler.options)
        twin.options.environment.job_tags = [
            *(twin.options.environment.job_tags or []),
            *options["environment"]["job_tags"],
        ]
        return twin

    sampling = IbmSampling(sampler.mode or backend, backend.service, tagged)
    sampling.name = _sampler_name(sampler, backend)
    return sampling


def _backend_of(sampler: Any) -> Any:
    """The backend that a sampler runs on, if it has one."""
    backend = getattr(sampler, "backend", None) or getattr(sampler, "_backend", None)
    if callable(backend) and not isinstance(backend, BackendV2):
        backend = backend()
    return backend if isinstance(backend, BackendV2) else None


def _is_mode(mode: Any) -> bool:
    """Whether it is a device, Session or Batch, of which samplers are made."""
    return isinstance(mode, BackendV2) or hasattr(mode, "session_id")


def _is_placed(backend: Any) -> bool:
    """Whether the backend tells qubits apart: by which are coupled, or by their errors."""
    return backend.coupling_map is not None or getattr(backend.options, "noise_model", None) is not None


def _sampler_kind(sampler: Any, backend: Any) -> str:
    if isinstance(sampler, StatevectorSampler) or _keeps_budgets(sampler):
        return EXACT
    return UNKNOWN if backend is None else _kind(backend)


def _kind(backend: Any) -> str:
    if _package(backend) == "qiskit_aer":
        return EXACT if getattr(backend.options, "noise_model", None) is None else NOISE_MODEL
    if _is_recorded(backend):
        return NOISE_MODEL
    return HARDWARE if _package(backend) == RUNTIME else UNKNOWN


def _is_recorded(backend: Any) -> bool:
    return any(kind.__module__.startswith(RECORDED) for kind in type(backend).__mro__)


def _keeps_budgets(sampler: Any) -> bool:
    """Whether it is our own, which reads logical circuits."""
    from biselect_quantum.devices.execution.sector_sampler import SectorSampler

    return isinstance(sampler, SectorSampler)


def _sampler_name(sampler: Any, backend: Any) -> str:
    place = "" if backend is None else f"-on-{_plain(backend.name)}"
    return f"sampler:{_plain(f'{_package(sampler)}.{type(sampler).__name__}')}{place}"


def _package(thing: Any) -> str:
    return type(thing).__module__.partition(".")[0]


def _plain(name: Any) -> str:
    """A name as a manifest takes it: of letters, digits, '_', '.' and '-'."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", str(name)).strip("-")
    return plain if DEVICE.fullmatch(plain) else "unnamed"
