"""What every engine does: run one pass over all parts, and give what they hold together, in the order of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Protocol

from biselect.errors import InputError
from biselect.partitions.parts import Part
from biselect.partitions.table_pass import Arrays, Pass
from biselect.progress import Progress


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
