"""What the columns of a table are: ids, times, labels, codes, categories, free text, constants, quantities."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from biselect.columns import types
from biselect.columns.category import RARE, looks_like_code
from biselect.columns.column_type import Claim
from biselect.columns.date import parts_of_dates
from biselect.columns.distinct_texts import is_date, is_text
from biselect.columns.flag import NO, ODD, YES, as_texts, positive_of
from biselect.columns.recognition import hints_at
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, RowRules, names_in, spell
from biselect.tables._named_columns import require_columns
from biselect.tables.readers import reading_of

ALMOST_ALL = 0.9  # share of different values from which a column named so holds ids, in spite of some duplicates
WIDEST = 200  # columns up to which equal rows are counted
EXAMPLES = 3


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Which columns play which part; all others are features.

    Attributes:
        id_column: names the rows.
        label_column: known positives, never shown to calibration or solver.
        label_value: the value of it that is positive; None for what is clear by itself, such as 1 or yes.
        time_column: orders the rows.
        date_format: how dates are written, where they are text; None to find it out.
        duplicates: what to do with rows of one id: keep the `first`, the `last`, or `error`.
        features: columns to use, or None for all that are left.
        exclude: columns to leave out.
        show: columns of the pool to show beside the rows, never features.
        per: column of the pool whose values limit the choice, never a feature.
        categories: columns of numbers that name things.
        numbers: columns of numbers that do not, although they look like it.
        dates: date columns to use, with the parts of them, as `biselect.columns.date.parts_of_dates` takes them.
    """

    id_column: str | None = None
    label_column: str | None = None
    label_value: str | None = None
    time_column: str | None = None
    duplicates: str = "error"
    date_format: str | None = None
    features: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    show: Sequence[str] = ()
    per: str | None = None
    categories: Sequence[str] = ()
    numbers: Sequence[str] = ()
    dates: Sequence[str] = ()

    @classmethod
    def of(cls, columns: Columns, csv: Csv = Csv(), *, names: Collection[str] = (), per: str | None = None) -> Self:
        """The roles that options give; a column of scores is shown.

        Args:
            columns: as the caller describes them; lists may hold names separated by commas.
            csv: says how dates are written.
            names: names of the columns of the tables, which tell commas in a name from those between names.
            per: column of the pool whose values limit the choice.

        Raises:
            InputError: a type that there is not.
        """
        types: dict[str, list[str]] = {"category": [], "number": [], "date": []}
        for name, kind in columns.types.items():
            word, colon, parts = kind.partition(":")
            if word not in types or (colon and word != "date"):
                option = spell(Columns(types={name: kind}))
                raise InputError(f"{option}: a column holds number, category, date, or parts of it such as date:hour")
            types[word].append(f"{name}{colon}{parts}" if colon or ":" not in name else f"{name}:hour,weekday")
        show = [columns.show] if isinstance(columns.show, str) else columns.show
        label, value = columns.label, None
        if label is not None and label not in names and "=" in label:  # such as fraud=yes
            label, _, value = label.rpartition("=")
        return cls(
            id_column=columns.id,
            label_column=label,
            label_value=value,
            time_column=columns.time,
            duplicates=columns.duplicates,
            date_format=csv.date_format,
            features=names_in(columns.features, names) or None,
            exclude=names_in(columns.exclude, names),
            show=names_in(show, names),
            per=per,
            categories=names_in(types["category"], names),
            numbers=names_in(types["number"], names),
            dates=types["date"],
        )

    @property
    def special(self) -> set[str | None]:
        """Columns that are no features, whatever they hold."""
        return {*self.beside, self.time_column}

    def feature_columns(self, reference: pa.Table) -> list[str]:
        """The feature columns, in the order of the reference (or as asked for)."""
        dates = parts_of_dates(self.dates)
        special = self.special - dates.keys()
        require_columns(reference, [*(self.features or ()), *self.categories, *self.numbers, *dates], "the reference")
        left_out = set(self.exclude)
        if self.features is not None:
            if self.label_column in self.features:
                raise InputError(f"the label column {self.label_column!r} must not be a feature")
            if beside := [name for name in self.features if name == self.per or name in self.show]:
                raise InputError(
                    f"column {beside[0]!r} of {spell(Columns(show=ANY))} or {spell(RowRules(per=ANY))} is never a "
                    f"feature; take it from {spell(Columns(features=ANY))}"
                )
            names = [name for name in self.features if name not in self.exclude]
            names += [name for name in dates if name not in names]
        else:
            names = [name for name in reference.column_names if name not in special and name not in left_out]
        if not names:
            raise InputError(f"no feature columns are left; check {spell(Columns(features=ANY, exclude=ANY))}")
        if len(set(names)) != len(names):
            raise InputError(f"a feature is named more than once in {spell(Columns(features=ANY))}")
        return names

    def unused_dates(self, reference: pa.Table) -> list[str]:
        """Date columns that nobody asked for: no feature unless they are named as one or by their parts."""
        if self.features is not None:
            return []
        others = {*self.special, *self.exclude, *parts_of_dates(self.dates)}
        return [
            name
            for name, kind in zip(reference.column_names, reference.schema.types, strict=True)
            if is_date(kind) and name not in others
        ]

    def features_of(self, reference: pa.Table, pool: pa.Table, where: str = "the pool") -> tuple[list[str], list[str]]:
        """Find the features that both tables have.

        Args:
            reference: any rows of it, or none.
            pool: likewise.
            where: the pool, in words.

        Returns:
            Names of the features, and of date columns left out.

        Raises:
            InputError: there is none, the pool lacks one, or another column that was named is in neither table.
        """
        unused = self.unused_dates(reference)
        features = [name for name in self.feature_columns(reference) if name not in unused]
        if not features:
            parts = spell(Columns(types={unused[0]: "date:hour,weekday"}))
            raise InputError(f"only dates are left; use parts of one with {parts}")
        names = set(pool.column_names)
        for name in (*self.exclude, self.time_column):
            if name is not None and name not in names.union(reference.column_names):
                raise InputError(f"neither the reference nor the pool has a column {name!r}")
        if absent := [name for name in features if name not in names]:
            lacks = ", ".join(map(repr, absent[:40])) + (" …" if len(absent) > 40 else "")
            raise InputError(f"{where} lacks columns of the reference: {lacks}")
        require_columns(pool, [name for name in self.beside if name is not None], where)
        return features, unused

    @property
    def beside(self) -> tuple[str | None, ...]:
        """Columns of the pool that come along with its rows; None for one that is not named."""
        return (self.id_column, self.label_column, self.per, *self.show)

    def code_columns(self, reference: pa.Table, zero_led: Collection[str]) -> list[str]:
        """Columns of the reference that are codes by name and by what they hold, and of which nobody said anything."""
        others = {*self.special, *self.exclude, *self.categories, *self.numbers, *parts_of_dates(self.dates)}
        return [
            name
            for name, column in zip(reference.column_names, reference.columns, strict=True)
            if name not in others
            and (self.features is None or name in self.features)
            and (name in zero_led or looks_like_code(name, column))
        ]

    def text_columns(self) -> Columns:
        """What a reader must know of the columns to give them as it did before."""
        types = {**dict.fromkeys(self.numbers, "number"), **dict.fromkeys(self.categories, "category")}
        show = [self.per, *self.show] if self.per else self.show
        return Columns(id=self.id_column, label=self.label_column, time=self.time_column, show=show, types=types)


@dataclass(frozen=True, kw_only=True)
class ColumnGuess:
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
class GuessedRoles:
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

    columns: tuple[ColumnGuess, ...]
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


def guess_roles(table: pa.Table) -> GuessedRoles:
    """The roles of all columns; what the rows hold decides, and names where that leaves a choice."""
    reading = reading_of(table)
    guesses: dict[str, ColumnGuess] = {}
    strange: dict[str, Sequence[str]] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        claim = _claim(name, column)
        role, remark = claim.role, claim.remark
        if claim.strange:
            strange[name] = claim.strange
        entries = column.drop_null()
        if reading is not None and name in reading.codes and role in ("category", "free text"):
            role, remark = "code", "digits that begin with 0: kept as text"
        doubt = "" if reading is None else reading.doubts.get(name, "")
        guesses[name] = ColumnGuess(
            name=name,
            role=role,
            type=str(column.type),
            missing=column.null_count,
            distinct=pc.count_distinct(entries).as_py() if _countable(column.type) else 0,
            examples=tuple(_short(value) for value in dict.fromkeys(entries[: 8 * EXAMPLES].to_pylist()))[:EXAMPLES]
            if _countable(column.type)
            else (),
            date_form=None if reading is None else reading.dates.get(name),
            missing_marks=() if reading is None else tuple(reading.missing.get(name, ())),
            remark="; ".join(filter(None, (remark, doubt))),
        )
    time = _best_time(table, guesses)
    id_column = _best_id(table, guesses, time)
    label, positive, clear = _best_label(table, guesses, {time, id_column})
    for name, role in ((time, "time"), (id_column, "id"), (label, "label")):
        if name is not None:
            guesses[name] = _with_role(guesses[name], role)
    return GuessedRoles(
        columns=tuple(guesses.values()),
        id_column=id_column,
        time_column=time,
        label_column=label,
        positive=positive,
        positive_is_clear=clear,
        repeated_ids=0
        if id_column is None
        else table.num_rows - guesses[id_column].missing - guesses[id_column].distinct,
        repeated_rows=_equal_rows(table),
        strange=strange,
    )


def _with_role(column: ColumnGuess, role: str) -> ColumnGuess:
    return replace(column, role=role, remark=column.remark if role == "time" else "")


def _countable(kind: pa.DataType) -> bool:
    return not pa.types.is_nested(kind) and not pa.types.is_dictionary(kind) and not pa.types.is_null(kind)


def _claim(name: str, column: pa.ChunkedArray) -> Claim:
    """What a column holds, without regard to the others."""
    kind, entries = column.type, column.drop_null()
    if pa.types.is_nested(kind):
        return Claim(role="unclear", remark=f"it holds {kind}")
    if len(entries) == 0:
        return Claim(role="empty")
    if not pa.types.is_dictionary(kind) and len(entries) == len(column) and pc.count_distinct(entries).as_py() == 1:
        return Claim(role="constant")
    claimants = [
        one for one in types() if "claim" in vars(type(one))
    ]  # a type built on number does not take all numbers
    claims = (claim for one in claimants if (claim := one.claim(column, name)) is not None)
    return next(claims, Claim(role="unclear", remark=f"it holds {kind}"))


def _best_time(table: pa.Table, guesses: Mapping[str, ColumnGuess]) -> str | None:
    """A column of dates without gaps, called so and with many different ones; or numbers called so that never fall."""
    dates = [one for one in guesses.values() if one.role == "date" and not one.missing]
    dates = [one for one in dates if not pa.types.is_time(table[one.name].type) and one.distinct > 1]
    if dates:
        return max(dates, key=lambda one: ("time" in hints_at(one.name), one.distinct)).name
    for one in guesses.values():
        if one.role == "number" and not one.missing and one.distinct > 2 and "time" in hints_at(one.name):
            values = table[one.name].to_numpy()
            if values.dtype.kind != "m" and (values[1:] >= values[:-1]).all():  # a duration never says when
                return one.name
    return None


def _best_id(table: pa.Table, guesses: Mapping[str, ColumnGuess], time: str | None) -> str | None:
    rows = table.num_rows

    def fit(column: ColumnGuess) -> int:
        kind = table[column.name].type
        if column.missing or column.name == time or not (is_text(kind) or pa.types.is_integer(kind)):
            return 0
        unique, is_called_id = column.distinct == rows, "id" in hints_at(column.name)
        one_word = is_text(kind) and not any(" " in example for example in column.examples)
        numbered = one_word and all(any(map(str.isdigit, example)) for example in column.examples)
        counts = pa.types.is_integer(kind) and unique and column is next(iter(guesses.values()))
        if is_called_id and column.distinct >= ALMOST_ALL * rows:
            return 4 + unique
        if numbered and column.distinct >= ALMOST_ALL * rows:
            return 2 + unique
        return 2 * (unique and one_word) or int(counts)

    best = max(guesses.values(), key=fit, default=None)
    return best.name if best is not None and fit(best) else None


def _best_label(
    table: pa.Table, guesses: Mapping[str, ColumnGuess], others: set[str | None]
) -> tuple[str | None, str | None, bool]:
    """The column with two values that is called like a label, or that holds words for the unusual."""
    best: tuple[int, str | None, str | None, bool] = (1, None, None, True)
    for name, column in guesses.items():
        if name in others or column.distinct != 2 or column.role in ("date", "unclear"):
            continue
        texts = as_texts(table[name])
        counts = {entry["values"]: entry["counts"] for entry in pc.value_counts(texts.drop_null()).to_pylist()}
        values, is_called_label = list(counts), "label" in hints_at(name)
        positive = positive_of(values)
        clear = positive is not None
        if positive is None and is_called_label:
            positive = min(values, key=counts.__getitem__)
        if not positive:
            continue
        words = {value.lower() for value in values}
        fit = 3 * is_called_label + 2 * bool(words & ODD) + (counts[positive] <= RARE * table.num_rows)
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


def feature_names(table: pa.Table, columns: Columns) -> list[str]:
    """The feature columns of a table whose columns are described so."""
    return Roles.of(columns, names=table.column_names).feature_columns(table)
