"""Columns of text as what they hold: numbers, dates, missing values; all rows decide, and none is looped over."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow.csv import ConvertOptions

from biselect.columns.date_text import forms_of, from_form, to_dates
from biselect.columns.number_text import Style, Written, style_of, to_numbers, written
from biselect.options import Csv, spell

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


@dataclass(frozen=True, kw_only=True)
class Hints:
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

    style: Style | None = None
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
    """

    values: pa.ChunkedArray
    style: Style | None = None
    unit: str = ""
    date_form: str | None = None
    doubtful: str = ""
    missing: Sequence[str] = ()
    code: bool = False


@dataclass(frozen=True, kw_only=True)
class Entries:
    """The different entries of a column of text, by their shapes: themselves with nines for digits.

    Attributes:
        texts: the different entries, without space around them.
        rows: for each row the position of its entry, null where there is none.
        codes: for each entry the position of its shape.
        shapes: all of them.
        ways: those that are numbers.
        dates: those that are dates.
        missing: those that mean nothing.
    """

    texts: pa.StringArray
    rows: pa.ChunkedArray
    codes: NDArray[np.int32]
    shapes: Sequence[str]
    ways: Mapping[str, Written]
    dates: Collection[str]
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


def understand(column: pa.ChunkedArray, hints: Hints) -> ParsedColumn:
    """A column of text as numbers or dates where that is what it holds, with marks of missing values taken out.

    A column that holds anything else as well stays as it is.
    """
    if hints.date_form is None and holds_words(column, hints):
        return ParsedColumn(values=column)
    if (entries := entries_of(column, hints.missing)) is None:
        return ParsedColumn(values=column)
    if hints.date_form is not None and (dates := _given_dates(entries, hints.date_form)) is not None:
        return dates
    found = None
    if entries.dates and not entries.others(entries.dates):
        found = _as_dates(entries)
    elif entries.ways and not entries.others(entries.ways):
        found = as_numbers(entries, hints)
    return found or ParsedColumn(values=column)


def entries_of(column: pa.ChunkedArray, missing: Collection[str] = MISSING_MARKS) -> Entries | None:
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
    return Entries(
        texts=texts,
        rows=pa.chunked_array([chunk.indices for chunk in coded.chunks]),
        codes=shaped.indices.to_numpy(),
        shapes=shapes,
        ways={shape: way for shape in shapes if (way := written(shape)) is not None},
        dates={shape for shape in shapes if forms_of(shape)},
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


def holds_words(column: pa.ChunkedArray, hints: Hints) -> bool:
    """Whether a few entries already show a column of words."""
    step = max(1, column.num_chunks // PARTS)
    seen = {text.strip() for chunk in column.chunks[::step] for text in chunk[: hints.looked_at].to_pylist() if text}
    seen = {text for text in seen if text.lower() not in hints.missing}
    return sum(_is_value(text) for text in seen) < MOSTLY * len(seen)


def _is_value(text: str) -> bool:
    if len(text) > LONGEST or not any(map(str.isdigit, text)):
        return False
    return written(text) is not None or bool(forms_of("".join("9" if one.isdigit() else one for one in text)))


def _given_dates(entries: Entries, form: str) -> ParsedColumn | None:
    texts, marks = entries.present()
    if texts.null_count == len(texts) or (dates := from_form(texts, form)).null_count > texts.null_count:
        return None
    return ParsedColumn(values=entries.spread(dates), date_form=form, missing=marks)


def _as_dates(entries: Entries) -> ParsedColumn | None:
    texts, marks = entries.present()
    dates = to_dates(texts, entries.dates, entries.spread)
    if dates is None:
        return None
    doubt = ""
    if dates.doubtful:
        other = dates.form.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")
        doubt = f"may as well have month and day the other way round: {spell(Csv(date_format=other))}"
    return ParsedColumn(values=entries.spread(dates.values), date_form=dates.form, doubtful=doubt, missing=marks)


def as_numbers(entries: Entries, hints: Hints) -> ParsedColumn | None:
    """Entries all of which look like numbers, as such; None where they are written in ways that do not go together."""
    ways = list(entries.ways.values())
    style, guess = style_of(ways, hints.style, comma_splits=hints.comma_splits)
    if hints.decimal is not None:
        style = replace(style, decimal=hints.decimal)
    if hints.thousands is not None:
        style = replace(style, thousands=hints.thousands)
    units = {way.unit for way in ways if way.unit}
    if len(units) > 1 or not all(way.fits(style) for way in ways):
        return None
    texts, marks = entries.present()
    if all(way.whole and way.simple for way in ways) and pc.any(pc.match_substring_regex(texts, r"^0\d")).as_py():
        return ParsedColumn(values=entries.spread(texts), missing=marks, code=True)
    doubt = ""
    if guess:
        other = Csv(decimal=",", thousands="") if style.thousands else Csv(decimal=".", thousands=",")
        doubt = f"may as well be written the other way: {spell(other)}"
    return ParsedColumn(
        values=entries.spread(to_numbers(texts, entries.ways, style)),
        style=style,
        unit=next(iter(units), ""),
        doubtful=doubt,
        missing=marks,
    )


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

    hints: Hints
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
        entries = None if self.wordy else entries_of(pa.chunked_array([block]), self.hints.missing)
        if entries is None:
            self.wordy = True
            return
        _, kept = np.unique(entries.codes, return_index=True)  # the first of each shape
        zero_led = pc.match_substring_regex(entries.texts, r"^0\d")
        also = pc.or_(entries.have(entries.missing), zero_led).to_numpy(zero_copy_only=False)
        known = np.array([shape in self.shapes for shape in entries.shapes], dtype=bool)
        chosen = np.union1d(kept[~known[entries.codes[kept]]], np.flatnonzero(also)[:MOST_SHAPES])
        self.texts |= dict.fromkeys(entries.texts.take(pa.array(chosen)).to_pylist())
        self.shapes |= set(entries.shapes)
        self.wordy = len(self.shapes) > MOST_SHAPES

    @property
    def entries(self) -> Entries | None:
        """The kept entries; None where the column holds words."""
        if self.wordy or (self.hints.date_form is None and holds_words(pa.chunked_array(self.heads), self.hints)):
            return None
        return entries_of(pa.chunked_array([pa.array(list(self.texts), pa.string())]), self.hints.missing)


def _copied(block: pa.Array, rows: int) -> pa.Array:
    """The first rows, without the rest of the block behind them."""
    return block.take(pa.array(np.arange(min(rows, len(block)))))
