"""Third pass, over the pool: keep the rows that are heavy in some way, and say how heavy the others can be at most.

A row is kept by its own weights alone, so what is kept does not depend on the parts. Of all other rows the pass keeps
one number for each way to choose columns: no m columns of any of them weigh more. In the search they are stood for by
rows that weigh just that much whatever the columns (`biselect.solvers.stand_ins`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.calibrate import Calibrator
from biselect.calibrate.counted_columns import lots
from biselect.calibrate.frames import NamedMatrix
from biselect.partitions.parts import Part
from biselect.partitions.passes import Arrays
from biselect.reviews.large.blocks import FeatureColumns, joined, packed, told_of
from biselect.reviews.recentre import Shifts

CHUNK = 1 << 13  # rows weighed at a time: their weights stay in cache


@dataclass(frozen=True, kw_only=True)
class Heavy:
    """What counts as heavy: more than `above`, and of the rows that weigh exactly that much a share.

    Where many rows weigh alike, some of them are as good as all: any of them may be chosen.
    """

    above: float
    share: float

    @classmethod
    def of(cls, weights: NDArray[np.float64], drawn_share: float, rows: int) -> Heavy:
        """What about so many rows of the whole table reach, read off a sample of this share of it."""
        place = min(max(1, round(rows * drawn_share)), weights.size)
        above = float(np.partition(weights, weights.size - place)[weights.size - place])
        wanted = place - int((weights > above).sum())
        return cls(above=above, share=min(1.0, wanted / int((weights == above).sum())))

    def is_in(self, weights: NDArray[np.float64], positions: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
        """Which rows are heavy."""
        found = weights > self.above
        tied = np.flatnonzero(weights == self.above)
        if tied.size:
            found[tied] = True if self.share == 1 else lots(positions[tied], seed) < np.uint64(int(self.share * 2**64))
        return found


@dataclass(frozen=True, kw_only=True)
class View:
    """A way to look at a row.

    Attributes:
        columns: positions of the features that may be chosen.
        m: how many are.
        heavy: what the m largest weights there must add up to.
    """

    columns: tuple[int, ...]
    m: int
    heavy: Heavy


@dataclass(frozen=True, kw_only=True)
class Collecting:
    """The pass.

    Attributes:
        name: what a person reads while it runs.
        features: how they are read.
        beside: other columns that kept rows bring along.
        calibrator: weighs the rows; it needs no row of the reference.
        shifts: how columns that moved are put back first; None where none did.
        views: ways to look at a row.
        heavy: what all weights of a row must add up to for its neighbours to be looked up.
        most: how many columns are chosen at most, over all budgets that are asked about.
        id_column: names the rows; None for their positions.
        ids: rows that are kept in any case.
        seed: fixes which of many rows that weigh alike are kept.
    """

    name: str
    features: FeatureColumns
    beside: tuple[str, ...]
    calibrator: Calibrator
    shifts: Shifts | None
    views: tuple[View, ...]
    heavy: float
    seed: int
    most: int
    id_column: str | None = None
    ids: frozenset[str] = frozenset()

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        columns = list(dict.fromkeys([*self.features.names, *self.beside]))
        others = np.zeros((len(self.views), self.most))
        kept, positions = [], []
        with told_of(part):
            for first, block in part.blocks(columns):
                if block.num_rows == 0:
                    continue
                rows = self._rows(first, block, others)
                if rows.size:
                    kept.append(block.take(rows))
                    positions.append(first + rows)
        return {
            "others": others,
            "at": np.concatenate([*positions, np.empty(0, dtype=np.int64)]),
            **packed([pa.concat_tables(kept)] if kept else []),
        }

    def _rows(self, first: int, block: pa.Table, others: NDArray[np.float64]) -> NDArray[np.int64]:
        """The rows of a block to keep; `others` learns about the rest."""
        matrix = self.features.matrix(block, first)
        keep = np.empty(len(matrix), dtype=bool)
        named = self._named(first, block)
        for start in range(0, len(matrix), CHUNK):
            part = slice(start, start + CHUNK)
            own, sums = self._heavy(part_of(matrix, part), first + start)
            if named is not None:
                own |= named[part]
            keep[part] = own
            if not own.all():
                np.maximum(others, sums[:, ~own].max(axis=1), out=others)
        return np.flatnonzero(keep)

    def _heavy(self, matrix: NamedMatrix, first: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Which rows are heavy, and by view and row the sums of the largest weights."""
        from biselect.reviews.large.heavy_kernel import top_sums  # loads numba

        W = self.calibrator.weights(moved_back(matrix, self.shifts))
        positions = np.arange(first, first + len(W))
        heavy = W.sum(axis=1) >= self.heavy
        sums = np.empty((len(self.views), len(W), self.most))
        for view, found in zip(self.views, sums, strict=True):
            top_sums(W, np.array(view.columns), found)
            heavy |= view.heavy.is_in(found[:, view.m - 1], positions, self.seed)
        return heavy, sums

    def _named(self, first: int, block: pa.Table) -> NDArray[np.bool_] | None:
        """Which rows have one of the ids that are asked for."""
        if not self.ids:
            return None
        if self.id_column is None:
            return np.array([str(first + row) in self.ids for row in range(block.num_rows)])
        texts = block[self.id_column].cast(pa.string())
        return np.asarray(pc.is_in(texts, pa.array(sorted(self.ids))).to_numpy())

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        others = np.maximum(before["others"].astype(float), after["others"].astype(float))
        return {"others": others, **joined(before, after, ["at", "bytes", "sizes"])}


def moved_back(matrix: NamedMatrix, shifts: Shifts | None) -> NamedMatrix:
    """The rows as they are weighed."""
    return matrix if shifts is None else replace(matrix, values=shifts.applied(matrix.values))


def part_of(matrix: NamedMatrix, rows: slice) -> NamedMatrix:
    """Some rows, without a copy."""
    return replace(matrix, values=matrix.values[rows])


def view_sums(W: NDArray[np.float64], columns: Sequence[int], m: int) -> NDArray[np.float64]:
    """Of each row what its m largest weights in these columns add up to."""
    from biselect.reviews.large.heavy_kernel import top_sums  # loads numba

    sums = np.empty((len(W), m))
    top_sums(W, np.array(columns), sums)
    return sums[:, m - 1]
