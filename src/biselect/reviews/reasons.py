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
from biselect.pages.words import phrase, short_name, words_of
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
            rare, usual = self.in_reference(j, rows)
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
        sample, pool = self.scoring.weigher.sample.rows, self.scoring.pool.cells.rows
        decimals, words = self.decimals[j], words_of()
        few = int(similar.shape[1] * RARE)
        if j in sample.labels:
            others = [values_of(sample, j, near) for near in similar]
            own = values_of(pool, j, rows)
            outside = [near.count(value) <= few for value, near in zip(own, others, strict=True)]
            return outside, [_common(Counter(shown_value(value, decimals) for value in near)) for near in others]
        nearby, values = np.sort(sample.values[similar, j], axis=1), pool.values[rows, j]  # gaps come last
        gaps = np.isnan(nearby).sum(axis=1)
        last = nearby.shape[1] - 1 - gaps
        ends = [np.clip(place, 0, np.maximum(last, 0)) for place in (few, last - few)]
        lows, highs = (np.take_along_axis(nearby, end[:, None], axis=1)[:, 0] for end in ends)
        outside = np.where(np.isnan(values), gaps <= few, ~((values >= lows) & (values <= highs)))
        texts = []
        for low, high, missing in zip(lows.tolist(), highs.tolist(), gaps.tolist(), strict=True):
            ranges = [] if np.isnan(low) else [words.range(shown_value(low, decimals), shown_value(high, decimals))]
            texts.append(words.listed(ranges + [words.missing] * (missing > few), "or"))
        return outside.tolist(), texts

    def in_reference(self, j: int, rows: NDArray[np.int64]) -> tuple[list[bool], str]:
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
        rows = rows[scoring.pool.weights[rows, feature] > COUNTS]
        weighed = scoring.pool.cells.rows.values[rows, j]
        values = weighed if self.raw is None else self.raw.values[rows, j]
        weighed, values = (cells[~np.isnan(weighed)] for cells in (weighed, values))
        below = weighed < column.location if column.type.is_ranked else np.zeros(0, dtype=bool)
        facts: dict[str, Any] = {"column": short_name(name, scoring.features.names)}
        if name.isdigit():
            facts["column"] = phrase("finding.unnamed", column=name)
        if direction == MISSING or not column.type.is_ranked or not values.size:
            key = direction if direction in (MISSING, EITHER) else "value" if direction != PLAIN else EITHER
            facts["value"] = short_name(direction, ())
        elif direction in (EITHER, PLAIN) and 0 < below.sum() < below.size:
            key, ends = "both", (values[below].max(), values[~below].min())
        else:
            spread, ends = column.distribution, (values.min(), values.max())
            wide = column.scale * (spread.quantile(1 - RARE) - spread.quantile(RARE))
            key = ("low" if below[0] else "high") if np.ptp(weighed) > wide else "range"
        if key in ("both", "low", "high", "range"):
            facts["low"], facts["high"] = (shown_value(float(end), self.decimals[j]) for end in ends)
            facts["range"] = words_of().range(facts["low"], facts["high"])
        text = phrase(f"finding.trait_{key}", **facts)
        return {"column": name, "direction": direction, "text": text, "rows": rows.size}


def reasons_of(parts: Sequence[Part]) -> list[Part]:
    """The reasons of a row, the largest first."""
    return sorted((part for part in parts if part.is_reason), key=lambda part: -part.part)[:MOST_REASONS]


def values_of(matrix: NamedMatrix, column: int, rows: NDArray[np.int64]) -> list[Value]:
    """Values of a column in some rows, as a person reads them."""
    own, labels = matrix.values[rows, column], matrix.labels.get(column)
    if labels is None:
        return [None if np.isnan(value) else float(value) for value in own]
    return [None if np.isnan(value) else str(labels[int(value)]) for value in own]


def _common(counts: Any) -> str:
    """The values that most rows have, the most common first."""
    every, held = sum(counts.values()), 0
    names: list[str] = []
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))):
        if held >= (1 - 2 * RARE) * every or len(names) == MOST_VALUES:
            break
        names.append(shown_value(name, 0))
        held += count
    return words_of().listed(names, "or")


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
