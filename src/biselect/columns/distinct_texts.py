"""The different texts of a column by their shapes, as column types read them, and Arrow's types in our words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow.csv import ConvertOptions

from biselect.columns.number_text import NumberFormat

MOSTLY = 0.5  # a column of text with at least this share of numbers (or dates) was meant as one of them
MOST_SHAPES = 5_000  # different ways to write something, beyond which a column holds words
LONGEST = 48  # characters of a number or a date
ALWAYS_MISSING = tuple(ConvertOptions().null_values)  # what Arrow takes for a missing number
MISSING_MARKS = frozenset(  # in lower case; only in columns of numbers and dates
    [name.lower() for name in ALWAYS_MISSING]
    + ["-", "--", "---", "–", "—", "?", "??", ".", "..", "...", "*", "/", "none", "nil", "nat", "<na>", "(null)", "\\n"]
    + ["n.a.", "n. a.", "n.v.", "n.d.", "nd", "n/d", "s/d", "nc", "n.c.", "k.a.", "k. a.", "k.a", "ka", "missing"]
    + ["#n/v", "#nv", "n/v", "#n/d", "#value!", "#wert!", "#valeur!", "#div/0!", "#ref!", "#bezug!", "#num!", "#zahl!"]
    + ["#name?", "#null!", "undefined", "leer", "(leer)", "(blank)", "vide"]
)
LOOKED_AT = 64  # entries at the beginning of each of a few parts of a column, by which most columns of words are known
SEEN = 10_000  # numbers by which it is said that a column has decimals


@dataclass(frozen=True, kw_only=True)
class ReadingHints:
    """What is known beside the column itself.

    Attributes:
        style: of the numbers of the file; None where nothing shows it.
        decimal: the mark before decimals, where that was given.
        thousands: that between thousands, likewise.
        missing: what means missing, in lower case.
        date_form: how dates are written, where that was given.
        comma_splits: whether commas stand between values.
        name: of the column.
        is_number: whether a person said that it holds numbers: 007 is 7.
        looked_at: how many entries of a part of a column are looked at first.
    """

    style: NumberFormat | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: Collection[str] = MISSING_MARKS
    date_form: str | None = None
    comma_splits: bool = True
    name: str = ""
    is_number: bool = False
    looked_at: int = LOOKED_AT


@dataclass(frozen=True, kw_only=True)
class ParsedColumn:
    """A column, and what it was taken for.

    Attributes:
        values: numbers, timestamps, or the texts as they were.
        style: of numbers.
        unit: the word or sign left out of them.
        about: whether some are limits such as <0.5, read as their number.
        date_form: of dates.
        doubtful: what else it might be, in words with the option that says so.
        missing: marks taken for missing values.
        code: whether it holds digits that some zero begins: 007 is a name.
        read_more: reads further texts of the column in the same way; None if all rows have to be seen together.
    """

    values: pa.ChunkedArray
    style: NumberFormat | None = None
    unit: str = ""
    about: bool = False
    date_form: str | None = None
    doubtful: str = ""
    missing: Sequence[str] = ()
    code: bool = False
    read_more: Callable[[DistinctTexts], pa.Array] | None = None


@dataclass(frozen=True, kw_only=True)
class DistinctTexts:
    """The different entries of a column of text, by their shapes: themselves with nines for digits.

    Attributes:
        texts: the different entries, without space around them.
        rows: for each row the position of its entry, null where there is none.
        codes: for each entry the position of its shape.
        shapes: all of them.
        missing: those that mean nothing.
    """

    texts: pa.StringArray
    rows: pa.ChunkedArray
    codes: NDArray[np.int32]
    shapes: Sequence[str]
    missing: Collection[str]

    def have(self, shapes: Collection[str]) -> pa.BooleanArray:
        """Which entries have one of these shapes."""
        has = np.array([shape in shapes for shape in self.shapes], dtype=bool)[self.codes]
        bits = pa.py_buffer(np.packbits(has, bitorder="little"))
        return pa.Array.from_buffers(pa.bool_(), len(has), [None, bits])  # `pa.array` would import pandas

    def spread(self, values: pa.Array) -> pa.ChunkedArray:
        """What is known of each entry, for every row."""
        return pa.chunked_array([values.take(chunk) for chunk in self.rows.chunks], values.type)

    def rows_of(self, shapes: Collection[str]) -> pa.ChunkedArray:
        """Which rows have one of these shapes; false where there is no entry."""
        return pc.fill_null(self.spread(self.have(shapes)), False)

    def number(self, shapes: Collection[str]) -> int:
        """How many rows have one of these shapes."""
        return int(pc.sum(self.rows_of(shapes)).as_py() or 0)

    def counts(self) -> dict[str, int]:
        """How many rows have each shape."""
        rows = np.concatenate([chunk.drop_null().to_numpy() for chunk in self.rows.chunks])
        return dict(zip(self.shapes, np.bincount(self.codes[rows], minlength=len(self.shapes)).tolist(), strict=True))

    def others(self, than: Collection[str]) -> list[str]:
        """All shapes but these and the missing ones."""
        return [shape for shape in self.shapes if shape not in than and shape not in self.missing]

    def present(self) -> tuple[pa.StringArray, list[str]]:
        """The entries, null for those that mean nothing; and these."""
        if not self.missing:
            return self.texts, []
        absent = self.have(self.missing)
        marks = [mark for mark in self.texts.filter(absent).to_pylist() if mark]
        return pc.if_else(absent, pa.scalar(None, pa.string()), self.texts), marks


def distinct_texts(column: pa.ChunkedArray, missing: Collection[str] = MISSING_MARKS) -> DistinctTexts | None:
    """The different entries by shape; None where there are more shapes than numbers and dates have."""
    if len(column) == 0:
        return None
    is_coded = pa.types.is_dictionary(column.type)  # else all chunks come to share a dictionary; to unify takes long
    coded = column.unify_dictionaries() if is_coded else pc.cast(column, pa.string()).dictionary_encode()
    texts = pc.utf8_trim_whitespace(coded.chunk(0).dictionary)
    shaped = shapes_of(texts).dictionary_encode()
    shapes = shaped.dictionary.to_pylist()
    if len(shapes) > MOST_SHAPES:
        return None
    return DistinctTexts(
        texts=texts,
        rows=pa.chunked_array([chunk.indices for chunk in coded.chunks]),
        codes=shaped.indices.to_numpy(),
        shapes=shapes,
        missing={shape for shape in shapes if shape.lower() in missing},
    )


def shapes_of(texts: pa.StringArray) -> pa.StringArray:
    """The texts with nines for all digits but a single zero before a comma or point.

    >>> shapes_of(pa.array(["0,125", "10,5 €"])).to_pylist()
    ['0,999', '99,9 €']
    """
    if (pc.max(pc.binary_length(texts)).as_py() or 0) > LONGEST:
        texts = pc.utf8_slice_codeunits(texts, 0, LONGEST)
    if len(texts) == 0 or texts.null_count == len(texts):
        return texts
    validity, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    bytes_ = np.frombuffer(data, dtype=np.uint8) if data is not None else np.empty(0, np.uint8)
    mapped = _NINES[bytes_]
    digit, mark = mapped == NINE, _MARKS[bytes_]
    alone = np.zeros(bytes_.size, dtype=bool)
    alone[:-1] = (bytes_[:-1] == ZERO) & mark[1:]
    alone[ends[1:][ends[1:] > 0] - 1] = False  # the last character of a text has none behind it
    follows = np.zeros(bytes_.size, dtype=bool)
    follows[1:] = digit[:-1]
    follows[ends[:-1][ends[:-1] < bytes_.size]] = False  # the first character of a text follows none
    mapped[alone & ~follows] = ZERO
    return pa.StringArray.from_buffers(
        len(texts), offsets, pa.py_buffer(mapped), validity, texts.null_count, texts.offset
    )


ZERO, NINE = ord("0"), ord("9")
_NINES = np.arange(256, dtype=np.uint8)
_NINES[ZERO : NINE + 1] = NINE
_MARKS = np.isin(np.arange(256), [ord("."), ord(",")])


NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_duration)


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of this type holds numbers; a duration is a number of seconds."""
    return any(test(kind) for test in NUMBERS)


def is_date(kind: pa.DataType) -> bool:
    """Whether a column of this type holds dates, moments or times of day."""
    return pa.types.is_temporal(kind) and not is_number(kind) and not pa.types.is_interval(kind)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
