"""Why a row scores what it scores: what each column adds, the value there, and what is usual.

A part is a *reason* where its value is unusual: rarer than one in twenty in the reference, or outside of what nine
tenths of the reference rows most like this one have. A column that was chosen is held against the whole reference
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.column_type import MISSING
from biselect.pages.words import phrase, words_of
from biselect.tables import NamedMatrix
from biselect.weights.directed import COUNTS, EITHER, PLAIN
from biselect.weights.scoring import Scoring

RARE = 0.05  # share of the reference: a value as far out as fewer rows is unusual
MOST_REASONS = 4  # of a row
LEAST_SHARE = 0.05  # of a row's score: a smaller part is no reason
MOST_VALUES = 3  # of a category that are named as usual
DIGITS = 3  # of numbers that have no end, beyond the size of their column's spread
MOST_DECIMALS = 6

Value = float | str | None
"""A number, the value of a category, or None for a missing cell."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one column adds to the score of a row.

    Attributes:
        column: its name.
        direction: in which it was chosen; empty where the column was not chosen.
        part: how much it adds.
        value: the row's value, as it was weighed.
        shown: the same as a person reads it.
        moved_from: the value as it stands in the table, where the column was moved back; else None.
        usual: in words, what reference rows have there.
        like: whether `usual` is about the reference rows most like this one, not about all of them.
        is_reason: whether the value is unusual, and the part large enough to be told.
        against: what is usual, in words that follow the value.
    """

    column: str
    direction: str
    part: float
    value: Value
    shown: str
    moved_from: Value
    usual: str
    like: bool
    is_reason: bool
    against: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the whole reason as one `text`."""
        return {**vars(self), "text": self.text}

    @property
    def text(self) -> str:
        """The column, its value and what is usual."""
        return f"{self.column} {self.shown}{self.against}".strip()


@dataclass(frozen=True, kw_only=True, eq=False)
class Reasons:
    """Puts parts of scores into words.

    Attributes:
        scoring: pool and reference on one scale.
        raw: the pool as it stands in its table, where columns were moved back; else None.
    """

    scoring: Scoring
    raw: NamedMatrix | None = None

    @cached_property
    def decimals(self) -> list[int]:
        """With how many decimals a person tells the values of each column apart."""
        return [decimals_of(values) for values in self.scoring.weigher.sample.rows.values.T]

    def parts(self, rows: NDArray[np.int64], features: NDArray[np.int64]) -> list[list[Part]]:
        """What each column adds to the score of each row.

        Args:
            rows: positions in the pool.
            features: the chosen features.

        Returns:
            For each row one part for each column of the table, in the table's order; they sum to the row's score.
        """
        scoring = self.scoring
        similar = scoring.similar(rows, features)
        values = scoring.parts(rows, features, similar)
        least = np.maximum(LEAST_SHARE * scoring.pool_scores(features)[rows], 1e-300)
        directions = {int(scoring.features.columns[f]): scoring.features.directions[f] for f in features.tolist()}
        columns = [
            self._column(j, rows, similar, directions.get(j), values[:, j], values[:, j] >= least)
            for j in range(len(scoring.features.names))
        ]
        return [[column[at] for column in columns] for at in range(len(rows))]

    def _column(
        self,
        j: int,
        rows: NDArray[np.int64],
        similar: NDArray[np.int64],
        direction: str | None,
        parts: NDArray[np.float64],
        big: NDArray[np.bool_],
    ) -> list[Part]:
        """The parts of one column; `direction` is None where it was not chosen, `big` says which parts are told."""
        pool, decimals, words = self.scoring.pool.cells.rows, self.decimals[j], words_of()
        here, outside, nearby = values_of(pool, j, rows), *self._among_similar(j, rows, similar)
        rare, usual = [False] * len(rows), ""
        if direction is not None:
            rare, usual = self._in_reference(j, rows)
        before = here if self.raw is None else values_of(self.raw, j, rows)
        column = []
        for at, value in enumerate(here):
            like = direction is None or (outside[at] and not rare[at])
            told = nearby[at] if like else usual
            moved = "" if before[at] == value else shown_value(before[at], decimals)
            column.append(
                Part(
                    column=self.scoring.features.names[j],
                    direction=direction or "",
                    part=float(parts[at]),
                    value=value,
                    shown=shown_value(value, decimals),
                    moved_from=before[at] if moved else None,
                    usual=told,
                    like=like,
                    is_reason=bool(big[at] and (rare[at] or outside[at])),
                    against=words.usual(told, like=like, moved_from=moved),
                )
            )
        return column

    def _among_similar(
        self, j: int, rows: NDArray[np.int64], similar: NDArray[np.int64]
    ) -> tuple[list[bool], list[str]]:
        """Which values lie outside of what nine tenths of the rows most like theirs have, and what these have."""
        sample, pool, decimals = self.scoring.weigher.sample.rows, self.scoring.pool.cells.rows, self.decimals[j]
        few = int(similar.shape[1] * RARE)
        if j in sample.labels or np.isnan(nearby := np.sort(sample.values[similar, j], axis=1)).any():
            others = [values_of(sample, j, near) for near in similar]
            own = values_of(pool, j, rows)
            outside = [near.count(value) <= few for value, near in zip(own, others, strict=True)]
            return outside, [_usual_values(near, decimals) for near in others]
        lows, highs = nearby[:, few], nearby[:, -1 - few]
        values = pool.values[rows, j]
        ranges = zip(lows.tolist(), highs.tolist(), strict=True)
        texts = [words_of().range(shown_value(low, decimals), shown_value(high, decimals)) for low, high in ranges]
        return (~((values >= lows) & (values <= highs))).tolist(), texts

    def _in_reference(self, j: int, rows: NDArray[np.int64]) -> tuple[list[bool], str]:
        """Which values are rarer in the reference than one in twenty, and what is usual there."""
        column, cells = self.scoring.weigher.columns[j], self.scoring.pool.cells.rows.cells(j)
        values, size = cells.values[rows], max(1, column.rows)
        if column.type.is_ranked:
            spread = column.distribution
            residuals = (values - column.location) / column.scale
            share = np.minimum(spread.size - spread.below(residuals), spread.at_most(residuals)) / spread.size
            ends = [column.location + column.scale * spread.quantile(q) for q in (RARE, 1 - RARE)]
            usual = words_of().range(*(shown_value(end, self.decimals[j]) for end in ends))
        else:
            own = values_of(self.scoring.pool.cells.rows, j, rows)
            labels = [f"{value:.15g}" if isinstance(value, float) else value for value in own]
            share, usual = np.array(column.counts.of(labels)) / size, _common(column.counts.counts)
        share = np.where(np.isnan(values), column.gaps / size, share)
        return (share <= RARE).tolist(), usual

    def trait(self, rows: NDArray[np.int64], feature: int) -> dict[str, Any]:
        """What some rows have in common in a chosen column.

        Args:
            rows: positions in the pool.
            feature: one of the directed columns.

        Returns:
            The `column`, the `direction` and a `text` such as `discount 70–80`.
        """
        scoring = self.scoring
        j, direction = int(scoring.features.columns[feature]), scoring.features.directions[feature]
        name, column = scoring.features.names[j], scoring.weigher.columns[j]
        told = {"column": name, "direction": direction}
        if direction in (MISSING, EITHER, PLAIN) or not column.type.is_ranked:
            key = direction if direction == MISSING else "either" if direction in (EITHER, PLAIN) else "value"
            return told | {"text": phrase(f"finding.trait_{key}", column=name, value=direction)}
        values = scoring.pool.cells.rows.values[rows[scoring.pool.weights[rows, feature] > COUNTS], j]
        low, high = (shown_value(float(end), self.decimals[j]) for end in (values.min(), values.max()))
        spread = column.distribution
        if np.ptp(values) > column.scale * (spread.quantile(1 - RARE) - spread.quantile(RARE)):  # too wide to say much
            end = {"low": high, "high": low}.get(direction, words_of().range(low, high))
            return told | {"text": phrase(f"finding.trait_{direction}", column=name, range=end)}
        return told | {"text": phrase("finding.trait_range", column=name, range=words_of().range(low, high))}


def reasons_of(parts: Sequence[Part]) -> list[Part]:
    """The reasons of a row, the largest first."""
    return sorted((part for part in parts if part.is_reason), key=lambda part: -part.part)[:MOST_REASONS]


def values_of(matrix: NamedMatrix, column: int, rows: NDArray[np.int64]) -> list[Value]:
    """Values of a column in some rows, as a person reads them."""
    own, labels = matrix.values[rows, column], matrix.labels.get(column)
    if labels is None:
        return [None if np.isnan(value) else float(value) for value in own]
    return [None if np.isnan(value) else str(labels[int(value)]) for value in own]


def _usual_values(values: Sequence[Value], decimals: int) -> str:
    """The most common of some values, in words."""
    return _common(Counter(shown_value(value, decimals) for value in values))


def _common(counts: Any) -> str:
    """The values that most rows have, the most common first."""
    every, held = sum(counts.values()), 0
    names: list[str] = []
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))):
        if held >= (1 - 2 * RARE) * every or len(names) == MOST_VALUES:
            break
        names.append(shown_value(name, 0))
        held += count
    return words_of().alternatives(names)


def decimals_of(values: NDArray[np.float64]) -> int:
    """How many decimals a person needs to tell the values of a column apart."""
    present = values[np.isfinite(values)]
    if not present.size:
        return 0
    for decimals in range(MOST_DECIMALS):
        if np.allclose(present, present.round(decimals), rtol=0, atol=1e-9):
            return decimals
    low, high = np.quantile(present, [0.25, 0.75])
    spread = high - low or present.std() or 1.0
    return int(np.clip(DIGITS - 1 - np.floor(np.log10(spread)), 0, 12))


def shown_value(value: Value, decimals: int) -> str:
    """A value as a person reads it.

    >>> shown_value(1234.50, 2), shown_value(None, 0), shown_value("card", 0)
    ('1,234.5', 'missing', 'card')
    """
    if value is None:
        return words_of().missing
    if isinstance(value, str):
        return value
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
