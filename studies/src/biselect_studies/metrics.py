"""Numbers that say how good an answer is."""

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["f1_at_k"]


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
