"""What a column type knows: how a column is recognised, read, counted, weighed, compared and described.

One file of this package holds one type. Another package brings its own by an entry point of the group
`biselect.column_types`, a script by `biselect.columns.register_column_type`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.columns.change import Change
from biselect.columns.distribution import Distribution

if TYPE_CHECKING:
    from biselect.columns.distinct_texts import DistinctTexts, ParsedColumn, ReadingHints

MISSING = "missing"
"""Direction of a cell without a value, whatever the type."""


class Cells(NamedTuple):
    """A column as numbers.

    Attributes:
        values: one per row, NaN for a missing cell; positions among the labels where there are any.
        labels: texts of the values; None for a column of quantities.
    """

    values: NDArray[np.float64]
    labels: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnReference:
    """One column of the reference, without its rows.

    Attributes:
        type: says how it is weighed, compared and described.
        counts: what the type's `count` makes of its rows, such as a `Distribution`; None where there is no value.
        rows: how many the reference has.
        gaps: how many of these have no value; 0 where the median was put there.
        middle: the median, which fills a gap; NaN for labels.
        location: what the residuals of a quantity are counted from.
        scale: the unit of these.
        fell_back: whether that is the standard deviation because the MAD is zero.
    """

    type: ColumnType
    counts: Any
    rows: int
    gaps: int
    middle: float = np.nan
    location: float = 0.0
    scale: float = 1.0
    fell_back: bool = False

    @property
    def present(self) -> int:
        """Rows that have a value, or the median in its place."""
        return self.rows - self.gaps

    @cached_property
    def distribution(self) -> Distribution:
        """The reference's own rows as `Weigher` sees them: residuals of quantities, weights of anything else."""
        return self.type.distribution(self)


@dataclass(frozen=True, kw_only=True)
class CellFacts:
    """How one cell lies to the reference.

    Attributes:
        value: a number, or a text that a person reads; None for a gap.
        below: reference rows strictly below it; of a label those with a more common one.
        above: reference rows strictly above it; of a label those with a rarer one.
        seen: reference rows with the same label; None for a quantity.
    """

    value: float | str | None
    below: int
    above: int
    seen: int | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Why a column is taken for a type.

    Attributes:
        role: what the column is called: the name of the type, or a word of its own such as `code`.
        remark: what speaks for it, and against; empty if there is nothing to say.
        is_doubtful: whether it may well be otherwise.
        otherwise: the type or role it then has, as in `Columns(types={name: otherwise})`.
        strange: entries that keep the column from being of the type.
    """

    role: str
    remark: str = ""
    is_doubtful: bool = False
    otherwise: str = "category"
    strange: Sequence[str] = ()


class ColumnType:
    """What biselect knows about columns of one sort. Methods take whole columns or blocks of rows, never a cell.

    A missing cell is no concern of a type: it is NaN among the values, has a direction of its own (`missing`), and
    weighs by how rare gaps are in the column.

    Attributes:
        name: what one calls it: `Columns(types={"zip": NAME})`.
        directions: in which ways a value can be unusual, such as `low` and `high`. A kind of unusual takes a column in
            one direction.
        is_ranked: whether values are quantities, weighed by the `WeightMap` in use; otherwise `weigh` says what they
            weigh, whatever the map.
        unweighed: why columns of this type are left out of what is weighed; empty where they are not.
    """

    name: ClassVar[str]
    directions: ClassVar[tuple[str, ...]]
    is_ranked: ClassVar[bool] = False
    unweighed: ClassVar[str] = ""

    # How a column is recognised and read.

    def claim(self, column: Any, name: str) -> Claim | None:
        """Recognise a column.

        Args:
            column: an Arrow column.
            name: of the column.

        Returns:
            Why it is of this type; None if it is not. Types are asked in the order of `biselect.columns.types`.
        """
        return None

    def recognises(self, text: str) -> bool:
        """Whether one entry could be written so; asked of a few of them before all are read."""
        return False

    def parse(self, texts: DistinctTexts, hints: ReadingHints) -> ParsedColumn | None:
        """Read a column of text; all of its rows decide.

        Args:
            texts: the different entries of the column.
            hints: what is known about the file.

        Returns:
            The parsed column; None if the texts are not of this type.
        """
        return None

    def obstacle(self, column: Any, name: str) -> str | None:
        """Say why a column of this type cannot be a feature.

        Args:
            column: an Arrow column.
            name: of the column.

        Returns:
            The reason, as it follows the column's name, with the ways out; None if it can.
        """
        return None

    def derive(self, column: Any, name: str, parts: Sequence[str]) -> Mapping[str, Cells]:
        """Make other columns of a column that is not weighed itself, such as the weekday of a date.

        Args:
            column: the column.
            name: of the column.
            parts: those that were asked for.

        Returns:
            The derived columns by name, each as numbers.
        """
        return {}

    def holds(self, kind: Any) -> bool:
        """Whether a column of this narwhals data type is of this type, if nobody says otherwise."""
        return False

    def cells(self, column: Any, name: str) -> Cells:
        """Turn a column into numbers.

        Args:
            column: a narwhals series.
            name: of the column, for errors.

        Raises:
            InputError: the column holds anything else.
        """
        raise self._unweighed()

    # How a column is counted, weighed, compared and described.

    def count(self, cells: Cells) -> Any:
        """Count a block of rows, gaps left out; the same for any division of the rows into blocks, once merged."""
        raise self._unweighed()

    def merge(self, parts: Sequence[Any], knots: int | None = None) -> Any:
        """Join the counts of several blocks.

        Args:
            parts: what `count` returned.
            knots: how many numbers a distribution may keep, about; None for all.
        """
        raise self._unweighed()

    def pack(self, counts: Any) -> tuple[Any, Mapping[str, NDArray[Any]]]:
        """Turn counts into plain data for JSON and arrays, to be stored."""
        raise self._unweighed()

    def unpack(self, plain: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
        """Make the counts again that `pack` stored; anything else raises an error, of whatever kind."""
        raise self._unweighed()

    def secret(self, counts: Any) -> str:
        """Say why counts must not be kept without their rows, such as names of people; empty where they may."""
        return ""

    def distribution(self, reference: ColumnReference) -> Distribution:
        """Distribution of what the rows of a fitted reference weigh, or of the residuals that a map weighs."""
        raise self._unweighed()

    def fit(self, reference: ColumnReference, name: str, missing: str) -> ColumnReference:
        """Prepare a reference for weighing.

        Args:
            reference: as it was counted.
            name: of the column, for errors.
            missing: `weigh`, `median` or `error`, as for `Weigher`.

        Returns:
            The reference with its middle, location and scale; of another type where the column is weighed like one:
            numbers that are all equal are weighed like a category.
        """
        raise self._unweighed()

    def weigh(self, reference: ColumnReference, cells: Cells, *, own: bool = False) -> NDArray[np.float64]:
        """Weigh a block of rows.

        Args:
            reference: of the column, fitted.
            cells: of any table.
            own: whether these are rows of the reference itself; each is then weighed against the others.

        Returns:
            One weight of at least 0 per row, in units of -log p. Where `is_ranked` the quantities that the map weighs,
            NaN for a gap.
        """
        return cells.values

    def direction(self, reference: ColumnReference, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Find the direction of each cell.

        Args:
            reference: of the column, fitted.
            values: what `weigh` returned, a gap filled with the middle.

        Returns:
            Positions among `directions`.
        """
        raise self._unweighed()

    def describe(self, reference: ColumnReference, cells: Cells, values: NDArray[np.float64]) -> Sequence[CellFacts]:
        """Say how extreme cells are, in numbers; the words are made from them.

        Args:
            reference: of the column, fitted.
            cells: the rows as they stand in their table.
            values: what `weigh` returned for them, drift taken back and a gap filled with the middle.

        Returns:
            One for each row.
        """
        raise self._unweighed()

    def beyond(self, reference: ColumnReference) -> float:
        """Weight of a value that the reference does not know; only asked where not `is_ranked`."""
        raise self._unweighed()

    def constant(self, reference: ColumnReference) -> str | None:
        """The only value of a fitted reference, `missing` for gaps; None where it holds several."""
        return None

    def compare(self, before: ColumnReference, now: ColumnReference, name: str) -> Sequence[Change]:
        """Test whether a column has changed; gaps are tested for every type alike.

        Args:
            before: the older reference.
            now: the newer one.
            name: of the column.

        Returns:
            Tests, not yet adjusted for their number; none where there is nothing to compare.
        """
        raise self._unweighed()

    def picture(self, reference: ColumnReference) -> Mapping[str, Any]:
        """Describe how the reference spreads: the counts of bins of equal width, or of the most common labels.

        Args:
            reference: of the column, fitted.

        Returns:
            Plain data: `low`, `high`, `first`, `last`, `counts`, `below` and `above`, or `labels`, `counts`, `others`.
        """
        raise self._unweighed()

    def _unweighed(self) -> TypeError:
        return TypeError(f"columns of type {self.name} are not weighed")
