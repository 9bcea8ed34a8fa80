"""What the name of a column and its texts say of what it holds; all rows decide, and none is looped over."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow.csv import ConvertOptions

from biselect.columns import types
from biselect.columns.column_type import ColumnType
from biselect.columns.number_text import NumberFormat

MOSTLY = 0.5  # a column of text with at least this share of numbers (or dates) was meant as one of them
LOOKED_AT = 64  # entries at the beginning of each of a few parts of a column, by which most columns of words are known
PARTS = 8
MOST_SHAPES = 5_000  # different ways to write something, beyond which a column holds words
SEEN = 10_000  # numbers by which it is said that a column has decimals
LONGEST = 48  # characters of a number or a date
ALWAYS_MISSING = tuple(ConvertOptions().null_values)  # what Arrow takes for a missing number
MISSING_MARKS = frozenset(  # in lower case; only in columns of numbers and dates
    [name.lower() for name in ALWAYS_MISSING]
    + ["-", "--", "---", "–", "—", "?", "??", ".", "..", "...", "*", "/", "none", "nil", "nat", "<na>", "(null)", "\\n"]
    + ["n.a.", "n. a.", "n.v.", "n.d.", "nd", "n/d", "s/d", "nc", "n.c.", "k.a.", "k. a.", "k.a", "ka", "missing"]
    + ["#n/v", "#nv", "n/v", "#n/d", "#value!", "#wert!", "#valeur!", "#div/0!", "#ref!", "#bezug!", "#num!", "#zahl!"]
    + ["#name?", "#null!", "undefined", "leer", "(leer)", "(blank)", "vide"]
)

_ID = r"id|ids|uid|uuid|guid|key|nr|no|num|number|nummer|numero|numéro|ref|reference|referenz|beleg|belegnr|txn|hash"
_LABEL = r"fraud|is_fraud|isfraud|betrug|betrugsfall|fraude|frode|label|target|class|klasse|anomaly|anomalie|outlier|y"
_LABEL += r"|suspicious|verdacht|verdächtig|defect|defekt|churn|illicit|laundering|attack|truth|ground_truth"
_LABEL += r"|bedrägeri|bedrageri|svindel|svik|petos|fraudă|oszustwo|podvod|csalás|fraudulent|sospechoso|suspect"
_TIME = r"date|datum|time|timestamp|zeit|zeitpunkt|when|created|booked|buchung|buchungstag|buchungsdatum|valuta|tag|day"
_TIME += r"|horodatage|fecha|data|hora|heure|jour|step|moment|posted"
_CODE = r"\w*code|codes|\w*kod|\w*kode|código|codice|mcc|sic|nace|naics|plz|zip|postal|postleitzahl|category|kategorie"
_CODE += r"|catégorie|branche|blz|bin|country|currency|währung|kst|kostenstelle"
HINTS = {"id": _ID, "label": _LABEL, "time": _TIME, "code": _CODE}


def hints_at(name: str) -> set[str]:
    """What the words of a name say: `id`, `label`, `time`, `code`.

    >>> sorted(hints_at("merchantCategoryCode")), sorted(hints_at("Buchungs-Nr.")), hints_at("amount")
    (['code'], ['id'], set())
    """
    apart = re.sub(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])", " ", name)
    words = [word for word in re.split(r"[\W_]+", f"{apart} {name}".lower()) if word]
    words += [f"{a}_{b}" for a, b in pairwise(words)]
    return {kind for kind, pattern in HINTS.items() if any(re.fullmatch(pattern, word) for word in words)}


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
        looked_at: how many entries of a part of a column are looked at first.
    """

    style: NumberFormat | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: Collection[str] = MISSING_MARKS
    date_form: str | None = None
    comma_splits: bool = True
    looked_at: int = LOOKED_AT


@dataclass(frozen=True, kw_only=True)
class ParsedColumn:
    """A column, and what it was taken for.

    Attributes:
        values: numbers, timestamps, or the texts as they were.
        style: of numbers.
        unit: the currency or percent sign left out of them.
        date_form: of dates.
        doubtful: what else it might be, in words with the option that says so.
        missing: marks taken for missing values.
        code: whether it holds digits that some zero begins: 007 is a name.
        read_more: reads further texts of the column in the same way; None if all rows have to be seen together.
    """

    values: pa.ChunkedArray
    style: NumberFormat | None = None
    unit: str = ""
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


def parse_column(column: pa.ChunkedArray, hints: ReadingHints) -> ParsedColumn:
    """Read a column of text as what it holds, such as numbers or dates, with marks of missing values taken out.

    All rows decide. A column that holds anything else as well stays as it is.
    """
    if hints.date_form is None and holds_words(column, hints):
        return ParsedColumn(values=column)
    texts = distinct_texts(column, hints.missing)
    return (None if texts is None else parse_texts(texts, hints)) or ParsedColumn(values=column)


def parse_texts(texts: DistinctTexts, hints: ReadingHints) -> ParsedColumn | None:
    """Read texts as the first column type that takes all of them; None if they are words."""
    return next((parsed for one in types() if (parsed := one.parse(texts, hints)) is not None), None)


def distinct_texts(column: pa.ChunkedArray, missing: Collection[str] = MISSING_MARKS) -> DistinctTexts | None:
    """The different entries by shape; None where there are more shapes than numbers and dates have."""
    if len(column) == 0:
        return None
    coded = column if pa.types.is_dictionary(column.type) else pc.cast(column, pa.string()).dictionary_encode()
    coded = coded.unify_dictionaries()
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


def holds_words(column: pa.ChunkedArray, hints: ReadingHints) -> bool:
    """Whether a few entries already show a column of words."""
    step = max(1, column.num_chunks // PARTS)
    texts = {text.strip() for chunk in column.chunks[::step] for text in chunk[: hints.looked_at].to_pylist() if text}
    texts = {text for text in texts if text.lower() not in hints.missing}
    readers = [one.recognises for one in types() if type(one).recognises is not ColumnType.recognises]
    values = sum(len(text) <= LONGEST and any(recognises(text) for recognises in readers) for text in texts)
    return values < MOSTLY * len(texts)


@dataclass
class TextColumn:
    """What is kept of a column of text while it goes by: enough to decide what it holds.

    Attributes:
        hints: what is known beside it.
        heads: the first entries of each block.
        first: the first rows of all.
        texts: one entry of each shape, all that mean missing, and one with a leading zero, in the order of the file.
        shapes: known so far.
        wordy: whether there are more shapes than numbers and dates have.
    """

    hints: ReadingHints
    heads: list[pa.Array] = field(default_factory=list)
    first: list[pa.Array] = field(default_factory=list)
    texts: dict[str, None] = field(default_factory=dict)
    shapes: set[str] = field(default_factory=set)
    wordy: bool = False

    def add(self, block: pa.Array) -> None:
        """Look at the column in one more block."""
        self.heads.append(_copied(block, self.hints.looked_at))
        if (short := SEEN - sum(map(len, self.first))) > 0:
            self.first.append(_copied(block, short))
        texts = None if self.wordy else distinct_texts(pa.chunked_array([block]), self.hints.missing)
        if texts is None:
            self.wordy = True
            return
        _, first = np.unique(texts.codes, return_index=True)  # of each shape
        zero_led = pc.match_substring_regex(texts.texts, r"^0\d")
        also = pc.or_(texts.have(texts.missing), zero_led).to_numpy(zero_copy_only=False)
        is_old = np.array([shape in self.shapes for shape in texts.shapes], dtype=bool)
        examples = np.union1d(first[~is_old[texts.codes[first]]], np.flatnonzero(also)[:MOST_SHAPES])
        self.texts |= dict.fromkeys(texts.texts.take(pa.array(examples)).to_pylist())
        self.shapes |= set(texts.shapes)
        self.wordy = len(self.shapes) > MOST_SHAPES

    @property
    def examples(self) -> DistinctTexts | None:
        """One text of each shape, and those beside; None if the column holds words."""
        if self.wordy or (self.hints.date_form is None and holds_words(pa.chunked_array(self.heads), self.hints)):
            return None
        return distinct_texts(pa.chunked_array([pa.array(list(self.texts), pa.string())]), self.hints.missing)


def _copied(block: pa.Array, rows: int) -> pa.Array:
    """The first rows, without the rest of the block behind them."""
    return block.take(pa.array(np.arange(min(rows, len(block)))))


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
