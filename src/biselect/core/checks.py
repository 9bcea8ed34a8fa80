"""Checks on what a caller gives: usable values come back, anything else gets a clear InputError.

Beside them: how much memory the machine has left.
"""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError

LARGEST_SUM = 1e304  # that a choice may have; solvers add up multiples of it, and float64 ends at 1.8e308


def matrix(value: ArrayLike) -> NDArray[np.floating[Any]]:
    """The coupling as a read-only, finite table; float32 is kept, all else becomes float64."""
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array):
            raise ValueError("complex numbers cannot be ranked")
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"the coupling must be a table of numbers ({error})") from error
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(f"the coupling must be a table of N ≥ 1 rows and D ≥ 1 columns, got shape {array.shape}")
    _refuse_non_finite("coupling", array)
    return _read_only(array, value)


def vector(name: str, value: ArrayLike | None, length: int, what: str) -> NDArray[np.float64]:
    """One finite number for each item, read-only; zeros where none are given."""
    if value is None:
        return _read_only(np.zeros(length), value)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be numbers ({error})") from error
    if array.shape != (length,):
        raise InputError(f"{name} must have one number for each of the {length} {what}, got shape {array.shape}")
    _refuse_non_finite(name, array)
    return _read_only(array, value)


def _read_only(array: NDArray[Any], source: object) -> NDArray[Any]:
    """A read-only array that nobody else can write to: copied, unless it is fresh or frozen all the way down."""
    fresh = array is not source and array.base is None
    if not fresh and not _is_frozen(array):
        array = array.copy()
    array.flags.writeable = False
    return array


def _is_frozen(array: Any) -> bool:
    """Whether neither the array nor any array it is a view of can be written to."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return False
        array = array.base
    return array is None


def _refuse_non_finite(name: str, array: NDArray[Any]) -> None:
    if np.isfinite([array.min(), array.max()]).all():  # NaN wins both, and no table of booleans is made
        return
    bad = np.argwhere(~np.isfinite(array))
    first = tuple(int(index) for index in bad[0])
    raise InputError(
        f"{name} holds {len(bad)} values that are not finite, the first at {list(first)}: {array[first]}; "
        "drop or fill them first"
    )


def number(name: str, value: Any, what: str = "a finite number") -> float:
    """A finite float; NumPy's numbers are fine, texts and truth values are not.

    >>> number("share", 1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise InputError(f"{name} must be {what}, got {value!r}")
    return float(value)


def check_integer(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`.

    >>> check_integer("depth", 3)
    3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def texts(field: str, values: Any) -> tuple[str, ...]:
    """The entries of a list as texts."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{field} must be a list of names, got {values!r}")
    return tuple(map(str, values))


class Names(tuple[str, ...]):
    """Names that were looked at: a problem made from another one need not compare them all again."""


def names(
    field: str, names: Iterable[Any] | None, length: int, what: str, directions: Sequence[str] | None = None
) -> tuple[str, ...] | None:
    """Names, one for each item, or None; unique, or unique together with these directions."""
    if directions is None and (names is None or (isinstance(names, Names) and len(names) == length)):
        return names
    if names is None:
        raise InputError(f"directions say how features look at columns: give {field} too")
    result = Names(texts(field, names))
    if len(result) != length:
        raise InputError(f"{field} must name each of the {length} {what}, got {len(result)} names")
    if directions is not None and len(directions) != length:
        raise InputError(f"directions must hold one for each of the {length} {what}, got {len(directions)}")
    pairs = [*result] if directions is None else list(zip(result, directions, strict=True))
    if len(set(pairs)) != length:
        twice = Counter(pairs).most_common(1)[0][0]
        raise InputError(f"{field} must be unique, but {twice!r} stands twice")
    return result if directions is None else tuple(result)


def check_positions(what: str, items: Iterable[int], available: int) -> NDArray[np.int64]:
    """Distinct positions within 0..available-1."""
    try:
        result = np.asarray(list(items))
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be a flat list of positions ({error})") from error
    if result.size == 0:
        return np.empty(0, dtype=np.int64)
    if result.ndim != 1 or not np.issubdtype(result.dtype, np.integer):
        raise InputError(f"{what} must be a flat list of positions, got {result.tolist()}")
    if result.min() < 0 or result.max() >= available:
        raise InputError(f"{what} must lie within 0..{available - 1}, got {result.tolist()}")
    if np.unique(result).size != result.size:
        raise InputError(f"{what} must not repeat, got {result.tolist()}")
    return result.astype(np.int64)


def check_position_rows(what: str, rows: ArrayLike, available: int) -> NDArray[np.int64]:
    """Positions within 0..available-1, in an array of any shape; whether they repeat is not looked at."""
    result = np.asarray(rows)
    if result.size and not np.issubdtype(result.dtype, np.integer):
        raise InputError(f"{what} must be positions, got an array of {result.dtype}")
    if result.size and (result.min() < 0 or result.max() >= available):
        raise InputError(f"{what} must lie within 0..{available - 1}")
    return result.astype(np.int64)


def refuse_overflow(*parts: float) -> None:
    """Refuse numbers whose sum over a whole choice comes near the end of float64."""
    with np.errstate(over="ignore"):
        total = float(np.sum(parts))
    if not total < LARGEST_SUM:
        raise InputError("the numbers are too large: bounds on a choice would go beyond float64; scale them down")


def free_memory() -> int | None:
    """Bytes that can be had without swapping, caches of files included; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
