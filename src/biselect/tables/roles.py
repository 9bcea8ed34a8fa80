"""Which part each column of a table plays: ids, times, labels, features, columns that are only shown or left out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import pyarrow as pa

from biselect.columns.date import parts_of_dates
from biselect.columns.distinct_texts import is_date, is_text
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, RowRules, names_in, spell
from biselect.tables._named_columns import require_columns
from biselect.tables.readers import marks_in

SINGLE = ("id", "time", "label")  # roles that one column has; `types` may name them, too
LISTED = ("show", "exclude")  # and roles that any number has


def placed(columns: Columns) -> Columns:
    """The same, with roles that stand among the types in their own places.

    >>> placed(Columns(types={"note": "show", "no": "id", "zip": "category"}))  # doctest: +ELLIPSIS
    Columns(time=None, id='no', ..., show=['note'], types={'zip': 'category'}, duplicates='error')

    Raises:
        InputError: two columns are named for a role that one has.
    """
    types, single = dict[str, str](), dict[str, str]()
    several: dict[str, list[str]] = {role: [] for role in LISTED}
    for name, kind in columns.types.items():
        role, _, value = kind.partition(":")
        if role in SINGLE:
            before = single.get(role) or getattr(columns, role)
            if before is not None and before.partition("=")[0] != name:
                raise InputError(f"only one column can be the {role}; got {before!r} and {name!r}")
            single[role] = f"{name}={value}" if value else before or name
        elif role in LISTED:
            several[role].append(name)
        else:
            types[name] = kind
    if len(types) == len(columns.types):
        return columns
    changes: dict[str, Any] = {**single}
    for role, names in several.items():
        changes[role] = [*listed(getattr(columns, role)), *names]
    return replace(columns, types=types, **changes)


def with_roles(columns: Columns, roles: Mapping[str, str]) -> Columns:
    """The same, with other roles for some columns, whatever was said of them before."""
    changes: dict[str, Any] = {role: None for role in SINGLE if str(getattr(columns, role)).partition("=")[0] in roles}
    for role in LISTED:
        changes[role] = [name for name in names_in(getattr(columns, role), roles) if name not in roles]
    others = {name: kind for name, kind in columns.types.items() if name not in roles}
    return placed(replace(columns, **changes, types={**others, **roles}))


def listed(names: str | Sequence[str]) -> list[str]:
    """Names as a list, of which a single one may be given alone."""
    return [names] if isinstance(names, str) else [*names]


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
        marks: entries that mean missing in a column of numbers.
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
    marks: Mapping[str, Sequence[str]] = field(default_factory=dict)

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
            if word not in types or (colon and word == "category"):
                option = spell(Columns(types={name: kind}))
                raise InputError(
                    f"{option}: a column is number, category, date or parts of it such as date:hour, or "
                    f"{', '.join((*SINGLE, *LISTED))}"
                )
            with_parts = f"{name}{colon}{parts}" if colon or ":" not in name else f"{name}:hour,weekday"
            types[word].append(with_parts if word == "date" else name)
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
            show=names_in(listed(columns.show), names),
            per=per,
            categories=names_in(types["category"], names),
            numbers=names_in(types["number"], names),
            dates=types["date"],
            marks=marks_in(columns.types),
        )

    @property
    def special(self) -> set[str | None]:
        """Columns that are no features, whatever they hold."""
        return {*self.beside, self.time_column}

    def feature_columns(self, reference: pa.Table, where: str = "the reference") -> list[str]:
        """The feature columns, in the order of the reference (or as asked for)."""
        dates = parts_of_dates(self.dates)
        special = self.special - dates.keys()
        require_columns(reference, [*(self.features or ()), *self.categories, *self.numbers, *dates], where)
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
            roles = dict.fromkeys(self.exclude, "is left out") | dict.fromkeys(self.show, "is shown only")
            roles |= {self.id_column or "": "names the rows", self.time_column or "": "orders the rows"}
            there = [f"{name!r} {roles.get(name, 'has another role')}" for name in reference.column_names]
            way = spell(Columns(types={next(iter(reference.column_names), "NAME"): "category"}))
            raise InputError(f"no feature columns are left: {', '.join(there[:40])}. Use one with {way}")
        if len(set(names)) != len(names):
            raise InputError(f"a feature is named more than once in {spell(Columns(features=ANY))}")
        return names

    def unused_dates(self, reference: pa.Table) -> list[str]:
        """Date columns that nobody asked for: no feature unless they are named as one or by their parts."""
        if self.features is not None:
            return []
        others = {*self.special, *self.exclude, *self.numbers, *self.categories, *parts_of_dates(self.dates)}
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
        side = "the table" if reference is pool else "the reference"
        features = [name for name in self.feature_columns(reference, side) if name not in unused]
        if not features:
            parts = spell(Columns(types={unused[0]: "date:hour,weekday"}))
            raise InputError(f"only dates are left; use parts of one with {parts}")
        kinds = [*(() if reference.num_rows else zip(reference.column_names, reference.schema.types, strict=True))]
        if words := [name for name, kind in kinds if name in self.numbers and is_text(kind)]:  # of no rows: read later
            raise InputError(f"{spell(Columns(types={words[0]: 'number'}))}: not every entry is a number of one unit")
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

    def text_columns(self) -> Columns:
        """What a reader must know of the columns to give them as it did before."""
        numbers = {name: f"number:{','.join(self.marks.get(name, ()))}".rstrip(":") for name in self.numbers}
        types = {**numbers, **dict.fromkeys(self.categories, "category")}
        show = [self.per, *self.show] if self.per else self.show
        return Columns(id=self.id_column, label=self.label_column, time=self.time_column, show=show, types=types)


def feature_names(table: pa.Table, columns: Columns) -> list[str]:
    """The feature columns of a table whose columns are described so."""
    return Roles.of(columns, names=table.column_names).feature_columns(table)
