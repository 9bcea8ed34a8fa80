"""Services: shots that are paid for, arrive later, and must survive a lost connection."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from biselect.errors import BiselectError
from biselect_quantum.devices.compiled_circuit import Compiled
from biselect_quantum.devices.decode import bit_table
from biselect_quantum.devices.execution.samplers import HARDWARE, Readout, Sampler
from biselect_quantum.devices.execution.scrub import scrubbed
from biselect_quantum.devices.targets import snapshot

GO_ON = "jobs that were handed in are kept, run again to go on"
WAIT = 3600.0  # seconds that `sample` waits for one job
LOCAL = (PermissionError, FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)


class ServiceError(BiselectError):
    """A service did not do what it was asked; the message says what is kept and what to do."""


class JobFailedError(ServiceError):
    """The job ended without shots."""


class StillWaitingError(ServiceError):
    """The job is queued or running, and the time to wait is over."""


class ConnectionLostError(ServiceError):
    """The service cannot be reached; jobs go on without us."""


class DoubtfulJobError(ServiceError):
    """Handing a job in again may pay for it twice; the caller must ask for it with `resubmit=True`."""


class Service(Sampler, ABC):
    """A sampler whose shots are jobs.

    Attributes:
        name: as `sampler_for` takes it, without anything secret.
        kind: what the shots are.
        remark: what else is to be known of the last shots.
    """

    kind = HARDWARE
    _backend: Any

    def check(self, compiled: Compiled) -> None:
        """The service itself refuses what its device cannot run, before it takes the job."""

    def sample(self, compiled: Compiled, shots: int, seed: int) -> Readout:
        """Submit and wait; a device draws its own shots, so the seed only names the job."""
        return self.collect(self.submit(compiled, shots, f"biselect-{seed}"), WAIT)

    def submit(self, compiled: Compiled, shots: int, tag: str) -> str:
        """Hand in one job of one circuit; gives the job's id."""
        with self._guarded("submitting"):
            return str(self._run(compiled.circuit, shots, tag).job_id())

    @abstractmethod
    def find(self, tag: str) -> str | None:
        """The latest job that was handed in with this tag, if the service knows one."""

    def collect(self, job: str, wait: float | None) -> Readout:
        """What a job measured, after at most `wait` seconds; asking again costs nothing."""
        with self._guarded(f"waiting for job {job}", job):
            bits, counts = bit_table(self._measured(job, wait))
            if not counts.sum():
                raise JobFailedError(f"job {job} ended without shots")
            return Readout.of_table(bits, counts)

    def snapshot(self) -> dict[str, Any]:
        """The device's calibration as it is now, as far as the client tells."""
        with self._guarded("reading the calibration"):
            return snapshot(self._backend)

    @abstractmethod
    def _run(self, circuit: Any, shots: int, tag: str) -> Any:
        """Hand a circuit to the client; gives the client's job."""

    @abstractmethod
    def _measured(self, job: str, wait: float | None) -> Any:
        """The bits of a job, as `bit_table` takes them."""

    @abstractmethod
    def _meaning(self, error: Exception) -> type[ServiceError]:
        """Which of our errors one of the client's is."""

    def _secrets(self) -> Iterable[str]:
        """What the client knows and its messages must not show, beside what the environment holds."""
        return ()

    @contextmanager
    def _guarded(self, doing: str, job: str | None = None) -> Iterator[None]:
        """The client's errors as ours. The cause is cut off: its text may hold what must not be seen."""
        try:
            yield
        except ServiceError:
            raise
        except Exception as error:
            kind, said = self._meaning(error), scrubbed(error, self._secrets())
            if job is not None and kind is StillWaitingError:
                raise kind(f"job {job} is not done yet; {GO_ON}") from None
            if job is not None and kind is JobFailedError:
                raise kind(f"job {job} failed: {said}") from None
            said = f"{self.name}, while {doing}: {said}"
            if kind in (StillWaitingError, ConnectionLostError):
                raise ConnectionLostError(f"{said}; {GO_ON}") from None
            raise ServiceError(said) from None


def is_lost(error: BaseException, status: int | None) -> bool:
    """Whether the service gave no answer, or broke down, so that it may have done what it was asked all the same.

    Without an HTTP status the error is the connection's, unless it names a file of this machine.
    """
    if status is not None:
        return not 0 <= status < 500
    return isinstance(error, OSError) and not isinstance(error, LOCAL)  # what `requests` raises is an OSError too
