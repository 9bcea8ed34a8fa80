"""Why a row scores what it scores: what each column adds, the value there, and what is usual.

A part is a *reason* where its value is unusual: rarer than one in twenty in the reference, or outside of what nine
tenths of the reference rows most like this one have. A column that was chosen is held against the whole reference
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.column_type import MISSING, ColumnReference
from biselect.pages.words import words_of
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
        moved_from: the value as it stands in the table, where the column was moved back; else None.
        usual: in words, what reference rows have there.
        like: whether `usual` is about the reference rows most like this one, not about all of them.
        is_reason: whether the value is unusual, and the part large enough to be told.
        text: the column, its value and what is usual, in words.
    """

    column: str
    direction: str
    part: float
    value: Value
    moved_from: Value
    usual: str
    like: bool
    is_reason: bool
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def parts_of_rows(
    scoring: Scoring, rows: NDArray[np.int64], features: NDArray[np.int64], raw: NamedMatrix | None = None
) -> list[list[Part]]:
    """What each column adds to the score of each row.

    Args:
        scoring: pool and reference on one scale.
        rows: positions in the pool.
        features: the chosen features.
        raw: the pool as it stands in its table, where columns were moved back.

    Returns:
        For each row one part for each column of the table, in the table's order; they sum to the row's score.
    """
    similar = scoring.similar(rows, features)
    values = scoring.parts(rows, features, similar)
    parts: list[list[Part]] = [[] for _ in rows]
    directions = {int(scoring.features.columns[f]): scoring.features.directions[f] for f in features.tolist()}
    pool, sample = scoring.pool.cells.rows, scoring.weigher.sample.rows
    least = LEAST_SHARE * scoring.pool_scores(features)[rows]
    for j, name in enumerate(scoring.features.names):
        direction, decimals = directions.get(j), decimals_of(sample.values[:, j])
        here, before = values_of(pool, j, rows), None if raw is None else values_of(raw, j, rows)
        in_all = None if direction is None else Usual.of_reference(scoring.weigher.columns[j])
        for at, (value, near) in enumerate(zip(here, similar, strict=True)):
            in_similar = Usual.of(values_of(sample, j, near))
            rare = in_all is not None and not in_all.holds(value)
            like = not rare and not in_similar.holds(value)
            usual = in_similar if in_all is None or like else in_all
            digits = usual.decimals(value, decimals) if rare or like else decimals
            part: dict[str, Any] = {
                "column": name,
                "value": value,
                "usual": usual.text(digits),
                "like": usual is in_similar,
            }
            moved_from = None if before is None or before[at] == value else before[at]
            moved = "" if moved_from is None else shown_value(moved_from, digits)
            big = values[at, j] >= least[at] and values[at, j] > 0
            parts[at].append(
                Part(
                    **part,
                    direction=direction or "",
                    part=float(values[at, j]),
                    moved_from=moved_from,
                    is_reason=bool((rare or like) and big),
                    text=words_of().reason(part, shown_value(value, digits), moved),
                )
            )
    return parts


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

    @classmethod
    def of_reference(cls, column: ColumnReference) -> Usual:
        """Of the whole reference."""
        if not column.type.is_ranked:
            return cls(ends=None, common=_common(column.counts.counts, column.rows * RARE))
        few, numbers = int(column.counts.size * RARE), column.counts
        low, high = numbers.entry(np.array([few, numbers.size - 1 - few])).tolist()
        return cls(ends=(low, high), common=_common({None: column.gaps}, column.rows * RARE))

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
        return words_of().alternatives([*ranges, *(shown_value(value, 0) for value in self.common[:MOST_VALUES])])


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


def describe_trait(scoring: Scoring, rows: NDArray[np.int64], feature: int) -> dict[str, Any]:
    """What some rows have in common in a chosen column.

    Args:
        scoring: pool and reference on one scale.
        rows: positions in the pool.
        feature: one of the directed columns.

    Returns:
        The `column`, the `direction` and a `text` such as `discount 70–80`.
    """
    j, direction = int(scoring.features.columns[feature]), scoring.features.directions[feature]
    name, weighty = scoring.features.names[j], rows[scoring.pool.weights[rows, feature] > COUNTS]
    return {"column": name, "direction": direction, "text": _trait(scoring, weighty, j, name, direction)}


def _trait(scoring: Scoring, rows: NDArray[np.int64], j: int, name: str, direction: str) -> str:
    """A column, and the range of the values that some rows have there."""
    words, column = words_of(), scoring.weigher.columns[j]
    if direction in (MISSING, EITHER, PLAIN) or not column.type.is_ranked:
        key = direction if direction == MISSING else "either" if direction in (EITHER, PLAIN) else "value"
        return words.phrase(f"finding.trait_{key}", column=name, value=direction)
    values = [value for value in values_of(scoring.pool.cells.rows, j, rows) if isinstance(value, float)]
    decimals = decimals_of(scoring.weigher.sample.rows.values[:, j])
    low, high = (shown_value(float(end), decimals) for end in (min(values), max(values)))
    spread = column.distribution
    usual = column.scale * (spread.quantile(1 - RARE) - spread.quantile(RARE))
    if max(values) - min(values) > usual:  # so wide a range says nothing
        return words.phrase(f"finding.trait_{direction}", column=name, range=low if direction == "high" else high)
    return words.phrase("finding.trait_range", column=name, range=words.range(low, high))
