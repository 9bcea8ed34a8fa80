"""How sure a paired comparison is: resampled slices or clusters, flipped signs, and Holm's correction for families."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError

RESAMPLES = 19_999  # p-values go down to 1/20,000: Holm's correction of a family of 36 can still reach 0.2 %
FEWEST_UNITS = 6  # below, no two-sided p-value can reach 5 %, and an interval would promise what the data cannot give
ALL_SIGNS = 14  # up to so many units every pattern of signs is tried
BATCH_VALUES = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A mean with its interval and the evidence against zero.

    Attributes:
        mean: of all values.
        low: lower end of the 95 % bootstrap interval; NaN where there are fewer than six units.
        high: its upper end, likewise.
        p: two-sided sign-flip p-value of units that are symmetric about zero, no less than 2^(1 - units).
        units: how many independent units were resampled.
    """

    mean: float
    low: float
    high: float
    p: float
    units: int


def compare(values: ArrayLike, *, clusters: ArrayLike | None = None, seed: int = 0) -> Comparison:
    """The mean of paired differences, resampled one by one or by cluster.

    Slices of one small test window share their positives. Resampling slices then takes copies of the same evidence
    for new evidence; resampling whole clusters (all differences that belong to one positive) does not.

    Args:
        values: paired differences, all finite.
        clusters: one label per value; values of a label are resampled together.
        seed: fixes the resamples.

    >>> found = compare([0.1, 0.2, 0.3])
    >>> round(found.mean, 3), found.p, found.low
    (0.2, 0.25, nan)
    """
    sample = np.asarray(values, dtype=np.float64).ravel()
    labels = np.arange(sample.size) if clusters is None else np.asarray(clusters).ravel()
    if sample.size == 0:
        raise InputError("there are no differences to compare; give at least one")
    if not np.isfinite(sample).all():
        place = int(np.argmin(np.isfinite(sample)))
        raise InputError(f"difference {place} is {sample[place]}; all must be finite numbers")
    if labels.size != sample.size:
        raise InputError(f"there are {sample.size} differences and {labels.size} cluster labels; give one label each")
    _, member = np.unique(labels, return_inverse=True)
    totals = np.bincount(member, weights=sample).astype(np.float64)
    rng = np.random.default_rng(seed)
    mean = float(sample.mean())
    low, high = _interval(mean, totals, np.bincount(member), rng)
    return Comparison(mean=mean, low=low, high=high, p=_flipped(totals, rng), units=totals.size)


def _interval(
    mean: float, totals: NDArray[np.float64], counts: NDArray[np.int64], rng: np.random.Generator
) -> tuple[float, float]:
    """Percentiles of resampled means, taken further out where units are few (Hesterberg's expanded percentiles)."""
    from scipy.stats import norm, t

    units = totals.size
    if units < FEWEST_UNITS:
        return float("nan"), float("nan")
    tail = float(norm.cdf(sqrt(units / (units - 1)) * t.ppf(0.025, units - 1)))
    means = np.empty(RESAMPLES)
    for begin, stop in _batches(units):
        drawn = rng.integers(units, size=(stop - begin, units))
        means[begin:stop] = totals[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [tail, 1 - tail])
    return min(float(low), mean), max(float(high), mean)


def _flipped(totals: NDArray[np.float64], rng: np.random.Generator) -> float:
    """Share of sign patterns whose total is as far from zero as the one seen: all of them, or a draw and the one."""
    units = totals.size
    seen = abs(totals.sum()) - 1e-9 * np.abs(totals).sum()  # equal totals may differ by their rounding
    if units <= ALL_SIGNS:
        bits = np.arange(2 ** (units - 1))[:, None] >> np.arange(units) & 1  # the other half mirrors these
        return float(np.mean(np.abs((1 - 2 * bits) @ totals) >= seen))
    further = 0
    for begin, stop in _batches(units):
        signs = 1 - 2 * rng.integers(2, size=(stop - begin, units), dtype=np.int8)
        further += int((np.abs(signs @ totals) >= seen).sum())
    return (1 + further) / (RESAMPLES + 1)


def smallest_p(units: int) -> float:
    """The smallest p-value that `compare` can find with so many units, all of them on one side.

    >>> smallest_p(6)
    0.03125
    """
    return 2.0 ** (1 - units) if units <= ALL_SIGNS else 1 / (RESAMPLES + 1)


def _batches(units: int) -> list[tuple[int, int]]:
    step = max(1, BATCH_VALUES // units)
    return [(begin, min(begin + step, RESAMPLES)) for begin in range(0, RESAMPLES, step)]


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment of a family's p-values, in the order given.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    for name, p in p_values.items():
        if not 0 <= p <= 1:
            raise InputError(f"the p-value of {name!r} is {p}; p-values lie from 0 to 1")
    adjusted: dict[str, float] = {}
    largest = 0.0
    for position, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - position) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}
