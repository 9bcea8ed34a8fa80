"""Tables that cannot be read in parts where they are, copied once, block by block, to a file that can."""

import errno
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa

from biselect.core.files import temporary_file, temporary_folder
from biselect.errors import InputError
from biselect.large._parquet_rows import ParquetRows, parquet_partitions
from biselect.large.dataset import Partitions, in_blocks, refuse_empty
from biselect.tables.readers import line_of_row
from biselect.tables.readers.sources import Source, refuse_repeated

GROUP_ROWS = 1 << 18  # of a row group
GIB = 1 << 30


class Spool:
    """A temporary folder for such copies, made when the first is, and removed with all of them in the end.

    Args:
        folder: where it is made; None for the system's folder for temporary files. Workers on other machines must see
            the same folder.

    >>> with Spool() as spool:
    ...     copy = spool.copied("numbers", pa.schema([("x", pa.int64())]), [pa.table({"x": [1, 2]})])
    >>> copy.rows, copy.parts[0].name
    (2, 'numbers, rows 0 to 1')
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.parent = folder
        self._open = ExitStack()
        self._folder: Path | None = None
        self._files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open.close()
        self._folder = None

    def place(self, ending: str = "parquet") -> Path:
        """A name for a new file in the folder."""
        if self._folder is None:
            self._folder = self._open.enter_context(temporary_folder(self.parent))
        self._files += 1
        return self._folder / f"{self._files}.{ending}"

    def copied(self, name: str, schema: pa.Schema, blocks: Iterable[pa.Table], needed: int | None = None) -> Partitions:
        """The table that these blocks make, from a copy of it on the disk.

        Args:
            name: of the table.
            schema: of every block.
            blocks: its rows, in order; errors of their source are told by it.
            needed: about how many bytes the copy will have; None where nobody knows.
        """
        refuse_repeated(schema.names, Source.of(name))
        path = self.write(name, schema, blocks, needed)
        found = parquet_partitions(Source.of(path))
        parts = tuple(
            replace(
                part,
                name=f"{name}, rows {part.first:,} to {part.first + part.rows - 1:,}",
                source=SpooledRows(
                    copy=replace(part.source, schema=schema), schema=schema, name=name, first=part.first
                ),
            )
            for part in found.parts
            if isinstance(part.source, ParquetRows)
        )
        return Partitions(name=name, schema=schema, parts=parts)

    def write(self, name: str, schema: pa.Schema, blocks: Iterable[pa.Table], needed: int | None = None) -> Path:
        """A Parquet file of these blocks, with the room that was missing told where there was none."""
        from pyarrow.parquet import ParquetWriter

        rows, path = 0, self.place()
        texts = [field.name for field in schema if not pa.types.is_floating(field.type)]
        try:
            with (
                temporary_file(path) as file,
                ParquetWriter(file, schema, compression="lz4", use_dictionary=texts or False) as writer,
            ):
                for block in _grouped(blocks):
                    writer.write_table(block, row_group_size=GROUP_ROWS)
                    rows += block.num_rows
        except OSError as error:
            if isinstance(error, pa.ArrowException) or error.errno is None:
                raise
            if error.errno != errno.ENOSPC:
                raise InputError(f"{path.parent}: cannot write there: {error.strerror}") from error
            about = f" of about {needed / GIB:.1f} GiB" if needed is not None else ""
            free = shutil.disk_usage(path.parent).free / GIB
            raise InputError(
                f"{path.parent.parent}: is full: no room for a copy{about} of {name}, of which {rows:,} rows were "
                f"written ({free:.1f} GiB are free again); set TMPDIR to a folder on a larger disk"
            ) from error
        if not rows:
            refuse_empty(Partitions(name=name, schema=schema, parts=()))
        return path


def _grouped(blocks: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Blocks joined to row groups."""
    waiting, held = list[pa.Table](), 0
    for block in in_blocks(blocks):
        waiting.append(block)
        held += block.num_rows
        if held >= GROUP_ROWS:
            yield pa.concat_tables(waiting)
            waiting, held = [], 0
    if waiting:
        yield pa.concat_tables(waiting)


@dataclass(frozen=True, kw_only=True)
class SpooledRows:
    """Rows of such a copy, which are named after the table that they come from."""

    copy: ParquetRows
    schema: pa.Schema
    name: str
    first: int

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        return self.copy.read(columns)

    def place(self, row: int) -> str:
        """The row, or the line of a CSV, of the table that was copied."""
        return f"{line_of_row(self.schema.empty_table(), self.first + row)} of {self.name}"
