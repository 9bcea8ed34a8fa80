"""Tables that are in memory already, as parts: slices of them, nothing is copied."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.data.readers.sources import Source, refuse_repeated
from biselect.errors import InputError
from biselect.partitions.part_rows import in_blocks, numbered, refuse_absent, refuse_empty, rows_of_a_part
from biselect.partitions.parts import BLOCK_ROWS, Partitions


@dataclass(frozen=True, kw_only=True)
class HeldRows:
    """A slice of an Arrow table; `first` is the position of its first row in the whole."""

    table: pa.Table
    first: int = 0

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        refuse_absent(columns, self.table.schema, "the table")
        return in_blocks([self.table.select(list(columns))])

    def place(self, row: int) -> str:
        """The row alone: there is no file."""
        return f"row {self.first + row}"

    def __reduce__(self) -> tuple[Callable[..., "HeldRows"], tuple[bytes, int]]:
        sink = pa.BufferOutputStream()  # a pickled slice would take all rows of its table along
        with pa.ipc.new_stream(sink, self.table.schema) as stream:
            stream.write_table(self.table)
        return _received, (sink.getvalue().to_pybytes(), self.first)


def _received(content: bytes, first: int) -> HeldRows:
    return HeldRows(table=pa.ipc.open_stream(content).read_all(), first=first)


@dataclass(frozen=True, kw_only=True)
class ArrayRows:
    """Rows of a NumPy array, taken as float64; its columns are named by their position."""

    values: NDArray[Any]
    first: int = 0

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        refuse_absent(columns, _schema_of(self.values), "the array")
        for begin in range(0, len(self.values), BLOCK_ROWS):
            block = self.values[begin : begin + BLOCK_ROWS]
            yield pa.table({name: np.asarray(block[:, int(name)], dtype=np.float64) for name in columns})

    def place(self, row: int) -> str:
        """The row alone: there is no file."""
        return f"row {self.first + row}"


def _schema_of(values: NDArray[Any]) -> pa.Schema:
    return pa.schema([(str(j), pa.float64()) for j in range(values.shape[1])])


def held_partitions(table: pa.Table, name: str = "the table") -> Partitions:
    """The parts of an Arrow table."""
    refuse_repeated(table.column_names, Source.of(name))
    step = rows_of_a_part(table.num_rows)
    parts = numbered(
        (_rows_from(first, rows), rows, HeldRows(table=table.slice(first, rows), first=first))
        for first in range(0, table.num_rows, step)
        for rows in (min(step, table.num_rows - first),)
    )
    return refuse_empty(Partitions(name=name, schema=table.schema, parts=parts))


def array_partitions(values: NDArray[Any], name: str = "the array") -> Partitions:
    """The parts of a NumPy array of numbers with two dimensions."""
    if values.ndim != 2:
        raise InputError(f"a table has rows and columns; this array has the shape {values.shape}")
    if values.dtype.kind not in "fiub":
        raise InputError(f"the table cannot be read: an array must hold numbers, this one holds {values.dtype}")
    step = rows_of_a_part(len(values))
    parts = numbered(
        (_rows_from(first, len(share)), len(share), ArrayRows(values=share, first=first))
        for first in range(0, len(values), step)
        for share in (values[first : first + step],)
    )
    return refuse_empty(Partitions(name=name, schema=_schema_of(values), parts=parts))


def _rows_from(first: int, rows: int) -> str:
    return f"rows {first:,} to {first + rows - 1:,}"
