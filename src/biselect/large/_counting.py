"""Second pass, over the reference: its distribution, column by column, for a calibrator."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.columns.counts import Counts, Ruler, lots, merged_counts
from biselect.large._survey import FeatureColumns, Surveyed, sample_matrix
from biselect.large.dataset import Part
from biselect.large.passes import Arrays, merged_blocks
from biselect.tables import rows_of
from biselect.weights.reference import Windows, known_categories, squarable, windows_of
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
        found: dict[str, NDArray[Any]] = {"rows": np.array([block.num_rows])}
        for j, ruler in self.rulers.items():
            values = columns[self.columns[j]].astype(np.float64)
            known = values[~np.isnan(values)]
            found[f"absent {j}"] = np.array([values.size - known.size])
            found |= {f"{name} {j}": array for name, array in ruler.count(known).items()}
        return found

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        found = {name: before[name] + after[name] for name in ("rows", *(f"absent {j}" for j in self.rulers))}
        for j in self.rulers:
            both = merged_counts(counts_of(before, j), counts_of(after, j))
            found |= {f"{name} {j}": array for name, array in both.items()}
        return found


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


def windows_from(
    arrays: Arrays, asked: Counting, reference: Surveyed, features: FeatureColumns, *, missing: str, seed: int
) -> Windows:
    """The windows of a calibrator, with the rows of the sample that neighbours are looked for among."""
    sample = sample_matrix(reference, features)
    at = [reference.names.index(name) for name in sample.names]
    absent = np.zeros(len(sample.names), dtype=np.int64)
    columns = {}
    for j, ruler in asked.rulers.items():
        absent[j] = int(arrays[f"absent {j}"][0])
        column = ruler.column(counts_of(arrays, j))
        columns[j] = None if column is None else squarable(column, sample.names[j])
    labels = {}
    for j, name in enumerate(sample.names):
        if name in reference.labels:
            counts: Counter[str | None] = Counter(reference.labels[name])
            counts[None] = int(reference.absent[at[j]])
            labels[j] = known_categories(counts, name, text=name in reference.text)
    order = np.argsort(lots(reference.positions, seed), kind="stable")
    return replace(
        windows_of(
            columns,
            labels,
            names=sample.names,
            named=True,
            missing=missing,
            rows=int(arrays["rows"][0]),
            absent=absent,
        ),
        sample=(rows_of(sample, np.sort(order[:SAMPLE])),),
    )
