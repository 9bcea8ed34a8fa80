"""Consecutive rows of a table in parts, as a table of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from biselect.partitions.part_rows import numbered
from biselect.partitions.parts import Partitions, RowSource


@dataclass(frozen=True, kw_only=True)
class RowRange:
    """So many rows of a source, after those that are skipped."""

    source: RowSource
    skip: int
    rows: int

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        skip, left = self.skip, self.rows
        for block in self.source.read(columns):
            taken = block.slice(skip, left)
            skip -= min(skip, block.num_rows)
            if taken.num_rows:
                left -= taken.num_rows
                yield taken
            if not left:
                return


def rows_between(table: Partitions, first: int, last: int) -> Partitions:
    """The rows from position `first` to before `last`."""
    found = []
    for part in table.parts:
        begin, end = max(first, part.first), min(last, part.first + part.rows)
        if begin < end:
            whole = (begin, end - begin) == (part.first, part.rows)
            source = part.source if whole else RowRange(source=part.source, skip=begin - part.first, rows=end - begin)
            found.append((part.name, end - begin, source))
    return Partitions(name=table.name, schema=table.schema, parts=numbered(found))
