"""Compiled parts that several solvers share; whoever imports this loads numba.

- The sum of the k largest values, with and without group limits. NumPy's own partition, argsort and slice assignment
  would do, but take seconds to compile.
- Random numbers: SplitMix64 on a state of one uint64, the same on every machine. Public-domain constants of Steele, Lea
  and Flood, "Fast splittable pseudorandom number generators" (2014).
- The passes of the Lagrangian bound: what each row holds in its m largest priced weights. NumPy's partition is their
  slow twin.
"""

from typing import Any

import numpy as np
from numba import njit

EPS = float(np.finfo(np.float64).eps)
TILE = 512  # rows whose running tops stay in cache while the lines stream past


@njit(cache=True, nogil=True)
def copy_into(target: Any, source: Any, count: int) -> None:
    """target[:count] = source[:count]."""
    for i in range(count):
        target[i] = source[i]


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
            first_child, second_child = heap[child], heap[child + 1]
            if values[second_child] > values[first_child] or (
                values[second_child] == values[first_child] and second_child < first_child
            ):
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
    group_counts = np.zeros(room.size, np.int64)
    total, smallest, item_count, size = 0.0, np.inf, 0, count
    while size > 0 and item_count < k:
        item = heap[0]
        size -= 1
        heap[0] = heap[size]
        if size > 0:
            _sink(heap, size, 0, values)
        if group[item] >= 0:
            if group_counts[group[item]] == room[group[item]]:
                continue
            group_counts[group[item]] += 1
        total += values[item]
        smallest = values[item]
        item_count += 1
    return total, smallest, item_count


@njit(cache=True, nogil=True)
def has_room_beside(item: int, items: Any, count: int, skipped: int, of: Any, room: Any) -> bool:
    """Whether all limits of an item have room beside items[:count], but for the one at the place `skipped`."""
    if room.size == 0:
        return True
    for q in range(of.shape[1]):
        if of[item, q] < 0:
            continue
        members = 0
        for place in range(count):
            if place != skipped:
                for r in range(of.shape[1]):
                    members += of[items[place], r] == of[item, q]
        if members >= room[of[item, q]]:
            return False
    return True


@njit(cache=True, nogil=True)
def next_bits(state: Any) -> Any:
    """64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def next_unit(state: Any) -> float:
    """Uniform in (0, 1]."""
    return (np.float64(next_bits(state) >> np.uint64(11)) + 1.0) * 2.0**-53


@njit(cache=True, nogil=True)
def next_below(state: Any, n: int) -> Any:
    """Uniform in 0..n-1 for n < 2³²; the bias of the scaled draw is below n·2⁻³²."""
    return np.int64(((next_bits(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def row_tops(
    lines: Any, scale: float, base: Any, offsets: Any, order: Any, ends: Any, choose: int, values: Any
) -> None:
    """For each row its base and its largest priced weights, one of a group of lines at most, rounded up."""
    largest, best = np.empty((TILE, choose)), np.full(TILE, -np.inf)
    offset = np.abs(offsets).max()
    for tile in range(0, values.size, TILE):
        count = min(TILE, values.size - tile)
        largest[:] = -np.inf
        for place in range(order.size):
            line, price = lines[order[place], tile : tile + count], offsets[order[place]]
            last = ends[place] == place + 1
            for i in range(count):
                x = max(best[i], scale * line[i] + price)
                best[i] = -np.inf if last else x
                if last and x > largest[i, choose - 1]:
                    q = choose - 1
                    while q > 0 and largest[i, q - 1] < x:
                        largest[i, q] = largest[i, q - 1]
                        q -= 1
                    largest[i, q] = x
        for i in range(count):
            total = base[tile + i]
            size = abs(total) + 2.0 * choose * offset
            for q in range(choose):
                total += largest[i, q]
                size += abs(largest[i, q])
            values[tile + i] = total + (choose + 6) * (EPS * size + 5e-324)


@njit(cache=True, nogil=True)
def row_reaches(lines: Any, scale: float, offsets: Any, theta: float, begin: int, end: int, out: Any) -> None:
    """For rows begin..end: Σ_j max(priced weight - θ, 0), a pass without a branch."""
    for tile in range(begin, end, TILE):
        stop = min(tile + TILE, end)
        sums = out[tile:stop]
        sums[:] = 0.0
        for j in range(lines.shape[0]):
            line = lines[j, tile:stop]
            offset = offsets[j] - theta
            for i in range(sums.size):
                x = scale * line[i] + offset
                sums[i] += x if x > 0.0 else 0.0
