"""Parquet files, one or many, as parts: what each holds is known from their footers, and rows are read in blocks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from biselect.errors import InputError
from biselect.large.dataset import (
    BLOCK_ROWS,
    BUFFER,
    Partitions,
    RowSource,
    in_blocks,
    numbered,
    reading,
    refuse_absent,
    refuse_empty,
    rows_of_a_part,
)
from biselect.tables.readers import as_part, checked, common_schema, refuse_odd_dates, with_folders
from biselect.tables.readers.sources import Source

LARGE_GROUP = 1 << 22  # rows of a row group from which several parts share it
MOST_SHARES = 4  # of one row group: each has to pass over the rows before its own


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Consecutive rows of one file.

    Attributes:
        path: the file.
        groups: the row groups that hold them.
        start: position in the file of the first row of the first group.
        skip: rows of it that come before this piece.
        rows: how many there are.
        folder: columns that the names of the file's folders stand for, and their value.
    """

    path: str
    groups: tuple[int, ...]
    start: int
    skip: int
    rows: int
    folder: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """Position in the file of the first row."""
        return self.start + self.skip


@dataclass(frozen=True, kw_only=True)
class ParquetRows:
    """Rows of Parquet files, in order; `schema` is that of the whole table."""

    pieces: tuple[Piece, ...]
    schema: pa.Schema

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        refuse_absent(columns, self.schema, self.pieces[0].path)
        return in_blocks(block for piece in self.pieces for block in self._blocks(piece, columns))

    def _blocks(self, piece: Piece, columns: Sequence[str]) -> Iterator[pa.Table]:
        schema = pa.schema([self.schema.field(name) for name in columns])
        skip, left = piece.skip, piece.rows
        with _opened(piece.path) as file:
            there = file.schema_arrow.names
            stored = [name for name in columns if name in there] or there[:1]  # a block of no columns has no length
            batches = file.iter_batches(BLOCK_ROWS, list(piece.groups), columns=stored, use_threads=False)
            for batch in batches:
                taken = batch.slice(skip, left)
                skip -= min(skip, batch.num_rows)
                if taken.num_rows:
                    left -= taken.num_rows
                    refuse_odd_dates(checked(block := pa.Table.from_batches([taken])), piece.path)
                    yield as_part(block, piece.folder, schema)
                if not left:
                    return
            raise InputError(f"{piece.path}: ends {left:,} rows early; was it changed while it was read?")

    def place(self, row: int) -> str:
        """The file and its row."""
        for piece in self.pieces:
            if row < piece.rows:
                return f"row {piece.first + row} of {piece.path}"
            row -= piece.rows
        raise IndexError(row)


def parquet_partitions(source: Source) -> Partitions:
    """The parts of a Parquet file, a folder or a glob of them; only their footers are read.

    Small row groups and files are joined, and very large row groups shared among several parts.
    """
    schemas: list[tuple[Path, pa.Schema]] = []
    groups: list[Piece] = []
    for path, folder in zip(source.files, source.partitions, strict=True):
        with _opened(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
            start = 0
            for group in range(metadata.num_row_groups):
                rows = metadata.row_group(group).num_rows
                groups.append(Piece(path=str(path), groups=(group,), start=start, skip=0, rows=rows, folder=folder))
                start += rows
        schemas.append((path, with_folders(schema, folder)))
    schema = common_schema(schemas)
    wanted = rows_of_a_part(sum(group.rows for group in groups))
    parts = numbered(_part(pieces, schema) for pieces in _joined(groups, wanted))
    return refuse_empty(Partitions(name=source.name, schema=schema, parts=parts))


def _part(pieces: Sequence[Piece], schema: pa.Schema) -> tuple[str, int, RowSource]:
    rows = sum(piece.rows for piece in pieces)
    begin, end = pieces[0], pieces[-1]
    if begin.path == end.path:
        name = f"{begin.path}, rows {begin.first:,} to {end.first + end.rows - 1:,}"
    else:
        name = f"{begin.path} to {Path(end.path).name}"
    return name, rows, ParquetRows(pieces=tuple(pieces), schema=schema)


def _joined(groups: Iterable[Piece], wanted: int) -> Iterator[list[Piece]]:
    """Row groups as parts of about the wanted number of rows."""
    waiting, held = list[Piece](), 0
    for group in groups:
        if not group.rows:
            continue
        if waiting and held + group.rows > wanted:
            yield waiting
            waiting, held = [], 0
        if group.rows >= LARGE_GROUP:
            yield from ([share] for share in _shares(group))
        elif waiting and waiting[-1].path == group.path:
            last = waiting[-1]
            waiting[-1] = Piece(
                path=last.path,
                groups=last.groups + group.groups,
                start=last.start,
                skip=0,
                rows=last.rows + group.rows,
                folder=last.folder,
            )
            held += group.rows
        else:
            waiting.append(group)
            held += group.rows
    if waiting:
        yield waiting


def _shares(group: Piece) -> Iterator[Piece]:
    """A large row group, cut."""
    cuts = [group.rows * share // MOST_SHARES for share in range(MOST_SHARES + 1)]
    for begin, end in pairwise(cuts):
        yield Piece(
            path=group.path, groups=group.groups, start=group.start, skip=begin, rows=end - begin, folder=group.folder
        )


@contextmanager
def _opened(path: str | Path) -> "Iterator[pa.parquet.ParquetFile]":
    """A Parquet file that takes little memory to read."""
    from pyarrow.parquet import ParquetFile

    frugal = {"pre_buffer": False, "buffer_size": BUFFER, "page_checksum_verification": True}
    with reading(path, "Parquet"), ParquetFile(str(path), **frugal) as file:
        yield file
