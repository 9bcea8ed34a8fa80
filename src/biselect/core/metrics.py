"""Numbers that say how good an answer is, and how sure we may be of a mean."""

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 1000  # the paper's B
BATCH_VALUES = 4_000_000  # resampled values held at once


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


def row_means(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each row."""
    return samples.mean(axis=1)


def row_medians(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """The median of each row."""
    return np.asarray(np.median(samples, axis=1), dtype=np.float64)


def row_geometric(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """The geometric mean of each row of numbers from 0 up."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(np.log(samples).mean(axis=1)), dtype=np.float64)


def row_effects(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """d_z of each row: mean over standard deviation, 0 where a row does not vary."""
    spread = samples.std(axis=1, ddof=1)
    return np.divide(samples.mean(axis=1), spread, out=np.zeros(len(samples)), where=spread > 0)


def bootstrap_interval(
    values: ArrayLike,
    *,
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]] = row_means,
    seed: int | np.random.Generator = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Percentile-bootstrap interval from `RESAMPLES` resamples, of the mean unless said otherwise.

    Args:
        values: one per seed, slice or shot.
        statistic: from resamples, one a row, to one number each.
        seed: fixes the resamples.
        level: coverage aimed at.

    >>> bootstrap_interval([1.0, 1.0, 1.0])
    (1.0, 1.0)
    """
    sample = np.asarray(values, dtype=np.float64)
    if statistic is row_means and sample.min() == sample.max():  # exact, where means of resamples would round
        return float(sample[0]), float(sample[0])
    rng = np.random.default_rng(seed)
    found = np.empty(RESAMPLES)
    step = max(1, BATCH_VALUES // sample.size)
    for begin in range(0, RESAMPLES, step):
        drawn = rng.integers(sample.size, size=(min(step, RESAMPLES - begin), sample.size))
        found[begin : begin + len(drawn)] = statistic(sample[drawn])
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def paired_effect(differences: ArrayLike) -> float | None:
    """d_z = mean / standard deviation of paired differences; None where they do not vary."""
    sample = np.asarray(differences, dtype=np.float64)
    if sample.size < 2 or sample.min() == sample.max():
        return None
    return float(row_effects(sample[None, :])[0])
