"""What engines on clusters have in common: neighbouring parts go to a worker together, and little comes back."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from itertools import groupby
from pickle import PickleBuffer

from biselect.engines.engine import Counter, Traffic
from biselect.partitions.parts import Part
from biselect.partitions.table_pass import Arrays, Pass
from biselect.progress import Progress

PER_WORKER = 4  # shares, so that a slow worker does not hold up the others for long
MOST_ROWS = 1 << 24  # of a share: what is computed again where a worker is lost
AHEAD = 2  # shares handed out at a time, per worker
RETRIES = 3  # how often a share is computed again after its worker was lost

Share = tuple[Part, ...]


class Cluster(ABC):
    """An engine whose workers are elsewhere.

    Attributes:
        name: for messages.
        workers: how many shares are computed at the same time.
        dumps: how the library serialises what it sends.
        traffic: of each pass so far.
    """

    name: str
    workers: int
    dumps: Callable[..., bytes]

    def __init__(self) -> None:
        self.traffic: list[Traffic] = []

    def run(self, asked: Pass, parts: Sequence[Part], told: Progress | None = None) -> Arrays:
        """See `Engine`."""
        counter, shares, runs = Counter(parts, told), shares_of(parts, self.workers), Runs(asked)
        workers = min(self.workers, len(shares))
        sent, returned = workers * self._size_of(asked) + sum(map(self._size_of, shares)), 0
        with closing(self.found_in(asked, shares)) as found:
            for at, arrays in found:
                runs.add(at, arrays)
                returned += self._size_of(arrays)
                counter.add(len(shares[at]))
        self.traffic.append(Traffic(name=asked.name, workers=workers, sent=sent, returned=returned))
        return runs.whole()

    def _size_of(self, thing: object) -> int:
        """How many bytes travel where this is sent; large arrays are measured, not copied."""
        buffers: list[PickleBuffer] = []
        head = self.dumps(thing, protocol=5, buffer_callback=buffers.append)
        return len(head) + sum(buffer.raw().nbytes for buffer in buffers)

    @abstractmethod
    def found_in(self, asked: Pass, shares: Sequence[Share]) -> Generator[tuple[int, Arrays], None, None]:
        """The number of each share and what it holds, as they come; closing it cancels those still at work."""


def shares_of(parts: Sequence[Part], workers: int) -> list[Share]:
    """Neighbouring parts, about four shares a worker, with about as many rows in each."""
    rows = sum(part.rows for part in parts)
    most = min(MOST_ROWS, max(1, -(-rows // (PER_WORKER * workers))))

    def place(part: Part) -> int:
        return (part.first - parts[0].first + part.rows // 2) // most

    return [tuple(share) for _, share in groupby(parts, key=place)]


def named(share: Share) -> str:
    """The parts of a share, for a message."""
    return share[0].name if len(share) == 1 else f"{share[0].name} to {share[-1].name}"


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
