"""Blocks of reference rows in, one column per feature out, for the fit window and the calibration window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.calibrate.column import Column, RankSketch
from biselect.calibrate.frames import align, as_matrix, refuse_unusable
from biselect.calibrate.isolation import SAMPLE
from biselect.errors import InputError

FEWEST_ROWS = 10  # with fewer, not even a one-in-ten event can be told apart
HAND = 20  # rows dealt at a time, so that short references are split evenly too
MEMORY = 128 << 20  # bytes that the sketches of one fit may hold
ROWS = 1 << 16  # in a block of a Parquet file


@dataclass(frozen=True, kw_only=True, eq=False)
class Windows:
    """The reference, feature by feature.

    Attributes:
        names: one per column.
        named: whether the names are the table's own rather than positions.
        fit: the window that parameters are fit on.
        calibration: the window that ranks are taken among; `fit` itself where the reference is not split.
        filled: missing entries that the fit window's median replaced.
        sample: some rows of the reference, drawn by the seed, as they came; None where there are no rows.
    """

    names: tuple[str, ...]
    named: bool
    fit: tuple[Column, ...]
    calibration: tuple[Column, ...]
    filled: int
    sample: NDArray[np.float64] | None = None

    @property
    def split(self) -> bool:
        """Whether the two windows are apart."""
        return self.calibration is not self.fit


class WindowBuilder:
    """Takes in blocks of rows, with memory for so many bytes; `None` keeps every entry.

    Rows are dealt to the two windows by a seeded draw, twenty at a time in the right proportion. The windows do
    not depend on how the rows come in blocks.
    """

    def __init__(self, *, missing: str, split: float, seed: int, memory: int | None):
        self.missing, self.split, self.memory = missing, split, memory
        self.rng, self._lots = np.random.default_rng(seed), np.random.default_rng([seed, 1])
        self._sample, self._drawn = np.empty((0, 0)), np.empty(0)
        self.names: tuple[str, ...] | None = None
        self.rows = 0
        self.ranked_apart = False  # whether a calibration table was given
        self._deck = np.empty(0, dtype=bool)

    def add(self, block: Any, *, calibration: bool = False) -> None:
        """Take in a block, all of it into the calibration window where the caller says so."""
        where = "the calibration window" if calibration else "the reference"
        self.ranked_apart |= calibration
        X, names = as_matrix(block)
        if self.names is None:
            self._start(X.shape[1], names)
        assert self.names is not None
        X = align(X, names, self.names, named=self.named, where=where)
        first = 0 if calibration else self.rows
        refuse_unusable(X, self.names, where=where, missing=self.missing, place_of=lambda row: f"row {first + row}")
        aside = np.ones(len(X), dtype=bool) if calibration else self._deal(len(X))
        for window, chosen in ((0, ~aside), (1, aside)):
            if not chosen.any():
                continue
            entries = X if chosen.all() else X[chosen]
            for j in range(X.shape[1]):
                known = ~np.isnan(entries[:, j])
                self.sketches[window][j].add(entries[known, j])
                self.absent[window, j] += len(entries) - int(known.sum())
        if not calibration:
            self.rows += len(X)
            self._draw(X)

    def windows(self) -> Windows:
        """What has been taken in."""
        if self.names is None:
            raise InputError("the reference has no blocks")
        if self.rows < FEWEST_ROWS:
            raise InputError(f"the reference has {self.rows} rows; calibration needs at least {FEWEST_ROWS}")
        medians: list[float] = []
        fit = self._columns(0, medians)
        aside = self.sketches[1][0].size + int(self.absent[1, 0])
        if (aside or self.split or self.ranked_apart) and min(aside, fit[0].size) < FEWEST_ROWS:
            raise InputError(
                f"the split leaves {fit[0].size} rows to fit on and {aside} to rank among; "
                f"each window needs at least {FEWEST_ROWS}"
            )
        return Windows(
            names=self.names,
            named=self.named,
            fit=fit,
            calibration=self._columns(1, medians) if aside else fit,
            filled=int(self.absent.sum()),
            sample=self._sample,
        )

    def _draw(self, X: NDArray[np.float64]) -> None:
        """Keep the rows with the smallest lots, in the order of their lots: a sample without replacement."""
        lots = self._lots.random(len(X))
        least = np.argpartition(lots, SAMPLE - 1)[:SAMPLE] if len(X) > SAMPLE else np.arange(len(X))
        drawn = np.append(self._drawn, lots[least])
        order = np.argsort(drawn)[:SAMPLE]
        rows = X[least] if self._drawn.size == 0 else np.vstack([self._sample, X[least]])
        self._sample, self._drawn = rows[order], drawn[order]

    def _deal(self, rows: int) -> NDArray[np.bool_]:
        """Which of the next rows go to the calibration window."""
        hands = -(-max(0, rows - self._deck.size) // HAND)
        hand = np.arange(HAND) < round(self.split * HAND)
        self._deck = np.append(self._deck, self.rng.permuted(np.tile(hand, (hands, 1)), axis=1))
        dealt, self._deck = self._deck[:rows], self._deck[rows:]
        return dealt

    def _start(self, width: int, names: tuple[str, ...] | None) -> None:
        if width == 0:
            raise InputError("the reference has no feature columns")
        self.named = names is not None
        self.names = names or tuple(str(j) for j in range(width))
        number = 2 * width if self.split else width
        entries = None if self.memory is None else self.memory // (8 * number)
        self.sketches = [[RankSketch(entries) for _ in range(width)] for _ in range(2)]
        self.absent = np.zeros((2, width), dtype=np.int64)

    def _columns(self, window: int, medians: list[float]) -> tuple[Column, ...]:
        """The window's columns, missing entries filled by the fit window's medians; frees the sketches."""
        columns: list[Column] = []
        assert self.names is not None
        for j, name in enumerate(self.names):
            sketch, self.sketches[window][j] = self.sketches[window][j], RankSketch(None)
            if sketch.size == 0:
                raise InputError(f"column {name!r} of the reference holds no value at all")
            column = sketch.column()
            if not np.isfinite(column.deviation):
                raise InputError(f"column {name!r} of the reference holds values too large to square; rescale it")
            if window == 0:
                medians.append(column.quantile(0.5))
            columns.append(column.with_entries(medians[j], int(self.absent[window, j])))
        return tuple(columns)


def parquet_blocks(path: str | Path, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """The rows of a Parquet file, a block at a time, as Arrow tables.

    Args:
        path: the file.
        columns: which to read, all where None.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if absent := [name for name in columns or () if name not in names]:
                raise InputError(f"{path} has no column {absent[0]!r}; it has: {', '.join(names)}")
            for batch in file.iter_batches(batch_size=ROWS, columns=None if columns is None else list(columns)):
                yield pa.Table.from_batches([batch])
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: not a Parquet file ({error})") from error
