"""Which columns have changed between two tables? One test a column and kind of change, held together by Holm.

Every p-value holds at every number of rows: Kolmogorov's limiting law bounds the distribution of the distance between
two samples from above (ties and finite samples make the truth smaller), shares are tested exactly, and categories
together by permutation. What is tested is decided from both tables together, so that under exchangeable rows the
choice tells nothing about the outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

RAREST = log(1e6)  # a category that could not reach p = 1e-6 if one table had all of it is counted with the other such
OTHERS = "all rarer ones"
MOST_DRAWS, ENOUGH = 100_000, 10  # of a permutation test: draws at most, and hits after which it stops
MOST_CELLS = 1 << 21  # drawn at a time
SURE, SMALL = 1e-6, 0.5  # a p-value below the first needs no better one; above the second nothing alarms


@dataclass(frozen=True, kw_only=True)
class Change:
    """One test of one column.

    Attributes:
        column: its name.
        what: `values` (Kolmogorov–Smirnov), `categories` (Fisher's exact test of each share, and chi-square by
            permutation; flags too) or `missing` (Fisher's test of the share of empty cells).
        p: how often chance alone does at least this much, for this test on its own.
        adjusted_p: the same for all tests of the run together (Holm); an alarm at or below `false_alarms`.
        effect: how large the change is, from 0 to 1.
        measure: what `effect` is: `KS distance`, `Cramér's V` or `difference of shares`.
        shift: for numbers, the move of the median in spreads (1.4826·MAD) of the older table; None for the others.
        words: older and newer side by side.
    """

    column: str
    what: str
    p: float
    adjusted_p: float = 1.0
    effect: float
    measure: str
    shift: float | None = None
    words: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return dict(vars(self))


def holm(changes: Sequence[Change]) -> list[Change]:
    """The same with p-values adjusted for the number of tests, by Holm's method."""
    order = sorted(range(len(changes)), key=lambda at: changes[at].p)
    adjusted, so_far = [1.0] * len(changes), 0.0
    for rank, at in enumerate(order):
        so_far = max(so_far, min(1.0, (len(changes) - rank) * changes[at].p))
        adjusted[at] = so_far
    return [replace(change, adjusted_p=value) for change, value in zip(changes, adjusted, strict=True)]


def gap_changes(name: str, gaps: Sequence[int], rows: Sequence[int]) -> list[Change]:
    """Test the share of gaps of a column; none where neither table has any, or no value.

    Args:
        name: of the column.
        gaps: of the older and the newer table.
        rows: of both.
    """
    if not 0 < sum(gaps) < sum(rows):
        return []
    shares = [part / whole for part, whole in zip(gaps, rows, strict=True)]
    return [
        Change(
            column=name,
            what="missing",
            p=float(share_p(np.array(gaps[:1]), np.array(gaps[1:]), *rows)[0]),
            effect=abs(shares[1] - shares[0]),
            measure="difference of shares",
            words=f"missing {_percent(shares[0])} → {_percent(shares[1])}",
        )
    ]


def share_change(name: str, values: Sequence[str], before: NDArray[np.int64], after: NDArray[np.int64]) -> Change:
    """Exact tests of each share and a permutation test of all together; the smaller p-value counts twice."""
    first, second = int(before.sum()), int(after.sum())
    each = share_p(before, after, first, second)
    most = 1 if len(values) == 2 else int(np.argmin(each))
    p = float(each[most])
    if len(values) > 2:  # of two shares the second is told by the first
        p *= len(values)
        p = min(1.0, 2 * (p if p < SURE else min(p, chi_square_p(before, after))))
    shares = before[most] / first, after[most] / second
    return Change(
        column=name,
        what="categories",
        p=p,
        effect=sqrt(float(_chi_square(before, after)) / (first + second)),
        measure="Cramér's V",
        words=f"{values[most]}: {_percent(shares[0])} → {_percent(shares[1])}",
    )


def _chi_square(before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.float64]:
    """The chi-square statistic of two rows of counts; `after` may hold many such rows of the same totals."""
    both = before + after
    share = after.sum(axis=-1, keepdims=True) / both.sum(axis=-1, keepdims=True)
    squares = (after - both * share) ** 2 / (both * share * (1 - share))
    return np.asarray(squares.sum(axis=-1), dtype=np.float64)


def chi_square_p(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """How often rows dealt anew to the two tables differ as much; drawn until ten do, or `MOST_DRAWS` times.

    Either count gives a p-value that holds (Besag and Clifford). Where not even the textbook's is small, that is told.
    """
    from scipy.special import chdtrc

    found = float(_chi_square(before, after))
    rough = float(chdtrc(before.size - 1, found))
    if rough > SMALL:
        return rough
    rng, both, reached, drawn = np.random.default_rng(0), before + after, 0, 0
    while drawn < MOST_DRAWS:
        size = min(max(200, drawn), max(200, MOST_CELLS // both.size))
        dealt = rng.multivariate_hypergeometric(both, int(after.sum()), size=size, method="marginals")
        hits = np.cumsum(_chi_square(both - dealt, dealt) >= found * (1 - 1e-12))
        if reached + hits[-1] >= ENOUGH:
            return ENOUGH / (drawn + int(np.argmax(reached + hits >= ENOUGH)) + 1)
        reached, drawn = reached + int(hits[-1]), drawn + size
    return (reached + 1) / (drawn + 1)


def share_p(before: NDArray[np.int64], after: NDArray[np.int64], first: int, second: int) -> NDArray[np.float64]:
    """Fisher's exact test of each share, two-sided by doubling the smaller tail."""
    from scipy.stats import hypergeom

    law = hypergeom(first + second, before + after, second)
    return np.minimum(1.0, 2 * np.minimum(law.cdf(after), law.sf(after - 1)))


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
