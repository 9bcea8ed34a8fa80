"""A table as an ordered list of parts, each of which can be read by itself, here or on another machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

BLOCK_ROWS = 1 << 16  # read at a time


class RowSource(Protocol):
    """Where the rows of one part come from; it travels to the worker that reads it, so it holds no open file."""

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, in order, in blocks of at most BLOCK_ROWS rows."""
        ...


@dataclass(frozen=True, kw_only=True)
class Part:
    """Consecutive rows of a table.

    Attributes:
        name: for messages: the file, and which rows of it.
        first: position of the first row in the whole table.
        rows: how many there are.
        source: where they are read.
    """

    name: str
    first: int
    rows: int
    source: RowSource

    def blocks(self, columns: Sequence[str]) -> Iterator[tuple[int, pa.Table]]:
        """These columns, block by block, each with the position of its first row in the whole table."""
        first = self.first
        for block in self.source.read(columns):
            yield first, block
            first += block.num_rows


@dataclass(frozen=True, kw_only=True)
class Partitions:
    """A table whose rows are read part by part.

    The rows have an order, that of the parts; what is computed from them must not depend on where one part ends and
    the next begins.

    Attributes:
        name: for titles and messages.
        schema: names and types of the columns, the same in every part.
        parts: in the order of their rows; none is empty.
    """

    name: str
    schema: pa.Schema
    parts: tuple[Part, ...]

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        return sum(part.rows for part in self.parts)
