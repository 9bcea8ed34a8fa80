"""Arrow files, and what Arrow itself takes for a table of many files (`pyarrow.dataset`), as parts.

Tables that are in memory already are sliced, and nothing is copied.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect.large.dataset import (
    BLOCK_ROWS,
    BUFFER,
    MOST_PART_ROWS,
    Partitions,
    in_blocks,
    numbered,
    reading,
    refuse_absent,
    refuse_empty,
    rows_of_a_part,
)
from biselect.tables.readers import MAGIC, checked, refuse_odd_dates
from biselect.tables.readers.sources import Source, refuse_repeated


def is_arrow_file(path: Path) -> bool:
    """Whether an Arrow file can be read at any place; a stream of them can only be read from its beginning."""
    with reading(path, "Arrow"), path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


@dataclass(frozen=True, kw_only=True)
class ArrowRows:
    """Consecutive rows of an Arrow file.

    It is read, not mapped into memory: a mapped file that somebody shortens meanwhile would end the process. So one
    batch at a time is held.

    Attributes:
        path: the file.
        batches: those of its batches that hold them.
        rows: how many there are.
        first: position of the first in the file.
    """

    path: str
    batches: tuple[int, ...]
    rows: int
    first: int

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        return in_blocks(self._tables(list(columns)))

    def _tables(self, columns: list[str]) -> Iterator[pa.Table]:
        left = self.rows
        with reading(self.path, "Arrow"), pa.OSFile(self.path) as file:
            schema = pa.ipc.open_file(file).schema
            refuse_absent(columns, schema, self.path)
            wanted = pa.ipc.IpcReadOptions(included_fields=[schema.names.index(name) for name in columns])
            content = pa.ipc.open_file(file, options=wanted)
            for batch in self.batches:
                table = pa.Table.from_batches([content.get_batch(batch)]).select(columns)
                left -= table.num_rows
                refuse_odd_dates(checked(table), self.path)
                yield table
            if left:
                raise InputError(f"{self.path}: has other rows than before; was it changed while it was read?")

    def place(self, row: int) -> str:
        """The file and its row."""
        return f"row {self.first + row} of {self.path}"


def arrow_partitions(source: Source) -> Partitions:
    """The parts of an Arrow file; to count the rows of its batches one column is looked at."""
    path = str(source.path)
    with reading(path, "Arrow"), pa.OSFile(path) as file:
        content = pa.ipc.open_file(file)
        schema = content.schema
        refuse_repeated(schema.names, source)
        if schema.names:
            content = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=[0]))
        lengths = [content.get_batch(batch).num_rows for batch in range(content.num_record_batches)]
    step = rows_of_a_part(sum(lengths))
    found, waiting, held, at = list[ArrowRows](), list[int](), 0, 0
    for batch, rows in enumerate(lengths):
        if waiting and held + rows > step:
            found.append(ArrowRows(path=path, batches=tuple(waiting), rows=held, first=at - held))
            waiting, held = [], 0
        if rows:
            waiting.append(batch)
            held += rows
        at += rows
    if waiting:
        found.append(ArrowRows(path=path, batches=tuple(waiting), rows=held, first=at - held))
    parts = numbered((f"{path}, rows {one.first:,} to {one.first + one.rows - 1:,}", one.rows, one) for one in found)
    return refuse_empty(Partitions(name=source.name, schema=schema, parts=parts))


@dataclass(frozen=True, kw_only=True)
class FragmentRows:
    """The rows of a fragment of a dataset; columns that it lacks are missing, as the dataset has it.

    Attributes:
        fragment: knows its file, and which row groups of it.
        schema: of the whole dataset.
        name: of the file.
        first: position of the first row in it.
        path: of the file where it is one of this machine, so that a changed one is noticed.
    """

    fragment: Any
    schema: pa.Schema
    name: str
    first: int = 0
    path: str = ""

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        refuse_absent(columns, self.schema, self.name)
        return in_blocks(self._tables(list(columns)))

    def _tables(self, columns: list[str]) -> Iterator[pa.Table]:
        from pyarrow.dataset import ParquetFileFragment, ParquetFragmentScanOptions

        options: dict[str, Any] = {"batch_size": BLOCK_ROWS, "batch_readahead": 1, "fragment_readahead": 1}
        if isinstance(self.fragment, ParquetFileFragment):
            frugal = ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True, buffer_size=BUFFER)
            options["fragment_scan_options"] = frugal
        with reading(self.name, "a part of a dataset"):
            for batch in self.fragment.to_batches(self.schema, columns=columns, use_threads=False, **options):
                table = pa.Table.from_batches([batch])
                refuse_odd_dates(checked(table), self.name)
                yield table

    def place(self, row: int) -> str:
        """The file and its row."""
        return f"row {self.first + row} of {self.name}"


def dataset_partitions(dataset: Any) -> Partitions | None:
    """The parts of a `pyarrow.dataset.Dataset`: its files, large ones by row groups; None where it has other parts."""
    from pyarrow.dataset import FileFragment, ParquetFileFragment

    try:
        fragments = list(dataset.get_fragments())
    except ValueError:  # it is filtered
        return None
    if not all(isinstance(fragment, FileFragment) for fragment in fragments):
        return None
    refuse_repeated(dataset.schema.names, Source.of("the dataset"))
    found = list[tuple[str, int, FragmentRows]]()
    for fragment in fragments:
        path, first = fragment.path, 0
        with reading(path, "a part of a dataset"):
            shares = [(fragment, fragment.count_rows())]
            if shares[0][1] > MOST_PART_ROWS and isinstance(fragment, ParquetFileFragment):
                split = fragment.split_by_row_group()
                shares = [(group, sum(info.num_rows for info in group.row_groups)) for group in split]
        for share, rows in shares:
            made = FragmentRows(fragment=share, schema=dataset.schema, name=path, first=first, path=path)
            found.append((f"{path}, rows {first:,} to {first + rows - 1:,}", rows, made))
            first += rows
    return refuse_empty(Partitions(name="the dataset", schema=dataset.schema, parts=numbered(found)))


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


def array_partitions(values: NDArray[Any]) -> Partitions:
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
    return refuse_empty(Partitions(name="the array", schema=_schema_of(values), parts=parts))


def _rows_from(first: int, rows: int) -> str:
    return f"rows {first:,} to {first + rows - 1:,}"
