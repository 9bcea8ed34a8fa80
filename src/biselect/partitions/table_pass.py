"""A pass over all parts of a table: what is taken from one part, and how two such takings become one."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, Protocol

from numpy.typing import NDArray

from biselect.partitions.parts import Part

Arrays = Mapping[str, NDArray[Any]]
"""What a pass found, as named arrays of numbers, flags or bytes, so that it can be sent, kept and read back."""


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
