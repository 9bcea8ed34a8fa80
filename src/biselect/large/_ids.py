"""Ids over all parts: whether one stands in two rows.

An id is the text of its entry, as in `biselect.tables.named_columns.texts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.columns.distinct_texts import is_text
from biselect.errors import InputError
from biselect.large.dataset import Part, Partitions, place_of, rows_at
from biselect.large.passes import Arrays, Run, over

MOST_COMPARED = 1 << 24  # rows of which all ids are compared with each other
SHOWN = 4  # repeated ids named in an error
COMPARED = 1000  # rows of one hash whose ids are read; hardly ever do two different ids share one
POWER = 0x100000001B3  # odd, so that no byte of an id is lost modulo 2^64
NONE = np.empty(0, dtype=np.int64)


def id_texts(column: pa.ChunkedArray) -> pa.Array:
    """Ids as text, null where there is none."""
    kind = column.type
    if is_text(kind) or pa.types.is_integer(kind):
        texts = column.cast(pa.large_string())
    elif pa.types.is_dictionary(kind) and is_text(kind.value_type):
        texts = column.cast(kind.value_type).cast(pa.large_string())
    else:
        texts = pa.chunked_array(
            [[None if value is None else str(value) for value in column.to_pylist()]], pa.large_string()
        )
    return texts.combine_chunks() if texts.num_chunks != 1 else texts.chunk(0)


def hashes(texts: pa.Array) -> NDArray[np.uint64]:
    """64 bits for each text, the same on every machine; texts that differ may share them, so they are compared too.

    >>> hashes(pa.array(["a", "b", "", "a"], pa.large_string()))[[0, 3, 1]].tolist()
    [11825466261762436790, 11825466261762436790, 9897417278564598895]
    """
    texts = pa.concat_arrays([texts])
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    lengths = np.diff(ends)
    content = np.frombuffer(data or b"", dtype=np.uint8)[ends[0] : ends[-1]].astype(np.uint64) + np.uint64(1)
    powers = np.full(int(lengths.max(initial=0)), POWER, dtype=np.uint64).cumprod()
    starts = ends[:-1] - ends[0]
    content *= powers[np.arange(content.size) - np.repeat(starts, lengths)]
    mixed = np.zeros(len(texts), dtype=np.uint64)
    filled = lengths > 0
    if filled.any():
        mixed[filled] = np.add.reduceat(content, starts[filled])
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)  # the mixer of SplitMix64
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _first_null(texts: pa.Array, first: int) -> NDArray[np.int64]:
    if not texts.null_count:
        return NONE
    return np.array([first + pc.index(pc.is_null(texts), True).as_py()], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class IdHashes:
    """A pass that takes 64 bits of every id, in order, and the first row without any; 8 bytes a row."""

    column: str
    name: str = "comparing ids"

    def of_part(self, part: Part) -> Arrays:
        """`hash` of each row, and the first row `without` an id."""
        hashed, without = list[NDArray[np.uint64]](), NONE
        for first, block in part.blocks([self.column]):
            texts = id_texts(block[self.column])
            if not without.size:
                without = _first_null(texts, first)
            hashed.append(hashes(texts.fill_null("")))
        return {"hash": np.concatenate(hashed), "without": without}

    def merged(self, before: Arrays, after: Arrays) -> Arrays:
        """Those of both."""
        arrays = {key: np.concatenate([before[key], after[key]]) for key in ("hash", "without")}
        return {"hash": arrays["hash"], "without": arrays["without"][:1]}


def refuse_repeated_ids(partitions: Partitions, column: str, *, run: Run = over) -> bool:
    """An error that names both rows if an id stands in two, or the first row without an id.

    Returns:
        Whether all ids were compared: those of a table of more than MOST_COMPARED rows are not.
    """
    if partitions.rows > MOST_COMPARED:
        return False
    arrays = run(IdHashes(column=column), partitions.parts)
    if arrays["without"].size:
        place = place_of(partitions, int(arrays["without"][0].item()))
        raise InputError(f"the pool: column {column!r} has no value in {place}; every row needs an id")
    hashed = arrays["hash"]
    ordered = np.sort(hashed)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not twice.size:
        return True
    rows = np.flatnonzero(np.isin(hashed, twice))
    firsts = rows[np.sort(np.unique(hashed[rows], return_index=True)[1])]  # of each hash, in the order of the table
    for begin in range(0, firsts.size, SHOWN):  # until some are really the same
        alike = [rows[hashed[rows] == hashed[row]][:COMPARED] for row in firsts[begin : begin + SHOWN]]
        positions = np.sort(np.concatenate(alike))
        places: dict[str, list[int]] = {}
        for row, text in zip(
            positions.tolist(), id_texts(rows_at(partitions, [column], positions)[column]).to_pylist(), strict=True
        ):
            places.setdefault(text, []).append(row)
        if repeated := {text: at for text, at in places.items() if len(at) > 1}:
            raise _repeated(sorted(repeated.items(), key=lambda one: one[1]), int(firsts.size), partitions)
    return True


def _repeated(ids: Sequence[tuple[str, list[int]]], number: int, partitions: Partitions) -> InputError:
    """In the words of `biselect.tables.named_columns.texts`."""
    (name, (first, second, *_)), *others = ids
    many = ""
    if others:
        examples = ", ".join(repr(other) for other, _ in others[: SHOWN - 1]) + (" …" if number > SHOWN else "")
        many = f"; so do {number - 1:,} other ids ({examples})"
    return InputError(
        f"the pool: id {name!r} stands in {place_of(partitions, first)} and {place_of(partitions, second)}{many}; ids "
        "must be unique: take out the repeated rows, or name another column"
    )
