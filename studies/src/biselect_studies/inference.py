"""How good a choice is (F1 at k), and how sure a mean: resampled units, flipped signs, Holm's correction."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError

SEED_RESAMPLES = 1000  # the paper's B, for means over seeds
RESAMPLES = 19_999  # p-values go down to 1/20,000: Holm's correction of a family of 36 can still reach 0.2 %
FEWEST_UNITS = 6  # below, no two-sided p-value can reach 5 %, and an interval would promise what the data cannot give
ALL_SIGNS = 14  # up to so many units every pattern of signs is tried
LEVEL, COVERAGE = 0.05, 0.95
BATCH_VALUES = 4_000_000  # resampled values held at once


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


def bootstrap_interval(
    values: ArrayLike, *, statistic: Callable[..., Any] = np.mean, seed: int = 0
) -> tuple[float, float]:
    """95 % percentile-bootstrap interval of the mean, or of another statistic that takes an `axis`.

    >>> bootstrap_interval([1.0, 1.0, 1.0])
    (1.0, 1.0)
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.min() == sample.max():  # exact, where means of resamples would round
        value = float(sample[0] if statistic is np.mean else statistic(sample, axis=-1))
        return value, value
    found = _resampled((sample,), statistic, SEED_RESAMPLES, np.random.default_rng(seed))
    low, high = np.quantile(found, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)


def share_interval(hits: int, units: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; unlike resampling it has a width where all units agree.

    >>> [round(end, 3) for end in share_interval(50, 50)]
    [0.929, 1.0]
    """
    from scipy.stats import binomtest

    found = binomtest(hits, units).proportion_ci(COVERAGE, method="wilson")
    return float(found.low), float(found.high)


def _resampled(
    data: tuple[NDArray[Any], ...], statistic: Callable[..., Any], count: int, rng: np.random.Generator
) -> Any:
    """A statistic of `count` resamples of units; the data are given unit by unit."""
    from scipy.stats import bootstrap

    return bootstrap(
        data,
        statistic,
        paired=True,
        vectorized=True,
        n_resamples=count,
        batch=_batch(data[0].size),
        method="percentile",
        rng=rng,
    ).bootstrap_distribution


def paired_effect(differences: NDArray[Any], axis: int = -1) -> Any:
    """d_z: mean over standard deviation of paired differences, 0 where they do not vary."""
    mean, spread = differences.mean(axis=axis), differences.std(axis=axis, ddof=1)
    return np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0)


def compare(values: ArrayLike, *, clusters: ArrayLike | None = None, seed: int = 0) -> Comparison:
    """The mean of paired differences, resampled one by one or by cluster.

    Slices of one small test window share their positives. Resampling slices then takes copies of the same evidence
    for new evidence; resampling whole clusters (all differences that belong to one positive) does not. `clusters` has
    one label per value.

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
        return nan, nan
    means = _resampled(
        (totals, counts), lambda total, count, axis: total.sum(axis=axis) / count.sum(axis=axis), RESAMPLES, rng
    )
    tail = float(norm.cdf(sqrt(units / (units - 1)) * t.ppf(LEVEL / 2, units - 1)))
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
    for begin in range(0, RESAMPLES, _batch(units)):
        size = min(_batch(units), RESAMPLES - begin), units
        signs = 1 - 2 * rng.integers(2, size=size, dtype=np.int8)
        further += int((np.abs(signs @ totals) >= seen).sum())
    return (1 + further) / (RESAMPLES + 1)


def _batch(units: int) -> int:
    return max(1, BATCH_VALUES // units)


def smallest_p(units: int) -> float:
    """The smallest p-value that `compare` can find with so many units, all of them on one side.

    >>> smallest_p(6)
    0.03125
    """
    return 2.0 ** (1 - units) if units <= ALL_SIGNS else 1 / (RESAMPLES + 1)


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


class Family(dict[tuple[str, int], Comparison]):
    """Comparisons that Holm's correction takes together, by what is compared and the pool's size N.

    >>> family = Family()
    >>> family["luck", 20] = Comparison(mean=0.1, low=0.02, high=0.2, p=0.01, units=75)
    >>> family.claim("joint beats luck", "luck")
    'Claim: joint beats luck. N = 20: holds (+0.100 [+0.020, +0.200], Holm p 0.010).'
    >>> family["chance", 20] = Comparison(mean=0.1, low=0.02, high=0.2, p=0.06, units=75)
    >>> family.claim("joint beats chance", "chance")
    'Claim: joint beats chance. N = 20: not sure (+0.100 [+0.020, +0.200], Holm p 0.060).'
    """

    def __init__(
        self,
        found: Mapping[tuple[str, int], Comparison] | None = None,
        *,
        named: Callable[[str, int], str] = "{}, N = {}".format,
    ) -> None:
        super().__init__(found or {})
        self.named = named

    @property
    def adjusted(self) -> dict[str, float]:
        """The p-values after Holm's correction, by the name of a comparison and its size."""
        return holm({self.named(*key): one.p for key, one in self.items()})

    def claim(self, text: str, name: str | None = None) -> str:
        """A claim of the form "this is above that", and by size whether interval and p-value are both sure of it.

        It is of the comparisons of that name, or of all.
        """
        lines = []
        for (other, size), one in self.items():
            if name not in (None, other):
                continue
            p = self.adjusted[self.named(other, size)]
            word = "not sure"
            if p <= LEVEL:
                word = "holds" if one.low > 0 else "does not hold here" if one.high < 0 else word
            between = f"[{one.low:+.3f}, {one.high:+.3f}]" if one.units >= FEWEST_UNITS else f"{one.units} units only"
            lines.append(f"N = {size}: {word} ({one.mean:+.3f} {between}, Holm p {p:.3f})")
        return f"Claim: {text}. {'; '.join(lines)}."


def f1_at_k(chosen: Collection[int], positive: Collection[int]) -> float:
    """Set F1, `2|Ŝ∩S⁺| / (|Ŝ| + |S⁺|)`; the hit fraction where both have k items.

    >>> f1_at_k([1, 2, 3], [2, 3, 4])
    0.6666666666666666
    """
    if len(chosen) == 0 and len(positive) == 0:
        return 1.0
    return 2 * len({int(i) for i in chosen} & {int(i) for i in positive}) / (len(chosen) + len(positive))


def expected_lowest(values: ArrayLike, probabilities: ArrayLike, shots: int) -> float:
    """The expected lowest of `shots` independent draws.

    >>> expected_lowest([0.0, 1.0], [0.5, 0.5], shots=2)
    0.25
    """
    flat, mass = np.ravel(values), np.ravel(probabilities)
    order = np.argsort(flat, kind="stable")
    beyond = np.clip(1 - np.cumsum(mass[order]) / mass.sum(), 0, 1) ** shots  # all draws lie above this value
    return float(np.diff(beyond, prepend=1.0) @ -flat[order])
