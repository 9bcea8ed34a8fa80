"""Second pass, over the reference: its distribution, column by column, for a calibrator."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from biselect.calibrate import Calibrator
from biselect.calibrate.counted_columns import Counts, Ruler, drawn, lots, merged_counts
from biselect.calibrate.frames import rows_of
from biselect.calibrate.isolation import SAMPLE
from biselect.calibrate.windows import Windows, known_categories, squarable, windows_of
from biselect.partitions.parts import Part
from biselect.partitions.table_pass import Arrays
from biselect.reviews.large.blocks import FeatureColumns, merged_blocks
from biselect.reviews.large.survey import Surveyed, sample_matrix

ASIDE = 1  # beside the seed, so that the split is drawn apart from the sample


@dataclass(frozen=True, kw_only=True)
class Counting:
    """The pass.

    Attributes:
        name: what a person reads while it runs.
        features: how they are read.
        columns: names of the features.
        rulers: by position, for columns of numbers.
        split: share of the rows that is counted apart, for ranks.
        seed: fixes which.
    """

    name: str
    features: FeatureColumns
    columns: tuple[str, ...]
    rulers: dict[int, Ruler]
    split: float
    seed: int

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        return merged_blocks(part, self.features.names, self._of_block, self.merged)

    def _of_block(self, first: int, block: pa.Table) -> Arrays:
        columns = self.features.numbers(block)
        if not {self.columns[j] for j in self.rulers} <= columns.keys():  # parts of dates
            matrix = self.features.matrix(block)
            columns = {name: matrix.values[:, j] for j, name in enumerate(matrix.names)}
        aside = drawn(first, block.num_rows, self.split, 2 * self.seed + ASIDE) if self.split else None
        found: dict[str, NDArray[Any]] = {}
        for window in range(2 if self.split else 1):
            rows = np.arange(block.num_rows) if aside is None else np.flatnonzero(aside if window else ~aside)
            found[f"rows {window}"] = np.array([rows.size])
            for j, ruler in self.rulers.items():
                values = columns[self.columns[j]] if aside is None else columns[self.columns[j]][rows]
                values = values.astype(np.float64)
                known = values[~np.isnan(values)]
                found[f"absent {window} {j}"] = np.array([values.size - known.size])
                found |= {f"{name} {window} {j}": array for name, array in ruler.count(known).items()}
        return found

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        found: dict[str, NDArray[Any]] = {}
        for window in range(2 if self.split else 1):
            for name in (f"rows {window}", *(f"absent {window} {j}" for j in self.rulers)):
                found[name] = before[name] + after[name]
            for j in self.rulers:
                both = merged_counts(counts_of(before, j, window), counts_of(after, j, window))
                found |= {f"{name} {window} {j}": array for name, array in both.items()}
        return found


def counts_of(arrays: Arrays, j: int, window: int = 0) -> Counts:
    """What was counted of one column, in the rows to fit on or those set aside."""
    return {name: arrays[f"{name} {window} {j}"] for name in ("equal", "between", "low", "high", "sums")}


def counting_of(reference: Surveyed, features: FeatureColumns, calibrator: Calibrator, seed: int) -> Counting:
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
        split=calibrator.split_share,
        seed=seed,
    )


def windows_from(
    arrays: Arrays, asked: Counting, reference: Surveyed, features: FeatureColumns, *, missing: str, seed: int
) -> Windows:
    """The windows of a calibrator, with the rows of the sample that neighbours are looked for among."""
    sample = sample_matrix(reference, features)
    windows = range(2 if asked.split else 1)
    at = [reference.names.index(name) for name in sample.names]
    absent = np.zeros((2, len(sample.names)), dtype=np.int64)
    columns = {}
    for j, ruler in asked.rulers.items():
        found = [ruler.column(counts_of(arrays, j, window)) for window in windows]
        for window in windows:
            absent[window, j] = int(arrays[f"absent {window} {j}"][0])
        found = [None if column is None else squarable(column, sample.names[j]) for column in found]
        columns[j] = (found[0], found[1] if asked.split else None)
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
            rows=[int(arrays[f"rows {window}"][0]) for window in windows] + [0] * (2 - len(windows)),
            absent=absent,
        ),
        sample=(rows_of(sample, np.sort(order[:SAMPLE])),),
    )
