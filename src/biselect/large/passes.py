"""Passes over all parts of a table: a map step takes what one part holds, a reduce step makes one of two neighbours.

An engine (`biselect.large.engines`) runs a pass over all parts, and gives what they hold together, in the order of the
rows. Results are named arrays, so that they can be sent, kept and read back.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from biselect.errors import InputError
from biselect.large.dataset import Part

Arrays = Mapping[str, NDArray[Any]]
"""Result of a pass: named arrays of numbers, flags or bytes."""


class Pass(Protocol):
    """One look at every row. It travels to the workers, so it is small and holds plain data only.

    `merged` is associative, and what comes out in the end depends on the rows and their order alone: any division into
    parts, on any number of workers, gives the same bytes.
    """

    @property
    def name(self) -> str:
        """What a person reads while it runs."""
        ...

    def of_part(self, part: Part) -> Arrays:
        """The map step: what one part holds."""
        ...

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """The reduce step: what two neighbouring runs of parts hold together."""
        ...


Run = Callable[[Pass, Sequence[Part]], Arrays]
"""Runs a pass over parts."""


def over(request: Pass, parts: Sequence[Part]) -> Arrays:
    """The pass over these parts, one after the other."""
    return reduce(request.merged, map(request.of_part, parts))


@contextmanager
def errors_of(part: Part) -> Iterator[None]:
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
    combine: Callable[[Arrays, Arrays], Arrays],
) -> Arrays:
    """What the blocks of a part hold together; a block is known by the position of its first row."""
    with errors_of(part):
        blocks = part.blocks(list(dict.fromkeys(columns)))
        return reduce(combine, (of_block(first, block) for first, block in blocks if block.num_rows))


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


def unpacked(arrays: Arrays) -> pa.Table:
    """The rows of all tables that were packed."""
    ends = np.cumsum(arrays["sizes"].astype(np.int64))
    parts = np.split(arrays["bytes"].astype(np.uint8, copy=False), ends[:-1])
    tables = [ipc.open_stream(pa.py_buffer(part.tobytes())).read_all() for part in parts]
    return pa.concat_tables(tables, promote_options="default")


def joined(one: Arrays, other: Arrays, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """These arrays of both, one after the other."""
    return {name: np.concatenate([one[name], other[name]]) for name in names}


def as_bytes(content: Any) -> NDArray[np.uint8]:
    """Plain data as an array, for what is no number."""
    return np.frombuffer(json.dumps(content, ensure_ascii=False).encode(), dtype=np.uint8)


def from_bytes(array: NDArray[Any]) -> Any:
    """What `as_bytes` wrote."""
    return json.loads(array.astype(np.uint8).tobytes())
