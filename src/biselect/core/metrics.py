"""Numbers that say how good an answer is, and how sure we may be of a mean."""

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 1000  # the paper's B
BATCH_VALUES = 4_000_000  # resampled values held at once


def f1_at_k(chosen: Collection[int], positive: Collection[int]) -> float:
    """Set F1, 2|Ŝ∩S⁺| / (|Ŝ| + |S⁺|); the hit fraction where both have k items.

    >>> f1_at_k([1, 2, 3], [2, 3, 4])
    0.6666666666666666
    """
    if len(chosen) == 0 and len(positive) == 0:
        return 1.0
    return 2 * len({int(i) for i in chosen} & {int(i) for i in positive}) / (len(chosen) + len(positive))


def bootstrap_interval(
    values: ArrayLike, *, seed: int | np.random.Generator = 0, level: float = 0.95
) -> tuple[float, float]:
    """Percentile-bootstrap interval of the mean, from `RESAMPLES` resamples.

    >>> bootstrap_interval([1.0, 1.0, 1.0])
    (1.0, 1.0)
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.min() == sample.max():  # whatever is drawn, the mean is this value
        return float(sample[0]), float(sample[0])
    rng = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    step = max(1, BATCH_VALUES // sample.size)
    for begin in range(0, RESAMPLES, step):
        drawn = rng.integers(sample.size, size=(min(step, RESAMPLES - begin), sample.size))
        means[begin : begin + len(drawn)] = sample[drawn].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_effect(differences: ArrayLike) -> float | None:
    """d_z = mean / standard deviation of paired differences; None where they do not vary."""
    sample: NDArray[np.float64] = np.asarray(differences, dtype=np.float64)
    if sample.size < 2 or sample.min() == sample.max():
        return None
    return float(sample.mean() / sample.std(ddof=1))
