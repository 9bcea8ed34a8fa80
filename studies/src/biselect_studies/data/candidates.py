"""Windows that follow each other in time, and candidate pools: the N rows of a window handed on to selection."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError

PAPER_SLICES, SLICES = 25, 200  # pools of a window that the paper draws, and ours
ENOUGH = 20  # rows of each class from which perfect separation is no accident


@dataclass(frozen=True, kw_only=True)
class TimeSplit:
    """The rows of three windows that follow each other.

    Attributes:
        reference: rows that calibration is fit on.
        buffer: rows that choices (map, aggregation) are made on.
        test: rows that are scored once everything is fixed.
    """

    reference: slice
    buffer: slice
    test: slice

    def window(self, name: str) -> slice:
        """`reference`, `buffer` or `test`."""
        if name not in ("reference", "buffer", "test"):
            raise InputError(f"there is no window {name!r}; choose reference, buffer or test")
        found: slice = getattr(self, name)
        return found

    def before(self, name: str, rows: int | None = None) -> slice:
        """All rows before a window, or only the latest so many of them."""
        end = self.window(name).start
        if rows is not None and not 0 < rows <= end:
            raise InputError(f"there are {end} rows before the {name} window; cannot take {rows}")
        return slice(0 if rows is None else end - rows, end)


def split_rows(times: ArrayLike, percent: tuple[int, int, int]) -> TimeSplit:
    """Cut rows that are sorted by time at shares of their number.

    Rows of equal time at a cut fall to either side in the order of the table.

    Args:
        times: one per row, never falling.
        percent: shares of reference, buffer and test; they add up to 100.

    >>> split_rows([0, 1, 1, 2, 3], (60, 20, 20))
    TimeSplit(reference=slice(0, 3, None), buffer=slice(3, 4, None), test=slice(4, 5, None))
    """
    moments = np.asarray(times)
    whole = len(percent) == 3 and all(isinstance(share, Integral) for share in percent)
    if not whole or sum(percent) != 100 or min(percent) < 0:
        raise InputError(
            f"the shares of reference, buffer and test must be three whole numbers that add up to 100 %, got {percent}"
        )
    refuse_unsorted(moments)
    rows = moments.size
    first, second = (int(Fraction(share, 100) * rows) for share in (percent[0], percent[0] + percent[1]))
    windows = {"reference": slice(0, first), "buffer": slice(first, second), "test": slice(second, rows)}
    for (name, window), share in zip(windows.items(), percent, strict=True):
        if window.start == window.stop:
            raise InputError(f"the {name} window is empty: {share} % of {rows} rows; use other shares or more rows")
    return TimeSplit(**windows)


def refuse_unsorted(times: NDArray[Any]) -> None:
    """Rows that are not in the order of time cannot be cut in time."""
    if times.ndim != 1:
        raise InputError(f"times must be one per row, got an array of shape {times.shape}")
    unknown = np.flatnonzero(times != times)  # NaN or NaT: it would hide a fall from its neighbours
    if unknown.size:
        raise InputError(f"the time of row {int(unknown[0])} is missing; every row needs one")
    falls = np.flatnonzero(times[1:] < times[:-1])
    if falls.size:
        row = int(falls[0]) + 1
        raise InputError(
            f"the rows are not sorted by time: row {row} ({times[row]}) is earlier than row {row - 1} "
            f"({times[row - 1]}); sort the table first"
        )


def refuse_label_copies(X: NDArray[np.float64], names: Sequence[str], labels: ArrayLike) -> None:
    """Refuse a feature that copies the label, or splits the classes without a single exception.

    A threshold on one honest feature does not separate the classes of a table that is worth a study. With few
    positives chance might do it, so fewer than `ENOUGH` are held to the exact copy alone. What leaks only in part,
    or only together with another feature, is not found.
    """
    marks = np.asarray(labels, dtype=bool)
    if marks.all() or not marks.any():
        return
    for j, name in enumerate(names):
        column = X[:, j]
        inside, outside = column[marks], column[~marks]
        if inside[0] != outside[0] and (inside == inside[0]).all() and (outside == outside[0]).all():
            raise InputError(f"feature {name!r} is a copy of the label; leave it out, or the study measures nothing")
        if min(inside.size, outside.size) >= ENOUGH and (inside.min() > outside.max() or inside.max() < outside.min()):
            raise InputError(
                f"feature {name!r} separates the label without exception; leave it out, or the study measures nothing"
            )


BLOCK = 65_536
WIDEN = 5  # r: a ranked pool is drawn from the r·N rows that stage 1 ranks first
Rng = np.random.Generator


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Rows of a window in random order.

    Attributes:
        rows: positions in the window.
        positive: positions in `rows` that are known positives, ascending; for evaluation only.
    """

    rows: NDArray[np.int64]
    positive: NDArray[np.int64]


def balanced(labels: NDArray[np.bool_], size: int, k: int, *, seed: int) -> Candidates:
    """Take k positives and size - k others, both drawn uniformly: as many positives as may be chosen."""
    return _mixed(labels, size, k, np.random.default_rng(seed))


def unbalanced(labels: NDArray[np.bool_], size: int, *, seed: int) -> Candidates:
    """Rows drawn uniformly, given that at least one is positive."""
    from scipy.stats import hypergeom

    rng = np.random.default_rng(seed)
    positives = int(labels.sum())
    _refuse_size(labels, size)
    if positives == 0:
        raise InputError("the window has no positive row, so no unbalanced pool can hold one; use another window")
    numbers = np.arange(1, min(size, positives) + 1)
    chances = hypergeom.pmf(numbers, labels.size, positives, size)
    found = int(rng.choice(numbers, p=chances / chances.sum()))
    return _mixed(labels, size, found, rng)


def ranked(
    labels: NDArray[np.bool_], scores: NDArray[np.float64], size: int, *, seed: int, widen: int = WIDEN
) -> Candidates:
    """Rows drawn uniformly from the widen·size rows that an earlier-time scorer ranks first (ties: lowest row)."""
    rng = np.random.default_rng(seed)
    if scores.shape != labels.shape:
        raise InputError(f"there are {labels.size} labels and {scores.size} scores; give one score per row")
    if np.isnan(scores).any():
        raise InputError(f"the score of row {int(np.argmax(np.isnan(scores)))} is missing; every row needs one")
    _refuse_size(labels, size)
    if widen < 1 or size * widen > labels.size:
        raise InputError(
            f"cannot rank the first {widen} × {size} rows of a window of {labels.size}; use a smaller pool"
        )
    first = np.argsort(-scores, kind="stable")[: size * widen]
    return _shuffled(labels, rng.choice(first, size, replace=False), rng)


def reservoir(labels: NDArray[np.bool_], size: int, *, seed: int) -> Candidates:
    """What remains of the window's stream when each row that comes in may replace a random one that is held."""
    rng = np.random.default_rng(seed)
    _refuse_size(labels, size)
    return _shuffled(labels, keep(range(labels.size), size, rng), rng)


def keep(stream: Iterable[int], size: int, rng: Rng) -> NDArray[np.int64]:
    """A uniform sample of a stream of unknown length, held in memory for `size` items only."""
    if size < 1:
        raise InputError(f"a reservoir holds 1 item or more, got {size}")
    held = np.empty(size, dtype=np.int64)
    keys = np.full(size, np.inf)
    items = iter(stream)
    while (block := np.fromiter(islice(items, BLOCK), dtype=np.int64)).size:
        drawn = rng.random(block.size)
        both, all_keys = np.append(held, block), np.append(keys, drawn)
        lowest = np.argpartition(all_keys, size - 1)[:size]
        held, keys = both[lowest], all_keys[lowest]
    if np.isinf(keys).any():
        raise InputError(f"the stream has fewer than {size} items")
    return np.sort(held)


def _refuse_size(labels: NDArray[np.bool_], size: int) -> None:
    if not 1 <= size <= labels.size:
        raise InputError(f"a pool of {size} rows cannot be drawn from a window of {labels.size}; use 1 to that many")


def _mixed(labels: NDArray[np.bool_], size: int, k: int, rng: Rng) -> Candidates:
    positives, others = np.flatnonzero(labels), np.flatnonzero(~labels)
    if size < 1 or not 0 <= k <= size:
        raise InputError(f"a pool of {size} rows cannot hold {k} positives")
    for what, there, wanted in (("positive", positives.size, k), ("other", others.size, size - k)):
        if there < wanted:
            raise InputError(
                f"the window has {there} {what} rows and the pool needs {wanted}; use a smaller pool or a longer window"
            )
    rows = [rng.choice(positives, k, replace=False), rng.choice(others, size - k, replace=False)]
    return _shuffled(labels, np.concatenate(rows), rng)


def _shuffled(labels: NDArray[np.bool_], rows: NDArray[np.int64], rng: Rng) -> Candidates:
    order = rng.permutation(rows)
    return Candidates(rows=order, positive=np.flatnonzero(labels[order]))
