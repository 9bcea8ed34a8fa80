"""Compiled best responses: the sum of the k largest values, with and without group limits.

NumPy's own partition and argsort would do, but take seconds to compile.
"""

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def top_sum(values: Any, count: int, k: int) -> Any:
    """Sum of the k largest of values[:count], and the smallest of them; the values are reordered on the way."""
    first = count - k
    low, high = 0, count - 1
    while low < high:  # quickselect: everything from `first` on ends up no smaller than what is before it
        a, b, c = values[low], values[(low + high) // 2], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if first <= j:
            high = j
        elif first >= i:
            low = i
        else:
            break
    total = 0.0
    for q in range(first, count):
        total += values[q]
    return total, values[first]


@njit(cache=True, nogil=True)
def _sink(heap: Any, size: int, position: int, values: Any) -> None:
    """Restore the heap below a position: larger values first, lower index first among equals."""
    item = heap[position]
    while True:
        child = 2 * position + 1
        if child >= size:
            break
        if child + 1 < size:
            left, right = heap[child], heap[child + 1]
            if values[right] > values[left] or (values[right] == values[left] and right < left):
                child += 1
        other = heap[child]
        if values[item] > values[other] or (values[item] == values[other] and item < other):
            break
        heap[position] = other
        position = child
    heap[position] = item


@njit(cache=True, nogil=True)
def limited_top_sum(values: Any, count: int, k: int, group: Any, room: Any) -> Any:
    """Sum of the best k of values[:count] inside the limits, the smallest of them, and how many there are."""
    heap = np.arange(count)
    for position in range(count // 2 - 1, -1, -1):
        _sink(heap, count, position, values)
    used = np.zeros(room.size, np.int64)
    total, smallest, taken, size = 0.0, np.inf, 0, count
    while size > 0 and taken < k:
        item = heap[0]
        size -= 1
        heap[0] = heap[size]
        if size > 0:
            _sink(heap, size, 0, values)
        if group[item] >= 0:
            if used[group[item]] == room[group[item]]:
                continue
            used[group[item]] += 1
        total += values[item]
        smallest = values[item]
        taken += 1
    return total, smallest, taken


@njit(cache=True, nogil=True)
def has_room(item: int, chosen: Any, count: int, group: Any, room: Any) -> bool:
    """Whether the item's group has room beside chosen[:count]."""
    if room.size == 0 or group[item] < 0:
        return True
    used = 0
    for q in range(count):
        if group[chosen[q]] == group[item]:
            used += 1
    return used < room[group[item]]
