"""Second pass, over the reference: its distribution, column by column, for a weigher."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.columns.category import CATEGORY
from biselect.columns.column_type import ColumnReference
from biselect.columns.counts import Counts, Ruler, lots, merged_counts
from biselect.columns.number import NUMBER
from biselect.columns.text import TEXT
from biselect.large._survey import FeatureColumns, Surveyed, sample_matrix
from biselect.large.dataset import Part
from biselect.large.passes import Arrays, merged_blocks
from biselect.tables import rows_of
from biselect.weights import Reference
from biselect.weights.whole_row import SAMPLE


@dataclass(frozen=True, kw_only=True)
class Counting:
    """The pass.

    Attributes:
        name: what a person reads while it runs.
        features: how they are read.
        columns: names of the features.
        rulers: by position, for columns of numbers.
    """

    name: str
    features: FeatureColumns
    columns: tuple[str, ...]
    rulers: dict[int, Ruler]

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        return merged_blocks(part, self.features.names, self._of_block, self.merged)

    def _of_block(self, first: int, block: pa.Table) -> Arrays:
        columns = self.features.numbers(block)
        if not {self.columns[j] for j in self.rulers} <= columns.keys():  # parts of dates
            matrix = self.features.matrix(block)
            columns = {name: matrix.values[:, j] for j, name in enumerate(matrix.names)}
        counts: dict[str, NDArray[Any]] = {"rows": np.array([block.num_rows])}
        for j, ruler in self.rulers.items():
            values = columns[self.columns[j]].astype(np.float64)
            present = values[~np.isnan(values)]
            counts[f"absent {j}"] = np.array([values.size - present.size])
            counts |= {f"{name} {j}": array for name, array in ruler.count(present).items()}
        return counts

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        counts = {name: before[name] + after[name] for name in ("rows", *(f"absent {j}" for j in self.rulers))}
        for j in self.rulers:
            both = merged_counts(counts_of(before, j), counts_of(after, j))
            counts |= {f"{name} {j}": array for name, array in both.items()}
        return counts


def counts_of(arrays: Arrays, j: int) -> Counts:
    """What was counted of one column."""
    return {name: arrays[f"{name} {j}"] for name in ("equal", "between", "low", "high", "sums")}


def counting_of(reference: Surveyed, features: FeatureColumns) -> Counting:
    """The pass over a reference that was surveyed."""
    sample = sample_matrix(reference, features)
    at = [reference.names.index(name) for name in sample.names]
    rulers = {
        j: Ruler.of(sample.values[:, j], reference.share, *reference.ends[:, at[j]].tolist())
        for j, name in enumerate(sample.names)
        if name not in reference.labels
    }
    return Counting(
        name="Calibrating on the reference",
        features=features,
        columns=sample.names,
        rulers=rulers,
    )


def reference_from(
    arrays: Arrays, counting: Counting, surveyed: Surveyed, features: FeatureColumns, *, seed: int
) -> Reference:
    """The reference as it was counted, with the rows of the sample that neighbours are looked for among."""
    sample = sample_matrix(surveyed, features)
    rows, columns = int(arrays["rows"][0]), {}
    for j, name in enumerate(sample.names):
        ruler = counting.rulers.get(j)
        if ruler is None:
            counts, gaps = surveyed.labels[name], surveyed.absent[surveyed.names.index(name)]
            type_ = TEXT if name in surveyed.text else CATEGORY
            columns[name] = ColumnReference(type=type_, counts=counts, rows=rows, gaps=int(gaps))
        else:
            column, gaps = ruler.column(counts_of(arrays, j)), int(arrays[f"absent {j}"][0])
            columns[name] = ColumnReference(type=NUMBER, counts=column, rows=rows, gaps=gaps)
    order = np.argsort(lots(surveyed.positions, seed), kind="stable")
    return Reference.of_counts(columns, rows_of(sample, np.sort(order[:SAMPLE])), rows=rows)
