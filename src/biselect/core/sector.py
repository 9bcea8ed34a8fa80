"""The (k, m) sector Ω: all pairs of a k-subset of N samples and an m-subset of D features."""

from dataclasses import dataclass
from functools import cache
from math import comb, log10
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Sector:
    """The exact-budget sector of N samples and D features.

    >>> sector = Sector(n_samples=12, n_features=8, k=3, m=5)
    >>> sector.size, round(sector.chance, 4)
    (12320, 0.0117)
    """

    n_samples: int
    n_features: int
    k: int
    m: int

    def __post_init__(self) -> None:
        check_budget("k", self.k, self.n_samples, "samples")
        check_budget("m", self.m, self.n_features, "features")

    @property
    def sample_subsets(self) -> int:
        """C(N, k)."""
        return comb(self.n_samples, self.k)

    @property
    def feature_subsets(self) -> int:
        """C(D, m)."""
        return comb(self.n_features, self.m)

    @property
    def size(self) -> int:
        """`|Ω| = C(N, k)·C(D, m)`, as an exact integer."""
        return self.sample_subsets * self.feature_subsets

    @property
    def chance(self) -> float:
        """`p_chance = |Ω| / 2^(N+D)`: how often a uniform bitstring meets both budgets."""
        return float(self.size / 2 ** (self.n_samples + self.n_features))


class TooLargeError(InputError):
    """What was asked for fits into no memory at hand.

    Attributes:
        figures: how large it is.
        ways: the ways out, which a caller may know better.
    """

    def __init__(self, figures: str, ways: str) -> None:
        super().__init__(figures, ways)  # as they are, so that the error survives a way between processes
        self.figures, self.ways = figures, ways

    def __str__(self) -> str:
        return f"{self.figures}; {self.ways}"


def count_in_words(count: int) -> str:
    """A whole number of any size.

    >>> count_in_words(1_234_567), count_in_words(3 * 10**21)
    ('1,234,567', 'about 3.0 × 10²¹')
    """
    if count < 10**9:
        return f"{count:,}"
    exponent = int((count.bit_length() - 1) * log10(2))
    if count >= 10 ** (exponent + 1):
        exponent += 1
    leading = count // 10 ** (exponent - 1)  # two digits
    raised = str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"about {leading // 10}.{leading % 10} × 10{raised}"


def check_budget(name: str, budget: int, available: int, what: str) -> None:
    """Refuse a budget outside 1..available, and say what is allowed."""
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer):
        raise InputError(f"{name} must be a whole number, got {budget!r}")
    if not 1 <= budget <= available:
        raise InputError(f"{name} = {budget} is out of range: with {available} {what}, {name} may be 1 to {available}")


@cache
def _binomials(n: int, k: int) -> NDArray[Any]:
    """C(c, t) for c ≤ n and t ≤ k; Python integers where 64 bits do not hold them."""
    dtype = np.int64 if comb(n, min(k, n // 2)) < 2**62 else object
    table = np.zeros((n + 1, k + 1), dtype=dtype)
    table[:, 0] = 1
    for t in range(1, k + 1):  # C(c, t) = Σ_{b<c} C(b, t-1)
        table[1:, t] = np.cumsum(table[:-1, t - 1])
    table.flags.writeable = False
    return table


def rank(subsets: ArrayLike, n: int) -> NDArray[Any]:
    """Position of each ascending k-subset (last axis) in colexicographic order: Σ_t C(c_t, t).

    Colexicographic order is the order of the bitmasks read as integers, and does not depend on n.

    >>> rank([[0, 1], [0, 2], [1, 2], [0, 3]], 4).tolist()
    [0, 1, 2, 3]
    """
    items = np.asarray(subsets, dtype=np.int64)
    k = items.shape[-1]
    if items.size and (items.min() < 0 or items.max() >= n or (np.diff(items, axis=-1) <= 0).any()):
        raise InputError(f"each subset must be ascending, without repeats, within 0..{n - 1}")
    return _binomials(n, k)[items, np.arange(1, k + 1)].sum(axis=-1)


def unrank(ranks: ArrayLike, n: int, k: int) -> NDArray[np.int64]:
    """The ascending k-subsets of range(n) at these colexicographic positions; inverse of `rank`.

    >>> unrank([0, 3], 4, 2).tolist()
    [[0, 1], [0, 3]]
    """
    table = _binomials(n, k)
    left = np.array(ranks, dtype=table.dtype)
    if left.size and (left.min() < 0 or left.max() >= comb(n, k)):
        raise InputError(f"ranks must lie within 0..{comb(n, k) - 1}, the {k}-subsets of {n} items")
    items = np.empty((*left.shape, k), dtype=np.int64)
    for t in range(k, 0, -1):
        largest = np.searchsorted(table[:n, t], left, side="right") - 1
        items[..., t - 1] = largest
        left = left - table[largest, t]
    return items


def subsets(n: int, k: int) -> NDArray[np.int64]:
    """All k-subsets of range(n), in colexicographic order."""
    return unrank(np.arange(comb(n, k)), n, k)
