"""Blocks of rows as the passes see them: features as numbers, and what stands beside them as it is."""

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from biselect.columns.date import parts_of_dates
from biselect.columns.number import arrow_floats
from biselect.columns.recognition import is_number
from biselect.errors import InputError
from biselect.large.dataset import Part
from biselect.large.passes import Arrays
from biselect.tables import NamedMatrix, align, as_matrix, refuse_unusable


@dataclass(frozen=True, kw_only=True)
class FeatureColumns:
    """How the features of a block are read.

    Attributes:
        names: columns of the table.
        categories: those of numbers that name things.
        dates: date columns and their parts.
        missing: whether a missing value is an `error`.
        where: the table, in words.
        kept: features to use, by name and in order; None for all.
    """

    names: tuple[str, ...]
    categories: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    missing: str = "weigh"
    where: str = "the pool"
    kept: tuple[str, ...] | None = None

    def matrix(self, block: pa.Table, positions: NDArray[np.int64] | None = None) -> NamedMatrix:
        """The features of a block, whose rows stand at these positions; unusable entries are refused."""
        found = as_matrix(block.select(self.names), categories=self.categories, dates=self.dates)
        if self.kept is not None:
            found = align(found, self.kept, named=True, where=self.where)
        at = np.arange(len(found)) if positions is None else positions
        refuse_unusable(
            found.values,
            found.names,
            where=self.where,
            missing=self.missing,
            place_of=lambda row: f"row {at[row]:,}",
        )
        return found

    def numbers(self, block: pa.Table) -> dict[str, NDArray[Any]]:
        """Features that are numbers as they are stored, as arrays; NaN for a missing entry."""
        special = {*self.categories, *parts_of_dates(self.dates)}
        return {
            name: _as_array(block[name])
            for name in self.names
            if name not in special and is_number(block.schema.field(name).type)
        }


def _as_array(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of numbers, without a copy where it can be."""
    if column.null_count or not pa.types.is_floating(column.type) or pa.types.is_float16(column.type):
        column = arrow_floats(column)
    return np.asarray(column.to_numpy())


@contextmanager
def told_of(part: Part) -> Iterator[None]:
    """Errors name the part of the table that they come from."""
    try:
        yield
    except InputError as error:
        if part.name in str(error):
            raise
        raise InputError(f"{part.name}: {error}") from error


def merged_blocks(
    part: Part,
    columns: Sequence[str],
    of_block: Callable[[int, pa.Table], Arrays],
    merged: Callable[[Arrays, Arrays], Arrays],
) -> Arrays:
    """What the blocks of a part hold together; a block is known by the position of its first row."""
    with told_of(part):
        blocks = part.blocks(list(dict.fromkeys(columns)))
        return reduce(merged, (of_block(first, block) for first, block in blocks if block.num_rows))


def packed(tables: Sequence[pa.Table]) -> dict[str, NDArray[Any]]:
    """Tables as arrays of bytes, one after the other, so that they can be sent and joined."""
    streams = []
    for table in tables:
        stream = io.BytesIO()
        with ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table.combine_chunks())
        streams.append(np.frombuffer(stream.getvalue(), dtype=np.uint8))
    return {
        "bytes": np.concatenate([*streams, np.empty(0, dtype=np.uint8)]),
        "sizes": np.array([stream.size for stream in streams], dtype=np.int64),
    }


def unpacked(arrays: Mapping[str, NDArray[Any]]) -> pa.Table:
    """The rows of all tables that were packed."""
    ends = np.cumsum(arrays["sizes"].astype(np.int64))
    parts = np.split(arrays["bytes"].astype(np.uint8, copy=False), ends[:-1])
    tables = [ipc.open_stream(pa.py_buffer(part.tobytes())).read_all() for part in parts]
    return pa.concat_tables(tables, promote_options="default")


def joined(
    one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]], names: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """These arrays of both, one after the other."""
    return {name: np.concatenate([one[name], other[name]]) for name in names}


def as_bytes(content: Any) -> NDArray[np.uint8]:
    """Plain data as an array, for what is no number."""
    return np.frombuffer(json.dumps(content, ensure_ascii=False).encode(), dtype=np.uint8)


def from_bytes(array: NDArray[Any]) -> Any:
    """What `as_bytes` wrote."""
    return json.loads(array.astype(np.uint8).tobytes())
