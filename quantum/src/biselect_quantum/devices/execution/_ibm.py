"""IBM Quantum through Qiskit Runtime's client-side sampler."""

from collections.abc import Callable, Sequence
from typing import Any, Self

from biselect.errors import InputError, MissingDependencyError
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.execution import remote
from biselect_quantum.devices.execution.remote import account_secrets, mask_secrets
from biselect_quantum.devices.qiskit_circuits import check_gates

try:
    from qiskit_ibm_runtime import QiskitRuntimeService, Session, exceptions
    from qiskit_ibm_runtime.api.exceptions import RequestsApiError
    from qiskit_ibm_runtime.executor_sampler import Sampler as RuntimeSampler
except ImportError as error:
    raise MissingDependencyError("IBM devices need Qiskit Runtime: pip install ./quantum") from error

FAILED = (exceptions.RuntimeJobFailureError, exceptions.RuntimeJobMaxTimeoutError, exceptions.RuntimeInvalidStateError)


def runtime_sampler(mode: Any, options: dict[str, Any]) -> RuntimeSampler:
    """The sampler that hands jobs to IBM's executor, which took the place of SamplerV2 in 0.50."""
    return RuntimeSampler(mode=mode, options=options)


class IbmSampling(remote.Service):
    """Shots of an IBM device.

    `mode` is a backend for single jobs, or the caller's own Session or Batch; none is ever opened here. `service` is
    the QiskitRuntimeService that knows the jobs.
    """

    def __init__(self, mode: Any, service: Any, make_sampler: Callable[..., Any] = runtime_sampler) -> None:
        self._service = service
        self._mode = mode
        self._make_sampler = make_sampler
        self._backend = mode._backend if isinstance(mode, Session) else mode  # a Batch is a Session too
        self.name = f"ibm:{self._backend.name}"

    def check(self, circuit: DeviceCircuit) -> None:
        """The device must have every gate where it is used; the client no longer looks before it hands in."""
        check_gates(circuit.gates, circuit.target.description, self._backend.target, self.name)

    @classmethod
    def connect(cls, device: str) -> Self:
        """The device, by the account that Qiskit Runtime has stored or finds in its environment variables."""
        try:
            service = QiskitRuntimeService()
            backend = service.backend(device, use_fractional_gates=True)
        except Exception as error:
            raise InputError(
                f"no access to ibm:{device}: {mask_secrets(error, _stored_secrets())}; store an account with "
                "QiskitRuntimeService.save_account or set QISKIT_IBM_TOKEN"
            ) from None
        return cls(backend, service)

    def find(self, tag: str) -> str | None:
        """The latest job with the tag."""
        with self._guarded("looking for earlier jobs"):
            jobs = self._service.jobs(job_tags=[tag], limit=1)
        return str(jobs[0].job_id()) if jobs else None

    def _run(self, circuits: Sequence[DeviceCircuit], shots: int, tag: str) -> Any:
        sampler = self._make_sampler(mode=self._mode, options={"environment": {"job_tags": [tag]}})
        return sampler.run([circuit.gates for circuit in circuits], shots=shots)

    def _measured(self, job: str, circuits: Sequence[DeviceCircuit], wait: float | None) -> Sequence[Any]:
        result = self._service.job(job).result(timeout=wait)
        if result is None:
            raise remote.JobFailedError(f"job {job} ended without a result")
        return [pub.join_data() for pub in result]

    def _meaning(self, error: Exception) -> type[remote.ServiceError]:
        if isinstance(error, exceptions.RuntimeJobTimeoutError):
            return remote.StillWaitingError
        if isinstance(error, FAILED):
            return remote.JobFailedError
        return remote.ConnectionLostError if remote.is_lost(error, _status(error)) else remote.ServiceError

    def _secrets(self) -> list[str]:
        return [*account_secrets(self._service.active_account()), *_stored_secrets()]


def _status(error: BaseException) -> int | None:
    """The status of the service's answer; -1 if it gave none.

    Qiskit Runtime wraps what its connection raises together with the status, and hides that in errors of its own.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, RequestsApiError):
        cause = cause.__cause__ or cause.__context__
    return None if cause is None else cause.status_code


def _stored_secrets() -> list[str]:
    """What the account store holds, which messages may repeat."""
    try:
        return account_secrets(QiskitRuntimeService.saved_accounts())
    except Exception:  # a store that cannot be read shows nothing in a message either
        return []
