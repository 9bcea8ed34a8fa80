"""First pass: the ends of every column, what is missing, how often labels stand, and a sample of the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.columns.counts import drawn
from biselect.columns.date import parts_of_dates
from biselect.columns.distinct_texts import is_number
from biselect.columns.flag import as_texts
from biselect.columns.number import arrow_floats
from biselect.errors import InputError
from biselect.large.dataset import Part
from biselect.large.passes import Arrays, as_bytes, from_bytes, joined, merged_blocks, packed, unpacked
from biselect.options import Columns, spell
from biselect.tables import NamedMatrix, align, as_matrix, refuse_unusable
from biselect.weights.reference import MOST_LABELS

SAMPLE = 1 << 15  # rows, about
ROWS_A_DRAW = 1 << 12  # one row in so many is drawn where that is more
MOST_SAMPLE = 1 << 20
MOST_CELLS = 1 << 21  # of rows that are held at a time, of tables with many columns
MOST_VALUES = 1000  # of a label; more are no labels


def row_limit(rows: int, columns: int) -> int:
    """So many rows, or fewer of a wide table."""
    return min(rows, max(1000, MOST_CELLS // columns))


def sample_share(rows: int, columns: int = 1) -> float:
    """The share of a table that is drawn."""
    fewest = row_limit(SAMPLE, columns)
    return min(1.0, min(row_limit(MOST_SAMPLE, max(1, columns // 32)), max(fewest, rows // ROWS_A_DRAW)) / rows)


@dataclass(frozen=True, kw_only=True)
class FeatureColumns:
    """How the features of a block are read.

    Attributes:
        names: columns of the table.
        categories: those of numbers that name things.
        dates: date columns and their parts.
        missing: whether a missing value is an `error`.
        where: the table, in words.
        kept: features to use, by name and in order; None for all.
    """

    names: tuple[str, ...]
    categories: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    missing: str = "weigh"
    where: str = "the pool"
    kept: tuple[str, ...] | None = None

    def matrix(self, block: pa.Table, positions: NDArray[np.int64] | None = None) -> NamedMatrix:
        """The features of a block, whose rows stand at these positions; unusable entries are refused."""
        features = as_matrix(block.select(self.names), categories=self.categories, dates=self.dates)
        if self.kept is not None:
            features = align(features, self.kept, named=True, where=self.where)
        at = np.arange(len(features)) if positions is None else positions
        refuse_unusable(
            features.values,
            features.names,
            where=self.where,
            missing=self.missing,
            place_of=lambda row: f"row {at[row]:,}",
        )
        return features

    def numbers(self, block: pa.Table) -> dict[str, NDArray[Any]]:
        """Features that are numbers as they are stored, as arrays; NaN for a missing entry."""
        special = {*self.categories, *parts_of_dates(self.dates)}
        return {
            name: _as_array(block[name])
            for name in self.names
            if name not in special and is_number(block.schema.field(name).type)
        }


def _as_array(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of numbers, without a copy where it can be."""
    if column.null_count or not pa.types.is_floating(column.type) or pa.types.is_float16(column.type):
        column = arrow_floats(column)
    return np.asarray(column.to_numpy())


@dataclass(frozen=True, kw_only=True)
class Survey:
    """The pass.

    Attributes:
        name: what a person reads while it runs.
        features: how they are read.
        label: column of known positives, whose values are counted; None for none.
        share: of the rows that are drawn.
        seed: fixes which.
    """

    name: str
    features: FeatureColumns
    label: str | None
    share: float
    seed: int

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        columns = self.features.names if self.label is None else (*self.features.names, self.label)
        return merged_blocks(part, columns, self._of_block, self.merged)

    def _of_block(self, first: int, block: pa.Table) -> Arrays:
        features, labels, text = self.features, dict[str, dict[str, int]](), set[str]()
        numbers, positions = features.numbers(block), np.arange(first, first + block.num_rows)
        facts = {name: _ends_and_gaps(values) for name, values in numbers.items()}
        for low, high, gaps in facts.values():
            if (np.isinf([low, high]).any() and gaps < block.num_rows) or (gaps and features.missing == "error"):
                features.matrix(block, positions)  # says which entry it is
        if rest := tuple(name for name in features.names if name not in numbers):
            matrix = replace(features, names=rest).matrix(block, positions)
            for j, name in enumerate(matrix.names):
                values = matrix.values[:, j]
                facts[name] = _ends_and_gaps(values)
                if j in matrix.labels:
                    codes = values[~np.isnan(values)].astype(np.intp)
                    counts = np.bincount(codes, minlength=len(matrix.labels[j])).tolist()
                    labels[name] = dict(zip(matrix.labels[j], counts, strict=True))
            text = {matrix.names[j] for j in matrix.text}
        flags = None if self.label is None else as_texts(block[self.label])
        sampled = np.flatnonzero(drawn(first, block.num_rows, self.share, self.seed))
        return {
            "rows": np.array([block.num_rows]),
            "unlabelled": np.array([0 if flags is None else flags.null_count]),
            "ends": np.array([facts[name][:2] for name in facts]).T,
            "absent": np.array([facts[name][2] for name in facts], dtype=np.int64),
            "told": self._told(tuple(facts), labels, text, {} if flags is None else _counted(flags)),
            "at": first + sampled,
            **packed([block.take(sampled)] if sampled.size else []),
        }

    def _told(
        self,
        names: Sequence[str],
        labels: Mapping[str, Mapping[str, int]],
        text: Collection[str],
        positives: Mapping[str, int],
    ) -> NDArray[np.uint8]:
        """What is no array; an error for a column of too many texts to be labels."""
        for name, counts in labels.items():
            _refuse_many(name, counts)
        if len(positives) > MOST_VALUES:
            raise InputError(f"label column {self.label!r} holds more than {MOST_VALUES:,} different values")
        return as_bytes({"names": names, "labels": labels, "text": sorted(text), "positives": positives})

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        one, other = from_bytes(before["told"]), from_bytes(after["told"])
        labels = {
            name: dict(Counter(one["labels"].get(name, {})) + Counter(other["labels"].get(name, {})))
            for name in dict.fromkeys([*one["labels"], *other["labels"]])
        }
        positives = dict(Counter(one["positives"]) + Counter(other["positives"]))
        low, high = before["ends"].astype(float), after["ends"].astype(float)
        return {
            **{name: before[name] + after[name] for name in ("rows", "unlabelled", "absent")},
            "ends": np.stack([np.fmin(low[0], high[0]), np.fmax(low[1], high[1])]),
            "told": self._told(one["names"], labels, {*one["text"], *other["text"]}, positives),
            **joined(before, after, ["at", "bytes", "sizes"]),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Surveyed:
    """What the pass found.

    Attributes:
        names: of the features.
        rows: in all.
        ends: smallest and largest value of each feature, infinite and the wrong way round where it has none.
        absent: missing values by feature.
        labels: how often each label of a column of categories stands.
        text: columns of plain text.
        positives: how often each value of the label column stands.
        unlabelled: rows without a label.
        sample: some rows.
        positions: where they stand in the table.
        share: of all rows, those in the sample.
    """

    names: tuple[str, ...]
    rows: int
    ends: NDArray[np.float64]
    absent: NDArray[np.int64]
    labels: dict[str, Counter[str]]
    text: set[str]
    positives: dict[str, int]
    unlabelled: int
    sample: pa.Table
    positions: NDArray[np.int64]
    share: float = field(default=1.0)

    @classmethod
    def of(cls, arrays: Arrays, share: float) -> Surveyed:
        """From the arrays of the pass."""
        facts = from_bytes(arrays["told"])
        if arrays["sizes"].size == 0:
            raise InputError("the table has no rows")
        return cls(
            names=tuple(facts["names"]),
            rows=int(arrays["rows"][0]),
            ends=arrays["ends"].astype(float),
            absent=arrays["absent"].astype(np.int64),
            labels={name: Counter(counts) for name, counts in facts["labels"].items()},
            text=set(facts["text"]),
            positives=facts["positives"],
            unlabelled=int(arrays["unlabelled"][0]),
            sample=unpacked(arrays),
            positions=arrays["at"].astype(np.int64),
            share=share,
        )

    def holds(self, name: str) -> set[str | None]:
        """What a feature holds, a few of its entries where that is more; None for a missing one."""
        j = self.names.index(name)
        entries: set[str | None] = {None} if self.absent[j] else set()
        if name in self.labels:
            return entries | {label for label, count in self.labels[name].items() if count}
        return entries | {f"{end:.15g}" for end in self.ends[:, j] if np.isfinite(end)}


def _ends_and_gaps(values: NDArray[Any]) -> tuple[float, float, int]:
    """The smallest and the largest of these numbers, infinite and the wrong way round where there is none; and gaps."""
    if not np.isnan(low := values.min()):
        return float(low), float(values.max()), 0
    present = values[~np.isnan(values)]
    low, high = (present.min(), present.max()) if present.size else (np.inf, -np.inf)
    return float(low), float(high), values.size - present.size


def sample_matrix(survey: Surveyed, features: FeatureColumns) -> NamedMatrix:
    """The features of the rows in the sample."""
    return features.matrix(survey.sample, survey.positions)


def constant_in_both(reference: Surveyed, pool: Surveyed) -> tuple[str, ...]:
    """Features that hold one and the same value in every row of both tables."""
    names = [name for name in reference.names if name in pool.names]
    constant = tuple(name for name in names if len(reference.holds(name) | pool.holds(name)) == 1)
    if len(constant) == len(names):
        raise InputError("every feature holds one and the same value in reference and pool: there is nothing to weigh")
    return constant


def _counted(column: pa.ChunkedArray) -> dict[str, int]:
    """How often each value stands; null is no value."""
    counts = pc.value_counts(column).to_pylist()
    return {entry["values"]: entry["counts"] for entry in counts if entry["values"] is not None}


def _refuse_many(name: str, counts: Mapping[str, int]) -> None:
    if len(counts) > MOST_LABELS:
        raise InputError(
            f"column {name!r} holds more than {MOST_LABELS:,} different texts: free text or ids, not categories. Leave "
            f"it out with {spell(Columns(exclude=[name]))}, only show it with {spell(Columns(show=[name]))}, or make "
            f"it {spell(Columns(id=name))}"
        )
