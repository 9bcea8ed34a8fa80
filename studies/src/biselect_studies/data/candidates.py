"""Candidate pools: the N rows of a window that are handed on to selection."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError

__all__ = ["Candidates", "balanced", "ranked", "reservoir", "unbalanced"]

BLOCK = 65_536
WIDEN = 5  # r: a ranked pool is drawn from the r·N rows that stage 1 ranks first
Rng = np.random.Generator


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Rows of a window in random order.

    Attributes:
        rows: positions in the window.
        positive: positions in `rows` that are known positives, ascending; for evaluation only.
    """

    rows: NDArray[np.int64]
    positive: NDArray[np.int64]


def balanced(labels: NDArray[np.bool_], size: int, k: int, *, seed: int) -> Candidates:
    """Take k positives and size - k others, both drawn uniformly: as many positives as may be chosen."""
    return _mixed(labels, size, k, np.random.default_rng(seed))


def unbalanced(labels: NDArray[np.bool_], size: int, *, seed: int) -> Candidates:
    """Rows drawn uniformly, given that at least one is positive."""
    from scipy.stats import hypergeom

    rng = np.random.default_rng(seed)
    positives = int(labels.sum())
    _refuse_size(labels, size)
    if positives == 0:
        raise InputError("the window has no positive row, so no unbalanced pool can hold one; use another window")
    numbers = np.arange(1, min(size, positives) + 1)
    chances = hypergeom.pmf(numbers, labels.size, positives, size)
    found = int(rng.choice(numbers, p=chances / chances.sum()))
    return _mixed(labels, size, found, rng)


def ranked(
    labels: NDArray[np.bool_], scores: NDArray[np.float64], size: int, *, seed: int, widen: int = WIDEN
) -> Candidates:
    """Rows drawn uniformly from the widen·size rows that an earlier-time scorer ranks first (ties: lowest row)."""
    rng = np.random.default_rng(seed)
    if scores.shape != labels.shape:
        raise InputError(f"there are {labels.size} labels and {scores.size} scores; give one score per row")
    if np.isnan(scores).any():
        raise InputError(f"the score of row {int(np.argmax(np.isnan(scores)))} is missing; every row needs one")
    _refuse_size(labels, size)
    if widen < 1 or size * widen > labels.size:
        raise InputError(
            f"cannot rank the first {widen} × {size} rows of a window of {labels.size}; use a smaller pool"
        )
    first = np.argsort(-scores, kind="stable")[: size * widen]
    return _shuffled(labels, rng.choice(first, size, replace=False), rng)


def reservoir(labels: NDArray[np.bool_], size: int, *, seed: int) -> Candidates:
    """What remains of the window's stream when each row that comes in may replace a random one that is held."""
    rng = np.random.default_rng(seed)
    _refuse_size(labels, size)
    return _shuffled(labels, keep(range(labels.size), size, rng), rng)


def keep(stream: Iterable[int], size: int, rng: Rng) -> NDArray[np.int64]:
    """A uniform sample of a stream of unknown length, held in memory for `size` items only."""
    if size < 1:
        raise InputError(f"a reservoir holds 1 item or more, got {size}")
    held = np.empty(size, dtype=np.int64)
    keys = np.full(size, np.inf)
    items = iter(stream)
    while (block := np.fromiter(islice(items, BLOCK), dtype=np.int64)).size:
        drawn = rng.random(block.size)
        both, all_keys = np.append(held, block), np.append(keys, drawn)
        lowest = np.argpartition(all_keys, size - 1)[:size]
        held, keys = both[lowest], all_keys[lowest]
    if np.isinf(keys).any():
        raise InputError(f"the stream has fewer than {size} items")
    return np.sort(held)


def _refuse_size(labels: NDArray[np.bool_], size: int) -> None:
    if not 1 <= size <= labels.size:
        raise InputError(f"a pool of {size} rows cannot be drawn from a window of {labels.size}; use 1 to that many")


def _mixed(labels: NDArray[np.bool_], size: int, k: int, rng: Rng) -> Candidates:
    positives, others = np.flatnonzero(labels), np.flatnonzero(~labels)
    if size < 1 or not 0 <= k <= size:
        raise InputError(f"a pool of {size} rows cannot hold {k} positives")
    for what, there, wanted in (("positive", positives.size, k), ("other", others.size, size - k)):
        if there < wanted:
            raise InputError(
                f"the window has {there} {what} rows and the pool needs {wanted}; use a smaller pool or a longer window"
            )
    rows = [rng.choice(positives, k, replace=False), rng.choice(others, size - k, replace=False)]
    return _shuffled(labels, np.concatenate(rows), rng)


def _shuffled(labels: NDArray[np.bool_], rows: NDArray[np.int64], rng: Rng) -> Candidates:
    order = rng.permutation(rows)
    return Candidates(rows=order, positive=np.flatnonzero(labels[order]))
