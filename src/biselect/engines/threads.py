"""Threads of this machine: reading and compiled kernels let go of Python's lock, so they really run side by side."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event

import pyarrow as pa

from biselect.engines.engine import Counter, Traffic
from biselect.partitions.any_source import MEMORY
from biselect.partitions.parts import Part, RowSource
from biselect.partitions.table_pass import Arrays, Pass, folded
from biselect.progress import Progress

PER_THREAD = 192 << 20  # what a thread may need: blocks as they are read and unpacked, and what is found in them
AHEAD = 2  # parts handed out, per thread: the next ones wait while the oldest is finished


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
