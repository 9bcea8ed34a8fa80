"""The eight laundering patterns of the published data, each as payments between a few accounts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Rng = np.random.Generator
Edges = NDArray[np.int64]
"""One row per payment: sender, receiver (both numbered from 0 within the pattern), and its step in time."""


def fan_out(width: int, rng: Rng) -> Edges:
    """One account pays many."""
    return _edges([(0, 1 + i, i) for i in range(width)])


def fan_in(width: int, rng: Rng) -> Edges:
    """Many accounts pay one."""
    return _edges([(1 + i, 0, i) for i in range(width)])


def gather_scatter(width: int, rng: Rng) -> Edges:
    """Many pay one, which then pays many others."""
    scatter = [(0, 1 + width + i, width + i) for i in range(width)]
    return np.concatenate([fan_in(width, rng), _edges(scatter)])


def scatter_gather(width: int, rng: Rng) -> Edges:
    """One pays many, who then all pay one other."""
    gather = [(1 + i, 1 + width, width + i) for i in range(width)]
    return np.concatenate([fan_out(width, rng), _edges(gather)])


def cycle(width: int, rng: Rng) -> Edges:
    """Money goes round and comes back to where it began."""
    return _edges([(i, (i + 1) % width, i) for i in range(width)])


def stack(width: int, rng: Rng) -> Edges:
    """Two layers of go-betweens, each passing on to the next."""
    layers = [(i, width + i, i) for i in range(width)] + [(width + i, 2 * width + i, width + i) for i in range(width)]
    return _edges(layers)


def bipartite(width: int, rng: Rng) -> Edges:
    """Every account of one group pays some of another group."""
    sides = [(i, width + int(j), step) for step, i in enumerate(range(width)) for j in rng.choice(width, 2, False)]
    return _edges(sides)


def random_walk(width: int, rng: Rng) -> Edges:
    """Money wanders between a few accounts and need not return."""
    visits = rng.integers(0, width, size=2 * width)
    visits = np.append(visits[0], visits[1:][np.diff(visits) != 0])
    return _edges([(int(a), int(b), step) for step, (a, b) in enumerate(pairwise(visits))])


PATTERNS: dict[str, Callable[[int, Rng], Edges]] = {
    "fan-out": fan_out,
    "fan-in": fan_in,
    "gather-scatter": gather_scatter,
    "scatter-gather": scatter_gather,
    "cycle": cycle,
    "stack": stack,
    "bipartite": bipartite,
    "random": random_walk,
}


def _edges(rows: list[tuple[int, int, int]]) -> Edges:
    return np.array(rows, dtype=np.int64).reshape(-1, 3)
