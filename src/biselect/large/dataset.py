"""A table as an ordered list of parts, each of which can be read by itself, here or on another machine.

Parts are neither tiny nor huge, and their rows go through memory in blocks of a bounded size. Consecutive rows of a
table in parts are a table of their own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.core.untrusted import refused_as
from biselect.errors import InputError
from biselect.tables import require_columns

ORIGIN = "\0origin"
"""Asked for as a column, a view gives for each of its rows the position in the table that it is a view of."""
BLOCK_ROWS = 1 << 16  # read at a time
MOST_PART_ROWS, FEWEST_PART_ROWS = 1 << 20, 1 << 17
BUFFER = 1 << 18  # bytes of a column read at a time, so that a large row group is never held
MEMORY = 2 << 30  # bytes, unless somebody says otherwise
FIRST_ROWS = 1 << 16  # that show what the columns of a table are
PARTS = 16  # that a table is divided into at least, so long as they do not get tiny


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

    def held(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows in memory, of these columns or of all."""
        names = self.schema.names if columns is None else list(columns)
        blocks = (block for part in self.parts for _, block in part.blocks(names))
        return pa.concat_tables([self.schema.empty_table().select(names), *blocks])


def rows_of_a_part(rows: int) -> int:
    """How many rows of a table of so many a part should have."""
    return min(MOST_PART_ROWS, max(FEWEST_PART_ROWS, rows // PARTS))


def in_blocks(tables: Iterable[pa.Table], size: int | None = None) -> Iterator[pa.Table]:
    """The same rows in blocks of at most so many, BLOCK_ROWS where None; those of tiny tables are joined."""
    size, waiting, rows = size or BLOCK_ROWS, list[pa.Table](), 0
    for table in tables:
        if waiting and rows + table.num_rows > size:
            yield _joined(waiting)
            waiting, rows = [], 0
        for first in range(0, table.num_rows, size):
            block = table.slice(first, size)
            if 2 * block.num_rows > size and not waiting:
                yield block
            else:
                waiting.append(block)
                rows += block.num_rows
    if waiting:
        yield _joined(waiting)


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).combine_chunks() if len(tables) > 1 else tables[0]


@contextmanager
def reading(path: str | Path, kind: str) -> Iterator[None]:
    """Whatever is wrong with a file while it is read is said by its name."""
    with refused_as(f"{path}: cannot be read as {kind}"):
        try:
            yield
        except FileNotFoundError:
            raise InputError(f"{path}: no such file") from None
        except PermissionError:
            raise InputError(f"{path}: no permission to read it") from None


def numbered(sources: Iterable[tuple[str, int, RowSource]]) -> tuple[Part, ...]:
    """Parts from their names, numbers of rows and sources, in order; empty ones are passed over."""
    parts, first = list[Part](), 0
    for name, rows, source in sources:
        if rows:
            parts.append(Part(name=name, first=first, rows=rows, source=source))
            first += rows
    return tuple(parts)


def place_of(partitions: Partitions, position: int) -> str:
    """Where a row of the whole table stands: its file and its row there, for messages."""
    for part in partitions.parts:
        if position < part.first + part.rows:
            return place_in(part, position - part.first)
    raise IndexError(f"{partitions.name} has {partitions.rows} rows, no row {position}")


def place_in(part: Part, row: int) -> str:
    """The same for a row of one part."""
    place: Callable[[int], str] | None = getattr(part.source, "place", None)
    return f"row {row} of {part.name}" if place is None else place(row)


def refuse_absent(columns: Sequence[str], schema: pa.Schema, name: str) -> None:
    """An error for columns that a table does not have."""
    require_columns(schema.empty_table(), columns, name)


@dataclass(frozen=True, kw_only=True)
class SomeRows:
    """Some rows of a part, in their order.

    Attributes:
        part: that has them.
        column: one of its columns, read where only ORIGIN is asked for.
        inside: which of its rows they are, a bit for each.
    """

    part: Part
    column: str
    inside: NDArray[np.uint8]

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        return in_blocks(self._tables(list(columns)))

    def _tables(self, columns: list[str]) -> Iterator[pa.Table]:
        inside, rows = self._rows(), 0
        for first, block in self.part.blocks([name for name in columns if name != ORIGIN] or [self.column]):
            here = inside[rows : (rows := rows + block.num_rows)]
            if here.any():
                if ORIGIN in columns:
                    block = block.append_column(ORIGIN, pa.array(np.arange(first, first + block.num_rows)))
                block = block.select(columns)
                yield block if here.all() else block.filter(pa.array(here))
            if not inside[rows:].any():
                return

    def _rows(self) -> NDArray[np.bool_]:
        return np.unpackbits(self.inside, count=self.part.rows).view(np.bool_)

    def place(self, row: int) -> str:
        """Where a row stands in the table that they are some rows of."""
        return place_in(self.part, int(np.flatnonzero(self._rows())[row]))


def rows_where(table: Partitions, inside: NDArray[np.bool_]) -> Partitions:
    """The rows that are inside, in their order, as a view of the table."""
    column = table.schema.names[0]
    shares = ((part, inside[part.first : part.first + part.rows]) for part in table.parts)
    sources = (
        (part.name, int(share.sum()), SomeRows(part=part, column=column, inside=np.packbits(share)))
        for part, share in shares
    )
    return replace(table, parts=numbered(sources))


def rows_between(table: Partitions, first: int, last: int) -> Partitions:
    """The rows from position `first` to before `last`."""
    inside = np.zeros(table.rows, dtype=np.bool_)
    inside[first:last] = True
    return rows_where(table, inside)
