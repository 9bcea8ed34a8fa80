"""One table in parts, split in time: earlier rows are the reference, later ones the pool.

The time column alone is held, and cut as `biselect.tables.sides_in_time` cuts that of any table: up to 24 bytes a row.
Both sides are then views of the same parts, which let through the rows of their side, in the order of the file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.columns.date import read_times
from biselect.large.dataset import Part, Partitions, in_blocks, numbered, place_in, place_of, refuse_absent
from biselect.options import Split
from biselect.tables import ends_in_time, sides_in_time
from biselect.tables.readers import reading_of

ORIGIN = "\0origin"
"""Asked for as a column, a view gives for each of its rows the position in the table that was split."""


@dataclass(frozen=True, kw_only=True)
class SideOfPart:
    """The rows of a part that lie on one side of the cut.

    Attributes:
        part: of the table that was split.
        column: one that it has, read where only ORIGIN is asked for.
        inside: which of its rows lie on this side, a bit for each.
    """

    part: Part
    column: str
    inside: NDArray[np.uint8]

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        return in_blocks(self._tables(list(columns)))

    def _tables(self, columns: list[str]) -> Iterator[pa.Table]:
        inside = self._rows()
        for first, block in self.part.blocks([name for name in columns if name != ORIGIN] or [self.column]):
            here = inside[first - self.part.first :][: block.num_rows]
            if not here.any():
                continue
            if ORIGIN in columns:
                block = block.append_column(ORIGIN, pa.array(np.arange(first, first + block.num_rows)))
            block = block.select(columns)
            yield block if here.all() else block.filter(pa.array(here))

    def _rows(self) -> NDArray[np.bool_]:
        return np.unpackbits(self.inside, count=self.part.rows).view(np.bool_)

    def place(self, row: int) -> str:
        """Where a row stands in the table that was split."""
        return place_in(self.part, int(np.flatnonzero(self._rows())[row]))


@dataclass(frozen=True, kw_only=True)
class TimeViews:
    """Both sides of a cut.

    Attributes:
        reference: the earlier rows.
        pool: the later ones.
        times: first and last time of each, as text.
    """

    reference: Partitions
    pool: Partitions
    times: Mapping[str, tuple[str, str]]


def cut_in_time(table: Partitions, time_column: str, split: Split, date_format: str | None = None) -> TimeViews:
    """Earlier rows become the reference, later ones the pool, or only the last of them.

    Args:
        table: what is split.
        time_column: orders the rows.
        split: where.
        date_format: how dates are written, where they are text.
    """
    refuse_absent([time_column], table.schema, table.name)
    column = table.held([time_column])[time_column]
    times, written = read_times(column, time_column, date_format=date_format, place_of=partial(place_of, table))
    if written is None and (reading := reading_of(table.schema.empty_table())) is not None:
        written = reading.dates.get(time_column)
    views, ends = list[Partitions](), list[tuple[str, str]]()
    for rows in sides_in_time(times, split, written):
        inside = np.zeros(table.rows, dtype=np.bool_)
        inside[rows] = True
        shares = ((part, inside[part.first : part.first + part.rows]) for part in table.parts)
        parts = numbered(
            (part.name, int(share.sum()), SideOfPart(part=part, column=time_column, inside=np.packbits(share)))
            for part, share in shares
        )
        views.append(replace(table, parts=parts))
        ends.append(ends_in_time(times.filter(pa.array(inside))))
    return TimeViews(reference=views[0], pool=views[1], times={"reference": ends[0], "pool": ends[1]})
