"""ReferenceSummary: what is kept of a reference without its rows, to be dated, stored and merged with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from datetime import date, datetime
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from biselect.columns.category import CATEGORY, FLAG, LabelCounts
from biselect.columns.change import Change, gap_changes
from biselect.columns.column_type import ColumnReference, ColumnType
from biselect.columns.counts import TAIL, Ruler
from biselect.columns.distribution import Distribution, RankSketch
from biselect.columns.number import NUMBER, float_values
from biselect.core.checks import check_integer
from biselect.core.files import write_file
from biselect.core.untrusted import packed_arrays, read_arrays, refused_as, shortened
from biselect.errors import InputError
from biselect.options import Stated, Weighing, spell
from biselect.tables import as_matrix, is_quantity
from biselect.weights.reference import FEWEST_ROWS, Windows, windows_of

FORMAT = "biselect-reference-1"
ENTRIES = 24 * 2048  # numbers kept of a column: about 400 kB
MOST_CATEGORIES = 1000  # a column of more texts holds names or prose, which a summary must not keep


class ReferenceSummary:
    """Sketches of number columns, counts of categories and missing cells, the number of rows, first and last time.

    Ranks of a sketch are exact while a column has fewer than `entries` values, and in both tails always; elsewhere
    `rank_error` bounds them. A summary can be stored, merged with others, give a `Weigher` (`fit_summary`), and
    stand for the older table of `biselect.monitor`.

    Args:
        entries: how many numbers may be kept of a column; None keeps all.

    Attributes:
        rows: how many were taken in.
        first: their first time, as ISO text or a number; None where no time column was named.
        last: their last time.
        numbers: a sketch of each column of numbers.
        categories: how often each value of other columns came.
        missing: empty cells, by column.
        left_out: columns that cannot be summed up, and why.

    >>> june, july = (np.random.default_rng(seed).normal(size=(30_000, 2)) for seed in (6, 7))
    >>> both = ReferenceSummary.merged([ReferenceSummary().add(june), ReferenceSummary().add(july)])
    >>> both.rows, both.rank_error < 0.001
    (60000, True)
    """

    def __init__(self, *, entries: int | None = ENTRIES):
        self.entries = entries
        self.rows = 0
        self.first: str | float | None = None
        self.last: str | float | None = None
        self.named = True
        self.numbers: dict[str, RankSketch] = {}
        self.categories: dict[str, Counter[str]] = {}
        self.missing: Counter[str] = Counter()
        self.left_out: dict[str, str] = {}

    @property
    def columns(self) -> list[str]:
        """Those with anything to tell, in the order of the table."""
        return [name for name in self.missing if name not in self.left_out]

    @property
    def rank_error(self) -> float:
        """No rank of any column is wrong by more than this share of its values."""
        found = [column.rank_error / column.size for column in self.known_columns().values()]
        return max(found, default=0.0)

    def add(
        self, table: Any, *, time_column: str | None = None, columns: Sequence[str] | None = None
    ) -> ReferenceSummary:
        """Take in a block of rows: a frame of any library, or an array.

        Args:
            table: the rows.
            time_column: dates them, and is not summed up itself: times, ISO texts or numbers.
            columns: which to sum up; None for all others.
        """
        frame, named = _as_frame(table)
        names = [name for name in frame.columns if name != time_column] if columns is None else list(columns)
        if absent := [name for name in (*names, *filter(None, [time_column])) if name not in frame.columns]:
            raise InputError(f"the reference has no column {absent[0]!r}; it has {', '.join(map(repr, frame.columns))}")
        if self.rows and names != list(self.missing):
            raise InputError("the blocks of a reference must have the same columns")
        for name in names:
            self._take(name, frame[name])
        if time_column is not None and len(frame):
            first, last = _ends(frame[time_column], time_column)
            self.first, self.last = _widest([(self.first, self.last), (first, last)])
        self.rows += len(frame)
        self.named &= named
        return self

    @classmethod
    def merged(cls, parts: Sequence[ReferenceSummary]) -> ReferenceSummary:
        """One summary of the rows of all; rank errors add up, tails stay exact."""
        if not parts:
            raise InputError("give at least one summary to merge")
        for part in parts[1:]:
            if list(part.missing) != list(parts[0].missing):
                other = sorted(set(part.missing) ^ set(parts[0].missing)) or sorted(part.missing)
                raise InputError(f"the summaries have not the same columns in the same order: {', '.join(other)}")
        whole = cls(entries=parts[0].entries)
        whole.rows = sum(part.rows for part in parts)
        whole.named = all(part.named for part in parts)
        whole.first, whole.last = _widest([(part.first, part.last) for part in parts])
        for name in parts[0].missing:
            whole.missing[name] = sum(part.missing[name] for part in parts)
            for part in parts:
                if name in part.left_out:
                    whole.left_out[name] = part.left_out[name]
            if name in whole.left_out:
                continue
            sketches = [part.numbers[name] for part in parts if name in part.numbers]
            counts = [part.categories[name] for part in parts if name in part.categories]
            if sketches and counts:
                raise InputError(f"column {name!r} holds numbers in one summary and categories in another")
            if sketches:
                whole.numbers[name] = RankSketch.merged(sketches)
            elif counts:
                whole._keep_counts(name, sum(counts, Counter()))
        return whole

    def only(self, columns: Sequence[str]) -> ReferenceSummary:
        """The summary of some columns."""
        if absent := [name for name in columns if name not in self.missing]:
            have = ", ".join(map(repr, self.missing))
            raise InputError(f"the summary has no column {', '.join(map(repr, absent))}; it has {have}")
        found = copy(self)
        for part in ("numbers", "categories", "left_out"):
            held = getattr(self, part)
            setattr(found, part, {name: held[name] for name in columns if name in held})
        found.missing = Counter({name: self.missing[name] for name in columns})
        return found

    def values_of(self, name: str) -> int:
        """How many numbers of a column are known; 0 where it holds none."""
        return self.numbers[name].size if name in self.numbers else 0

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[np.float64]]]:
        """All that is known, as plain data and arrays of numbers; `from_state` makes the summary again."""
        states = {name: sketch.state() for name, sketch in self.numbers.items()}
        plain = {
            "format": FORMAT,
            "entries": self.entries,
            "rows": self.rows,
            "first": self.first,
            "last": self.last,
            "named": self.named,
            "missing": dict(self.missing),
            "categories": {name: dict(counts) for name, counts in self.categories.items()},
            "left_out": self.left_out,
            "numbers": {name: plain for name, (_, plain) in states.items()},
        }
        return plain, {f"column{j}": values for j, (values, _) in enumerate(states.values())}

    @classmethod
    def from_state(cls, plain: Mapping[str, Any], arrays: Mapping[str, NDArray[np.float64]]) -> ReferenceSummary:
        """The summary that `state` told of; ValueError where it is none."""
        if plain["format"] != FORMAT:
            raise ValueError(f"its format is {shortened(plain['format'])}")
        found = cls(entries=None if plain["entries"] is None else check_integer("entries", plain["entries"]))
        found.rows, found.named = check_integer("rows", plain["rows"], least=0), bool(plain["named"])
        found.first, found.last = _widest([(plain["first"], plain["last"])])
        found.missing = _counts(plain["missing"])
        found.left_out = {name: str(why) for name, why in plain["left_out"].items()}
        found.categories = {name: _counts(counts) for name, counts in plain["categories"].items()}
        for j, (name, told) in enumerate(plain["numbers"].items()):
            found.numbers[name] = RankSketch.from_state(arrays[f"column{j}"], told)
        if unknown := {*found.numbers, *found.categories, *found.left_out} - {*found.missing}:
            raise ValueError(f"column {shortened(min(unknown))} is not counted")
        return found

    def save(self, path: str | Path) -> None:
        """Write one file, a NumPy archive of plain numbers and JSON; `load` reads it back."""
        write_file(path, packed_arrays(*self.state()))

    @classmethod
    def load(cls, path: str | Path) -> ReferenceSummary:
        """Read what `save` wrote; anything else is refused."""
        what = f"the summary of a reference ({FORMAT})"
        plain, arrays = read_arrays(path, what)
        with refused_as(f"{path}: not {what}"):
            found = cls.from_state(plain, arrays)
            found.known_columns()
        return found

    def known_columns(self) -> dict[str, Distribution]:
        """The distribution of every column of numbers that has any."""
        return {name: sketch.column() for name, sketch in self.numbers.items() if sketch.size}

    def column(self, name: str) -> ColumnReference | None:
        """One column as it was counted; None where it holds nothing that can be compared."""
        type_: ColumnType
        counts: Any
        if name in self.categories:
            type_, counts = CATEGORY, self.categories[name]
        elif self.values_of(name):
            type_, counts = NUMBER, self.numbers[name].column()
        else:
            return None
        return ColumnReference(type=type_, counts=counts, rows=self.rows, gaps=self.missing[name])

    def _take(self, name: str, column: nw.Series[Any]) -> None:
        """One column of a block."""
        kind = column.dtype
        absent = int(column.is_null().sum())
        if is_quantity(kind):
            values = float_values(column).astype(np.float64, copy=False)
            known = values[~np.isnan(values)]
            absent = len(values) - known.size
            if np.isinf(known).any():
                raise InputError(f"the reference has an infinite value in column {name!r}; drop those rows")
            self._same_kind(name, name in self.categories)
            self.numbers.setdefault(name, RankSketch(self.entries)).add(known)
        elif kind in (nw.Boolean, nw.String, nw.Categorical, nw.Enum):
            self._same_kind(name, name in self.numbers)
            known_labels = column.drop_nulls()
            labels = [FLAG[flag] for flag in known_labels] if kind == nw.Boolean else known_labels.cast(nw.String)
            values_counted = Counter(labels)
            if name not in self.left_out:
                self._keep_counts(name, self.categories.get(name, Counter()) + values_counted)
        elif absent < len(column):  # a column without any value fits every kind
            reason = "times always move" if kind.is_temporal() else f"holds {kind}"
            self.left_out[name] = reason
        self.missing[name] += absent

    def _keep_counts(self, name: str, counts: Counter[str]) -> None:
        if len(counts) > MOST_CATEGORIES:
            self.left_out[name] = f"more than {MOST_CATEGORIES:,} different texts: names or prose, not categories"
            self.categories.pop(name, None)
        else:
            self.categories[name] = counts

    def _same_kind(self, name: str, other: bool) -> None:
        if other:
            raise InputError(f"column {name!r} holds numbers in one block and texts in another")


def as_windows(summary: ReferenceSummary, *, missing: str) -> Windows:
    """The columns as a calibration takes them."""
    if summary.rows < FEWEST_ROWS:
        raise InputError(f"the reference has {summary.rows} rows; calibration needs at least {FEWEST_ROWS}")
    known, names = summary.known_columns(), tuple(summary.columns)
    if not names:
        raise InputError("the summary holds no column to calibrate with")
    gaps = [summary.missing[name] for name in names]
    if missing == "error" and any(gaps):
        name, absent = next((name, absent) for name, absent in zip(names, gaps, strict=True) if absent)
        way = spell(Weighing(missing=Stated("weigh")))
        raise InputError(f"the reference has {absent} missing values in column {name!r}; weigh them with {way}")
    return windows_of(
        {j: known.get(name) for j, name in enumerate(names) if name not in summary.categories},
        {
            j: LabelCounts(dict[str | None, int](summary.categories[name]) | {None: gaps[j]})
            for j, name in enumerate(names)
            if name in summary.categories
        },
        names=names,
        named=summary.named,
        missing=missing,
        rows=summary.rows,
        absent=np.array(gaps, dtype=np.int64),
    )


def column_changes(older: ReferenceSummary, newer: ReferenceSummary, columns: Sequence[str]) -> list[Change]:
    """Test these columns; p-values are not yet adjusted for their number."""
    changes: list[Change] = []
    for name in columns:
        before, now = older.column(name), newer.column(name)
        if before is not None and now is not None:
            if before.type.is_ranked != now.type.is_ranked:
                raise InputError(f"column {name!r} holds numbers in one table and texts in the other")
            changes += before.type.compare(before, now, name)
        gaps, rows = [older.missing[name], newer.missing[name]], [older.rows, newer.rows]
        changes += gap_changes(name, gaps, rows)
    return changes


def _as_frame(table: Any) -> tuple[nw.DataFrame[Any], bool]:
    """Any table as a frame, and whether it names its columns."""
    try:
        frame = nw.from_native(table, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"the table has several columns of one name; rename them ({error})") from error
    if isinstance(frame, nw.DataFrame):
        return frame, True
    import pyarrow as pa

    matrix = as_matrix(table)
    arrow = pa.table({name: matrix.values[:, j] for j, name in enumerate(matrix.names)})
    return nw.from_native(arrow, eager_only=True), matrix.named


def _ends(column: nw.Series[Any], name: str) -> tuple[Any, Any]:
    """First and last time, as ISO text or numbers."""
    if column.dtype == nw.String:
        try:
            column = column.str.to_datetime()
        except Exception as error:  # every library has its own
            raise InputError(f"time column {name!r} holds texts that are no ISO dates ({error})") from error
    if column.is_null().any():
        raise InputError(f"time column {name!r} has missing values; every row needs one")
    first, last = column.min(), column.max()
    if isinstance(first, date | datetime):
        return first.isoformat(), last.isoformat()
    try:
        return float(first), float(last)
    except (TypeError, ValueError):
        raise InputError(f"time column {name!r} holds {column.dtype}; it must hold times or numbers") from None


def _counts(stored: Mapping[str, Any]) -> Counter[str]:
    """How often each value came, as it was stored."""
    return Counter(
        {name: check_integer(f"the count of {shortened(name)}", count, least=0) for name, count in stored.items()}
    )


def _widest(ends: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """The earliest first and the latest last of those that are known."""
    known = [pair for pair in ends if pair[0] is not None]
    if not known:
        return None, None
    if len({type(first) for first, _ in known}) > 1:
        raise InputError("some of the times are numbers and others dates, which cannot be put in order")
    if not isinstance(known[0][0], str | float | int) or type(known[0][0]) is not type(known[0][1]):
        raise InputError("a time is neither a number nor a date")
    return min(first for first, _ in known), max(last for _, last in known)


def counted_sketch(ruler: Ruler, counts: Mapping[str, NDArray[np.generic]], entries: int) -> RankSketch:
    """The sketch of a column that was held against a ruler.

    An entry of a sketch stands for a power of two of values, so each count is written as a sum of these. Values
    between two edges, of which only the number is known, are spread there; no rank is wrong by more than that number.

    Args:
        ruler: the ruler.
        counts: what was counted.
        entries: how many numbers the sketch may hold once more is added to it.
    """
    column = ruler.column(counts)
    if column is None:
        return RankSketch(entries)
    equal, hidden = counts["equal"].astype(np.int64), counts["between"].astype(np.int64)
    low, high = counts["low"].astype(np.float64), counts["high"].astype(np.float64)
    edges = ruler.edges
    hidden[0] -= low.size
    hidden[-1] -= high.size
    again, level_again = _powers(np.maximum(equal - 1, 0))  # two entries of one value say that it is tied
    between, level_between = _powers(hidden)
    before = np.concatenate([low[-1:] if low.size else edges[:1], edges])[between]
    after = np.concatenate([edges, high[:1] if high.size else edges[-1:]])[between]
    place = np.arange(1, between.size + 1) - np.searchsorted(between, between)
    share = place / (np.bincount(between)[between] + 1)
    once = np.concatenate([low, edges[equal > 0], high])
    lowest, highest = (np.repeat(edges[at], min(TAIL, equal[at])) for at in (0, -1))
    return RankSketch.of_entries(
        np.concatenate([once, edges[again], (1 - share) * before + share * after]),
        np.concatenate([np.zeros(once.size, dtype=np.int64), level_again, level_between]),
        low=low if hidden[0] else np.concatenate([low, lowest]),
        high=high if hidden[-1] else np.concatenate([highest, high]),
        mean=column.mean,
        deviation=column.deviation,
        rank_error=column.rank_error,
        entries=entries,
    )


def _powers(counts: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which powers of two make up each count: positions, ascending, and exponents."""
    at, level = np.nonzero((counts[:, None] >> np.arange(63)) & 1)
    return at, level
