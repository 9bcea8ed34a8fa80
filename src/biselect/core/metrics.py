"""Numbers that say how good an answer is."""

from collections.abc import Collection


def f1_at_k(chosen: Collection[int], positive: Collection[int]) -> float:
    """Set F1, 2|Ŝ∩S⁺| / (|Ŝ| + |S⁺|); the hit fraction where both have k items.

    >>> f1_at_k([1, 2, 3], [2, 3, 4])
    0.6666666666666666
    """
    if not chosen and not positive:
        return 1.0
    return 2 * len(set(chosen) & set(positive)) / (len(chosen) + len(positive))
