"""Amazon Braket through qiskit-braket-provider. No real device was reached so far: tests answer as its client does."""

import time
from collections.abc import Iterator
from typing import Any, Self

from biselect.errors import InputError, MissingDependencyError
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.execute import remote
from biselect.hardware.execute.ionq_gates import PAIRS, characterized, in_native_gates, refuse_other_gates
from biselect.hardware.execute.scrub import scrubbed
from biselect.hardware.published import ion_traps
from biselect.hardware.targets import from_published, snapshot

TAG = "biselect"
PAUSE = 5.0  # seconds between two questions whether a task is done
PAGES = 20  # of a hundred tasks each, that are looked through for a tag
NO_ANSWER = {"HTTPClientError", "ConnectionError", "EndpointConnectionError"}  # botocore's, without a status


class BraketSampling(remote.Service):
    """Shots of a device behind Amazon Braket, of exactly the compiled gates: circuits are handed in verbatim."""

    finds = True

    def __init__(self, backend: Any, device: Any, where: str) -> None:
        self._backend = backend
        self._device = device
        self.name = f"braket:{where}"

    @classmethod
    def connect(cls, where: str) -> Self:
        """A device by its ARN or by Braket's name for it; the account is that of the AWS tools."""
        try:
            from braket.aws import AwsDevice
            from qiskit_braket_provider import BraketAwsBackend
        except ImportError as error:
            raise MissingDependencyError(
                "Amazon Braket needs qiskit-braket-provider: pip install 'biselect[braket]'"
            ) from error
        try:
            found = [AwsDevice(where)] if where.startswith("arn:") else AwsDevice.get_devices(names=[where])
            if len(found) != 1:
                raise InputError(f"{len(found)} devices of that name; give the ARN")
            backend = BraketAwsBackend(device=found[0])
        except Exception as error:
            raise InputError(
                f"no access to braket:{where}: {scrubbed(error)}; set up the account with `aws configure` or AWS's "
                "variables"
            ) from None
        if found[0].type.value != "QPU":
            raise InputError(f"braket:{where} is a simulator; run the circuit on aer or noisy:DEVICE here instead")
        return cls(backend, found[0], where)

    @property
    def _is_ionq(self) -> bool:
        return str(self._device.provider_name).lower() == "ionq"

    def check(self, compiled: Compiled) -> None:
        """The gates must be those of the device; Braket itself says so of any but IonQ's."""
        if self._is_ionq:
            refuse_other_gates(compiled, self._pair, self.name)

    @property
    def _pair(self) -> str:
        """The two-qubit gate of an IonQ device, in our words."""
        own = {gate.lower() for gate in self._device.properties.paradigm.nativeGateSet}
        return next((pair for pair, native in PAIRS.items() if native in own), "rzz")

    def snapshot(self) -> dict[str, Any]:
        """The device's calibration as Braket tells it now."""
        if not self._is_ionq:
            return super().snapshot()
        with self._guarded("reading the calibration"):
            told = self._device.properties
            trap = ion_traps()["ionq-aria" if self._pair == "rxx" else "ionq-forte"]
            figures = told.provider.fidelity, told.provider.timing
            return snapshot(from_published(characterized(trap, told.paradigm.qubitCount, *figures)))

    def find(self, tag: str) -> str | None:
        """The latest task with the tag."""
        with self._guarded("looking for earlier jobs"):
            found = [task for task in self._tasks() if task.get("tags", {}).get(TAG) == tag]
        return str(max(found, key=lambda task: task["createdAt"])["quantumTaskArn"]) if found else None

    def _tasks(self) -> Iterator[dict[str, Any]]:
        """Tasks of this account on this device."""
        client = self._device.aws_session.braket_client
        wanted = [{"name": "deviceArn", "operator": "EQUAL", "values": [self._device.arn]}]
        more: dict[str, str] = {}
        for _ in range(PAGES):
            page = client.search_quantum_tasks(filters=wanted, maxResults=100, **more)
            yield from page["quantumTasks"]
            if not page.get("nextToken"):
                return
            more = {"nextToken": page["nextToken"]}

    def _run(self, circuit: Any, shots: int, tag: str) -> Any:
        native = in_native_gates(circuit) if self._is_ionq else circuit
        return self._backend.run(native, shots=shots, verbatim=True, disable_qubit_rewiring=True, tags={TAG: tag})

    def _measured(self, job: str, wait: float | None) -> Any:
        handle = self._backend.retrieve_job(job)
        until = None if wait is None else time.monotonic() + wait
        while (state := handle.status().name) not in ("DONE", "ERROR", "CANCELLED"):
            if until is not None and time.monotonic() >= until:
                raise TimeoutError(f"task {job} is {state.lower()}")
            time.sleep(PAUSE if until is None else max(0.0, min(PAUSE, until - time.monotonic())))
        if state != "DONE":
            raise remote.JobFailedError(f"job {job} ended as {state.lower()}")
        return handle.result().get_counts()

    def _meaning(self, error: Exception) -> type[remote.ServiceError]:
        if type(error) is TimeoutError:
            return remote.StillWaitingError
        kinds = {kind.__name__ for kind in type(error).__mro__}
        answer = getattr(error, "response", None)
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(answer, dict) else None
        lost = bool(kinds & NO_ANSWER) or remote.is_lost(error, status)
        return remote.ConnectionLostError if lost else remote.ServiceError

    def _secrets(self) -> list[str]:
        session = getattr(getattr(self._device, "aws_session", None), "boto_session", None)
        held = None if session is None else session.get_credentials()
        found = [] if held is None else [held.access_key, held.secret_key, held.token]
        return [value for value in found if value]
