"""IBM Quantum through Qiskit Runtime's SamplerV2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from biselect.errors import InputError, MissingDependencyError
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.execute.readout import Readout
from biselect.hardware.execute.remote import (
    GO_ON,
    ConnectionLostError,
    JobFailedError,
    ServiceError,
    StillWaitingError,
    is_lost,
    read_shots,
)
from biselect.hardware.execute.samplers import HARDWARE
from biselect.hardware.execute.scrub import account_secrets, scrubbed
from biselect.hardware.targets import snapshot

try:
    from qiskit_ibm_runtime import QiskitRuntimeService, SamplerV2, Session
    from qiskit_ibm_runtime.api.exceptions import RequestsApiError
    from qiskit_ibm_runtime.exceptions import (
        RuntimeInvalidStateError,
        RuntimeJobFailureError,
        RuntimeJobMaxTimeoutError,
        RuntimeJobTimeoutError,
    )
except ImportError as error:
    raise MissingDependencyError("IBM devices need Qiskit Runtime: pip install 'biselect[quantum]'") from error

WAIT = 3600.0  # seconds that `sample` waits for one job


class IbmSampling:
    """Shots of an IBM device.

    Args:
        mode: a backend for single jobs, or the caller's own Session or Batch; none is ever opened here.
        service: the QiskitRuntimeService that knows the jobs.
        make_sampler: SamplerV2, or what behaves like it.
    """

    kind = HARDWARE
    remark = ""
    finds = True

    def __init__(self, mode: Any, service: Any, make_sampler: Callable[..., Any] = SamplerV2) -> None:
        self._service = service
        self._mode = mode
        self._make_sampler = make_sampler
        self._backend = mode._backend if isinstance(mode, Session) else mode  # a Batch is a Session too
        self.name = f"ibm:{self._backend.name}"

    @classmethod
    def connect(cls, device: str) -> IbmSampling:
        """The device, by the account that Qiskit Runtime has stored or finds in its environment variables."""
        try:
            service = QiskitRuntimeService()
            backend = service.backend(device, use_fractional_gates=True)
        except Exception as error:
            raise InputError(
                f"no access to ibm:{device}: {scrubbed(error, _stored_secrets())}; store an account with "
                "QiskitRuntimeService.save_account or set QISKIT_IBM_TOKEN"
            ) from None
        return cls(backend, service)

    def check(self, compiled: Compiled) -> None:
        """The service itself refuses what its device cannot run, before it takes the job."""

    def sample(self, compiled: Compiled, shots: int, seed: int) -> Readout:
        """Submit and wait; a device draws its own shots, so the seed only names the job."""
        return self.collect(self.submit(compiled, shots, f"biselect-{seed}"), WAIT)

    def submit(self, compiled: Compiled, shots: int, tag: str) -> str:
        """One job of one circuit, found again by its tag."""
        with self._guarded("submitting"):
            sampler = self._make_sampler(mode=self._mode, options={"environment": {"job_tags": [tag]}})
            return str(sampler.run([compiled.circuit], shots=shots).job_id())

    def find(self, tag: str) -> str | None:
        """The latest job with the tag."""
        with self._guarded("looking for earlier jobs"):
            found = self._service.jobs(job_tags=[tag], limit=1)
        return str(found[0].job_id()) if found else None

    def collect(self, job: str, wait: float | None) -> Readout:
        """The shots of a job."""
        with self._guarded(f"waiting for job {job}", job):
            result = self._service.job(job).result(timeout=wait)
            if result is None or not len(result):
                raise JobFailedError(f"job {job} ended without a result")
            return read_shots(job, result[0].join_data())

    def snapshot(self) -> dict[str, Any] | None:
        """The calibration of the moment."""
        with self._guarded("reading the calibration"):
            return snapshot(self._backend)

    @contextmanager
    def _guarded(self, doing: str, job: str | None = None) -> Iterator[None]:
        """Their errors as ours. The cause is cut off: its text may hold what must not be seen."""
        try:
            yield
        except ServiceError:
            raise
        except RuntimeJobTimeoutError:
            raise StillWaitingError(f"job {job} is not done yet; {GO_ON}") from None
        except (RuntimeJobFailureError, RuntimeJobMaxTimeoutError, RuntimeInvalidStateError) as error:
            raise JobFailedError(f"job {job} failed: {self._said(error)}") from None
        except Exception as error:
            said = f"{self.name}, while {doing}: {self._said(error)}"
            if _unanswered(error):
                raise ConnectionLostError(f"{said}; {GO_ON}") from None
            raise ServiceError(said) from None

    def _said(self, error: Exception) -> str:
        return scrubbed(error, [*account_secrets(self._service.active_account()), *_stored_secrets()])


def _unanswered(error: BaseException) -> bool:
    """Whether the service said nothing, so that what it was asked may be done all the same.

    Qiskit Runtime wraps what its connection raises with the code of the answer, -1 without any, and hides that in
    errors of its own.
    """
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, RequestsApiError):
        seen = seen.__cause__ or seen.__context__
    if seen is None:
        return is_lost(error)
    return not 0 <= seen.status_code < 500


def _stored_secrets() -> list[str]:
    """What the account store holds, which messages may repeat."""
    try:
        return account_secrets(QiskitRuntimeService.saved_accounts())
    except Exception:  # a store that cannot be read has none to give away
        return []
