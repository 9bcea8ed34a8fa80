"""Third pass, over the pool: keep the rows that are heavy in some way.

A row is kept by its own weights alone, so what is kept does not depend on the parts, and how heavy the others can be is
known without looking at them: less than what counts as heavy. In the search they are stood for by rows that weigh just
that much whatever the columns (`biselect.solvers.representatives`).

Nearly all rows are told to be light by a quick look: a number within a certain interval weighs no more than a certain
level. Only what this leaves in doubt is weighed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit
from numpy.typing import NDArray

from biselect.columns.counts import lots
from biselect.large._survey import FeatureColumns
from biselect.large.dataset import ORIGIN, Part
from biselect.large.passes import Arrays, errors_of, joined, packed
from biselect.tables import NamedMatrix, id_texts
from biselect.weights import Weigher
from biselect.weights.alignment import Shift
from biselect.weights.directed import at_best

CHUNK = 1 << 14  # rows looked at at a time: what is known of them stays in cache
LEVELS = (0.15, 0.3, 0.5, 0.75, 1.0, 1.3, 1.6, 2.0, 2.5, 3.0, 3.7, 4.5, 6.0, 9.0)  # of weights, for the quick look
MARGIN = 1e-12  # for machines that round otherwise
SLACK = 1e-4  # for the single precision of the quick look


@dataclass(frozen=True, kw_only=True)
class Heavy:
    """What counts as heavy: more than `above`, and of the rows that weigh exactly that much a share.

    Where many rows weigh alike, some of them are as good as all: any of them may be chosen.
    """

    above: float
    share: float = 1.0

    @classmethod
    def of(cls, weights: NDArray[np.float64], drawn_share: float, rows: int) -> Heavy:
        """What about so many rows of the whole table reach, read off a sample of this share of it."""
        if rows * drawn_share >= weights.size:
            return cls(above=-np.inf)
        place = max(1, round(rows * drawn_share))
        above = float(np.partition(weights, weights.size - place)[weights.size - place])
        ties = place - int((weights > above).sum())
        return cls(above=above, share=min(1.0, ties / int((weights == above).sum())))

    def is_in(self, weights: NDArray[np.float64], positions: NDArray[np.int64], seed: int) -> NDArray[np.bool_]:
        """Which rows are heavy."""
        heavy = weights > self.above
        tied = np.flatnonzero(weights == self.above)
        if tied.size:
            heavy[tied] = True if self.share == 1 else lots(positions[tied], seed) < np.uint64(int(self.share * 2**64))
        return heavy


@dataclass(frozen=True, kw_only=True)
class View:
    """A way to look at a row.

    Attributes:
        m: how many columns are chosen.
        heavy: what the m largest weights of a row must add up to.
        theta: a weight about as large as the m-th largest of a row; any number would do.
    """

    m: int
    heavy: Heavy
    theta: float

    def sums(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of each row what its m largest weights add up to."""
        totals = np.empty(len(W))
        top_sums(W, self.m, totals)
        return totals


@dataclass(frozen=True, kw_only=True, eq=False)
class QuickLook:
    """Intervals of numbers, level by level, within which none weighs more than the level, in its own direction too.

    Attributes:
        lows: levels × features, the lower ends.
        highs: the upper ends.
        rises: the levels as steps; the last one leads to the largest weight of all.
    """

    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    rises: NDArray[np.float32]

    @classmethod
    def of(cls, weigher: Weigher, shifts: Shift | None) -> QuickLook | None:
        """For a fitted weigher, in the units of the table; None where its map cannot tell."""
        levels = [level for level in LEVELS if level < weigher.cap]
        if not levels:
            return None
        intervals = [weigher.numbers_at_most(level) for level in levels]
        ends = [each for each in intervals if each is not None]
        if len(ends) < len(levels):
            return None
        lows, highs = (np.array([each[side] for each in ends]) for side in (0, 1))
        if shifts is not None:
            lows, highs = shifts.undone(lows, 1), shifts.undone(highs, -1)
        highest = at_best(weigher, np.array([*levels, weigher.cap])[:, None]).max(axis=1)
        rises = np.diff(highest, prepend=0.0).astype(np.float32)
        return cls(lows=lows, highs=highs, rises=np.nextafter(rises, np.float32(np.inf)))

    def weights(self, column: int, x: NDArray[Any], out: NDArray[np.float32]) -> None:
        """Fill `out` with at least what each number of a column weighs."""
        lows, highs = self.lows[:, column].astype(x.dtype), self.highs[:, column].astype(x.dtype)
        if x.dtype == np.float32:  # rounded inwards
            lows, highs = np.nextafter(lows, np.float32(np.inf)), np.nextafter(highs, np.float32(-np.inf))
        levels_of(x, lows, highs, self.rises, out)


@dataclass(frozen=True, kw_only=True)
class Collecting:
    """The pass.

    Attributes:
        name: what a person reads while it runs.
        features: how they are read.
        beside: other columns that kept rows bring along.
        weigher: weighs the rows; it needs no row of the reference.
        shifts: how columns that moved are put back first; None where none did.
        quick: tells most rows to be light without weighing them; None where it cannot.
        views: ways to look at a row.
        heavy: what all weights of a row must add up to for its neighbours to be looked up.
        seed: fixes which of many rows that weigh alike are kept.
        id_column: names the rows; None for their positions.
        ids: rows that are kept in any case.
    """

    name: str
    features: FeatureColumns
    beside: tuple[str, ...]
    weigher: Weigher
    shifts: Shift | None
    quick: QuickLook | None
    views: tuple[View, ...]
    heavy: float
    seed: int
    id_column: str | None = None
    ids: tuple[str, ...] = ()

    def of_part(self, part: Part) -> Arrays:
        """What one part holds."""
        columns = list(dict.fromkeys([*self.features.names, *self.beside]))
        blocks, positions = [], []
        with errors_of(part):
            for first, block in part.blocks(columns):
                rows = self._rows(first, block)
                if rows.size:
                    blocks.append(block.take(rows))
                    positions.append(first + rows)
        return {
            "at": np.concatenate([*positions, np.empty(0, dtype=np.int64)]),
            **packed([pa.concat_tables(blocks)] if blocks else []),
        }

    def _rows(self, first: int, block: pa.Table) -> NDArray[np.int64]:
        """The rows of a block to keep."""
        doubtful = self._doubtful(block)
        heavy = []
        for start in range(0, doubtful.size, CHUNK):
            rows = doubtful[start : start + CHUNK]
            part = block if rows.size == block.num_rows else block.take(rows)
            heavy.append(rows[self._is_heavy(self.features.matrix(part, first + rows), first + rows)])
        by_id = self._named(first, block)
        return np.unique(np.concatenate([*heavy, by_id]))

    def _doubtful(self, block: pa.Table) -> NDArray[np.int64]:
        """The rows that a quick look does not tell to be light."""
        names = self.weigher.feature_names
        columns = self.features.numbers(block) if self.quick is not None else {}
        if self.quick is None or not columns.keys() >= set(names):
            return np.arange(block.num_rows)
        doubtful = []
        weights = np.empty(CHUNK, dtype=np.float32)
        for start in range(0, block.num_rows, CHUNK):
            size = min(CHUNK, block.num_rows - start)
            own, total = weights[:size], np.zeros(size, dtype=np.float32)
            excess = np.zeros((len(self.views), size), dtype=np.float32)
            for j in range(len(names)):
                self.quick.weights(j, columns[names[j]][start : start + size], own)
                total += own
                for view, sums in zip(self.views, excess, strict=True):
                    sums += np.maximum(own - np.float32(view.theta), 0)
            doubt = total >= self.heavy * (1 - SLACK)
            for view, sums in zip(self.views, excess, strict=True):
                doubt |= view.m * view.theta + sums >= view.heavy.above * (1 - SLACK)
            doubtful.append(start + np.flatnonzero(doubt))
        return np.concatenate([*doubtful, np.empty(0, dtype=np.int64)])

    def _is_heavy(self, matrix: NamedMatrix, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        W = at_best(self.weigher, self.weigher.weights(moved_back(matrix, self.shifts)))
        heavy = np.asarray(W.sum(axis=1) >= self.heavy)
        for view in self.views:
            heavy |= view.heavy.is_in(view.sums(W), positions, self.seed)
        return heavy

    def _named(self, first: int, block: pa.Table) -> NDArray[np.int64]:
        """The rows with one of the ids that are asked for."""
        if not self.ids:
            return np.empty(0, dtype=np.int64)
        if self.id_column is not None:
            texts = id_texts(block[self.id_column])
        elif ORIGIN in block.column_names:
            texts = block[ORIGIN].cast(pa.large_string())
        else:
            texts = pa.array(np.arange(first, first + block.num_rows)).cast(pa.large_string())
        ids = pa.array(self.ids, pa.large_string())
        return np.flatnonzero(pc.is_in(texts, ids).to_numpy(zero_copy_only=False))

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """What two neighbouring runs of parts hold together."""
        return joined(before, after, ["at", "bytes", "sizes"])

    def most(self, m: int) -> float:
        """What m columns of a row that was not kept weigh together at most.

        Of more columns than m each adds no more than the m largest do on average. Where rows that weigh alike were left
        out nothing is added for rounding: those that were kept must be as good.
        """
        return min(
            view.heavy.above * max(1.0, m / view.m) * (1 + MARGIN * (view.heavy.share == 1)) for view in self.views
        )


def moved_back(matrix: NamedMatrix, shifts: Shift | None) -> NamedMatrix:
    """The rows as they are weighed."""
    return matrix if shifts is None else replace(matrix, values=shifts.applied(matrix.values))


def view_of(m: int, W: NDArray[np.float64], share: float, rows: int) -> View:
    """A view that keeps about so many rows of a table, of which a sample weighs W.

    Args:
        m: how many columns are chosen.
        W: what the cells of the sample weigh at best.
        share: of the table that was drawn.
        rows: how many to keep.
    """
    place = W.shape[1] - m
    theta = float(np.partition(W, place, axis=1)[:, place].mean())
    plain = View(m=m, heavy=Heavy(above=0.0), theta=theta)
    return replace(plain, heavy=Heavy.of(plain.sums(W), share, rows))


@njit(cache=True, nogil=True)
def levels_of(
    x: NDArray[Any],
    lows: NDArray[Any],
    highs: NDArray[Any],
    rises: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> None:
    """Fill `weights` with at least what each x weighs.

    Within the interval [lows[l], highs[l]] that is rises[0] + … + rises[l]; outside all of them, and where x is
    missing, all rises together.
    """
    weights[:] = rises[0]
    for level in range(lows.size):  # the inner loop runs over x, so that it is done in vector registers
        low, high, rise = lows[level], highs[level], rises[level + 1]
        for i in range(x.size):
            weights[i] += np.float32(0.0) if (x[i] >= low) & (x[i] <= high) else rise


@njit(cache=True, nogil=True)
def top_sums(W: NDArray[np.float64], m: int, sums: NDArray[np.float64]) -> None:
    """Fill sums[i] with what the m largest weights of row i add up to, the largest added first."""
    largest = np.empty(m)
    for i in range(W.shape[0]):
        largest[:] = -np.inf
        for j in range(W.shape[1]):
            w = W[i, j]
            if w <= largest[m - 1]:
                continue
            place = m - 1
            while place > 0 and largest[place - 1] < w:
                largest[place] = largest[place - 1]
                place -= 1
            largest[place] = w
        total = 0.0
        for q in range(m):
            total += largest[q]
        sums[i] = total
