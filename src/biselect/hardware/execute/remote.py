"""Services: shots that are paid for, arrive later, and must survive a lost connection."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from biselect.errors import BiselectError
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.decode import bit_table
from biselect.hardware.execute.readout import Readout

GO_ON = "jobs that were handed in are kept, run again to go on"


class ServiceError(BiselectError):
    """A service did not do what it was asked; the message says what is kept and what to do."""


class JobFailedError(ServiceError):
    """The job ended without shots."""


class StillWaitingError(ServiceError):
    """The job is queued or running, and nobody wanted to wait longer."""


class ConnectionLostError(ServiceError):
    """The service cannot be reached; jobs go on without us."""


LOCAL = (PermissionError, FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)


def is_lost(error: BaseException) -> bool:
    """Whether an error without an answer is the connection's, not that of a file on this machine."""
    return isinstance(error, OSError) and not isinstance(error, LOCAL)  # what `requests` raises is an OSError too


def read_shots(job: str, measured: Any) -> Readout:
    """What an ended job measured; one without any shot has failed."""
    bits, counts = bit_table(measured)
    if not counts.sum():
        raise JobFailedError(f"job {job} ended without shots")
    return Readout.of_table(bits, counts)


@runtime_checkable
class Service(Protocol):
    """A sampler whose shots are jobs.

    Attributes:
        name: as `--on` takes it, without anything secret.
        kind: what the shots are.
        remark: what else is to be known of the last shots.
        finds: whether jobs can be found by their tag.
    """

    name: str
    kind: str
    remark: str
    finds: bool

    def check(self, compiled: Compiled) -> None:
        """Refuse a circuit that cannot be measured here, before a run is fixed for it."""

    def submit(self, compiled: Compiled, shots: int, tag: str) -> str:
        """Hand a circuit in; gives the job's id."""

    def find(self, tag: str) -> str | None:
        """The job that was handed in with this tag, if the service knows one."""

    def collect(self, job: str, wait: float | None) -> Readout:
        """What a job measured, after at most `wait` seconds; asking again costs nothing."""

    def snapshot(self) -> dict[str, Any] | None:
        """The device's calibration as it is now, as `targets.snapshot` gives it; None if it tells nothing."""
