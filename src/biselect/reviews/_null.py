"""What chance gives: draws of reference rows, each with the best block of its own, counted against the other rows.

Finding, kinds and false share ask this one null. A draw is as large as the pool, or half of the reference where that is
smaller. Its block is looked for as the pool's is, so the freedom to choose columns and rows counts for chance, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from biselect.weights.scoring import Scoring

DRAWS = 99
LEVEL = 0.05  # how often a pool of reference rows may be said to hold more
DEEPER = 2  # times k highest rows are looked at: a kind may be larger than k
STARTS, STEPS = 6, 30  # of the climb to a draw's best block
FEWEST_ROWS = 5  # times as many rows as a draw chooses


@dataclass(frozen=True, kw_only=True, eq=False)
class Scan:
    """How many more rows of one table than of another score at least so much, where that is clearest.

    Attributes:
        z: signed root of the likelihood ratio of two samples; 0 or less if there are no more.
        rows: of the first table at or above the threshold.
        others: of the second.
        threshold: a score.
    """

    z: float
    rows: int
    others: int
    threshold: float


def scan(scores: NDArray[np.float64], others: NDArray[np.float64], deepest: int, rows: int) -> Scan:
    """Look for the threshold among the highest scores above which two tables differ most.

    Args:
        scores: of the rows of one table, at least the highest.
        others: of all rows of another.
        deepest: how many of the highest scores are tried as thresholds.
        rows: how many rows the first table has.
    """
    ascending, other = np.sort(scores), np.sort(others)
    thresholds = np.unique(ascending[-deepest:])
    n, r = _counts(ascending, other, thresholds)
    share = rows / (rows + other.size)  # of the rows above, if the tables do not differ
    ratio = special.xlogy(n, n / (n + r) / share) + special.xlogy(r, r / (n + r) / (1 - share))
    z = np.sign(n / (n + r) - share) * np.sqrt(2 * np.maximum(ratio, 0))
    at = int(np.argmax(z))
    return Scan(z=float(z[at]), rows=int(n[at]), others=int(r[at]), threshold=float(thresholds[at]))


def largest_excess(scores: NDArray[np.float64], others: NDArray[np.float64], deepest: int, rows: int) -> Scan:
    """The threshold above which one table has the most rows more than the rate of the other lets expect; z is 0."""
    ascending, other = np.sort(scores), np.sort(others)
    thresholds = np.unique(ascending[-deepest:])
    n, r = _counts(ascending, other, thresholds)
    at = int(np.argmax(n - r * rows / other.size))
    return Scan(z=0.0, rows=int(n[at]), others=int(r[at]), threshold=float(thresholds[at]))


def _counts(
    ascending: NDArray[np.float64], other: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Entries of two sorted arrays at or above each threshold."""
    sides = (table.size - np.searchsorted(table, thresholds, side="left") for table in (ascending, other))
    first, second = sides
    return first, second


@dataclass(frozen=True, kw_only=True, eq=False)
class Null:
    """What draws of reference rows give.

    Attributes:
        z: of each draw's best block, ascending.
    """

    z: NDArray[np.float64]

    @classmethod
    def of(cls, scoring: Scoring, forced: NDArray[np.int64], *, seed: int) -> Null:
        """Draw from the reference of a pool.

        Args:
            scoring: pool and reference on one scale.
            forced: features that every choice holds.
            seed: fixes the draws.
        """
        rng, reference = np.random.default_rng(seed), scoring.reference
        rows = len(reference.weights)
        size = min(scoring.rows, rows // 2)
        k = max(2, min(scoring.k, size // FEWEST_ROWS))
        blocks = _Blocks(columns=scoring.features.columns, forced=forced, k=min(k, size), m=scoring.m)
        z = []
        for _ in range(DRAWS):
            order = rng.permutation(rows)
            drawn, rest = order[:size], order[size:]
            alone = scoring.drawn_parts(drawn, rest, k)
            features = blocks.best(np.ascontiguousarray(reference.weights.T[:, drawn]), alone[drawn], rng)
            scores = reference.scores(alone, features)
            z.append(scan(scores[drawn], scores[rest], DEEPER * k, size).z)
        return cls(z=np.sort(z))

    def p(self, z: float) -> float:
        """The share of draws in which a difference is as clear, the pool counted as one of them."""
        return float((1 + (self.z >= z - 1e-9).sum()) / (1 + self.z.size))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Blocks:
    """A climb to a good block of directed columns: a proof for every draw would take too long.

    Attributes:
        columns: of each feature, its column; features of one column stand together.
        forced: features that every choice holds.
        k: how many rows a block has.
        m: how many columns.
    """

    columns: NDArray[np.int64]
    forced: NDArray[np.int64]
    k: int
    m: int

    def best(
        self, weights: NDArray[np.float64], alone: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The features of the best block.

        Args:
            weights: features × rows.
            alone: the part of each row as a whole.
            rng: draws where some of the climbs begin.
        """
        strongest = np.partition(weights, -self.k, axis=1)[:, -self.k :].sum(axis=1)
        firsts = [alone, alone + weights.sum(axis=0) * self.m / weights.shape[0]]
        firsts += [weights[feature] for feature in np.argsort(-strongest, kind="stable")[: STARTS - 4]]
        firsts += [rng.random(alone.size) for _ in range(STARTS - len(firsts))]
        best, score = self.forced, -np.inf
        for first in firsts:
            rows, before = self._top(first), -np.inf
            for _ in range(STEPS):
                features = self._features(weights[:, rows].sum(axis=1))
                values = alone + weights[features].sum(axis=0)
                rows = self._top(values)
                if (now := float(values[rows].sum())) <= before + 1e-9:
                    break
                before = now
            if before > score:
                best, score = features, before
        return best

    def _features(self, sums: NDArray[np.float64]) -> NDArray[np.int64]:
        """The m features with the largest sums, at most one of a column."""
        starts = np.flatnonzero(np.diff(self.columns, prepend=-1))
        ends = np.append(starts[1:], sums.size)
        values = np.maximum.reduceat(sums, starts)
        values[np.isin(self.columns[starts], self.columns[self.forced])] = -np.inf
        chosen = np.argsort(-values, kind="stable")[: self.m - self.forced.size]
        features = [starts[at] + int(np.argmax(sums[starts[at] : ends[at]])) for at in chosen]
        return np.concatenate([self.forced, np.array(features, dtype=np.int64)])

    def _top(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.argpartition(-values, self.k - 1)[: self.k]
