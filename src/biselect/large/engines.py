"""Engines run passes: threads of this machine, or a Dask cluster, with the same bytes out.

Parts are taken in order and reduced in order, a few of them at a time, so that memory stays bounded. Reading and
compiled kernels let go of Python's lock, so that threads really run side by side. On a cluster neighbouring parts go to
a worker together, little comes back, and a lost worker changes nothing.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from math import nan
from pydoc import locate  # part of Python, so that a worker without biselect can answer
from threading import Event
from typing import Any, Protocol

import pyarrow as pa

from biselect._version import __version__
from biselect.errors import BiselectError, InputError
from biselect.extensions import optional
from biselect.large.dataset import MEMORY, Part, RowSource
from biselect.large.passes import Arrays, Pass, over
from biselect.options import Compute, spell
from biselect.progress import Progress

PER_THREAD = 192 << 20  # bytes that a thread may need: blocks as they are read and unpacked, and what is found in them
AHEAD = 2  # shares handed out at a time, per thread or worker: the next ones wait while the oldest is finished
VERSION = "biselect._version.__version__"
PATIENCE = 10.0  # seconds to wait for a cluster to answer, and for its first worker
PER_WORKER = 4  # shares, so that a slow worker does not hold up the others for long
MOST_ROWS = 1 << 24  # of a share: what is computed again where a worker is lost

Share = tuple[Part, ...]


class Engine(Protocol):
    """Runs passes. The result is the same to the byte on every engine, because a pass depends on the rows alone.

    An error in a part ends the pass once those before it are done, as the same error that the part raised.

    Attributes:
        name: for messages.
    """

    name: str

    def run(self, request: Pass, parts: Sequence[Part], progress: Progress | None = None) -> Arrays:
        """What all parts hold together.

        Args:
            request: the pass.
            parts: in the order of their rows, at least one.
            progress: called with the share of the parts that are done.
        """
        ...


class Running:
    """Shares of a pass, handed out in order.

    Attributes:
        futures: shares that are being computed and their results to be, the oldest first.
    """

    def __init__(self, submit: Callable[[Share], Any], ahead: int):
        self.submit, self.ahead = submit, ahead
        self.futures: deque[tuple[Share, Any]] = deque()

    def reduced(self, request: Pass, shares: Sequence[Share], progress: Progress | None) -> Arrays:
        """What all shares hold together."""
        if not shares:
            raise InputError("the table has no rows")
        return reduce(request.merged, self._results(shares, progress))

    def _results(self, shares: Sequence[Share], progress: Progress | None) -> Iterator[Arrays]:
        waiting, finished, parts = deque(shares), 0, sum(map(len, shares))
        while waiting or self.futures:
            while waiting and len(self.futures) < self.ahead:
                share = waiting.popleft()
                self.futures.append((share, self.submit(share)))
            arrays = self.futures[0][1].result()
            share, _ = self.futures.popleft()
            yield arrays
            finished += len(share)
            if progress is not None:
                progress(finished / parts, nan)


class Threads:
    """A thread per core, or fewer where memory is short."""

    name = "threads"

    def __init__(self, memory: int = MEMORY):
        self.threads = max(1, min(pa.cpu_count(), memory // PER_THREAD))

    def run(self, request: Pass, parts: Sequence[Part], progress: Progress | None = None) -> Arrays:
        """See `Engine`."""
        stop = Event()
        with ThreadPoolExecutor(self.threads, thread_name_prefix="biselect-part") as pool:
            try:
                running = Running(
                    lambda share: pool.submit(over, request, [_stoppable(part, stop) for part in share]),
                    AHEAD * self.threads,
                )
                return running.reduced(request, [(part,) for part in parts], progress)
            finally:  # after an error or Ctrl-C the others end with the block that they are at
                stop.set()
                pool.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class _Stoppable:
    """The rows of a part until somebody says stop."""

    source: RowSource
    stop: Event

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        for block in self.source.read(columns):
            if self.stop.is_set():
                raise CancelledError
            yield block


def _stoppable(part: Part, stop: Event) -> Part:
    return replace(part, source=_Stoppable(part.source, stop))


class DaskCluster:
    """Runs shares as tasks of a Dask client.

    Attributes:
        name: for messages.
        workers: how many shares are computed at the same time.
    """

    def __init__(self, name: str, client: Any):
        self.name, self.client = name, client
        self.workers = sum(client.nthreads().values())
        self._lost_worker = optional("distributed", name, "cluster").KilledWorker

    def run(self, request: Pass, parts: Sequence[Part], progress: Progress | None = None) -> Arrays:
        """See `Engine`."""
        # A task that gives the pass: unlike scattered data, a lost worker can take no copy of it away for good.
        task = self.client.submit(_itself, request, pure=False)
        running = Running(lambda share: self.client.submit(over, task, share, pure=False), AHEAD * self.workers)
        try:
            return running.reduced(request, shares_of(parts, self.workers), progress)
        except self._lost_worker as error:
            share, _ = running.futures[0]
            lost = share[0].name if len(share) == 1 else f"{share[0].name} to {share[-1].name}"
            raise BiselectError(f"{self.name}: each worker that read {lost} died; give workers more memory") from error
        finally:
            self.client.cancel([future for _, future in running.futures])


def shares_of(parts: Sequence[Part], workers: int) -> list[Share]:
    """Neighbouring parts, about four shares a worker, with about as many rows in each."""
    rows = sum(part.rows for part in parts)
    most = min(MOST_ROWS, max(1, -(-rows // (PER_WORKER * workers))))

    def place(part: Part) -> int:
        return (part.first - parts[0].first + part.rows // 2) // most

    return [tuple(share) for _, share in groupby(parts, key=place)]


def _itself(request: Pass) -> Pass:
    return request


@contextmanager
def dask_client(on: str) -> Iterator[Any]:
    """A client of the Dask cluster whose scheduler listens at `dask://HOST:PORT`."""
    address, distributed = on.removeprefix("dask://"), optional("distributed", on, "cluster")
    try:
        client = distributed.Client(f"tcp://{address}", set_as_default=False, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise InputError(f"the Dask cluster at {address} has no workers; start some") from None
        _check_versions(client.run(locate, VERSION))
        yield client


def _check_versions(versions: Mapping[str, str | None]) -> None:
    """Refuse workers that would compute something else; one without biselect would die of its first task."""
    for worker, version in versions.items():
        if version != __version__:
            has = "no biselect" if version is None else f"biselect {version}"
            raise InputError(f"the worker at {worker} has {has}; install {__version__} on all machines of the cluster")


UNITS = {"": 1, "b": 1} | {f"{letter}b": 1000**power for power, letter in enumerate("kmgt", 1)}
UNITS |= {f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", 1)}


@contextmanager
def engine_for(on: str | None = None, memory: int | str | None = None) -> Iterator[Engine]:
    """An engine for as long as it is needed; a connection to a cluster ends with it.

    Args:
        on: `threads` of this machine, which None means too, or `dask://HOST:PORT`.
        memory: what threads of this machine may take, in bytes or as `2 GiB`; 2 GiB unless given. Workers of a cluster
            hold one block of rows at a time.
    """
    check_engine(on, memory)
    if on is None or on == "threads":
        yield Threads(bytes_of(memory))
    else:
        with dask_client(on) as client:
            yield DaskCluster(on, client)


def check_engine(on: str | None, memory: int | str | None) -> None:
    """Refuse what names no place to run, or no amount of memory."""
    if on is not None and on != "threads" and not on.startswith("dask://"):
        raise InputError(f"{spell(Compute(on=on))}: cannot run there; give threads or dask://HOST:PORT")
    bytes_of(memory)


def bytes_of(memory: int | str | None) -> int:
    """An amount of memory in bytes.

    >>> bytes_of("512 MB"), bytes_of("1.5GiB"), bytes_of(4096), bytes_of(None) == bytes_of("2 GiB")
    (512000000, 1610612736, 4096, True)
    """
    if memory is None:
        return MEMORY
    text = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(memory).lower())
    if isinstance(memory, bool) or text is None or text[2] not in UNITS or float(text[1]) == 0:
        raise InputError(f"{spell(Compute(memory=memory))}: give a size such as '2 GiB', '512 MB' or a number of bytes")
    return int(float(text[1]) * UNITS[text[2]])
