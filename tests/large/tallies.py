"""A small table cut into parts and a plain pass over them, for tests of whatever runs passes or writes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from biselect.large._sources import HeldRows
from biselect.large.dataset import Part
from biselect.large.passes import Arrays


def cut(table: pa.Table, ends: Sequence[int]) -> tuple[Part, ...]:
    """A table as parts that end before these rows; empty parts fall away."""
    edges = sorted({0, len(table), *(end for end in ends if 0 < end < len(table))})
    return tuple(
        Part(
            name=f"rows {first} to {last}",
            first=first,
            rows=last - first,
            source=HeldRows(table=table.slice(first, last - first), first=first),
        )
        for first, last in pairwise(edges)
    )


@dataclass(frozen=True)
class Tally:
    """Counts the rows, and finds the largest values of a column and where they are, the earliest first among equals."""

    column: str
    most: int
    name: str = "Counting"

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        found = None
        for first, block in part.blocks([self.column]):
            values = block[self.column].to_numpy()
            here = self._largest(len(values), values, np.arange(first, first + len(values)))
            found = here if found is None else self.merged(found, here)
        assert found is not None
        return found

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbours hold together."""
        both = {name: np.concatenate([before[name], after[name]]) for name in ("values", "rows")}
        return self._largest(int(before["count"]) + int(after["count"]), both["values"], both["rows"])

    def _largest(self, count: int, values: np.ndarray, rows: np.ndarray) -> Arrays:
        order = np.lexsort((rows, -values))[: self.most]
        return {"count": np.array(count), "values": values[order], "rows": rows[order]}
