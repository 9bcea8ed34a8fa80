"""Categories: how often each label stands in the reference, and how rare one is therefore, as a p-value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from biselect.columns.change import OTHERS, RAREST, Change, share_change
from biselect.columns.column_type import MISSING, CellFacts, Cells, Claim, ColumnReference, ColumnType
from biselect.columns.distinct_texts import LOOKED_AT, MOSTLY, is_number, is_text
from biselect.columns.distribution import Distribution
from biselect.columns.recognition import hints_at
from biselect.core.checks import check_integer
from biselect.core.untrusted import shortened
from biselect.errors import InputError

FLAG = ("false", "true")  # labels of a boolean column: their positions are its numbers
AS_FLAG = dict(zip("01", FLAG, strict=True))  # flags are also written as numbers
MOST_CATEGORIES = 1000  # a column of more texts holds names or prose, which must not be kept without its rows
RARE = 0.2  # share up to which one of two values is rare enough for a positive
MOST_CODES, LOOKED_AT_FOR_CODES = 2_000, 1 << 16
FEWEST_REPEATS = 5  # rows of one code, on average
FEWEST_DIGITS, FEWEST_DIGITS_RUNNING, FEWEST_RUNNING = 9, 5, 20  # of names; of those that run, and rows of these
MOST_FEW = 20  # twice the codes that may come back less often in a small table
FEWEST_TEXTS = 20  # different ones; fewer are categories, unless they are phrases
ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.\w+|https?://\S+")
MOST_SHOWN = 8  # labels of a picture
NO_LABEL = "(missing)"  # stands for no value among labels


class LabelCounts:
    """How often each label stands in the reference, and what a label therefore weighs.

    A label that stands c times in n rows weighs -log p with p = (1 + rows whose own label stands at most c + 1 times)
    / (n + 1): the share of rows at least as rare, had this row been one of them. Under exchangeable rows p is
    super-uniform (full conformal prediction with the label's own count as the score). A new label so weighs
    -log (1 + labels that stand once) / (n + 1), which is Good and Turing's estimate of how often something new comes:
    most where every label of the reference is common, next to nothing in a column of ids.

    Args:
        counts: reference rows by label; None stands for a missing cell.

    >>> colours = LabelCounts({"red": 60, "blue": 38, "green": 1})
    >>> np.exp(-colours.weight([60, 38, 1, 0])).round(2).tolist()
    [1.0, 0.4, 0.02, 0.02]
    """

    def __init__(self, counts: Mapping[str | None, int]):
        self.counts = {label: int(count) for label, count in counts.items() if count}
        self._sizes = np.sort(np.array([*self.counts.values()], dtype=np.int64))
        self._rows_of_sizes = np.append(0, np.cumsum(self._sizes))
        self.rows = int(self._rows_of_sizes[-1])

    @property
    def singles(self) -> int:
        """Labels that stand once, a missing cell aside."""
        return sum(count == 1 for label, count in self.counts.items() if label is not None)

    @property
    def are_flags(self) -> bool:
        """Whether they are true, false or missing."""
        return {None} != {*self.counts} <= {*FLAG, None}

    def weight(self, counts: ArrayLike, *, own: bool = False) -> NDArray[np.float64]:
        """-log p of labels that stand so many times in the reference; `own` for rows of the reference itself."""
        others = 1 - own  # how many rows a row of another table adds to the reference
        as_rare = self._rows_of_sizes[np.searchsorted(self._sizes, np.asarray(counts) + others, side="right")]
        return np.log((self.rows + others) / np.maximum(as_rare + others, 1))

    def of(self, labels: Sequence[str | None]) -> list[int]:
        """How often each of these stands in the reference."""
        if self.are_flags:
            labels = [AS_FLAG.get(label or "", label) for label in labels]
        return [self.counts.get(label, 0) for label in labels]

    def distribution(self) -> Distribution:
        """The weights of the reference's own rows."""
        sizes = np.array([*self.counts.values()])
        weights = self.weight(sizes)
        order = np.argsort(weights, kind="stable")
        mean = float(np.average(weights, weights=sizes))
        return Distribution(
            values=weights[order],
            counts=np.cumsum(sizes[order]),
            mean=mean,
            deviation=float(np.sqrt(np.average((weights - mean) ** 2, weights=sizes))),
        )


def labelled(cells: Cells) -> tuple[NDArray[np.float64], Sequence[str]]:
    """Positions among labels, NaN for a gap, and the labels; quantities are labelled as they are written."""
    if cells.labels is not None:
        return cells.values, cells.labels
    values, places = np.unique(cells.values, return_inverse=True)
    values = values[~np.isnan(values)]
    return np.where(places < values.size, places, np.nan), [f"{value:.15g}" for value in values]


class Category(ColumnType):
    """Names of things: text, categoricals, codes. A value is unusual if it is rare in the reference."""

    name: ClassVar[str] = "category"
    directions: ClassVar[tuple[str, ...]] = ("rare",)

    def holds(self, kind: Any) -> bool:
        """Categoricals and Python objects."""
        return kind in (nw.Categorical, nw.Enum, nw.Object)

    def cells(self, column: Any, name: str) -> Cells:
        """Positions among the labels."""
        import pyarrow as pa

        kind = column.dtype
        try:
            array = pa.array(column.to_list(), from_pandas=True) if kind == nw.Object else column.to_arrow()
        except pa.ArrowException as error:
            raise InputError(f"column {name!r} holds values of several types; convert it to one ({error})") from error
        if isinstance(array, pa.ChunkedArray):
            array = array.unify_dictionaries().combine_chunks()
        if pa.types.is_boolean(array.type):
            return Cells(array.cast(pa.float64()).to_numpy(zero_copy_only=False), FLAG)
        if not pa.types.is_dictionary(array.type):
            if not any(
                test(array.type) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
            ):
                raise InputError(f"column {name!r} holds {array.type}, neither numbers nor text; convert it")
            array = array.cast(pa.large_string()).dictionary_encode()
        codes = array.indices.to_numpy(zero_copy_only=False)
        return Cells(codes.astype(np.float64), [str(label) for label in array.dictionary.to_pylist()])

    def claim(self, column: pa.ChunkedArray, name: str) -> Claim | None:
        """Labels, whole numbers that look like codes, and texts of which most come back."""
        if pa.types.is_dictionary(column.type):
            return Claim(role=self.name, otherwise="show")
        role = role_of_names(name, column)
        is_quantity = is_number(column.type)
        if role == "code":
            remark = "whole numbers that name things: a category, no quantity"
            return Claim(role=role, remark=remark if is_quantity else "", otherwise="number")
        if role:
            remark = (
                "its name, or its many digits, say that it names things, but it does not name the rows best: left out"
            )
            return Claim(role=role, remark=remark, otherwise="number" if is_quantity else self.name)
        if not is_text(column.type) or are_addresses(column):
            return None
        counts = pc.value_counts(column.drop_null()).field("counts")
        if len(counts) == 2 and pc.min(counts).as_py() <= RARE * len(column):
            remark = "has two values, one of them rare; it is used as a category, not as the label of known cases"
            return Claim(role=self.name, remark=remark, otherwise="label")
        alone, present = pc.sum(pc.equal(counts, 1)).as_py() or 0, len(column) - column.null_count
        is_free = alone > MOSTLY * present and (len(counts) > FEWEST_TEXTS or _has_spaces(column))
        return None if is_free else Claim(role=self.name, otherwise="show")

    def count(self, cells: Cells) -> Counter[str]:
        """How often each label stands."""
        codes, labels = labelled(cells)
        sizes = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=len(labels))
        return Counter({label: size for label, size in zip(labels, sizes.tolist(), strict=True) if size})

    def merge(self, parts: Sequence[Counter[str] | None], knots: int | None = None) -> Counter[str]:
        """The sums."""
        total: Counter[str] = Counter()
        for part in parts:
            total.update(part or {})
        return total

    def pack(self, counts: Counter[str] | None) -> tuple[Any, Mapping[str, NDArray[Any]]]:
        """Labels with their counts."""
        return list((counts or {}).items()), {}

    def unpack(self, plain: Any, arrays: Mapping[str, NDArray[Any]]) -> Counter[str]:
        """The counts again."""
        return Counter(
            {str(label): check_integer(f"the count of {shortened(label)}", size, least=0) for label, size in plain}
        )

    def secret(self, counts: Counter[str]) -> str:
        """Many texts are names or prose."""
        if len(counts) <= MOST_CATEGORIES:
            return ""
        return f"more than {MOST_CATEGORIES:,} different texts: names or prose, not categories"

    def fit(self, reference: ColumnReference, name: str, missing: str) -> ColumnReference:
        """The counts as weights; a gap is a label of its own."""
        counts = LabelCounts({**(reference.counts or {}), None: reference.gaps})
        return replace(reference, counts=counts)

    def distribution(self, reference: ColumnReference) -> Distribution:
        """Of the weights of the reference's own rows."""
        return reference.counts.distribution()

    def weigh(self, reference: ColumnReference, cells: Cells, *, own: bool = False) -> NDArray[np.float64]:
        """By how rare each label is in the reference; a gap by how rare gaps are."""
        codes, labels = labelled(cells)
        places = np.where(np.isnan(codes), len(labels), codes).astype(np.intp)
        return reference.counts.weight(reference.counts.of([*labels, None]), own=own)[places]

    def beyond(self, reference: ColumnReference) -> float:
        """The weight of a new label."""
        return float(reference.counts.weight(0))

    def constant(self, reference: ColumnReference) -> str | None:
        """The only label."""
        labels = [*reference.counts.counts]
        return (MISSING if labels[0] is None else labels[0]) if len(labels) == 1 else None

    def direction(self, reference: ColumnReference, values: NDArray[np.float64]) -> NDArray[np.int8]:
        """Always rare."""
        return np.zeros(values.shape, dtype=np.int8)

    def describe(self, reference: ColumnReference, cells: Cells, values: NDArray[np.float64]) -> Sequence[CellFacts]:
        """How many rows of the reference have a rarer label, a more common one, and the same."""
        spread = reference.distribution
        below, above = spread.below(values), spread.size - spread.at_most(values)
        codes, labels = labelled(cells)
        names = [None if np.isnan(code) else labels[int(code)] for code in codes]
        own = names if cells.labels is not None else [None if np.isnan(one) else float(one) for one in cells.values]
        rows = zip(own, below.tolist(), above.tolist(), reference.counts.of(names), strict=True)
        return [CellFacts(value=value, below=low, above=high, seen=seen) for value, low, high, seen in rows]

    def compare(self, before: ColumnReference, now: ColumnReference, name: str) -> Sequence[Change]:
        """Test the shares of all labels that could alarm; the rarer ones count as one."""
        both = [dict(reference.counts or {}) for reference in (before, now)]
        whole = [sum(counts.values()) for counts in both]
        if not all(whole):
            return []
        fewest = RAREST / -log(min(whole) / sum(whole))
        total = {label: sum(counts.get(label, 0) for counts in both) for label in sorted({*both[0], *both[1]})}
        common = [label for label, count in total.items() if count >= fewest]
        sizes = [np.array([counts.get(label, 0) for label in common], dtype=np.int64) for counts in both]
        if len(common) < len(total):
            sizes = [np.append(side, rows - side.sum()) for side, rows in zip(sizes, whole, strict=True)]
            common = [*common, OTHERS]
        return [share_change(name, common, *sizes)] if len(common) > 1 else []

    def picture(self, reference: ColumnReference) -> Mapping[str, Any]:
        """The most common labels, and how many rows hold others."""
        counts = reference.counts
        common = sorted(counts.counts.items(), key=lambda item: (-item[1], str(item[0])))[:MOST_SHOWN]
        return {
            "labels": [NO_LABEL if label is None else label for label, _ in common],
            "counts": [count for _, count in common],
            "others": counts.rows - sum(count for _, count in common),
        }


def role_of_names(name: str, column: pa.ChunkedArray) -> str:
    """`code` or `other id` for a column that names things, by its name and by what it holds; '' for any other."""
    hints = hints_at(name)
    if (_digits(column) >= FEWEST_DIGITS or are_running(column)) and "time" not in hints:  # phones, accounts, records
        return "code" if FEWEST_REPEATS * pc.count_distinct(column).as_py() <= len(column) else "other id"
    if "key" in hints and (_is_whole(column) or (is_text(column.type) and not _has_spaces(column))):
        different, rows = pc.count_distinct(column).as_py(), len(column)
        often = FEWEST_REPEATS * different <= rows or 2 * different <= min(rows, MOST_FEW)
        return "other id" if not often else "" if is_text(column.type) else "code"
    return "code" if "code" in hints and codes_in(column) is not None else ""


def codes_in(column: pa.ChunkedArray) -> NDArray[np.int64] | None:
    """The different whole numbers of a column, in order, if they are few, common and of one length, as codes are."""
    if not _is_whole(column):
        return None
    codes = np.sort(pc.unique(column[:LOOKED_AT_FOR_CODES].drop_null()).to_numpy()).astype(np.int64)
    if not 3 <= codes.size <= MOST_CODES or FEWEST_REPEATS * codes.size > min(len(column), LOOKED_AT_FOR_CODES):
        return None
    return codes if codes[0] >= 100 and len(str(codes[0])) == len(str(codes[-1])) else None


def are_running(column: pa.ChunkedArray) -> bool:
    """Whether whole numbers of one length always rise or always fall in each part of a column, as those of records."""
    if _digits(column) < FEWEST_DIGITS_RUNNING or column.null_count or len(column) < FEWEST_RUNNING:
        return False
    steps = [np.diff(chunk.to_numpy()) for chunk in column.chunks]
    return all((one > 0).all() for one in steps) or all((one < 0).all() for one in steps)


def _digits(column: pa.ChunkedArray) -> int:
    """How many digits each of the whole numbers has; 0 where they are of several lengths, or below zero."""
    if not _is_whole(column) or column.null_count == len(column):
        return 0
    least, largest = (int(end) for end in pc.min_max(column).as_py().values())
    return len(str(least)) if 0 < least and len(str(least)) == len(str(largest)) else 0


def _is_whole(column: pa.ChunkedArray) -> bool:
    """Whether a column holds whole numbers, as floats where some are missing."""
    if not pa.types.is_floating(column.type):
        return bool(pa.types.is_integer(column.type))
    return column.null_count > 0 and bool(pc.all(pc.equal(column, pc.trunc(column))).as_py())


def _has_spaces(column: pa.ChunkedArray) -> bool:
    return any(" " in text.strip() for text in column.drop_null()[:LOOKED_AT].to_pylist())


def are_addresses(column: pa.ChunkedArray) -> bool:
    """Whether texts are addresses of mail or pages, which are no categories however often they come back."""
    texts = column.drop_null()[:LOOKED_AT].to_pylist()
    return sum(ADDRESS.fullmatch(text.strip()) is not None for text in texts) > MOSTLY * len(texts)


CATEGORY = Category()
