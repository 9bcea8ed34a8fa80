"""The live queue: which row comes next, made anew after every answer.

A row's place is its score plus what the answers taught:

1. The score is the one that `select` and its report give the row in the answer's columns.
2. An answer says what its row should have scored: "not fine" at least what one row in 200 reaches, "fine" at most the
   lower quartile. The gap is what it teaches. "unsure" teaches nothing, and its row comes back at the end.
3. Likeness of two rows, from 0 to 1: half the squared cosine of their directed cells (odd in the same columns, the same
   way), half exp(-d² / 2h²) of their normal scores (alike as a whole).
4. What is learnt is one addend for each answered row: its likeness times a weight. The weights solve
   (K + 0.3 I) w = gaps, so that like answers share what they teach, and one of them may be wrong.
5. The highest open row comes next.

What is learnt is a function of the answers alone: any answer can be changed or taken back, and equal answers give
equal orders.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from biselect.sessions.store import NOT_FINE, UNSURE
from biselect.weights.directed import CellWeights
from biselect.weights.scoring import Scoring

POLICY = "score and likeness 1"  # changes with whatever changes the order
TOP, USUAL = 0.995, 0.25  # quantiles of the scores: what a row that is not fine scores at least, a fine one at most
NOISE = 0.3  # of a weight: an answer may be wrong
NEIGHBOUR, HIGHEST = 10, 200  # the width h is the median distance to the tenth neighbour among the 200 highest rows
LIKE = 0.5  # from here on two rows are called alike
MOST_ROWS = 20_000  # that the queue holds: the highest
DIGITS = 9  # of a place in the order, so that rounding decides between no two rows

Matrix = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class Traits:
    """What rows are compared by.

    Attributes:
        scores: of the rows.
        cells: rows × directed columns, each row of length 1, or 0 where nothing is unusual.
        normal: rows × columns, normal scores.
    """

    scores: NDArray[np.float64]
    cells: Matrix
    normal: Matrix

    @classmethod
    def of(cls, scores: NDArray[np.float64], cells: NDArray[np.float64], normal: NDArray[np.float64]) -> Traits:
        """From weights in directed columns, none negative, and normal scores."""
        small = np.asarray(cells, dtype=np.float32)
        lengths = np.maximum(np.linalg.norm(small, axis=1, keepdims=True), 1e-9)
        return cls(scores=scores, cells=small / lengths, normal=np.asarray(normal, dtype=np.float32))

    @classmethod
    def of_pool(cls, scoring: Scoring, features: NDArray[np.int64], rows: NDArray[np.int64]) -> Traits:
        """Rows of a pool.

        Args:
            scoring: pool and reference on one scale.
            features: the answer's directed columns.
            rows: positions in the pool.
        """
        pool, around = scoring.pool, scoring.weigher.whole_row
        residuals = scoring.weigher.scale.residuals(pool.cells.values[rows])
        normal = around.normal_scores(residuals, own=pool.cells.places is not None)
        return cls.of(scoring.pool_scores(features)[rows], pool.weights[rows], normal)

    @classmethod
    def of_others(cls, scoring: Scoring, features: NDArray[np.int64], cells: CellWeights) -> Traits:
        """Rows of another table, weighed against the same reference."""
        normal = scoring.weigher.whole_row.normal_scores(scoring.weigher.scale.residuals(cells.values))
        scores = scoring.scores_of(cells, features)
        return cls.of(scores, scoring.features.weights(scoring.weigher, cells), normal)

    @classmethod
    def none(cls, like: Traits) -> Traits:
        """No row, with the columns of others."""
        return like.rows(np.empty(0, dtype=np.int64))

    @classmethod
    def concatenate(cls, traits: Sequence[Traits]) -> Traits:
        """All rows of several."""
        parts = [(one.scores, one.cells, one.normal) for one in traits]
        scores, cells, normal = (np.concatenate(one) for one in zip(*parts, strict=True))
        return cls(scores=scores, cells=cells, normal=normal)

    def rows(self, at: NDArray[np.int64]) -> Traits:
        """Some of the rows."""
        return Traits(scores=self.scores[at], cells=self.cells[at], normal=self.normal[at])

    def likeness(self, others: Traits, width: float) -> NDArray[np.float64]:
        """How alike these rows and others are.

        Args:
            others: rows of the same columns.
            width: distance of normal scores at which rows begin to differ.

        Returns:
            Rows × others, from 0 to 1.
        """
        squares = (self.normal**2).sum(axis=1)[:, None] + (others.normal**2).sum(axis=1)
        apart = np.maximum(squares - 2 * (self.normal @ others.normal.T), 0)
        odd = (self.cells @ others.cells.T) ** 2
        return np.asarray(0.5 * odd + 0.5 * np.exp(-apart / (2 * width**2)), dtype=np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Lessons:
    """What answers teach, one addend for each row that was answered.

    Attributes:
        rows: of the pool that teach, ascending.
        hits: of these and of the rows of earlier tables, which were not fine.
        weights: of the same rows.
        likeness: the same rows × rows of the queue.
    """

    rows: tuple[int, ...] = ()
    hits: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=bool))
    weights: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    likeness: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))


class Queue:
    """Rows in the order of score and what was learnt.

    Args:
        scoring: pool and reference on one scale.
        features: the answer's directed columns.
        earlier: rows of earlier tables that were answered; None if there are none.
        hits: which of these were not fine.

    Attributes:
        scores: of all rows of the pool.
        rows: positions in the pool of the rows held, ascending.
        lessons: what the answers so far teach.
        order: score and what was learnt, of the rows held.
    """

    def __init__(
        self,
        scoring: Scoring,
        features: NDArray[np.int64],
        earlier: Traits | None = None,
        hits: NDArray[np.bool_] | None = None,
    ) -> None:
        self._scoring, self._features = scoring, features
        self.scores = scoring.pool_scores(features)
        self.rows = np.sort(np.argsort(-self.scores, kind="stable")[:MOST_ROWS])
        self._held = Traits.of_pool(scoring, features, self.rows)
        self._earlier = Traits.none(self._held) if earlier is None else earlier
        self._earlier_hits = np.empty(0, dtype=bool) if hits is None else hits
        self._top, self._usual = np.quantile(self.scores, [TOP, USUAL])
        self._width = self._widths()
        self._known: dict[int, tuple[Traits, NDArray[np.float64]]] = {}  # rows that were answered once
        self._earlier_like = self._earlier.likeness(self._held, self._width)
        self._answers: Mapping[int, str] | None = None
        self.learn({})

    def _widths(self) -> float:
        high = self._held.rows(np.argsort(-self._held.scores, kind="stable")[:HIGHEST]).normal.astype(np.float64)
        squares = (high**2).sum(axis=1)
        apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * high @ high.T, 0))
        return float(np.median(np.sort(apart, axis=1)[:, min(NEIGHBOUR, len(high) - 1)])) or 1.0

    def learn(self, answers: Mapping[int, str]) -> None:
        """Make the order anew for these answers: a verdict for each row that has one."""
        if answers == self._answers:
            return
        self._answers = dict(answers)
        rows = sorted(row for row, verdict in answers.items() if verdict != UNSURE)
        for row in rows:
            if row not in self._known:
                own = Traits.of_pool(self._scoring, self._features, np.array([row]))
                like = own.likeness(self._held, self._width)[0]
                like[self.rows == row] = 1.0
                self._known[row] = own, like
        known = [self._known[row] for row in rows]
        all_of = Traits.concatenate([*(own for own, _ in known), self._earlier])
        hits = np.concatenate([np.array([answers[row] == NOT_FINE for row in rows], dtype=bool), self._earlier_hits])
        to_top, to_usual = np.maximum(self._top - all_of.scores, 0), np.minimum(self._usual - all_of.scores, 0)
        gaps = np.where(hits, to_top, to_usual)
        among = all_of.likeness(all_of, self._width)
        np.fill_diagonal(among, 1.0)
        weights = np.linalg.solve(among + NOISE * np.eye(gaps.size), gaps)
        likeness = np.vstack([*(like for _, like in known), self._earlier_like])
        self.lessons = Lessons(rows=tuple(rows), hits=hits, weights=weights, likeness=likeness)
        self._learnt = (weights @ likeness).round(DIGITS) + 0.0  # no minus before zero
        self.order = (self._held.scores + self._learnt).round(DIGITS)

    def ranking(self, left_out: Collection[int] = ()) -> list[int]:
        """The open rows, the next one first; rows that somebody was unsure of come last.

        Args:
            left_out: positions of rows that are not asked for.
        """
        answers = self._answers or {}
        down = self.rows[np.argsort(-self.order, kind="stable")].tolist()
        gone = {*answers, *left_out}
        unsure = [row for row, verdict in answers.items() if verdict == UNSURE]
        return [row for row in down if row not in gone] + [row for row in sorted(unsure) if row not in left_out]

    def unlike(self, rows: Collection[int]) -> NDArray[np.bool_]:
        """Which rows of the queue are like none of these, nor like any answered row."""
        some = Traits.of_pool(self._scoring, self._features, np.array(sorted(rows), dtype=np.int64))
        alike = np.vstack([self.lessons.likeness, some.likeness(self._held, self._width)]) >= LIKE
        return np.asarray(~alike.any(axis=0))

    def learnt(self, row: int) -> float:
        """What the answers add to the score of a row; 0 of a row that the queue does not hold."""
        at = self._place(row)
        return 0.0 if at is None else float(self._learnt[at])

    def alike(self, row: int) -> tuple[list[int], int, int]:
        """What counted for a row.

        Returns:
            The answered rows of the pool by their likeness, the nearest first; and how many rows like it were found
            not fine and fine, those of earlier tables among them.
        """
        at = self._place(row)
        if at is None or not self.lessons.hits.size:
            return [], 0, 0
        like = self.lessons.likeness[:, at]
        own = np.argsort(-like[: len(self.lessons.rows)], kind="stable")
        near = [self.lessons.rows[one] for one in own if self.lessons.rows[one] != row]
        near_hits = self.lessons.hits[like >= LIKE]
        return near, int(near_hits.sum()), int((~near_hits).sum())

    def open_like(self, row: int) -> int:
        """How many open rows are like an answered one; 0 if it teaches nothing."""
        if row not in self.lessons.rows:
            return 0
        alike = self.rows[self.lessons.likeness[self.lessons.rows.index(row)] >= LIKE].tolist()
        return len({*alike} - (self._answers or {}).keys())

    def why(self, row: int) -> tuple[str, int, int]:
        """Why a row comes where it comes.

        Returns:
            The name of the reason, and how many rows like it were found not fine and fine.
        """
        _, hits, misses = self.alike(row)
        learnt = self.learnt(row)
        if learnt > 0 and hits:
            return "like", hits, misses
        if learnt > 0.1 * (self._top - self._usual):
            return "somewhat", 0, 0
        return "highest", 0, misses

    def _place(self, row: int) -> int | None:
        at = int(np.searchsorted(self.rows, row))
        return at if at < self.rows.size and self.rows[at] == row else None
