"""Directed columns: a column of a table looked at in one direction, as a feature that a block can choose.

A number is unusual for being low, for being high, or at either end; a category for one of its values; any cell for
being missing. A direction is worth more on its own side than either end, by the log of the number of directions, as a
one-sided test is against a two-sided one. So a block takes a direction where its rows agree on one, and leaves it open
where they do not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from biselect.columns import directions as direction_names
from biselect.columns.column_type import MISSING, ColumnReference, ColumnType
from biselect.core import Group, Rules, SelectionProblem
from biselect.tables import NamedMatrix

PLAIN = ""
"""A column as it is, whatever the direction of its cells: the paper's features."""
EITHER = "either"
"""Direction of a column of numbers of which both ends count, and of a category of which any value does."""
COUNTS = 0.7  # a cell that weighs less lies in the usual half of its column, whose direction means nothing
FEWEST_COLUMNS, MOST_COLUMNS = 2, 4  # that are chosen where nobody says how many
USUAL_ROWS, ROW_SHARE = 20, 5  # the same of rows; at most one in so many
MOST_VALUES = 50  # of a category, those whose cells weigh most together


class WeighsColumns(Protocol):
    """What directions ask of a `Weigher`: names and references of its columns."""

    columns: Sequence[ColumnReference]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One for each column."""
        ...


class CellWeights(NamedTuple):
    """Rows of a table as they are weighed.

    Attributes:
        rows: the rows, their columns as in the reference.
        values: numbers without gaps; of a category what it weighs.
        weights: weights of the cells, whatever their direction.
        sides: direction of each cell, as positions among `biselect.columns.directions()`.
        places: where rows of the reference itself stand in its sample, -1 for those that do not; None for other rows.
    """

    rows: NamedMatrix
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    sides: NDArray[np.int8]
    places: NDArray[np.int64] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectedColumns:
    """The features that a block can choose.

    Attributes:
        names: the table's columns.
        columns: of each feature, the position of its column.
        directions: of each feature: `low`, `high`, `either`, `missing`, or the value of a category; of plain columns an
            empty text.
    """

    names: tuple[str, ...]
    columns: NDArray[np.int64]
    directions: tuple[str, ...]

    @classmethod
    def plain(cls, names: tuple[str, ...]) -> DirectedColumns:
        """Every column once, whatever the direction."""
        return cls(names=names, columns=np.arange(len(names)), directions=(PLAIN,) * len(names))

    @classmethod
    def of(cls, weigher: WeighsColumns, cells: CellWeights, must: Collection[int] = ()) -> DirectedColumns:
        """The directed columns of a pool.

        Args:
            weigher: fitted on the reference.
            cells: of the pool, which says what categories can be chosen for.
            must: columns that must be chosen; a category among them can be taken whatever its value.
        """
        pairs = []
        for j, column in enumerate(weigher.columns):
            gaps = np.isnan(cells.rows.values[:, j])
            if is_sided(column.type):
                options = [*column.type.directions, EITHER]
            else:
                options = _weighty_values(cells, j) + [EITHER] * (j in must)
            if (cells.weights[gaps, j] > COUNTS).any() or not options:
                options.append(MISSING)
            pairs += [(j, option) for option in options]
        return cls(
            names=weigher.feature_names,
            columns=np.array([j for j, _ in pairs], dtype=np.int64),
            directions=tuple(direction for _, direction in pairs),
        )

    @property
    def rules(self) -> Rules:
        """At most one direction of a column."""
        members = (np.flatnonzero(self.columns == j).tolist() for j in range(len(self.names)))
        return Rules(groups=[Group(members=own) for own in members if len(own) > 1])

    def weights(self, weigher: WeighsColumns, cells: CellWeights) -> NDArray[np.float64]:
        """Weights of rows in every directed column.

        Args:
            weigher: fitted on the reference.
            cells: of any rows.

        Returns:
            Rows × features, read-only and contiguous by feature; 0 where a cell has another direction.
        """
        positions = {name: at for at, name in enumerate(direction_names())}
        out, before = np.empty((len(self.directions), len(cells.rows))), -1
        for feature, (j, direction) in enumerate(zip(self.columns.tolist(), self.directions, strict=True)):
            if j != before:  # features of one column stand together
                before, own, kind = j, cells.weights[:, j], weigher.columns[j].type
                gaps = np.isnan(cells.rows.values[:, j])
                codes, values = (None, []) if is_sided(kind) else _coded(cells, j)
            if direction == PLAIN:
                out[feature] = own
            elif direction == MISSING:
                out[feature] = np.where(gaps, own, 0.0)
            elif direction == EITHER:
                out[feature] = np.where(gaps, 0.0, own)
            elif codes is None:
                here = (cells.sides[:, j] == positions[direction]) & ~gaps
                out[feature] = np.where(here, own + np.log(len(kind.directions)) * (own > COUNTS), 0.0)
            else:
                place = values.index(direction) if direction in values else -1
                out[feature] = np.where(codes == place, own, 0.0)
        out.setflags(write=False)
        return out.T


def at_best(weigher: WeighsColumns, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each cell weighs at most, in whatever direction its column is chosen.

    Args:
        weigher: fitted on the reference.
        weights: of the cells, rows × columns.

    Returns:
        Rows × columns.
    """
    return weights + np.where(weights > COUNTS, gains(weigher), 0.0)


def gains(weigher: WeighsColumns) -> NDArray[np.float64]:
    """What a cell gains on its own side, by column."""
    return np.array([np.log(len(one.type.directions)) if is_sided(one.type) else 0.0 for one in weigher.columns])


def is_sided(kind: ColumnType) -> bool:
    """Whether values of this type have directions; otherwise each value is one."""
    return kind.is_ranked or len(kind.directions) > 1


def _coded(cells: CellWeights, j: int) -> tuple[NDArray[np.float64], list[str]]:
    """A category's cells as positions among its values, and these as directions.

    A value is quoted if it is the name of another direction, empty, or quoted itself.
    """
    codes, labels = cells.rows.coded(j)
    taken = {*direction_names(), EITHER}
    return codes, [repr(one) if one in taken or one[:1] in ("", "'", '"') else one for one in labels]


def _weighty_values(cells: CellWeights, j: int) -> list[str]:
    """The values of a category that a block could choose it for: those that are no reason for half of the rows."""
    codes, values = _coded(cells, j)
    there = ~np.isnan(codes)
    places, rows = np.unique(codes[there].astype(np.intp), return_inverse=True)
    totals = np.bincount(rows, weights=cells.weights[there, j], minlength=places.size)
    weighty = totals / np.bincount(rows, minlength=places.size) > COUNTS
    if not weighty.any() and places.size:
        weighty[np.argmax(totals)] = True  # a column that nothing can choose would have no place among the others
    order = np.argsort(-np.where(weighty, totals, -1.0), kind="stable")[: min(MOST_VALUES, int(weighty.sum()))]
    return [values[place] for place in sorted(places[order].tolist())]


def usual_rows(rows: int) -> int:
    """How many rows are chosen where nobody says."""
    return max(1, min(USUAL_ROWS, rows // ROW_SHARE))


def usual_columns(columns: int) -> int:
    """How many columns are chosen where nobody says: few, so that kinds can differ."""
    return min(columns, MOST_COLUMNS, max(FEWEST_COLUMNS, columns // 2))


def undirected(problem: SelectionProblem) -> SelectionProblem:
    """Turn a problem of directed columns into one of plain columns, such as circuits take.

    A cell weighs what it does at either end, or as missing; a category by its value.

    Args:
        problem: of directed columns, such as `biselect.weights.Weigher.problem` makes; a plain one stays as it is.

    Returns:
        A problem with one feature a column, the same rows and budgets. It is another problem: its best block need not
        be that of the directed one, and is proven for itself.
    """
    if problem.directions is None:
        return problem
    columns = [np.flatnonzero(problem.column_of == j) for j in range(len(problem.column_names))]
    plain = np.zeros((problem.n_samples, len(columns)))
    for j, features in enumerate(columns):
        open_ended = [f for f in features if problem.directions[f] == EITHER]
        missing = [f for f in features if problem.directions[f] == MISSING]
        plain[:, j] = problem.coupling[:, open_ended + missing if open_ended else features].sum(axis=1)
    must = {int(problem.column_of[f]) for f in problem.feature_rules.forced_in}
    never = [j for j, features in enumerate(columns) if {*features.tolist()} <= {*problem.feature_rules.forced_out}]
    return replace(
        problem,
        coupling=plain,
        feature_scores=np.array([problem.feature_scores[features].max() for features in columns]),
        feature_names=problem.column_names,
        directions=None,
        feature_rules=Rules(forced_in=sorted(must), forced_out=never),
    )
