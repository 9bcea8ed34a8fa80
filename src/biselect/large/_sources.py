"""Files, and tables in memory, as parts: how many rows a file holds is known before any is read.

Parquet files, Arrow files and the fragments of a `pyarrow.dataset` are cut into pieces of about the same number of
rows; tables in memory are sliced, and nothing is copied.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
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
    Part,
    Partitions,
    RowSource,
    in_blocks,
    numbered,
    reading,
    refuse_absent,
    rows_of_a_part,
)
from biselect.tables.readers import MAGIC, as_part, checked, common_schema, line_of_row, refuse_odd_dates, with_folders
from biselect.tables.readers.sources import Source, refuse_empty, refuse_repeated

LARGE_GROUP = 1 << 22  # rows of a row group from which several parts share it
MOST_SHARES = 4  # of one row group: each has to pass over the rows before its own
PARQUET, ARROW, FRAGMENT = "Parquet", "Arrow", "a part of a dataset"
FRUGAL: dict[str, Any] = {"pre_buffer": False, "buffer_size": BUFFER}


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Consecutive rows of one file.

    Attributes:
        path: the file.
        groups: row groups of a Parquet file, or batches of an Arrow file, that hold them.
        start: position in the file of the first row of the first group.
        skip: rows of it that come before this piece.
        rows: how many there are.
        folder: columns that the names of the file's folders stand for, and their value.
        fragment: of a dataset: knows its file, and which row groups of it.
    """

    path: str
    groups: tuple[int, ...] = ()
    start: int = 0
    skip: int = 0
    rows: int
    folder: Mapping[str, str | None] = field(default_factory=dict)
    fragment: Any = None

    @property
    def first(self) -> int:
        """Position in the file of the first row."""
        return self.start + self.skip


@dataclass(frozen=True, kw_only=True)
class FileRows:
    """Rows of files, in order.

    Attributes:
        pieces: of the files.
        schema: of the whole table.
        kind: of the files, in words.
        copy_of: the table that the one file is a copy of, whose rows are named after it; None where it is no copy.
    """

    pieces: tuple[Piece, ...]
    schema: pa.Schema
    kind: str
    copy_of: str | None = None

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        refuse_absent(columns, self.schema, self.pieces[0].path)
        return in_blocks(block for piece in self.pieces for block in self._blocks(piece, list(columns)))

    def _blocks(self, piece: Piece, columns: list[str]) -> Iterator[pa.Table]:
        schema = pa.schema([self.schema.field(name) for name in columns])
        skip, missing = piece.skip, piece.rows
        with reading(piece.path, self.kind):
            for batch in self._batches(piece, columns):
                rows = batch.slice(skip, missing)
                skip -= min(skip, batch.num_rows)
                if rows.num_rows:
                    missing -= rows.num_rows
                    refuse_odd_dates(checked(block := pa.Table.from_batches([rows])), piece.path)
                    yield as_part(block, piece.folder, schema)
                if not missing:
                    return
            raise InputError(f"{piece.path}: ends {missing:,} rows early; was it changed while it was read?")

    def _batches(self, piece: Piece, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Batches that hold the piece.

        An Arrow file is read, not mapped into memory: a mapped file that somebody shortens would end the process.
        """
        if self.kind == ARROW:
            with pa.OSFile(piece.path) as file:
                names = pa.ipc.open_file(file).schema.names
                fields = pa.ipc.IpcReadOptions(included_fields=[names.index(name) for name in columns])
                yield from map(pa.ipc.open_file(file, options=fields).get_batch, piece.groups)
        elif self.kind == FRAGMENT:
            from pyarrow.dataset import ParquetFileFragment, ParquetFragmentScanOptions

            options: dict[str, Any] = {"batch_size": BLOCK_ROWS, "batch_readahead": 1, "fragment_readahead": 1}
            if isinstance(piece.fragment, ParquetFileFragment):
                options["fragment_scan_options"] = ParquetFragmentScanOptions(use_buffered_stream=True, **FRUGAL)
            yield from piece.fragment.to_batches(self.schema, columns=columns, use_threads=False, **options)
        else:
            from pyarrow.parquet import ParquetFile

            with ParquetFile(piece.path, page_checksum_verification=True, **FRUGAL) as file:
                there = file.schema_arrow.names
                present = [name for name in columns if name in there] or there[
                    :1
                ]  # a block of no columns has no length
                yield from file.iter_batches(BLOCK_ROWS, piece.groups, columns=present, use_threads=False)

    def place(self, row: int) -> str:
        """The file and its row; the row, or the line of a CSV, of the table that was copied."""
        if self.copy_of is not None:
            return f"{line_of_row(self.schema.empty_table(), self.pieces[0].first + row)} of {self.copy_of}"
        for piece in self.pieces:
            if row < piece.rows:
                return f"row {piece.first + row} of {piece.path}"
            row -= piece.rows
        raise IndexError(row)


def parquet_partitions(source: Source) -> Partitions:
    """The parts of a Parquet file, a folder or a glob of them; only their footers are read."""
    from pyarrow.parquet import ParquetFile

    schemas, pieces = list[tuple[Path, pa.Schema]](), list[Piece]()
    for path, folder in zip(source.files, source.partitions, strict=True):
        with reading(path, PARQUET), ParquetFile(path) as file:
            groups = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
            pieces += _pieces(path, groups, folder=folder)
            schemas.append((path, with_folders(file.schema_arrow, folder)))
    return _partitions(source.name, common_schema(schemas), pieces, PARQUET)


def arrow_partitions(source: Source) -> Partitions | None:
    """The parts of an Arrow file, None for a stream; to count the rows of its batches one column is looked at."""
    with reading(source.path, ARROW), pa.OSFile(str(source.path)) as file:
        if file.read(len(MAGIC)) != MAGIC:
            return None
        content = pa.ipc.open_file(file)
        schema = content.schema
        refuse_repeated(schema.names, source)
        if schema.names:
            content = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=[0]))
        groups = [content.get_batch(batch).num_rows for batch in range(content.num_record_batches)]
    return _partitions(source.name, schema, _pieces(source.path, groups), ARROW)


def dataset_partitions(dataset: Any) -> Partitions | None:
    """The parts of a `pyarrow.dataset.Dataset`: its files, large ones by row groups; None where it has other parts.

    A column that a file lacks is missing there, as the dataset has it.
    """
    from pyarrow.dataset import FileFragment, ParquetFileFragment

    try:
        fragments = list(dataset.get_fragments())
    except ValueError:  # it is filtered
        return None
    if not all(isinstance(fragment, FileFragment) for fragment in fragments):
        return None
    refuse_repeated(dataset.schema.names, Source.of("the dataset"))
    pieces = list[Piece]()
    for fragment in fragments:
        with reading(fragment.path, FRAGMENT):
            shares, rows = [fragment], [fragment.count_rows()]
            if rows[0] > MOST_PART_ROWS and isinstance(fragment, ParquetFileFragment):
                shares = fragment.split_by_row_group()
                rows = [sum(group.num_rows for group in share.row_groups) for share in shares]
        split = zip(_pieces(fragment.path, rows), shares, strict=True)
        pieces += [replace(piece, fragment=share) for piece, share in split]
    return _partitions("the dataset", dataset.schema, pieces, FRAGMENT)


def _pieces(path: str | Path, groups: Sequence[int], **more: Any) -> list[Piece]:
    """Every group of a file as a piece, from the numbers of their rows."""
    starts = np.cumsum([0, *groups]).tolist()
    return [
        Piece(path=str(path), groups=(group,), start=starts[group], rows=rows, **more)
        for group, rows in enumerate(groups)
    ]


def _partitions(name: str, schema: pa.Schema, pieces: Sequence[Piece], kind: str) -> Partitions:
    size = rows_of_a_part(sum(piece.rows for piece in pieces))
    parts = numbered(
        (_name_of(run), sum(piece.rows for piece in run), FileRows(pieces=tuple(run), schema=schema, kind=kind))
        for run in _runs(pieces, size)
    )
    refuse_empty(len(parts), schema.names, name)
    return Partitions(name=name, schema=schema, parts=parts)


def _name_of(pieces: Sequence[Piece]) -> str:
    begin, end = pieces[0], pieces[-1]
    if begin.path != end.path:
        return f"{begin.path} to {Path(end.path).name}"
    return f"{begin.path}, rows {begin.first:,} to {end.first + end.rows - 1:,}"


def _runs(pieces: Iterable[Piece], size: int) -> Iterator[list[Piece]]:
    """Pieces in runs of about the wanted number of rows: small ones are joined, and very large row groups shared."""
    run, rows = list[Piece](), 0
    for piece in pieces:
        if not piece.rows:
            continue
        if run and rows + piece.rows > size:
            yield run
            run, rows = [], 0
        if piece.rows >= LARGE_GROUP and piece.fragment is None:
            cuts = [piece.rows * share // MOST_SHARES for share in range(MOST_SHARES + 1)]
            yield from ([replace(piece, skip=begin, rows=end - begin)] for begin, end in pairwise(cuts))
            continue
        rows += piece.rows
        if run and run[-1].path == piece.path and piece.fragment is None:
            last = run.pop()
            piece = replace(last, groups=last.groups + piece.groups, rows=last.rows + piece.rows)
        run.append(piece)
    if run:
        yield run


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
    parts = _slices(table.num_rows, lambda first, rows: HeldRows(table=table.slice(first, rows), first=first))
    refuse_empty(len(parts), table.schema.names, name)
    return Partitions(name=name, schema=table.schema, parts=parts)


def array_partitions(values: NDArray[Any]) -> Partitions:
    """The parts of a NumPy array of numbers with two dimensions."""
    if values.ndim != 2:
        raise InputError(f"a table has rows and columns; this array has the shape {values.shape}")
    parts = _slices(len(values), lambda first, rows: ArrayRows(values=values[first : first + rows], first=first))
    schema = _schema_of(values)
    refuse_empty(len(parts), schema.names, "the array")
    return Partitions(name="the array", schema=schema, parts=parts)


def _slices(rows: int, source: Callable[[int, int], RowSource]) -> tuple[Part, ...]:
    """Parts of a table of so many rows, each from its first row and number of rows."""
    starts = [*range(0, rows, rows_of_a_part(rows)), rows]
    return numbered(
        (f"rows {first:,} to {end - 1:,}", end - first, source(first, end - first)) for first, end in pairwise(starts)
    )
