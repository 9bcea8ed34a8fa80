"""Reference, buffer and test: one table cut in time, so that nothing later speaks about anything earlier."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError

__all__ = ["TimeSplit", "split_rows"]


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
