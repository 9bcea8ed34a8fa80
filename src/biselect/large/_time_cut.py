"""One table in parts, split in time: earlier rows are the reference, later ones the pool.

Nothing is sorted. Rows are ordered by their time, those of one time by their position; where the reference ends in that
order, a few passes over the time column alone find out: each divides what is left into bins and goes on with one of
them. Both sides are then views of the same parts, which let through the rows of their side.

A view has its rows in the order of the file, whereas `biselect.tables._split.split_in_time` sorts them by time; of a
file that is in the order of time, as most are, both have the same.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.columns.date import read_times
from biselect.errors import InputError
from biselect.large.dataset import Part, Partitions, in_blocks, numbered, place_of, refuse_absent
from biselect.large.passes import Arrays, Run, as_bytes, from_bytes, joined, over
from biselect.options import ANY, Csv, Split, spell
from biselect.tables import entry_as_text, rows_until
from biselect.tables.readers import reading_of

ORIGIN = "\0origin"
"""Asked for as a column, a view gives for each of its rows the position in the table that was split."""
BINS = 1 << 16
FEW = 1 << 16  # rows that are looked at one by one
LEAST, MOST = -(1 << 63), (1 << 63) - 1
DIGITS = 18  # of decimals, so that they fit 64 bits
Bounds = tuple[int, int]
"""A key and a position: a row lies before them if its own are smaller, the key first."""


@dataclass(frozen=True, kw_only=True)
class TimeColumn:
    """How times are read, block by block, as keys: whole numbers in the same order.

    Attributes:
        name: of the column.
        kind: of its times, once it is known.
        date_format: how text is written, as `strptime` takes it; None where that is found out.
    """

    name: str
    kind: pa.DataType | None = None
    date_format: str | None = None

    def times(self, block: pa.Table, place: Callable[[int], str]) -> tuple[pa.ChunkedArray, str | None]:
        """The times of a block, none missing, and how they were written."""
        column = block[self.name]
        times, form = read_times(column, self.name, date_format=self.date_format, place_of=place)
        if self.kind is not None and times.type != self.kind:
            times = times.cast(self.kind)
        return times, form

    def keys(self, block: pa.Table, place: Callable[[int], str]) -> NDArray[np.int64]:
        """The keys of a block."""
        return keys_of(self.times(block, place)[0], self.name)

    def value(self, key: int) -> pa.ChunkedArray:
        """The time that has this key, as a column of one row."""
        assert self.kind is not None
        if pa.types.is_floating(self.kind):
            bits = np.array([key if key >= 0 else key ^ MOST], dtype=np.int64)
            return pa.chunked_array([pa.array(bits.view(np.float64))])
        if pa.types.is_decimal(self.kind):
            return pa.chunked_array([pa.array([Decimal(key).scaleb(-self.kind.scale)], self.kind)])
        if pa.types.is_uint64(self.kind):
            return pa.chunked_array([pa.array([key + (1 << 63)], self.kind)])
        return pa.chunked_array([pa.array([key], pa.int64()).cast(self.kind, safe=False)])


def keys_of(times: pa.ChunkedArray, name: str) -> NDArray[np.int64]:
    """Whole numbers that are in the same order as these times.

    >>> keys_of(pa.chunked_array([[-1.5, -0.0, 0.0, 2.5]]), "t").argsort().tolist()
    [0, 1, 2, 3]
    """
    kind = times.type
    if pa.types.is_floating(kind):
        floats = times.cast(pa.float64()).to_numpy() + 0.0  # there is one zero
        bits: NDArray[np.int64] = floats.view(np.int64)
        return np.where(bits >= 0, bits, bits ^ MOST)
    if pa.types.is_decimal(kind):
        if kind.precision > DIGITS:
            raise InputError(f"time column {name!r} holds {kind}; convert it to numbers of at most {DIGITS} digits")
        decimals = pa.concat_arrays(times.cast(pa.decimal128(38, kind.scale)).chunks)
        words = np.frombuffer(decimals.buffers()[1], dtype="<i8")[2 * decimals.offset :]
        return words[: 2 * len(decimals) : 2]  # the lower half of each holds all digits
    if pa.types.is_uint64(kind):
        return (times.to_numpy() ^ np.uint64(1 << 63)).view(np.int64)
    return times.cast(pa.int64()).to_numpy().astype(np.int64, copy=False)


def _where(part: Part, first: int) -> Callable[[int], str]:
    """Where a row of a block stands; `first` is the position of the block in the table."""
    whole = Partitions(name=part.name, schema=pa.schema([]), parts=(part,))
    return lambda row: place_of(whole, first + row)


@dataclass(frozen=True, kw_only=True)
class TimeEnds:
    """A pass that finds the first and the last time, how times are written, and which rows have none."""

    column: TimeColumn
    name: str = "looking at times"

    def of_part(self, part: Part) -> Arrays:
        """`ends` as keys of each of the `kinds` of times, number and place of those `missing`."""
        arrays = _ends({}, [0, MOST])
        for first, block in part.blocks([self.column.name]):
            kinds, missing = {}, [0, MOST]
            absent = pc.is_null(block[self.column.name], nan_is_null=True)
            if number := pc.sum(absent).as_py():
                missing = [number, first + pc.index(absent, True).as_py()]
                block = block.filter(pc.invert(absent))
            if block.num_rows:
                times, form = self.column.times(block, _where(part, first))
                keys = keys_of(times, self.column.name)
                kinds = {json.dumps([str(times.type), form]): [int(keys.min()), int(keys.max())]}
            arrays = self.merged(arrays, _ends(kinds, missing))
        return arrays

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """Those of both."""
        kinds = from_bytes(before["kinds"])
        for kind, (low, high) in from_bytes(after["kinds"]).items():
            ends = kinds.get(kind, [MOST, LEAST])
            kinds[kind] = [min(low, ends[0]), max(high, ends[1])]
        one, other = before["missing"].tolist(), after["missing"].tolist()
        return _ends(dict(sorted(kinds.items())), [one[0] + other[0], min(one[1], other[1])])


def _ends(kinds: Mapping[str, Sequence[int]], missing: Sequence[int]) -> Arrays:
    return {"kinds": as_bytes(kinds), "missing": np.array(missing, dtype=np.int64)}


@dataclass(frozen=True, kw_only=True)
class Bins:
    """A pass over the rows whose key and position lie within limits: how many fall into each of equal bins.

    The bins are of keys, or of positions where the limits leave only one key.

    Attributes:
        column: that holds the times.
        keys: the smallest and the largest that count.
        positions: likewise.
        few: whether to give the rows themselves.
    """

    column: TimeColumn
    keys: tuple[int, int]
    positions: tuple[int, int]
    few: bool = False
    name: str = "dividing the rows in time"

    @property
    def width(self) -> int:
        """Of a bin."""
        low, high = self.limits
        return -(-(high - low + 1) // BINS)

    @property
    def limits(self) -> tuple[int, int]:
        """Of what is divided."""
        return self.positions if self.keys[0] == self.keys[1] else self.keys

    def of_part(self, part: Part) -> Arrays:
        """`rows` in each bin; or `key` and `position` of each row."""
        counts, by_position = np.zeros(BINS, dtype=np.int64), self.keys[0] == self.keys[1]
        rows = [np.empty((2, 0), dtype=np.int64)]
        for first, block in part.blocks([self.column.name]):
            keys = self.column.keys(block, _where(part, first))
            positions = np.arange(first, first + keys.size)
            inside = (keys >= self.keys[0]) & (keys <= self.keys[1])
            inside &= (positions >= self.positions[0]) & (positions <= self.positions[1])
            if self.few:
                rows.append(np.stack([keys, positions])[:, inside])
            else:
                divided = (positions if by_position else keys)[inside]
                above = divided.view(np.uint64) - np.uint64(self.limits[0] % (1 << 64))  # may be beyond 63 bits
                counts += np.bincount((above // np.uint64(self.width)).astype(np.int64), minlength=BINS)
        key, position = np.concatenate(rows, axis=1)
        return {"key": key, "position": position} if self.few else {"rows": counts}

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """Those of both."""
        return joined(before, after, ["key", "position"]) if self.few else {"rows": before["rows"] + after["rows"]}


@dataclass(frozen=True, kw_only=True)
class SideRows:
    """A pass that counts the rows of one side, part by part, and finds its first and last time."""

    column: TimeColumn
    begin: Bounds
    end: Bounds
    name: str = "counting both sides"

    def of_part(self, part: Part) -> Arrays:
        """`rows` of the part that `begins` at this position, and the `ends` of their keys."""
        rows, low, high = 0, MOST, LEAST
        for first, block in part.blocks([self.column.name]):
            keys = self.column.keys(block, _where(part, first))
            keys = keys[within(keys, first, self.begin, self.end)]
            if keys.size:
                rows, low, high = rows + keys.size, min(low, int(keys.min())), max(high, int(keys.max()))
        return {"begins": np.array([part.first]), "rows": np.array([rows]), "ends": np.array([low, high])}

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """Those of both."""
        (low, high), (lower, higher) = before["ends"].tolist(), after["ends"].tolist()
        ends = np.array([min(low, lower), max(high, higher)])
        return {**joined(before, after, ["begins", "rows"]), "ends": ends}


def within(keys: NDArray[np.int64], first: int, begin: Bounds, end: Bounds) -> NDArray[np.bool_]:
    """Which rows lie neither before `begin` nor at or after `end`; `first` is the position of the first."""
    positions = np.arange(first, first + keys.size)
    late = (keys > begin[0]) | ((keys == begin[0]) & (positions >= begin[1]))
    return late & ((keys < end[0]) | ((keys == end[0]) & (positions < end[1])))


@dataclass(frozen=True, kw_only=True)
class SideOfPart:
    """The rows of a part that lie on one side of the cut; the column ORIGIN has their positions in the whole table."""

    part: Part
    column: TimeColumn
    begin: Bounds
    end: Bounds

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """These columns, block by block."""
        return in_blocks(self._tables(list(columns)))

    def _tables(self, columns: list[str]) -> Iterator[pa.Table]:
        names = [name for name in columns if name != ORIGIN]
        for first, block in self.part.blocks(list(dict.fromkeys([*names, self.column.name]))):
            inside = within(self.column.keys(block, _where(self.part, first)), first, self.begin, self.end)
            if not inside.any():
                continue
            if ORIGIN in columns:
                block = block.append_column(ORIGIN, pa.array(np.arange(first, first + block.num_rows)))
            block = block.select(columns)
            yield block if inside.all() else block.filter(pa.array(inside))

    def place(self, row: int) -> str:
        """Where a row stands in the table that was split."""
        for block in self.read([ORIGIN]):
            if row < block.num_rows:
                return _where(self.part, 0)(block[ORIGIN][row].as_py())
            row -= block.num_rows
        raise IndexError(row)


@dataclass(frozen=True, kw_only=True)
class TimeViews:
    """Both sides of a cut.

    Attributes:
        reference: the earlier rows.
        pool: the later ones.
        times: first and last time of each, as text.
    """

    reference: Partitions
    pool: Partitions
    times: Mapping[str, tuple[str, str]]


def cut_in_time(
    partitions: Partitions,
    time_column: str,
    *,
    reference_until: str,
    pool_last: int | None = None,
    date_format: str | None = None,
    run: Run = over,
) -> TimeViews:
    """Earlier rows become the reference, later ones the pool, or only the last `pool_last` of them.

    Which rows fall on which side is as in `biselect.tables._split.split_in_time`. Times that are text are read block by
    block: where blocks would be read in different ways, `date_format` has to say which is meant.

    Args:
        partitions: the table.
        time_column: orders the rows.
        reference_until: the last time of the reference, or its share of the rows, such as `60%`.
        pool_last: keep only this many of the latest rows.
        date_format: how dates are written, where they are text.
        run: runs a pass.
    """
    refuse_absent([time_column], partitions.schema, partitions.name)
    column, form, ends = _surveyed(partitions, TimeColumn(name=time_column, date_format=date_format), run)
    start, stop = (LEAST, 0), (MOST, partitions.rows)
    if reference_until.strip().endswith("%"):
        rows = rows_until(pa.chunked_array([pa.nulls(partitions.rows)]), reference_until, form)
        cut = _bounds_of(rows, partitions, column, ends, run)
    else:
        cut = (_first_late(column, reference_until, form, ends), 0)
    reference = _side(partitions, column, start, cut, run)
    earlier = int(reference["rows"].sum())
    if earlier in (0, partitions.rows):
        side = "no row is" if earlier == 0 else "every row is"
        raise InputError(f"{spell(Split(until=reference_until))}: {side} that early; both sides need rows")
    if pool_last is not None:
        later = partitions.rows - earlier
        if not 1 <= pool_last <= later:
            many = f"1 to {later}, the rows after the reference"
            raise InputError(f"{spell(Split(last=ANY))} must be {many}; got {pool_last}")
        begin = _bounds_of(partitions.rows - pool_last, partitions, column, ends, run)
    else:
        begin = cut
    pool = _side(partitions, column, begin, stop, run)
    return TimeViews(
        reference=_view(partitions, column, start, cut, reference),
        pool=_view(partitions, column, begin, stop, pool),
        times={"reference": _texts(column, reference), "pool": _texts(column, pool)},
    )


def _surveyed(partitions: Partitions, column: TimeColumn, run: Run) -> tuple[TimeColumn, str | None, tuple[int, int]]:
    """The column as it can be read in every block, how text is written, and the ends of the keys."""
    arrays = run(TimeEnds(column=column), partitions.parts)
    missing, first = arrays["missing"].tolist()
    if missing:
        place = place_of(partitions, first)
        raise InputError(
            f"time column {column.name!r} has {missing} missing values, the first in {place}; every row needs one"
        )
    forms = {tuple(json.loads(kind)): ends for kind, ends in from_bytes(arrays["kinds"]).items()}
    if {kind for kind, _ in forms} == {"int64", "double"}:  # text of whole numbers in one block, decimals in another
        column = replace(column, kind=pa.float64())
        return column, None, _surveyed(partitions, column, run)[2]
    if len(forms) > 1:
        examples = " and ".join(sorted(str(form or kind) for kind, form in forms)[:2])
        raise InputError(
            f"time column {column.name!r} is written in different ways in different rows ({examples}); say which is "
            f"meant with {spell(Csv(date_format=ANY))}, such as '%d/%m/%Y %H:%M'"
        )
    ((_, form), (low, high)) = next(iter(forms.items()))
    block = next(iter(partitions.parts[0].blocks([column.name])))[1]
    times, _ = column.times(block, str)
    if (reading := reading_of(partitions.schema.empty_table())) is not None:
        form = form or reading.dates.get(column.name)
    return replace(column, kind=times.type), form, (low, high)


def _bounds_of(rank: int, partitions: Partitions, column: TimeColumn, ends: tuple[int, int], run: Run) -> Bounds:
    """Key and position of the row before which so many lie."""
    bins = Bins(column=column, keys=ends, positions=(0, partitions.rows - 1))
    while True:
        counts = np.asarray(run(bins, partitions.parts)["rows"])
        upto = np.cumsum(counts)
        at = int(np.searchsorted(upto, rank, side="right"))
        rank -= int(upto[at] - counts[at])
        low = bins.limits[0] + at * bins.width
        limits = low, min(low + bins.width - 1, bins.limits[1])
        of_positions = bins.keys[0] == bins.keys[1]
        bins = replace(bins, positions=limits) if of_positions else replace(bins, keys=limits)
        if counts[at] <= FEW or (of_positions and limits[0] == limits[1]):
            rows = run(replace(bins, few=True), partitions.parts)
            order = np.lexsort((rows["position"], rows["key"]))
            return int(rows["key"][order[rank]]), int(rows["position"][order[rank]])


def _first_late(column: TimeColumn, until: str, form: str | None, ends: tuple[int, int]) -> int:
    """The smallest key from the first to beyond the last that is not at or before a time."""
    low, high = ends[0], ends[1] + 1
    while low < high:
        middle = (low + high) // 2
        if rows_until(column.value(middle), until, form):
            low = middle + 1
        else:
            high = middle
    return low


def _side(partitions: Partitions, column: TimeColumn, begin: Bounds, end: Bounds, run: Run) -> Arrays:
    return run(SideRows(column=column, begin=begin, end=end), partitions.parts)


def _view(partitions: Partitions, column: TimeColumn, begin: Bounds, end: Bounds, side: Arrays) -> Partitions:
    rows = dict(zip(side["begins"].tolist(), side["rows"].tolist(), strict=True))
    sides = (
        (part.name, rows[part.first], SideOfPart(part=part, column=column, begin=begin, end=end))
        for part in partitions.parts
    )
    return replace(partitions, parts=numbered(sides))


def _texts(column: TimeColumn, side: Arrays) -> tuple[str, str]:
    first, last = (entry_as_text(column.value(int(key))[0].as_py()) for key in side["ends"].tolist())
    return first, last
