"""What the name of a column and a look at its texts say of what it holds; all rows decide, and none is looped over."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from biselect.columns import types
from biselect.columns._fast_texts import parse_long
from biselect.columns.column_type import ColumnType
from biselect.columns.distinct_texts import (
    LONGEST,
    MOST_SHAPES,
    MOSTLY,
    SEEN,
    DistinctTexts,
    ParsedColumn,
    ReadingHints,
    distinct_texts,
)

PARTS = 8
_ID = r"id|ids|uid|uuid|guid|key|nr|no|num|number|nummer|numero|numéro|ref|reference|referenz|beleg|belegnr|txn|hash"
_KEY = r"ids?|uid|uuid|guid|iban|\w+(?:nr|nummer|番号)|\w+_(?:id|no|nr|num|number|nummer|numero|numéro)"
_LABEL = r"fraud|is_fraud|isfraud|betrug|betrugsfall|fraude|frode|label|target|class|klasse|anomaly|anomalie|outlier|y"
_LABEL += r"|suspicious|verdacht|verdächtig|defect|defekt|churn|illicit|laundering|attack|truth|ground_truth"
_LABEL += r"|bedrägeri|bedrageri|svindel|svik|petos|fraudă|oszustwo|podvod|csalás|fraudulent|sospechoso|suspect"
_TIME = r"date|datum|time|timestamp|ts|epoch|zeit|zeitpunkt|when|created|created_at|booked|buchung|buchungstag|valuta"
_TIME += r"|(?:buchung|rechnung|order|bestell|beleg|liefer|zahlung)\w*datum|tag|day|horodatage|fecha|data|hora|heure"
_TIME += r"|jour|step|moment|posted|日付|日時|tarih|tarihi|submitted"
_CODE = r"\w*code|codes|\w*kod|\w*kode|código|codice|mcc|sic|nace|naics|plz|zip|postal|postleitzahl|category|kategorie"
_CODE += r"|\w*konto|account|acct|cuenta|compte|conto|rekening|kreditor|debitor|lieferant|kunde|client|klient|customer"
_CODE += r"|vendor|supplier|fournisseur|proveedor|bukr|buchungskreis|mitarbeiter|employee|empleado|salarié|medewerker"
_CODE += r"|catégorie|branche|blz|bin|country|currency|währung|kst|kostenstelle|\w*gruppe|\w*group|werk|plant|store"
HINTS = {"id": rf"{_ID}|{_KEY}", "key": _KEY, "label": _LABEL, "time": _TIME, "code": _CODE}


def hints_at(name: str) -> set[str]:
    """What the words of a name say: `id`, `key` (an id for certain, even one that comes back), `label`, `time`, `code`.

    >>> sorted(hints_at("merchantCategoryCode")), sorted(hints_at("Buchungs-Nr.")), hints_at("amount")
    (['code'], ['id', 'key'], set())
    """
    apart = re.sub(r"(?<=[a-zäöü])(?=[A-ZÄÖÜ])", " ", name)
    words = []
    for spelling in {apart.lower(), name.lower()}:
        parts = [part for part in re.split(r"[\W_]+", spelling) if part]
        words += [*parts, *(f"{a}_{b}" for a, b in pairwise(parts))]
    return {kind for kind, pattern in HINTS.items() if any(re.fullmatch(pattern, word) for word in words)}


def parse_column(column: pa.ChunkedArray, hints: ReadingHints) -> ParsedColumn:
    """Read a column of text as what it holds, such as numbers or dates, with marks of missing values taken out.

    All rows decide. A column that holds anything else as well stays as it is.
    """
    if hints.date_form is None and holds_words(column, hints):
        return ParsedColumn(values=column)
    if (parsed := parse_long(column, hints)) is not None:
        return parsed
    texts = distinct_texts(column, hints.missing)
    return (None if texts is None else parse_texts(texts, hints)) or ParsedColumn(values=column)


def parse_texts(texts: DistinctTexts, hints: ReadingHints) -> ParsedColumn | None:
    """Read texts as the first column type that takes all of them; None if they are words."""
    return next((parsed for one in types() if (parsed := one.parse(texts, hints)) is not None), None)


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
        first: the first rows of all.
        texts: one entry of each shape, all that mean missing, and one with a leading zero, in the order of the file.
        shapes: known so far.
        wordy: whether there are more shapes than numbers and dates have.
    """

    hints: ReadingHints
    first: list[pa.Array] = field(default_factory=list)
    texts: dict[str, None] = field(default_factory=dict)
    shapes: set[str] = field(default_factory=set)
    wordy: bool = False

    def add(self, block: pa.ChunkedArray) -> None:
        """Look at the column in one more block."""
        if self.wordy or not len(block):
            return
        if (short := SEEN - sum(map(len, self.first))) > 0:
            self.first.append(_copied(block, short))
        texts = None
        if self.hints.date_form is not None or not holds_words(block, self.hints):
            texts = distinct_texts(block, self.hints.missing)
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
        if self.wordy:
            return None
        return distinct_texts(pa.chunked_array([pa.array(list(self.texts), pa.string())]), self.hints.missing)


def _copied(block: pa.ChunkedArray, rows: int) -> pa.Array:
    """The first rows, without the rest of the block behind them."""
    return block.take(pa.array(np.arange(min(rows, len(block))))).cast(pa.string()).combine_chunks()
