"""Numbers that users give, as plain Python numbers."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from biselect.errors import InputError


def number(name: str, value: Any, what: str = "a finite number") -> float:
    """A finite float; NumPy's numbers are fine, texts and truth values are not.

    >>> number("share", 1)
    1.0
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(f"{name} must be {what}, got {value!r}")
    return float(value)


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`.

    >>> whole("depth", 3)
    3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)
