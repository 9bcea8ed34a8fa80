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

from biselect.columns.distribution import MAD_TO_SIGMA, Column
from biselect.errors import InputError
from biselect.weights.reference_summary import ReferenceSummary

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


def column_changes(older: ReferenceSummary, newer: ReferenceSummary, columns: Sequence[str]) -> list[Change]:
    """All tests of these columns, not yet adjusted for their number."""
    found = []
    for name in columns:
        before, after = (summary.numbers.get(name) for summary in (older, newer))
        if before is not None and after is not None and before.size and after.size:
            found += _numbers(name, before.column(), after.column())
        elif name in older.categories and name in newer.categories:
            found += _categories(name, older.categories[name], newer.categories[name])
        elif {*older.numbers, *newer.numbers} & {*older.categories, *newer.categories} & {name}:
            raise InputError(f"column {name!r} holds numbers in one table and texts in the other")
        found += _missing(name, older, newer)
    return found


def holm(changes: Sequence[Change]) -> list[Change]:
    """The same with p-values adjusted for the number of tests, by Holm's method."""
    order = sorted(range(len(changes)), key=lambda at: changes[at].p)
    adjusted, so_far = [1.0] * len(changes), 0.0
    for rank, at in enumerate(order):
        so_far = max(so_far, min(1.0, (len(changes) - rank) * changes[at].p))
        adjusted[at] = so_far
    return [replace(change, adjusted_p=value) for change, value in zip(changes, adjusted, strict=True)]


def _numbers(name: str, before: Column, after: Column) -> list[Change]:
    both = (before, after)
    low, high = min(column.values[0] for column in both), max(column.values[-1] for column in both)
    if low == high:
        return []
    exact = before.rank_error == after.rank_error == 0
    if exact and all(((column.values == low) | (column.values == high)).all() for column in both):
        unset = [int(column.at_most(low)) for column in both]
        counts = [np.array([part, column.size - part]) for part, column in zip(unset, both, strict=True)]
        return [_shares(name, [f"{low:g}", f"{high:g}"], *counts)]
    distance = ks_distance(before, after)
    # ranks of a sketch may be wrong: what they could add to the distance is taken off
    sure = max(0.0, distance - sum(column.rank_error / column.size for column in both))
    middle, now = before.quantile(0.5), after.quantile(0.5)
    spread = MAD_TO_SIGMA * before.folded(middle).quantile(0.5) or before.deviation
    shift = (now - middle) / spread if spread > 0 else 0.0
    widths = [column.quantile(0.75) - column.quantile(0.25) for column in both]
    ratio = widths[1] / widths[0] if widths[0] > 0 else 1.0
    wider = f", spread × {ratio:.2g}" if abs(ratio - 1) > 0.1 else ""
    return [
        Change(
            column=name,
            what="values",
            p=ks_p(sure, before.size, after.size),
            effect=distance,
            measure="KS distance",
            shift=shift,
            words=f"median {middle:.4g} → {now:.4g} ({shift:+.2f} spreads{wider})",
        )
    ]


def ks_distance(before: Column, after: Column) -> float:
    """The largest difference between the two distribution functions."""
    places = np.concatenate([before.values, after.values])
    return float(np.abs(before.at_most(places) / before.size - after.at_most(places) / after.size).max())


def ks_p(distance: float, first: int, second: int) -> float:
    """Kolmogorov's limiting law, which is never below the chance of such a distance where it matters (p < 0.1)."""
    from scipy.special import kolmogorov

    return float(kolmogorov(sqrt(first * second / (first + second)) * distance))


def _categories(name: str, before: dict[str, int], after: dict[str, int]) -> list[Change]:
    """Shares of all categories that could alarm; the rarer ones count as one."""
    whole = [sum(counts.values()) for counts in (before, after)]
    if not all(whole):
        return []
    fewest = RAREST / -log(min(whole) / sum(whole))
    total = {value: before.get(value, 0) + after.get(value, 0) for value in sorted({*before, *after})}
    common = [value for value, count in total.items() if count >= fewest]
    counts = [np.array([side.get(value, 0) for value in common], dtype=np.int64) for side in (before, after)]
    if len(common) < len(total):
        counts = [np.append(side, all_ - side.sum()) for side, all_ in zip(counts, whole, strict=True)]
        common = [*common, OTHERS]
    return [_shares(name, common, *counts)] if len(common) > 1 else []


def _missing(name: str, older: ReferenceSummary, newer: ReferenceSummary) -> list[Change]:
    empty = [summary.missing[name] for summary in (older, newer)]
    rows = [summary.rows for summary in (older, newer)]
    if not 0 < sum(empty) < sum(rows):
        return []
    shares = [part / whole for part, whole in zip(empty, rows, strict=True)]
    return [
        Change(
            column=name,
            what="missing",
            p=float(share_p(np.array(empty[:1]), np.array(empty[1:]), *rows)[0]),
            effect=abs(shares[1] - shares[0]),
            measure="difference of shares",
            words=f"missing {_percent(shares[0])} → {_percent(shares[1])}",
        )
    ]


def _shares(name: str, values: Sequence[str], before: NDArray[np.int64], after: NDArray[np.int64]) -> Change:
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
