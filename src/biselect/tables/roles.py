"""What the columns of a table are: ids, times, labels, codes, categories, free text, constants, quantities."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from biselect.columns.flag import NO, ODD, YES, as_texts, positive_of
from biselect.errors import InputError
from biselect.tables._named_columns import is_date, is_number, is_text, unparsable_entries
from biselect.tables.readers import MOSTLY, reading_of

ALMOST_ALL = 0.9  # share of different values from which a column named so holds ids, in spite of some duplicates
RARE = 0.2  # share up to which a value is rare enough for a positive
MOST_CODES = 2_000
FEWEST_REPEATS = 5  # rows of one code, on average
WIDEST = 200  # columns up to which equal rows are counted
EXAMPLES = 3

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
class Column:
    """A column, and what it is taken for.

    Attributes:
        name: as the file has it.
        role: `id`, `time`, `date`, `label`, `number`, `category`, `code`, `flag`, `free text`, `constant`, `empty` or
            `unclear`.
        type: as Arrow calls it.
        missing: how many entries are missing.
        distinct: how many different ones there are.
        examples: a few of them.
        date_form: of dates in text.
        missing_marks: what was taken for missing.
        remark: what a person should know about it.
    """

    name: str
    role: str
    type: str
    missing: int
    distinct: int
    examples: tuple[str, ...]
    date_form: str | None = None
    missing_marks: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The columns of a table with their roles.

    Attributes:
        columns: in the order of the table.
        id_column: the one that names rows best.
        time_column: the one that orders them best.
        label_column: the one that tells known positives.
        positive: its value for these.
        positive_is_clear: whether that value says so by itself, as `yes` does.
        repeated_ids: rows whose id an earlier row has.
        repeated_rows: rows that an earlier row equals in everything; None where that was not counted.
        strange: entries that are no numbers in columns that hold mostly numbers.
    """

    columns: tuple[Column, ...]
    id_column: str | None = None
    time_column: str | None = None
    label_column: str | None = None
    positive: str | None = None
    positive_is_clear: bool = True
    repeated_ids: int = 0
    repeated_rows: int | None = None
    strange: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def named(self, role: str) -> list[str]:
        """The columns of this role."""
        return [column.name for column in self.columns if column.role == role]


def looks_like_code(name: str, column: pa.ChunkedArray) -> bool:
    """Whether whole numbers name things for certain: called so, few, of one length, and each of them common."""
    if not pa.types.is_integer(column.type) or "code" not in hints_at(name):
        return False
    codes = pc.unique(column.drop_null()).to_numpy()
    if not 3 <= codes.size <= MOST_CODES or codes.min() < 10 or len(column) < FEWEST_REPEATS * codes.size:
        return False
    return len(str(codes.min())) == len(str(codes.max())) >= 3


def roles_in(table: pa.Table) -> Columns:
    """The roles of all columns; what the rows hold decides, and names where that leaves a choice."""
    reading = reading_of(table)
    found: dict[str, Column] = {}
    strange: dict[str, list[str]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        role, remark, odd = _role(name, column, table.num_rows)
        if odd:
            strange[name] = odd
        known = column.drop_null()
        if reading is not None and name in reading.codes and role in ("category", "free text"):
            role, remark = "code", "digits that begin with 0: kept as text"
        doubt = "" if reading is None else reading.doubts.get(name, "")
        found[name] = Column(
            name=name,
            role=role,
            type=str(column.type),
            missing=column.null_count,
            distinct=pc.count_distinct(known).as_py() if _countable(column.type) else 0,
            examples=tuple(_short(value) for value in dict.fromkeys(known[: 8 * EXAMPLES].to_pylist()))[:EXAMPLES]
            if _countable(column.type)
            else (),
            date_form=None if reading is None else reading.dates.get(name),
            missing_marks=() if reading is None else tuple(reading.missing.get(name, ())),
            remark="; ".join(filter(None, (remark, doubt))),
        )
    time = _best_time(table, found)
    named = _best_id(table, found, time)
    label, positive, clear = _best_label(table, found, {time, named})
    for name, role in ((time, "time"), (named, "id"), (label, "label")):
        if name is not None:
            found[name] = _with_role(found[name], role)
    return Columns(
        columns=tuple(found.values()),
        id_column=named,
        time_column=time,
        label_column=label,
        positive=positive,
        positive_is_clear=clear,
        repeated_ids=0 if named is None else table.num_rows - found[named].missing - found[named].distinct,
        repeated_rows=_equal_rows(table),
        strange=strange,
    )


def _with_role(column: Column, role: str) -> Column:
    return replace(column, role=role, remark=column.remark if role == "time" else "")


def _countable(kind: pa.DataType) -> bool:
    return not pa.types.is_nested(kind) and not pa.types.is_dictionary(kind) and not pa.types.is_null(kind)


def _role(name: str, column: pa.ChunkedArray, rows: int) -> tuple[str, str, list[str]]:
    """What a column holds, without regard to the others; a remark; and entries that keep it from being numbers."""
    kind, known = column.type, column.drop_null()
    if pa.types.is_nested(kind):
        return "unclear", f"it holds {kind}", []
    if len(known) == 0:
        return "empty", "", []
    if pa.types.is_dictionary(kind):
        return "category", "", []
    different = pc.count_distinct(known).as_py()
    if different == 1 and len(known) == rows:
        return "constant", "", []
    if is_date(kind):
        return "date", "", []
    if pa.types.is_boolean(kind):
        return "flag", "", []
    if is_number(kind):
        if looks_like_code(name, column):
            return "code", f"{different:,} whole numbers of one length, named like a code", []
        return "number", "", []
    if not is_text(kind):
        return "unclear", f"it holds {kind}", []
    if odd := unparsable_entries(column, MOSTLY):
        shown = ", ".join(map(repr, odd[:EXAMPLES]))
        return "unclear", f"mostly numbers, but also {shown}{' …' if len(odd) > EXAMPLES else ''}", odd
    once = pc.value_counts(known)
    alone = pc.sum(pc.equal(once.field("counts"), 1)).as_py() or 0
    if different == 2 and pc.min(once.field("counts")).as_py() <= RARE * rows:
        return "category", "one of its two values is rare; if that is what you look for, it is the label column", []
    return ("free text" if alone > MOSTLY * rows else "category"), "", []


def _best_time(table: pa.Table, found: Mapping[str, Column]) -> str | None:
    """A column of dates without gaps, called so and with many different ones; or numbers called so that never fall."""
    dates = [one for one in found.values() if one.role == "date" and not one.missing]
    dates = [one for one in dates if not pa.types.is_time(table[one.name].type) and one.distinct > 1]
    if dates:
        return max(dates, key=lambda one: ("time" in hints_at(one.name), one.distinct)).name
    for one in found.values():
        if one.role == "number" and not one.missing and one.distinct > 2 and "time" in hints_at(one.name):
            values = table[one.name].to_numpy()
            if values.dtype.kind != "m" and (values[1:] >= values[:-1]).all():  # a duration never says when
                return one.name
    return None


def _best_id(table: pa.Table, found: Mapping[str, Column], time: str | None) -> str | None:
    rows = table.num_rows

    def fit(column: Column) -> int:
        kind = table[column.name].type
        if column.missing or column.name == time or not (is_text(kind) or pa.types.is_integer(kind)):
            return 0
        unique, named = column.distinct == rows, "id" in hints_at(column.name)
        one_word = is_text(kind) and not any(" " in example for example in column.examples)
        numbered = one_word and all(any(map(str.isdigit, example)) for example in column.examples)
        counts = pa.types.is_integer(kind) and unique and column is next(iter(found.values()))
        if named and column.distinct >= ALMOST_ALL * rows:
            return 4 + unique
        if numbered and column.distinct >= ALMOST_ALL * rows:
            return 2 + unique
        return 2 * (unique and one_word) or int(counts)

    best = max(found.values(), key=fit, default=None)
    return best.name if best is not None and fit(best) else None


def _best_label(
    table: pa.Table, found: Mapping[str, Column], taken: set[str | None]
) -> tuple[str | None, str | None, bool]:
    """The column with two values that is called like a label, or that holds words for the unusual."""
    best: tuple[int, str | None, str | None, bool] = (1, None, None, True)
    for name, column in found.items():
        if name in taken or column.distinct != 2 or column.role in ("date", "unclear"):
            continue
        texts = as_texts(table[name])
        counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(texts.drop_null()).to_pylist()}
        values, named = list(counts), "label" in hints_at(name)
        positive = positive_of(values)
        clear = positive is not None
        if positive is None and named:
            positive = min(values, key=counts.__getitem__)
        if not positive:
            continue
        words = {value.lower() for value in values}
        fit = 3 * named + 2 * bool(words & ODD) + (counts[positive] <= RARE * table.num_rows)
        fit += name == table.column_names[-1] and bool(words & (YES | NO)) and is_text(table[name].type)
        best = max(best, (fit, name, positive, clear), key=lambda one: one[0])
    return best[1:]


def _equal_rows(table: pa.Table) -> int | None:
    """How many rows repeat an earlier one in all columns."""
    if table.num_columns > WIDEST or not all(map(_countable, table.schema.types)):
        return None
    try:
        return table.num_rows - table.group_by(table.column_names).aggregate([]).num_rows
    except (pa.ArrowException, InputError):
        return None


def _short(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00")
    return text if len(text) <= 30 else text[:29] + "…"
