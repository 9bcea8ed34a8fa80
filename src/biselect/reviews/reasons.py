"""Why a row scores what it scores: what each column adds, the value there, and what is usual.

A part is a *reason* where its value is unusual: rarer than one in twenty in the reference, or outside of what nine
tenths of the reference rows most like this one have. A column that was chosen is held against the whole reference
first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.columns.column_type import MISSING, Cells, ColumnReference
from biselect.pages.words import words_of
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
        column, direction = scoring.weigher.columns[j], directions.get(j)
        here, before = values_of(pool, j, rows), None if raw is None else values_of(raw, j, rows)
        neighbours = [values_of(sample, j, near) for near in similar]
        decimals = decimals_of(sample.values[:, j])
        is_rare, usual = (
            _in_reference(column, pool, j, rows, decimals) if direction is not None else ([False] * len(rows), "")
        )
        for at, (value, near, rare) in enumerate(zip(here, neighbours, is_rare, strict=True)):
            like = not rare and is_outside(value, near)
            like_it = like or direction is None
            there = usual_text(near, decimals) if like_it else usual
            part: dict[str, Any] = {"column": name, "value": value, "usual": there, "like": like_it}
            moved_from = None if before is None or before[at] == value else before[at]
            moved = "" if moved_from is None else shown_value(moved_from, decimals)
            text = words_of().reason(part, shown_value(value, decimals), moved)
            big = values[at, j] >= least[at] and values[at, j] > 0
            parts[at].append(
                Part(
                    **part,
                    direction=direction or "",
                    part=float(values[at, j]),
                    moved_from=moved_from,
                    is_reason=bool((rare or like) and big),
                    text=text,
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


def is_outside(value: Value, others: Sequence[Value]) -> bool:
    """Whether a value lies outside of what nine tenths of some others have."""
    few = len(others) * RARE
    if value is None or isinstance(value, str) or not all(isinstance(other, float) for other in others):
        return sum(other == value for other in others) <= few
    numbers = [other for other in others if isinstance(other, float)]
    return min(sum(other >= value for other in numbers), sum(other <= value for other in numbers)) <= few


def _in_reference(
    column: ColumnReference, pool: NamedMatrix, j: int, rows: NDArray[np.int64], decimals: int
) -> tuple[list[bool], str]:
    """Which values are rarer in the reference than one in twenty, and what is usual there."""
    cells = pool.cells(j)
    cells = Cells(cells.values[rows], cells.labels)
    missing = np.isnan(cells.values)
    if column.type.is_ranked:
        spread = column.distribution
        residuals = (cells.values - column.location) / column.scale
        tail = np.minimum(spread.size - spread.below(residuals), spread.at_most(residuals)) / spread.size
        ends = [column.location + column.scale * spread.quantile(q) for q in (RARE, 1 - RARE)]
        usual = words_of().range(*(shown_value(end, decimals) for end in ends))
    else:
        labels = [None if np.isnan(code) else (cells.labels or [])[int(code)] for code in cells.values]
        tail = np.array(column.counts.of(labels)) / max(1, column.rows)
        usual = _common(column.counts.counts)
    share = np.where(missing, column.gaps / max(1, column.rows), tail)
    return (share <= RARE).tolist(), usual


def usual_text(values: Sequence[Value], decimals: int) -> str:
    """What nine tenths of some values are, in words."""
    if not values:
        return ""
    numbers = sorted(value for value in values if isinstance(value, float))
    if len(numbers) < len(values):
        return _common(Counter(value if isinstance(value, str) else shown_value(value, decimals) for value in values))
    few = int(len(values) * RARE)
    return words_of().range(shown_value(numbers[few], decimals), shown_value(numbers[-1 - few], decimals))


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
