"""Passes over all parts of a table, and who runs them.

A pass says what is taken from one part, and how two such takings become one. An engine runs it over all parts, and
gives what they hold together, in the order of the rows. `Threads` are the engine of this machine: reading and compiled
kernels let go of Python's lock, so they really run side by side.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from math import nan
from threading import Event
from typing import Any, Protocol

import pyarrow as pa
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect.large._any_source import MEMORY
from biselect.large.dataset import Part, RowSource
from biselect.progress import Progress

Arrays = Mapping[str, NDArray[Any]]
"""What a pass found, as named arrays of numbers, flags or bytes, so that it can be sent, kept and read back."""
PER_THREAD = 192 << 20  # what a thread may need: blocks as they are read and unpacked, and what is found in them
AHEAD = 2  # parts handed out, per thread: the next ones wait while the oldest is finished


class Pass(Protocol):
    """One look at every row. It travels to the workers, so it is small and holds plain data only.

    `merged` is associative, and what comes out in the end depends on the rows and their order alone: any division into
    parts, on any number of workers, gives the same bytes.
    """

    @property
    def name(self) -> str:
        """What a person reads while it runs."""
        ...

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        ...

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        ...


def over(asked: Pass, parts: Sequence[Part]) -> Arrays:
    """The pass over these parts, one after the other."""
    return folded(asked, (asked.of_part(part) for part in parts))


def folded(asked: Pass, found: Iterable[Arrays]) -> Arrays:
    """Takings of neighbouring parts as one."""
    return reduce(asked.merged, found)


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """What one pass moved between this process and the workers, in bytes as they are serialised.

    Attributes:
        name: of the pass.
        workers: how many there were.
        sent: the pass, once for each worker, and where each worker finds its parts.
        returned: what the workers found.
    """

    name: str
    workers: int
    sent: int
    returned: int

    @property
    def per_worker(self) -> float:
        """Bytes to and from one worker, on average."""
        return (self.sent + self.returned) / self.workers


class Engine(Protocol):
    """Runs passes. The result is the same to the byte on every engine, because a pass depends on the rows alone.

    An error in a part ends the pass at once, as the same error that the part raised.

    Attributes:
        name: for messages.
        traffic: of each pass so far; threads move nothing.
    """

    name: str
    traffic: list[Traffic]

    def run(self, asked: Pass, parts: Sequence[Part], told: Progress | None = None) -> Arrays:
        """What all parts hold together.

        Args:
            asked: the pass.
            parts: in the order of their rows, at least one.
            told: called with the share of the parts that are done.
        """
        ...


class Counter:
    """Counts finished parts for whoever wants to be told."""

    def __init__(self, parts: Sequence[Part], told: Progress | None):
        if not parts:
            raise InputError("the table has no rows")
        self.all, self.done, self.told = len(parts), 0, told

    def add(self, parts: int) -> None:
        """So many more are done."""
        self.done += parts
        if self.told is not None:
            self.told(self.done / self.all, nan)


class Threads:
    """A thread per core, or fewer where memory is short; parts are taken in order and merged in order."""

    name = "threads"

    def __init__(self, memory: int = MEMORY):
        self.threads = max(1, min(pa.cpu_count(), memory // PER_THREAD))
        self.traffic: list[Traffic] = []

    def run(self, asked: Pass, parts: Sequence[Part], told: Progress | None = None) -> Arrays:
        """See `Engine`."""
        counter, stop, waiting = Counter(parts, told), Event(), deque(parts)
        running: deque[Future[Arrays]] = deque()

        def found() -> Iterator[Arrays]:
            while waiting or running:
                while waiting and len(running) < AHEAD * self.threads:
                    running.append(pool.submit(asked.of_part, _stoppable(waiting.popleft(), stop)))
                yield running.popleft().result()
                counter.add(1)

        with ThreadPoolExecutor(self.threads, thread_name_prefix="biselect-part") as pool:
            try:
                return folded(asked, found())
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
