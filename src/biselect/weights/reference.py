"""Blocks of reference rows in, one column per feature out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.category import CATEGORY, FLAG, LabelCounts
from biselect.columns.column_type import ColumnReference
from biselect.columns.distribution import Distribution, RankSketch
from biselect.columns.number import by_value
from biselect.columns.text import TEXT
from biselect.core.checks import check_integer
from biselect.errors import InputError
from biselect.tables import NamedMatrix, align, as_matrix, refuse_unusable, rows_of
from biselect.weights.whole_row import SAMPLE

FEWEST_ROWS = 10  # with fewer, not even a one-in-ten event can be told apart
MEMORY = 128 << 20  # bytes that the sketches of one fit may hold
MOST_LABELS = 100_000  # different ones of a column in a table that is not held whole


@dataclass(frozen=True, kw_only=True, eq=False)
class Windows:
    """The reference, feature by feature.

    Attributes:
        names: one per column.
        named: whether the names are the table's own rather than positions.
        rows: how many.
        columns: the distribution of each; of categories that of their weights.
        categories: of each column that is weighed by how rare its values are, by position: labels, flags, and numbers
            that do not vary.
        medians: NaN for a column of labels.
        absent: missing entries by column.
        sample: some rows of the reference, drawn by the seed, in blocks as they came; none where there are no rows.
    """

    names: tuple[str, ...]
    named: bool
    rows: int
    columns: tuple[Distribution, ...]
    categories: Mapping[int, LabelCounts]
    medians: NDArray[np.float64]
    absent: NDArray[np.int64]
    sample: tuple[NamedMatrix, ...] = ()


class WindowBuilder:
    """Takes in blocks of rows, with memory for so many bytes; `None` keeps every entry.

    What comes out does not depend on how the rows come in blocks.
    """

    def __init__(self, *, missing: str, seed: int, memory: int | None):
        self.missing, self.memory = missing, memory
        self._lots = np.random.default_rng([seed, 1])
        self._sample: list[NamedMatrix] = []
        self._drawn = np.empty(0)
        self.names: tuple[str, ...] | None = None
        self.rows = 0

    def add(self, block: Any) -> None:
        """Take in a block."""
        where = "the reference"
        matrix = as_matrix(block)
        if self.names is None:
            self._start(matrix)
        assert self.names is not None
        matrix = align(matrix, self.names, named=self.named, where=where)
        X, first = matrix.values, self.rows
        refuse_unusable(X, self.names, where=where, missing=self.missing, place_of=lambda row: f"row {first + row}")
        refuse_labels(matrix, self.labels, where=where)
        self.text |= matrix.text
        for j, counter in self.labels.items():
            codes, labels = matrix.coded(j)
            known = codes[~np.isnan(codes)].astype(np.intp)
            counts = np.bincount(known, minlength=len(labels)).tolist()
            counter.update(dict(zip(labels, counts, strict=True)))
            counter[None] += len(codes) - known.size
        for j in self._numbers():
            known = ~np.isnan(X[:, j])
            self.sketches[j].add(X[known, j])
            self.absent[j] += len(X) - int(known.sum())
        self.rows += len(X)
        self._draw(matrix)

    def windows(self) -> Windows:
        """What has been taken in."""
        if self.names is None:
            raise InputError("the reference has no blocks")
        if self.rows < FEWEST_ROWS:
            raise InputError(f"the reference has {self.rows} rows; calibration needs at least {FEWEST_ROWS}")
        windows = windows_of(
            {j: self._column(j) for j in self._numbers()},
            {j: known_categories(counts, self.names[j], text=j in self.text) for j, counts in self.labels.items()},
            names=self.names,
            named=self.named,
            missing=self.missing,
            rows=self.rows,
            absent=self.absent,
        )
        return replace(windows, sample=tuple(self._sample))

    def _draw(self, block: NamedMatrix) -> None:
        """Keep the rows with the smallest lots: a sample without replacement, whatever the blocks."""
        lots = np.append(self._drawn, self._lots.random(len(block)))
        least = np.sort(np.argpartition(lots, SAMPLE - 1)[:SAMPLE]) if lots.size > SAMPLE else np.arange(lots.size)
        starts = np.cumsum([0, *map(len, self._sample)])
        kept = [
            rows_of(part, least[(least >= start) & (least < start + len(part))] - start)
            for part, start in zip([*self._sample, block], starts, strict=True)
        ]
        self._sample, self._drawn = [part for part in kept if len(part)], lots[least]

    def _start(self, block: NamedMatrix) -> None:
        """The first block says which columns hold labels."""
        width = len(block.names)
        if width == 0:
            raise InputError("the reference has no feature columns")
        self.named, self.names = block.named, block.names
        self.labels: dict[int, Counter[str | None]] = {j: Counter() for j in block.labels}
        self.text: frozenset[int] = frozenset()
        entries = None if self.memory is None else self.memory // (8 * width)
        self.sketches = [RankSketch(entries) for _ in range(width)]
        self.absent = np.zeros(width, dtype=np.int64)

    def _numbers(self) -> list[int]:
        assert self.names is not None
        return [j for j in range(len(self.names)) if j not in self.labels]

    def _column(self, j: int) -> Distribution | None:
        """A column of numbers, None where the reference holds no value of it; frees the sketch."""
        sketch, self.sketches[j] = self.sketches[j], RankSketch(None)
        if sketch.size == 0:
            return None
        assert self.names is not None
        return squarable(sketch.column(), self.names[j])


def squarable(column: Distribution, name: str) -> Distribution:
    """The column, if its deviation can be squared."""
    if not column.deviation < np.sqrt(np.finfo(np.float64).max):
        raise InputError(f"column {name!r} of the reference holds values too large to square; rescale it")
    return column


def known_categories(counts: Mapping[str | None, int], name: str, *, text: bool) -> LabelCounts:
    """The labels of a column; free text is refused."""
    known = {label: count for label, count in counts.items() if label is not None}
    column = ColumnReference(type=TEXT if text else CATEGORY, counts=known, rows=0, gaps=counts.get(None, 0))
    fitted: LabelCounts = column.type.fit(column, name, "weigh").counts
    return fitted


def windows_of(
    numbers: Mapping[int, Distribution | None],
    labels: Mapping[int, LabelCounts],
    *,
    names: tuple[str, ...],
    named: bool,
    missing: str,
    rows: int,
    absent: NDArray[np.int64],
) -> Windows:
    """The reference of these columns: gaps filled if asked, and numbers that do not vary made categories.

    Args:
        numbers: by position, None for one without a value.
        labels: all other columns.
        names: one per column.
        named: whether they are the table's own.
        missing: as for the calibrator.
        rows: how many.
        absent: missing entries by column.
    """
    categories, medians = dict(labels), np.full(len(names), np.nan)
    columns = {}
    for j, column in numbers.items():
        gaps = int(absent[j])
        if column is not None:
            medians[j] = column.quantile(0.5)
        if missing == "median":
            if column is None:
                raise InputError(f"column {names[j]!r} of the reference holds no value at all")
            column, gaps = column.with_entries(medians[j], gaps), 0
        if column is None or not column.varies:
            categories[j] = by_value(column, gaps)
        else:
            columns[j] = column
    columns |= {j: found.distribution() for j, found in categories.items()}
    return Windows(
        names=names,
        named=named,
        rows=rows,
        columns=tuple(columns[j] for j in range(len(names))),
        categories=categories,
        medians=medians,
        absent=absent,
    )


def refuse_labels(matrix: NamedMatrix, labels: Mapping[int, Any], *, where: str) -> None:
    """An error where a column holds labels that holds numbers in the reference; flags are numbers too."""
    for j, known in matrix.labels.items():
        if j not in labels and tuple(known) != FLAG:
            shown = repr(known[0]) if known else "nothing"
            raise InputError(
                f"column {matrix.names[j]!r} holds labels in {where} ({shown}), but numbers in the reference; "
                "convert either of them"
            )


Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]
"""Plain data, and arrays by name."""


def stored_windows(windows: Windows) -> Stored:
    """What `windows_from_store` takes."""
    arrays: dict[str, NDArray[Any]] = {"medians": windows.medians, "absent": windows.absent}
    for j, column in enumerate(windows.columns):
        arrays |= {f"values {j}": column.values, f"counts {j}": column.counts}
    header = {
        "names": list(windows.names),
        "named": windows.named,
        "rows": windows.rows,
        "columns": [[column.mean, column.deviation, column.rank_error] for column in windows.columns],
        "categories": [[j, list(found.counts.items())] for j, found in windows.categories.items()],
    }
    return header, arrays


def windows_from_store(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Windows:
    """The windows again; what cannot be theirs raises an error, of whatever kind."""
    names = tuple(map(str, header["names"]))
    columns = []
    for j, (mean, deviation, error) in enumerate(header["columns"]):
        values, counts = arrays[f"values {j}"].astype(float), arrays[f"counts {j}"].astype(np.int64)
        fine = values.ndim == 1 and values.shape == counts.shape and values.size > 0
        if not (fine and np.isfinite(values).all() and (np.diff(values) >= 0).all() and (np.diff(counts) > 0).all()):
            raise ValueError(f"column {j} is no distribution")
        columns.append(
            Distribution(
                values=values,
                counts=counts,
                mean=float(mean),
                deviation=float(deviation),
                rank_error=check_integer("rank_error", error, least=0),
            )
        )
    if len(columns) != len(names):
        raise ValueError("not every column has a distribution")
    if arrays["medians"].shape != (len(names),) or arrays["absent"].shape != (len(names),):
        raise ValueError("medians and missing entries are not those of the columns")
    return Windows(
        names=names,
        named=bool(header["named"]),
        rows=check_integer("rows", header["rows"]),
        columns=tuple(columns),
        categories={
            check_integer("column", j, least=0): LabelCounts(dict(counts)) for j, counts in header["categories"]
        },
        medians=arrays["medians"].astype(float),
        absent=arrays["absent"].astype(np.int64),
    )
