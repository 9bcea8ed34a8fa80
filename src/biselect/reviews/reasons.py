"""Why a row scores what it scores: what each column adds, the value there, and what is usual.

A part is a *reason* where its value is unusual: rarer than one in twenty in the reference, or outside of what nine
tenths of the reference rows most like this one have. A column that was chosen is held against the whole reference
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
EVEN_DECIMALS, MOST_DECIMALS, MOST_DIGITS = 6, 12, 24
LARGE = 1e15  # numbers from here on are printed with their power of ten

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
        in_all = None if direction is None else self.usual(j)
        here = values_of(self.scoring.pool.cells.rows, j, rows)
        before = here if self.raw is None else values_of(self.raw, j, rows)
        column = []
        for at, (value, in_similar) in enumerate(zip(here, self._among_similar(j, similar), strict=True)):
            rare = in_all is not None and not in_all.holds(value)
            outside = not rare and not in_similar.holds(value)
            usual = in_similar if in_all is None or outside else in_all
            decimals = self.decimals[j]
            if rare or outside:
                decimals = usual.decimals(value, decimals)
            moved_from = None if before[at] == value else before[at]
            moved = "" if moved_from is None else shown_value(moved_from, decimals)
            text = usual.text(decimals)
            column.append(
                Part(
                    column=self.scoring.features.names[j],
                    direction=direction or "",
                    part=float(parts[at]),
                    value=value,
                    shown=shown_value(value, decimals),
                    moved_from=moved_from,
                    usual=text,
                    like=usual is in_similar,
                    is_reason=bool(big[at] and (rare or outside)),
                    against=words_of().usual(text, like=usual is in_similar, moved_from=moved),
                )
            )
        return column

    def usual(self, j: int) -> Usual:
        """What is usual in a column of the reference."""
        column = self.scoring.weigher.columns[j]
        if not column.type.is_ranked:
            return Usual(ends=None, common=_common(column.counts.counts, column.rows * RARE))
        few, numbers = int(column.counts.size * RARE), column.counts
        low, high = numbers.entry(np.array([few, numbers.size - 1 - few])).tolist()
        return Usual(ends=(low, high), common=_common({None: column.gaps}, column.rows * RARE))

    def _among_similar(self, j: int, similar: NDArray[np.int64]) -> list[Usual]:
        """What is usual among the rows most like each of some rows."""
        sample = self.scoring.weigher.sample.rows
        if j in sample.labels:
            return [Usual.of(values_of(sample, j, near)) for near in similar]
        nearby = np.sort(sample.values[similar, j], axis=1)  # gaps come last
        few, numbers = int(nearby.shape[1] * RARE), (~np.isnan(nearby)).sum(axis=1)
        lows = nearby[:, few].tolist()
        highs = np.take_along_axis(nearby, np.maximum(numbers - 1 - few, 0)[:, None], axis=1)[:, 0].tolist()
        return [
            Usual(
                ends=(low, high) if number > 2 * few else None,
                common=(None,) * (nearby.shape[1] - number > few),
            )
            for low, high, number in zip(lows, highs, numbers.tolist(), strict=True)
        ]

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
        cells = scoring.pool.cells.rows.values[rows, j]
        values = cells if self.raw is None else self.raw.values[rows, j]
        is_there = ~np.isnan(cells)
        cells, values = cells[is_there], values[is_there]
        below = cells < column.location if column.type.is_ranked else np.zeros(0, dtype=bool)
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
            key = ("low" if below[0] else "high") if np.ptp(cells) > wide else "range"
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


@dataclass(frozen=True, kw_only=True)
class Usual:
    """What all but the rarest twentieth of some rows have in a column.

    Attributes:
        ends: between which their numbers lie; None if there are too few.
        common: other values, the most common first; None for a gap.
    """

    ends: tuple[float, float] | None
    common: tuple[str | None, ...]

    @classmethod
    def of(cls, values: Sequence[Value]) -> Usual:
        """Of a few rows."""
        few = int(len(values) * RARE)
        numbers = sorted(value for value in values if isinstance(value, float))
        ends = (numbers[few], numbers[-1 - few]) if len(numbers) > 2 * few else None
        return cls(ends=ends, common=_common(Counter(one for one in values if not isinstance(one, float)), few))

    def holds(self, value: Value) -> bool:
        """Whether a value is usual."""
        if isinstance(value, float) and self.ends is not None:
            return self.ends[0] <= value <= self.ends[1]
        return (f"{value:.15g}" if isinstance(value, float) else value) in self.common

    def decimals(self, value: Value, decimals: int) -> int:
        """How many decimals tell a number apart from both ends, at least so many."""
        if isinstance(value, float) and self.ends is not None:
            while decimals < MOST_DIGITS and shown_value(value, decimals) in [
                shown_value(x, decimals) for x in self.ends
            ]:
                decimals += 1
        return decimals

    def text(self, decimals: int) -> str:
        """The same in words."""
        ranges = [] if self.ends is None else [words_of().range(*(shown_value(end, decimals) for end in self.ends))]
        return words_of().listed([*ranges, *(shown_value(value, 0) for value in self.common[:MOST_VALUES])], "or")


def _common(counts: Mapping[str | None, int], few: float) -> tuple[str | None, ...]:
    """The values that more than a few rows have, the most common first."""
    order = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return tuple(value for value, count in order if count > few)


def decimals_of(values: NDArray[np.float64]) -> int:
    """How many decimals a person needs to tell the values of a column apart."""
    present = values[np.isfinite(values)]
    if not present.size:
        return 0
    for decimals in range(EVEN_DECIMALS):
        if np.allclose(present, present.round(decimals), rtol=0, atol=1e-9):
            return decimals
    low, high = np.quantile(present, [0.25, 0.75])
    spread = high - low or present.std() or 1.0
    return int(np.clip(DIGITS - 1 - np.floor(np.log10(spread)), 0, MOST_DECIMALS))


def shown_value(value: Value, decimals: int) -> str:
    """A value as a person reads it.

    >>> shown_value(1234.50, 2), shown_value(-1e-9, 2), shown_value(None, 0), shown_value("card", 0)
    ('1,234.5', '-1e-09', 'missing', 'card')
    """
    if value is None:
        return words_of().missing
    if isinstance(value, str):
        return repr(value) if value in ("", words_of().missing) else value  # a text, and no gap
    if value and (abs(value) >= LARGE or round(value, decimals) == 0):
        return f"{value:.{DIGITS + max(0, decimals - MOST_DECIMALS)}g}"
    text = f"{value + 0.0:,.{decimals}f}"  # no minus before zero
    return text.rstrip("0").rstrip(".") if "." in text else text
