"""The (k, m) sector Ω: all pairs of a k-subset of N samples and an m-subset of D features that the rules allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import comb, log10
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core.rules import NO_RULES, Blocks, Rules
from biselect.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Sector:
    """The exact-budget sector of N samples and D features; with rules, what they leave of it.

    >>> sector = Sector(n_samples=12, n_features=8, k=3, m=5)
    >>> sector.size, round(sector.chance, 4)
    (12320, 0.0117)
    """

    n_samples: int
    n_features: int
    k: int
    m: int
    sample_rules: Rules = NO_RULES
    feature_rules: Rules = NO_RULES

    def __post_init__(self) -> None:
        check_budget("k", self.k, self.n_samples, "samples")
        check_budget("m", self.m, self.n_features, "features")

    @property
    def sample_subsets(self) -> int:
        """C(N, k), or how many of them the rules allow."""
        return self.sample_rules.count(self.n_samples, self.k) if self.sample_rules else comb(self.n_samples, self.k)

    @property
    def feature_subsets(self) -> int:
        """C(D, m), or how many of them the rules allow."""
        return (
            self.feature_rules.count(self.n_features, self.m) if self.feature_rules else comb(self.n_features, self.m)
        )

    @property
    def size(self) -> int:
        """`|Ω| = C(N, k)·C(D, m)` without rules, as an exact integer."""
        return self.sample_subsets * self.feature_subsets

    @property
    def chance(self) -> float:
        """`p_chance = |Ω| / 2^(N+D)`: how often a uniform bitstring meets both budgets and all rules."""
        return float(self.size / 2 ** (self.n_samples + self.n_features))

    @property
    def blocks(self) -> tuple[Blocks, Blocks]:
        """The sector as a product of smaller ones, of both sides; refused where the rules make it none."""
        return (
            self.sample_rules.blocks(self.n_samples, self.k, "samples"),
            self.feature_rules.blocks(self.n_features, self.m, "features"),
        )

    def check_product(self) -> None:
        """Refuse rules that make the sector no product of smaller ones, with how to write them so that they do."""
        _ = self.blocks

    @property
    def without_rules(self) -> Sector:
        """All choices inside the budgets."""
        return replace(self, sample_rules=NO_RULES, feature_rules=NO_RULES)


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
    remainders = np.array(ranks, dtype=table.dtype)
    if remainders.size and (remainders.min() < 0 or remainders.max() >= comb(n, k)):
        raise InputError(f"ranks must lie within 0..{comb(n, k) - 1}, the {k}-subsets of {n} items")
    items = np.empty((*remainders.shape, k), dtype=np.int64)
    for t in range(k, 0, -1):
        largest = np.searchsorted(table[:n, t], remainders, side="right") - 1
        items[..., t - 1] = largest
        remainders = remainders - table[largest, t]
    return items


def subsets(n: int, k: int) -> NDArray[np.int64]:
    """All k-subsets of range(n), in colexicographic order."""
    return unrank(np.arange(comb(n, k)), n, k)


def block_subsets(blocks: Blocks) -> NDArray[np.int64]:
    """All choices of one side, in colexicographic order.

    >>> block_subsets(Blocks(always=(1,), parts=(((0, 3), 1), ((2, 4), 1)))).tolist()
    [[0, 1, 2], [1, 2, 3], [0, 1, 4], [1, 3, 4]]
    """
    choices = np.array([blocks.always], dtype=np.int64).reshape(1, -1)
    for members, ones in blocks.parts:
        own = np.array(members, dtype=np.int64)[subsets(len(members), ones)]
        choices = np.hstack([np.repeat(choices, len(own), axis=0), np.tile(own, (len(choices), 1))])
    if blocks.always or len(blocks.parts) > 1:
        choices.sort(axis=1)
    return choices[np.lexsort(choices.T)] if len(blocks.parts) > 1 else choices


class BlockRanks:
    """Where a choice of one side stands in `block_subsets`."""

    def __init__(self, blocks: Blocks) -> None:
        self._moving = np.array(blocks.moving, dtype=np.int64)
        self._ones = sum(ones for _, ones in blocks.parts)
        self._of_parts: NDArray[Any] | None = None
        if len(blocks.parts) > 1:  # with one block the ranks among its members are the positions themselves
            self._of_parts = self._ranks(block_subsets(blocks))

    def __call__(self, items: ArrayLike) -> NDArray[np.int64]:
        """Positions of ascending choices (last axis), which must be choices of this side."""
        ranks = self._ranks(np.asarray(items, dtype=np.int64))
        return ranks if self._of_parts is None else np.searchsorted(self._of_parts, ranks)

    def _ranks(self, items: NDArray[np.int64]) -> NDArray[Any]:
        """Ranks among all subsets of the moving items, renumbered in order, which keeps the order of choices."""
        moving = items[np.isin(items, self._moving)].reshape(*items.shape[:-1], self._ones)
        return rank(np.searchsorted(self._moving, moving), len(self._moving))
