"""A Dask cluster: neighbouring parts go to a worker together, little comes back, a lost worker changes nothing."""

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby, islice
from pickle import PickleBuffer
from pydoc import locate  # part of Python, so that a worker without biselect can answer
from typing import Any

from biselect._version import __version__
from biselect.errors import BiselectError, InputError
from biselect.extensions import optional
from biselect.large._any_source import MEMORY
from biselect.large.dataset import Part
from biselect.large.passes import Arrays, Counter, Engine, Pass, Threads, Traffic, over
from biselect.options import Compute, spell
from biselect.progress import Progress

VERSION = "biselect._version.__version__"
PATIENCE = 10.0  # seconds to wait for a cluster to answer, and for its first worker
PER_WORKER = 4  # shares, so that a slow worker does not hold up the others for long
MOST_ROWS = 1 << 24  # of a share: what is computed again where a worker is lost
AHEAD = 2  # shares handed out at a time, per worker

Share = tuple[Part, ...]


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


class DaskCluster:
    """Runs shares as tasks of a Dask client.

    Attributes:
        name: for messages.
        workers: how many shares are computed at the same time.
        traffic: of each pass so far.
    """

    def __init__(self, name: str, client: Any):
        self.name, self.client = name, client
        self.workers = sum(client.nthreads().values())
        self.traffic: list[Traffic] = []
        self._distributed = optional("distributed", name, "cluster")

    def run(self, asked: Pass, parts: Sequence[Part], told: Progress | None = None) -> Arrays:
        """See `Engine`."""
        counter, shares, runs = Counter(parts, told), shares_of(parts, self.workers), Runs(asked)
        workers = min(self.workers, len(shares))
        sent, returned = workers * self._size_of(asked) + sum(map(self._size_of, shares)), 0
        with closing(self._results(asked, shares)) as results:
            for at, arrays in results:
                runs.add(at, arrays)
                returned += self._size_of(arrays)
                counter.add(len(shares[at]))
        self.traffic.append(Traffic(name=asked.name, workers=workers, sent=sent, returned=returned))
        return runs.whole()

    def _size_of(self, thing: object) -> int:
        """How many bytes travel where this is sent; large arrays are measured, not copied."""
        buffers: list[PickleBuffer] = []
        head = self._distributed.protocol.pickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
        return len(head) + sum(buffer.raw().nbytes for buffer in buffers)

    def _results(self, asked: Pass, shares: Sequence[Share]) -> Generator[tuple[int, Arrays], None, None]:
        """The number of each share and what it holds, as they come; closing it cancels those still at work."""
        # A task that gives the pass: unlike scattered data, a lost worker can take no copy of it away for good.
        there = self.client.submit(_itself, asked, pure=False)
        waiting, places = iter(enumerate(shares)), dict[Any, int]()
        done = self._distributed.as_completed(loop=self.client.loop, with_results=True)

        def hand_out(number: int) -> None:
            for at, share in islice(waiting, number):
                future = self.client.submit(over, there, share, pure=False)
                places[future] = at
                done.add(future)

        try:
            hand_out(AHEAD * self.workers)
            for future, arrays in done:
                at = places.pop(future)
                future.release()
                hand_out(1)
                yield at, arrays
        except self._distributed.KilledWorker as error:
            lost = ", ".join(_named(shares[at]) for future, at in places.items() if future.status == "error")
            raise BiselectError(f"{self.name}: each worker that read {lost} died; give workers more memory") from error
        finally:
            self.client.cancel([*places])


def shares_of(parts: Sequence[Part], workers: int) -> list[Share]:
    """Neighbouring parts, about four shares a worker, with about as many rows in each."""
    rows = sum(part.rows for part in parts)
    most = min(MOST_ROWS, max(1, -(-rows // (PER_WORKER * workers))))

    def place(part: Part) -> int:
        return (part.first - parts[0].first + part.rows // 2) // most

    return [tuple(share) for _, share in groupby(parts, key=place)]


class Runs:
    """What shares hold, in whatever order they come: neighbours are merged at once, so that little is kept."""

    def __init__(self, asked: Pass):
        self.asked = asked
        self.begins: dict[int, tuple[int, Arrays]] = {}  # by the first share of a run: the share after its last
        self.ends: dict[int, int] = {}  # by the share after the last: the first

    def add(self, at: int, found: Arrays) -> None:
        """Share number `at` holds this."""
        first, last = at, at + 1
        if at in self.ends:
            first = self.ends.pop(at)
            found = self.asked.merged(self.begins.pop(first)[1], found)
        if last in self.begins:
            last, after = self.begins.pop(last)
            found = self.asked.merged(found, after)
        self.begins[first], self.ends[last] = (last, found), first

    def whole(self) -> Arrays:
        """All of it, once every share is there."""
        ((_, found),) = self.begins.values()
        return found


def _named(share: Share) -> str:
    """The parts of a share, for a message."""
    return share[0].name if len(share) == 1 else f"{share[0].name} to {share[-1].name}"


def _itself(asked: Pass) -> Pass:
    return asked


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
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", str(memory).lower())
    if isinstance(memory, bool) or written is None or written[2] not in UNITS or float(written[1]) == 0:
        raise InputError(f"{spell(Compute(memory=memory))}: give a size such as '2 GiB', '512 MB' or a number of bytes")
    return int(float(written[1]) * UNITS[written[2]])
