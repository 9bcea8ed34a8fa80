"""Jobs on a service far away: submitted, found again, collected; and secrets masked in what a service says.

Messages of a service may hold tokens and addresses with passwords. Values of the account store and of the service's
variables are masked wherever they occur, and so is everything else that looks like a secret.
"""

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

from biselect.errors import BiselectError
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.execution.samplers import HARDWARE, RawShots, Sampler
from biselect_quantum.devices.targets import snapshot
from biselect_quantum.shots import bit_table

MASK = "***"
VARIABLES = ("QISKIT_IBM_TOKEN", "QISKIT_IBM_INSTANCE")  # where Qiskit Runtime looks for an account
PUBLIC = {"channel", "region", "plans_preference", "tags", "url", "auth_server_url", "timestamp"}  # no secrets
_SECRET_NAMES = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 6  # shorter values of other variables are words that occur by chance
# A password may hold '/' and '@', so with a user before it all up to the last '@' is masked. Too much does no harm.
_IN_ADDRESS = re.compile(r"(?<=://)(?:[^\s/@:]*:\S*|[^/\s]+)@")
_QUOTED = r"""\\*"(?:\\.|[^"\\\n])*"?|\\*'(?:\\.|[^'\\\n])*'?"""
_BETWEEN = r"""[\\"']*\s*[=:]\s*|["']\s*,\s*"""
_SHAPES = (
    re.compile(rf"(authorization(?:{_BETWEEN}))(?:{_QUOTED}|[^\n]+)", re.IGNORECASE),
    re.compile(
        rf"((?:token|key|secret|password|passwd|credentials?)(?:{_BETWEEN}))"
        rf"(?:{_QUOTED}|(?:(?:bearer|basic|apikey|token)\s+)?[^\s\"'&]+)",
        re.IGNORECASE,
    ),
    re.compile(r"(bearer\s+)[^\s\"',;&]+", re.IGNORECASE),
    re.compile(r"()\beyJ[\w-]+(?:\.[\w-]*)+"),  # a JSON web token
    # after these words only what is no plain word: `the token expired` stays as it is
    re.compile(
        r"((?i:\b(?:token|apikey|key|basic|secret|password)\s+[\"']?))"
        r"(?=[^\s\"',;]{6})(?=[^\s\"',;]*[A-Z0-9_=+/]|[a-z]{16})[^\s\"',;]+"
    ),
)


def mask_secrets(message: object, secrets: Iterable[str] = ()) -> str:
    """A message without tokens, passwords, addresses that hold one, and the given secrets.

    >>> mask_secrets("GET https://ada:pw@example.org/jobs?token=abc123 failed: 401; sesame", secrets=["sesame"])
    'GET https://***@example.org/jobs?token=*** failed: 401; ***'
    """
    secret_spellings = _spellings({*secrets, *(os.environ.get(name, "") for name in VARIABLES)})
    guessed = {value for name, value in os.environ.items() if _SECRET_NAMES.search(name) and len(value) >= _SHORTEST}
    text = _without(str(message), (secret for secret in secret_spellings | guessed if len(secret) >= _SHORTEST))
    text = _IN_ADDRESS.sub(f"{MASK}@", text)
    for shape in _SHAPES:
        text = shape.sub(lambda match: f"{match[1]}{MASK}", text)
    return _without(text, secret_spellings)  # short ones last: a part of a word like `token` would hide a shape


def account_secrets(accounts: Any) -> list[str]:
    """Everything in an account, or in a store of them, that is not public: token, instance, those of proxies."""
    leaves = [*_leaves(accounts)]
    return leaves + [password for value in leaves if (password := _password(value))]


def _leaves(content: Any, name: str = "") -> Iterator[str]:
    """Every text and whole number in plain data that stands under no public key."""
    if isinstance(content, str | int) and not isinstance(content, bool) and name not in PUBLIC:
        yield str(content)
    elif isinstance(content, Mapping):
        for key, value in content.items():
            yield from _leaves(value, str(key))
    elif isinstance(content, list | tuple):
        for value in content:
            yield from _leaves(value, name)


def _password(address: str) -> str | None:
    try:
        return urlsplit(address).password
    except ValueError:
        return None


def _spellings(secrets: Iterable[str]) -> set[str]:
    """Each secret as it is, as addresses spell it, and as JSON and Python do."""
    spellings: set[str] = set()
    for secret in {text for each in secrets for text in (each, each.strip())}:
        spellings |= {secret, quote(secret, safe=""), quote(secret), quote_plus(secret)}
        spellings |= {json.dumps(secret)[1:-1], repr(secret)[1:-1]}
    return {each for each in spellings if each.strip()}


def _without(text: str, secrets: Iterable[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


GO_ON = "jobs that were handed in are kept, run again to go on"
WAIT = 3600.0  # seconds that `sample` waits for one job
MOST_CIRCUITS = 100  # of a job, unless the backend says otherwise
LOCAL = (PermissionError, FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)


class ServiceError(BiselectError):
    """A service did not do what it was asked; the message says what is kept and what to do."""


class JobFailedError(ServiceError):
    """The job ended without shots."""


class StillWaitingError(ServiceError):
    """The job is queued or running, and the time to wait is over."""


class ConnectionLostError(ServiceError):
    """The service cannot be reached; jobs go on without us."""


class UnknownJobStateError(ServiceError):
    """Handing a job in again may pay for it twice; the caller must ask for it with `resubmit=True`."""


class Service(Sampler, ABC):
    """A sampler whose shots are jobs, each of several circuits with as many shots.

    Attributes:
        name: as `sampler_for` takes it, without anything secret.
        kind: what the shots are.
        remark: what else is to be known of the last shots.
        finds_jobs: whether a job can be found by its tag, though its id was lost.
    """

    kind = HARDWARE
    finds_jobs = True
    _backend: Any

    @property
    def most_circuits(self) -> int:
        """How many circuits one job takes."""
        return int(getattr(self._backend, "max_circuits", None) or MOST_CIRCUITS)

    def check(self, circuit: DeviceCircuit) -> None:
        """The service itself refuses what its device cannot run, before it takes the job."""

    def sample(self, circuit: DeviceCircuit, shots: int, seed: int) -> RawShots:
        """Submit and wait; a device draws its own shots, so the seed only names the job."""
        return self.collect(self.submit([circuit], shots, f"biselect-{seed}"), [circuit], WAIT)[0]

    def submit(self, circuits: Sequence[DeviceCircuit], shots: int, tag: str) -> str:
        """Hand in one job of some circuits with so many shots each; gives the job's id."""
        with self._guarded("submitting"):
            return str(self._run(circuits, shots, tag).job_id())

    @abstractmethod
    def find(self, tag: str) -> str | None:
        """The latest job that was handed in with this tag; None if the service knows none."""

    def collect(self, job: str, circuits: Sequence[DeviceCircuit], wait: float | None) -> list[RawShots]:
        """What a job measured of its circuits, after at most `wait` seconds; asking again costs nothing."""
        with self._guarded(f"waiting for job {job}", job):
            tables = [bit_table(bits) for bits in self._measured(job, circuits, wait)]
            if len(tables) != len(circuits) or not all(counts.sum() for _, counts in tables):
                raise JobFailedError(f"job {job} ended without shots")
            return [RawShots.of_table(*table) for table in tables]

    def snapshot(self) -> dict[str, Any]:
        """The device's calibration as it is now, as far as the client tells."""
        with self._guarded("reading the calibration"):
            return snapshot(self._backend)

    @abstractmethod
    def _run(self, circuits: Sequence[DeviceCircuit], shots: int, tag: str) -> Any:
        """Hand compiled circuits to the client; gives the client's job."""

    @abstractmethod
    def _measured(self, job: str, circuits: Sequence[DeviceCircuit], wait: float | None) -> Sequence[Any]:
        """The bits of each circuit of a job, as `bit_table` takes them."""

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
            kind, message = self._meaning(error), mask_secrets(error, self._secrets())
            if job is not None and kind is StillWaitingError:
                raise kind(f"job {job} is not done yet; {GO_ON}") from None
            if job is not None and kind is JobFailedError:
                raise kind(f"job {job} failed: {message}") from None
            message = f"{self.name}, while {doing}: {message}"
            if kind in (StillWaitingError, ConnectionLostError):
                raise ConnectionLostError(f"{message}; {GO_ON}") from None
            raise ServiceError(message) from None


def is_lost(error: BaseException, status: int | None) -> bool:
    """Whether the service gave no answer, or broke down, so that it may have done what it was asked all the same.

    Without an HTTP status the error is the connection's, unless it names a file of this machine.
    """
    if status is not None:
        return not 0 <= status < 500
    return isinstance(error, OSError) and not isinstance(error, LOCAL)  # what `requests` raises is an OSError too
