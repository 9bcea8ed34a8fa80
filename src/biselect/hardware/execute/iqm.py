"""IQM devices through IQM's own client, which needs an environment of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

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
from biselect.hardware.execute.scrub import plain_address, scrubbed
from biselect.hardware.targets import snapshot

WAIT = 3600.0


class IqmSampling:
    """Shots of an IQM device.

    Args:
        backend: an IQMBackend, or one that behaves like it.
        address: of the server, without credentials.
    """

    kind = HARDWARE
    remark = ""
    finds = False  # IQM's jobs carry no tags

    def __init__(self, backend: Any, address: str) -> None:
        self._backend = backend
        self.name = f"iqm:{plain_address(address)}"

    @classmethod
    def connect(cls, address: str) -> IqmSampling:
        """A device by https://SERVER/NAME, or by the server alone, which has a default.

        The token comes from IQM_TOKEN or from the file that IQM_TOKENS_FILE names.
        """
        parts = urlsplit(plain_address(address))
        try:
            from iqm.qiskit_iqm import IQMProvider
        except ImportError as error:
            raise MissingDependencyError(
                "IQM devices need IQM's client: pip install 'biselect[iqm]' in an environment of its own, without the "
                "'quantum' extra; IQM's client holds Qiskit below 2.2, IBM's needs 2.3 or newer"
            ) from error
        try:
            provider = IQMProvider(f"{parts.scheme}://{parts.netloc}", quantum_computer=parts.path.strip("/") or None)
            return cls(provider.get_backend(), address)
        except Exception as error:
            raise InputError(f"no access to iqm:{address}: {scrubbed(error)}; set IQM_TOKEN") from None

    def check(self, compiled: Compiled) -> None:
        """The service itself refuses what its device cannot run, before it takes the job."""

    def sample(self, compiled: Compiled, shots: int, seed: int) -> Readout:
        """Submit and wait; a device draws its own shots, whatever the seed."""
        return self.collect(self.submit(compiled, shots, f"biselect-{seed}"), WAIT)

    def submit(self, compiled: Compiled, shots: int, tag: str) -> str:
        """One job of one circuit."""
        with self._guarded("submitting"):
            return str(self._backend.run(compiled.circuit, shots=shots).job_id())

    def find(self, tag: str) -> str | None:
        """IQM's jobs carry no tags."""
        return None

    def collect(self, job: str, wait: float | None) -> Readout:
        """The shots of a job."""
        with self._guarded(f"waiting for job {job}", job):
            handle = self._backend.retrieve_job(job)
            result = handle.result(timeout=WAIT if wait is None else wait)
            if not result.success:
                raise JobFailedError(f"job {job} failed: {scrubbed(handle.error_message())}")
            return read_shots(job, result.get_counts())

    def snapshot(self) -> dict[str, Any] | None:
        """Lattice and gates, and of the calibration what the client tells; IQM names it in the job itself."""
        with self._guarded("reading the device"):
            return snapshot(self._backend)

    @contextmanager
    def _guarded(self, doing: str, job: str | None = None) -> Iterator[None]:
        """Their errors as ours; the cause is cut off, for its text may hold what must not be seen."""
        try:
            yield
        except ServiceError:
            raise
        except Exception as error:
            said = f"{self.name}, while {doing}: {scrubbed(error)}"
            if job is not None and _TIMEOUT in _kinds(error):
                raise StillWaitingError(f"job {job} is not done yet; {GO_ON}") from None
            if _unanswered(error):
                raise ConnectionLostError(f"{said}; {GO_ON}") from None
            raise ServiceError(said) from None


# IQM's classes go by name, for they cannot be imported beside IBM's.
_TIMEOUT = "OperationTimeoutError"
_NO_ANSWER = {_TIMEOUT, "InternalSystemError", "BadGatewayError", "SystemUnavailableError"}  # its client's for 5xx


def _kinds(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _unanswered(error: BaseException) -> bool:
    """Whether the service said nothing, or broke down, so that what it was asked may be done all the same."""
    answer = getattr(getattr(error, "response", None), "status_code", None)
    if answer is not None:
        return not 0 <= answer < 500
    return bool(_kinds(error) & _NO_ANSWER) or is_lost(error)
