"""Known positives as people write them: 1, true, yes, ja, oui, fraud, or the value that was named."""

from typing import Any, ClassVar

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from biselect.columns.category import FLAG, Category
from biselect.columns.column_type import Cells, Claim
from biselect.columns.distinct_texts import DistinctTexts, ParsedColumn, ReadingHints
from biselect.errors import InputError
from biselect.options import Columns, spell

YES = frozenset(
    "1 true t yes y ja j wahr oui o vrai si sí s sim vero verdadero tak ano kyllä igen da evet nai ναι да".split()
)
NO = frozenset("0 false f no n nein falsch non faux não nao falso nie ne nej nei ei nem nu nee hayır όχι нет".split())
ODD = frozenset(
    "fraud fraudulent betrug betrügerisch fraude frode anomaly anomalous anomalie outlier suspicious verdächtig bad "
    "attack malicious positive abnormal defect defekt faulty failed illicit laundering".split()
)
USUAL = frozenset(
    "ok legit legitimate genuine normal good benign negative licit regular clean passed valid unauffällig".split()
)
VALUE = "VALUE"  # in an advice: one that only the reader knows
SHOWN = 5


def positive_of(values: list[str]) -> str | None:
    """Which of a label's values is the positive one; None where that is not clear.

    >>> positive_of(["nein", "Ja"]), positive_of(["ok", "fraud"]), positive_of(["a", "b"]), positive_of(["0"])
    ('Ja', 'fraud', None, '')
    """
    yes = [value for value in values if value.lower() in YES]
    no = [value for value in values if value.lower() in NO]
    odd = [value for value in values if value.lower() in ODD]
    usual = [value for value in values if value.lower() in USUAL]
    if len(values) == 1:
        return values[0] if yes or odd else "" if no or usual else None
    if len(values) != 2:
        return None
    if len(yes) == len(no) == 1:
        return yes[0]
    if len(odd) == 1:
        return odd[0]
    return next(value for value in values if value not in usual) if len(usual) == 1 else None


def as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Entries of a label as text: 1.0 is 1."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        column = pc.if_else(pc.is_nan(column), None, column) if pa.types.is_floating(kind) else column
        return pc.replace_substring_regex(pc.cast(column, pa.string()), r"\.0+$", "")
    return pc.utf8_trim_whitespace(pc.cast(column, pa.string()))


def label_flags(table: pa.Table, name: str, where: str, positive: str | None = None) -> tuple[NDArray[np.bool_], str]:
    """Which rows are positive, and the value that says so; with `positive` given all others are negative."""
    texts = as_texts(table[name])
    values = sorted(value for value in pc.unique(texts).to_pylist() if value is not None)
    listed = ", ".join(map(repr, values[:SHOWN])) + (f" … ({len(values)} values)" if len(values) > SHOWN else "")
    if positive is not None:
        by_lower_case = {value.lower(): value for value in values}
        if positive.lower() not in by_lower_case:
            raise InputError(f"{where}: label column {name!r} holds no {positive!r}; it holds {listed}")
        positive_value = by_lower_case[positive.lower()]
    else:
        if texts.null_count:
            raise InputError(
                f"{where}: label column {name!r} has {texts.null_count} missing values; to count them as negative, "
                f"name the positive value: {spell(Columns(label=f'{name}={positive_of(values) or VALUE}'))}"
            )
        guess = positive_of(values)
        if guess is None:
            raise InputError(
                f"{where}: label column {name!r} must hold 0 and 1 only, or two values such as yes and no, but holds "
                f"{listed}; name the positive one: {spell(Columns(label=f'{name}={[VALUE, *values][-1]}'))}"
            )
        positive_value = guess
    marks = pc.fill_null(pc.equal(texts, positive_value), False)
    return np.asarray(marks.combine_chunks().to_numpy(zero_copy_only=False), dtype=bool), positive_value


class Flag(Category):
    """Columns of true and false, weighed like a category."""

    name: ClassVar[str] = "flag"

    def holds(self, kind: Any) -> bool:
        """Booleans."""
        return bool(kind == nw.Boolean)

    def claim(self, column: pa.ChunkedArray, name: str) -> Claim | None:
        """Booleans."""
        return Claim(role=self.name) if pa.types.is_boolean(column.type) else None

    def recognises(self, text: str) -> bool:
        """True and false as a program writes them; yes and no stay words."""
        return text.lower() in FLAG

    def parse(self, texts: DistinctTexts, hints: ReadingHints) -> ParsedColumn | None:
        """Booleans."""
        flags = {shape for shape in texts.shapes if self.recognises(shape)}
        if not flags or texts.others(flags):
            return None
        present, marks = texts.present()
        return ParsedColumn(values=texts.spread(_flags(present)), missing=marks, read_more=_more_flags)

    def cells(self, column: Any, name: str) -> Cells:
        """1 for true, 0 for false."""
        return Cells(column.cast(nw.Float64).to_numpy(), FLAG)


def _flags(texts: pa.Array) -> pa.Array:
    return pc.equal(pc.utf8_lower(texts), "true")


def _more_flags(texts: DistinctTexts) -> pa.Array:
    return _flags(texts.present()[0])


FLAG_TYPE = Flag()
