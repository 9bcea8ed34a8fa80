"""The one guess: what each column is taken for, why, and what to say where that is wrong.

What the rows hold decides, and names where that leaves a choice. What a person said is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from biselect.columns import types
from biselect.columns.category import RARE, are_running
from biselect.columns.date import words_among_dates
from biselect.columns.distinct_texts import MOSTLY, is_number, is_text
from biselect.columns.flag import ODD, as_texts, positive_of
from biselect.columns.number import unparsable_rows
from biselect.columns.recognition import hints_at
from biselect.options import Columns, Csv, names_in, spell
from biselect.tables.readers import Reading, TextForm, marks_in, reading_of, with_marks_read
from biselect.tables.roles import listed

ALMOST_ALL = 0.9  # share of different values from which a column named so holds ids, in spite of some duplicates
WIDEST = 200  # columns up to which equal rows are counted
EXAMPLES = 3
MOST_SHOWN = 2  # free texts shown beside the rows; more make lines too long
MOST_MARKS = 6  # words among numbers that may mean missing; more of them are no such words
FEWEST_MARKS = 3  # rows with a number that stands for missing
NINES = re.compile(r"(?:-99|999)9*(?:\.9+)?|-1")
NO_MARK = re.compile(r"[\d,]|^\s|\s$")  # what holds a digit is a value
NO_DATES = {"1900-01-01", "1899-12-30", "1970-01-01", "9999-12-31", "2099-12-31"}
CLAIMED = ("role", "remark", "is_doubtful", "otherwise")


@dataclass(frozen=True, kw_only=True)
class ColumnGuess:
    """A column, and what it is taken for.

    Attributes:
        name: as the table has it.
        role: `id`, `other id`, `time`, `date`, `label`, `number`, `category`, `code`, `flag`, `free text`, `constant`,
            `empty` or `unclear`, the name of its type for one of another package, or what a person said.
        remark: what speaks for it and against, and what follows; empty where the role says it all.
        is_doubtful: whether it may well be otherwise.
        otherwise: what to say where it is wrong, as in `Columns(types={name: otherwise})`.
        missing_marks: entries that are taken for missing.
        positive: of a label, the value that means a known positive.
        repeats: of ids, how many rows have one that an earlier row has.
        names_rows: whether the rows are named by it.
        type: as Arrow calls it.
        missing: how many entries are missing.
        distinct: how many different ones there are.
        examples: a few of them. These four are known where a person looks at the table.
    """

    name: str
    role: str
    remark: str = ""
    is_doubtful: bool = False
    otherwise: str = "category"
    missing_marks: tuple[str, ...] = ()
    positive: str = ""
    repeats: int = 0
    names_rows: bool = False
    type: str = ""
    missing: int = 0
    distinct: int = 0
    examples: tuple[str, ...] = ()

    @property
    def way_out(self) -> str:
        """The option that changes it."""
        return spell(Columns(types={self.name: self.otherwise}))


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What the columns of a table are taken for.

    Attributes:
        columns: all of them, in the order of the table.
        described: what is said and guessed about them together.
        rows: how many the table has.
        reading: how it was read.
    """

    columns: tuple[ColumnGuess, ...]
    described: Columns
    rows: int
    reading: Reading

    @cached_property
    def roles(self) -> dict[str, str]:
        """The role of each column."""
        return {column.name: column.role for column in self.columns}

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What a person should know about the columns, each with the option that has it otherwise."""
        notes = [
            (f"{one.name!r}: {one.remark}.", f"Otherwise say {one.way_out}.") for one in self.columns if one.remark
        ]
        return notes + [(f"{name!r} {doubt}.", "") for name, doubt in self.reading.doubts.items()]

    def cleaned(self, table: pa.Table) -> pa.Table:
        """The table without the entries that are taken for missing."""
        types = {name: kind for name, kind in self.described.types.items() if name in marks_in({name: kind})}
        form = TextForm.of(Csv(decimal=self.reading.decimal or None), Columns(types=types))
        return with_marks_read(table, form) if types else table


def guess_roles(
    tables: Sequence[pa.Table], description: Columns = Columns(), csv: Csv = Csv(), *, per: str | None = None
) -> Guess:
    """Guess the roles of all columns.

    Args:
        tables: the pool, and the reference where there is one; columns of both are looked at together.
        description: what is known about the columns.
        csv: what is known of how texts are written; marks of missing entries are guessed where none are given.
        per: column of the pool whose values limit the choice.
    """
    pool = tables[0]
    roles, features = (
        _roles_of(description, pool.column_names, per),
        {*names_in(description.features, pool.column_names)},
    )
    guesses = {
        name: ColumnGuess(name=name, role=roles[name]) if name in roles else _guess(name, *_in_all(name, tables), csv)
        for name in pool.column_names
    }
    for name in {name for table in tables for name in reading_of(table).codes} & guesses.keys() - roles.keys():
        if guesses[name].role in ("category", "free text", "other id"):
            remark = "digits, some of which begin with 0: kept as text, a category"
            guesses[name] = replace(guesses[name], role="code", remark=remark, otherwise="number")

    others = {name: one for name, one in guesses.items() if roles.get(name) in (None, "date") and name not in features}
    chosen: dict[str, Callable[..., ColumnGuess | None]] = {"time": _time, "id": _id, "label": _label}
    for role, choose in chosen.items():
        if getattr(description, role) is None and (one := choose(tables, others)) is not None:
            guesses[one.name] = replace(one, role=role if role != "id" or one.names_rows else "other id")
            del others[one.name]
            roles.pop(one.name, None)
    return Guess(
        columns=tuple(guesses.values()),
        described=_described(
            description, [one for one in guesses.values() if one.name not in roles], pool.column_names
        ),
        rows=pool.num_rows,
        reading=reading_of(pool),
    )


def _roles_of(description: Columns, names: Sequence[str], per: str | None) -> dict[str, str]:
    """Columns of which a person said what they are, with that as their role."""
    label = str(description.label) if description.label in names else str(description.label).rpartition("=")[0]
    roles = {name: kind.partition(":")[0] for name, kind in description.types.items()}
    roles |= dict.fromkeys(names_in(description.exclude, names), "left out") | dict.fromkeys(
        names_in(description.show, names), "shown"
    )
    single = {per: "shown", description.time: "time", description.id: "id", label: "label"}
    return roles | {name: role for name, role in single.items() if name}


def _in_all(name: str, tables: Sequence[pa.Table]) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """A column of all tables that have it, of the type that it has in the first with a value; and the longest one."""
    columns = [table[name] for table in tables if name in table.column_names]
    kind = next((column.type for column in columns if column.null_count < len(column)), columns[0].type)
    columns = [column.cast(kind) if pa.types.is_null(column.type) else column for column in columns]
    columns = [column for column in columns if column.type == kind]
    together = pa.chunked_array([chunk for one in columns for chunk in one.chunks], kind)
    return together, max(columns, key=len)


def _guess(name: str, column: pa.ChunkedArray, longest: pa.ChunkedArray, csv: Csv) -> ColumnGuess:
    """What a column holds, without regard to the others."""
    if column.null_count == len(column):
        return ColumnGuess(name=name, role="empty")
    if column.null_count == 0 and not pa.types.is_binary(column.type) and _is_constant(column):
        return ColumnGuess(name=name, role="constant")
    words, marks = "", (csv.decimal, csv.thousands) != (None, None)
    if marks and is_text(column.type) and unparsable_rows(column, MOSTLY)[0] is not None:
        return ColumnGuess(name=name, role="number", remark="numbers written in another way than was said")
    if strange := words_among_dates(column):
        words = f"holds dates, but also words such as {_examples(strange)}; "
    for one in types():
        about = column if one.is_ranked else longest  # rows of a pool may stand in its reference, too
        claim = one.claim(about, name) if "claim" in vars(type(one)) else None  # not what it inherits from a number
        if claim is None:
            continue
        guess = ColumnGuess(name=name, **{field: getattr(claim, field) for field in CLAIMED})
        if not claim.strange:
            marked = claim.role in ("number", "date") and not csv.na_values
            return (
                _with_missing_marks(guess, column)
                if marked
                else replace(guess, remark=(words + guess.remark).removesuffix("; "))
            )
        listed = _examples(claim.strange)
        if csv.na_values:
            return replace(guess, remark=f"mostly numbers, but also {listed}, which cannot be used")
        if len(claim.strange) <= MOST_MARKS and not any(map(NO_MARK.search, claim.strange)):
            remark = f"mostly numbers; {listed} {'is' if len(claim.strange) == 1 else 'are'} taken for missing"
            return replace(guess, remark=remark, is_doubtful=True, missing_marks=tuple(claim.strange))
        words = f"mostly numbers, but with words such as {listed}; "
    holds = "lists or objects" if pa.types.is_nested(column.type) else f"what cannot be weighed ({column.type})"
    return ColumnGuess(name=name, role="unclear", remark=f"its cells hold {holds}: left out", otherwise="show")


def _examples(entries: Sequence[str]) -> str:
    return " and ".join(map(repr, entries[:EXAMPLES])) + (" …" if len(entries) > EXAMPLES else "")


def _is_constant(column: pa.ChunkedArray) -> bool:
    try:
        column = column.cast(pa.int64()) if pa.types.is_duration(column.type) else column
        ends = pc.min_max(column).as_py()
    except pa.ArrowNotImplementedError:
        return False
    return bool(ends["min"] == ends["max"])


def _with_missing_marks(guess: ColumnGuess, column: pa.ChunkedArray) -> ColumnGuess:
    """The same, with a number such as -999 for missing where it comes back, apart from all others."""
    if pa.types.is_duration(column.type):
        return guess
    ends, is_date = pc.min_max(column).as_py(), pa.types.is_temporal(column.type)
    odd = [end for end in {*ends.values()} if _could_be_no_value(end) and _is_apart(column, end, is_date)]
    if not odd:
        return guess
    marks = [str(mark)[:10] if is_date else f"{mark:.15g}" for mark in odd]
    remark = f"{' and '.join(marks)} comes back, apart from all other values, and may mean missing"
    if is_date:
        return replace(guess, remark=remark, missing_marks=tuple(marks))
    facts: dict[str, Any] = {"is_doubtful": True, "otherwise": "number", "missing_marks": tuple(marks)}
    return replace(guess, remark=f"{remark}: taken for it", **facts)


def _could_be_no_value(value: Any) -> bool:
    """Whether people and machines write such a value where there is none."""
    if isinstance(value, date):
        return str(value)[:10] in NO_DATES
    return isinstance(value, int | float) and NINES.fullmatch(f"{value:.15g}") is not None


def _is_apart(column: pa.ChunkedArray, value: Any, is_date: bool) -> bool:
    """Whether a value comes back and lies farther from all others than most of these from each other."""
    mark = pa.scalar(value, column.type)
    if is_date:
        column, mark = (one.cast(pa.timestamp("s"), safe=False).cast(pa.int64()) for one in (column, mark))
    is_mark, end = pc.equal(column, mark), mark.as_py()
    rest = column.filter(pc.invert(is_mark)).drop_null()
    marks = pc.sum(is_mark).as_py()
    if not len(rest) or marks < FEWEST_MARKS or (end == -1 and marks > RARE * len(column)):
        return False
    least, low, high, largest = pc.quantile(rest, [0, 0.05, 0.95, 1], interpolation="nearest").to_pylist()
    if not is_date and end < -1 and least >= 0:  # alone below zero; -1 may stand beside 0 and 1
        return True
    gap = max(least - end, end - largest)
    return bool(gap > (high - low) / 4 if is_date else gap > max(high - low, abs(end) / 10))


def _time(tables: Sequence[pa.Table], guesses: Mapping[str, ColumnGuess]) -> ColumnGuess | None:
    """A column of dates without gaps, called so or in order; or numbers called so that never fall."""
    pool = tables[0]
    complete = [one for one in guesses.values() if not one.missing_marks and not _gaps(tables, one.name)]
    dates = [one for one in complete if one.role == "date" and ("time" in hints_at(one.name) or _runs(pool[one.name]))]
    if dates:
        best = max(dates, key=lambda one: ("time" in hints_at(one.name), pc.count_distinct(pool[one.name]).as_py()))
        parts = "date:hour,weekday" if pa.types.is_timestamp(pool[best.name].type) else "date:weekday"
        remark = best.remark or "orders the rows by time and is not weighed itself"
        return replace(best, remark=remark, otherwise="number" if is_number(pool[best.name].type) else parts)
    for one in complete:
        if one.role == "number" and "time" in hints_at(one.name) and not pa.types.is_duration(pool[one.name].type):
            if not all(_runs(table[one.name], falling=False) for table in tables if one.name in table.column_names):
                continue
            remark = "orders the rows: it never falls, and is called so"
            return replace(one, remark=remark, is_doubtful=True, otherwise="number")
    return None


def _gaps(tables: Sequence[pa.Table], name: str) -> int:
    return sum(table[name].null_count for table in tables if name in table.column_names)


def _runs(column: pa.ChunkedArray, *, falling: bool = True) -> bool:
    """Whether a column never falls, or never rises where that counts as well, and is not all the same."""
    if len(column) < 3 or _is_constant(column):
        return False
    after, before = column[1:], column[:-1]
    rises = pc.all(pc.greater_equal(after, before)).as_py()
    return bool(rises or (falling and pc.all(pc.less_equal(after, before)).as_py()))


def _id(tables: Sequence[pa.Table], guesses: Mapping[str, ColumnGuess]) -> ColumnGuess | None:
    """The column that names the rows best, if any does in every table that has it."""
    pool, first = tables[0], tables[0].column_names[0]
    fits = {
        name: min(_id_fit(name, table[name], name == first) for table in tables if name in table.column_names)
        for name, one in guesses.items()
        if one.role not in ("date", "empty", "unclear", "flag") and not one.missing_marks
    }
    best = max(fits, key=fits.__getitem__, default=None)
    if best is None or not fits[best]:
        return None
    repeated = pool.num_rows - pc.count_distinct(pool[best]).as_py()
    remark, rows = "names the rows", "1 row repeats" if repeated == 1 else f"{repeated:,} rows repeat"
    names_rows = not repeated or _equal_rows(pool) >= repeated
    if repeated and names_rows:
        remark = f"{remark}; {rows} an earlier one in every column: the first of each is kept"
    elif repeated:
        remark = f"{rows} one of its ids with other values: all are kept, named by position and shown with their ids"
    otherwise = "number" if is_number(pool[best].type) else "category"
    facts: dict[str, Any] = {"repeats": repeated, "names_rows": names_rows, "is_doubtful": fits[best] == 1}
    return replace(guesses[best], remark=remark, otherwise=otherwise, **facts)


def _id_fit(name: str, column: pa.ChunkedArray, is_first: bool) -> int:
    """How well a column names rows; 0 where it does not."""
    is_called_id, texts = "id" in hints_at(name), is_text(column.type)
    if column.null_count or not (texts or (pa.types.is_integer(column.type) and (is_called_id or is_first))):
        return 0
    different = pc.count_distinct(column).as_py()
    is_unique = different == len(column)
    if different < ALMOST_ALL * len(column):
        return 0
    if is_called_id:
        return 4 + is_unique
    examples = column[: 8 * EXAMPLES].to_pylist() if texts else []
    if texts and not any(" " in example for example in examples):
        is_numbered = all(any(map(str.isdigit, example)) for example in examples)
        return 2 + is_unique if is_numbered else 2 * is_unique
    ends = pc.min_max(column).as_py() if not texts and is_unique else None
    return int(
        ends is not None and (ends["max"] - ends["min"] == len(column) - 1 or (is_first and are_running(column)))
    )


def _equal_rows(table: pa.Table) -> int:
    """How many rows repeat an earlier one in all columns; 0 where that cannot be counted."""
    if table.num_columns > WIDEST:
        return 0
    try:
        return int(table.num_rows - table.group_by(table.column_names).aggregate([]).num_rows)
    except pa.ArrowException:
        return 0


def _label(tables: Sequence[pa.Table], guesses: Mapping[str, ColumnGuess]) -> ColumnGuess | None:
    """The column with two values that is called like a label, and whose values tell known positives from others."""
    best, best_fit = None, 0
    for name, one in guesses.items():
        if "label" not in hints_at(name) or one.role in ("date", "unclear", "empty", "free text"):
            continue
        counts = {
            entry["values"]: entry["counts"]
            for entry in pc.value_counts(as_texts(tables[0][name]).drop_null()).to_pylist()
        }
        values, words = list(counts), {str(value).lower() for value in counts}
        positive, is_clear = positive_of(values) if len(values) == 2 else None, True
        if positive is None and len(values) == 2 and min(counts.values()) <= RARE * tables[0].num_rows:
            positive, is_clear = min(values, key=counts.__getitem__), False
        fit = 1 + 2 * bool(words & ODD) + is_clear
        if positive and fit > best_fit:
            remark = f"{positive!r} in it is taken for a known positive: shown, never used"
            otherwise = "number" if is_number(tables[0][name].type) else "category"
            best = replace(one, remark=remark, otherwise=otherwise, is_doubtful=not is_clear, positive=positive)
            best_fit = fit
    return best


def _described(description: Columns, guesses: Sequence[ColumnGuess], columns: Sequence[str]) -> Columns:
    """What is said and guessed about the columns together."""
    by_role: dict[str, list[ColumnGuess]] = {}
    for one in guesses:
        by_role.setdefault(one.role, []).append(one)
    single = {role: ones[0] for role, ones in by_role.items() if role in ("time", "id", "label")}
    names = {role: one.name for role, one in single.items()}
    if label := single.get("label"):
        names["label"] = f"{label.name}={label.positive}"
    clock = description.time if description.time in columns else names.get("time")
    repeated = [one.name for one in by_role.get("other id", ()) if one.repeats]
    texts = [one.name for one in by_role.get("free text", ())]
    left_out = [one.name for role in ("other id", "free text", "empty", "unclear") for one in by_role.get(role, ())]
    in_use = {*names_in(description.features, columns), *names_in(description.show, columns)}
    shown = [name for name in ([clock] if clock else []) + [*repeated, *texts][:MOST_SHOWN] if name not in in_use]
    is_open = description.duplicates == Columns().duplicates
    types = {one.name: "category" for role in ("code", "category") for one in by_role.get(role, ())}
    for one in by_role.get("number", ()):
        if one.missing_marks:
            types[one.name] = f"number:{','.join(one.missing_marks)}"
    return replace(
        description,
        **names,
        exclude=[
            *listed(description.exclude),
            *(name for name in left_out if name not in shown and name not in in_use),
        ],
        show=[*listed(description.show), *shown],
        types={**types, **description.types},
        duplicates="first" if "id" in single and single["id"].repeats and is_open else description.duplicates,
    )


def with_facts(guess: Guess, table: pa.Table) -> Guess:
    """The same, with what a person sees of each column."""
    return replace(guess, columns=tuple(_with_facts(one, table[one.name]) for one in guess.columns))


def _with_facts(guess: ColumnGuess, column: pa.ChunkedArray) -> ColumnGuess:
    kind, facts = column.type, dict[str, Any]()
    if not (pa.types.is_nested(kind) or pa.types.is_dictionary(kind) or pa.types.is_null(kind)):
        examples = dict.fromkeys(column.drop_null()[: 8 * EXAMPLES].to_pylist())
        facts = {"distinct": pc.count_distinct(column).as_py(), "examples": tuple(map(_short, examples))[:EXAMPLES]}
    return replace(guess, type=str(kind), missing=column.null_count, **facts)


def _short(value: object) -> str:
    if isinstance(value, timedelta) and value < timedelta():
        return f"-{-value}"
    text = f"{value:.6g}" if isinstance(value, float) else str(value).removesuffix(" 00:00:00")
    return text if len(text) <= 30 else text[:29] + "…"
