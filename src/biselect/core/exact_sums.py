"""Sums of float64 numbers without rounding.

Every float64 number is a whole multiple of 2⁻¹⁰⁷⁴, so a sum of them is a Python integer in that unit. A score also
multiplies two of them, so scores are whole multiples of 2⁻²¹⁴⁸.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBER_BITS = 1074  # a float64 number is a whole multiple of 2^-NUMBER_BITS
SCORE_BITS = 2 * NUMBER_BITS  # a product of two of them is one of 2^-SCORE_BITS
FEW = 64  # numbers that Python adds before NumPy has begun
PART = 1 << 24  # numbers whose 27-bit halves a float64 sums exactly


def number_units(value: float) -> int:
    """A float64 number in units of 2⁻¹⁰⁷⁴.

    >>> number_units(5e-324), number_units(-1.0) == -(2**1074)
    (1, True)
    """
    numerator, denominator = float(value).as_integer_ratio()
    return numerator << (NUMBER_BITS + 1 - denominator.bit_length())


def sum_units(values: NDArray[np.floating[Any]]) -> int:
    """The sum of an array in units of 2⁻¹⁰⁷⁴.

    >>> sum_units(np.array([1e300, 5e-324, -1e300]))
    1
    """
    flat = values.ravel()
    if flat.size <= FEW:
        return sum(map(number_units, flat.tolist()))
    total = 0
    for begin in range(0, flat.size, PART):
        fraction, exponent = np.frexp(flat[begin : begin + PART].astype(np.float64))
        whole = np.ldexp(fraction, 53)
        high = np.floor(whole / 2**27)
        lowest = int(exponent.min())
        for digits, bits in ((high, 27), (whole - high * 2**27, 0)):
            for place, digit in enumerate(np.bincount(exponent - lowest, weights=digits).tolist()):
                shift = NUMBER_BITS + lowest + place - 53 + bits
                total += int(digit) << shift if shift >= 0 else int(digit) >> -shift  # the bits shifted out are zeros
    return total


def score_units(
    sample_scores: NDArray[np.floating[Any]],
    feature_scores: NDArray[np.floating[Any]],
    coupling_weight: float,
    block: NDArray[np.floating[Any]],
) -> int:
    """What a choice with these numbers collects, in units of 2⁻²¹⁴⁸."""
    marginals = sum_units(sample_scores) + sum_units(feature_scores)
    return (marginals << NUMBER_BITS) + number_units(coupling_weight) * sum_units(block)


def nearest(units: int) -> float:
    """The float64 number nearest to an exact score."""
    return units / (1 << SCORE_BITS)


def at_least(units: int) -> float:
    """The smallest float64 number that is not below an exact score."""
    value = nearest(units)
    return value if in_score_units(value) >= units else math.nextafter(value, math.inf)


def at_most(units: int) -> float:
    """The largest float64 number that is not above an exact score."""
    return -at_least(-units)


def in_score_units(value: float) -> int:
    """A float64 number in units of 2⁻²¹⁴⁸, to hold against exact scores."""
    return number_units(value) << NUMBER_BITS
