"""`inspect`: how a file is written, what its columns are, and the command that makes a report of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from biselect._version import __version__
from biselect.calibrate.dates import DATE_PARTS
from biselect.data.column_roles import Column, Columns, roles_in
from biselect.data.pools import Roles
from biselect.data.readers.delimited import Reading, reading_of
from biselect.data.readers.sources import Source
from biselect.data.readers.written_dates import in_words
from biselect.data.table import as_table
from biselect.errors import InputError
from biselect.report.render import render_page
from biselect.reviews.inputs import form_from, paths_of, with_roles

FORMAT = "biselect-inspection-1"
REFERENCE = "REFERENCE-OF-NORMAL-ROWS.csv"  # what stands in a command for a table that only the reader knows
REFERENCE_SHARE = 60  # percent of the rows
MOST_ROWS, SHARE = 20, 10  # budgets: at most one row in ten of the pool
MOST_SHOWN = 2  # free texts shown beside the rows; more make lines too long
MOST_MARKS = 6  # words for missing of a column; more of them are no such words


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What a table holds.

    Attributes:
        source: the file as it was given, or None for a frame.
        rows: how many there are.
        found: the columns with their roles.
        reading: how the file is written; None where it says so itself.
    """

    source: str | None
    rows: int
    found: Columns
    reading: Reading | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, in the order of the table."""
        return self.found.columns

    @property
    def form(self) -> dict[str, str]:
        """How the file is written, in words by what is meant."""
        reading = self.reading
        if reading is None:
            return {}
        told = {
            "encoding": reading.encoding + (" with a byte order mark" if reading.bom else ""),
            "between values": {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}.get(
                reading.delimiter, reading.delimiter
            ),
        }
        if reading.decimal:
            told["decimals after a"] = {",": "comma", ".": "point"}[reading.decimal]
        if marks := sorted({mark for _, mark in reading.styles.values() if mark}):
            told["between thousands"] = " or ".join({" ": "space", "'": "apostrophe"}.get(mark, mark) for mark in marks)
        if reading.dates:
            told["dates"] = ", ".join(in_words(form) for form in dict.fromkeys(reading.dates.values()))
        return told

    @property
    def remarks(self) -> list[str]:
        """What a person should know or decide."""
        found, said = self.found, []
        if many := found.repeated_ids:
            rows = "1 row repeats" if many == 1 else f"{many:,} rows repeat"
            if self._copies:
                said.append(f"{rows} an earlier one in every column, with its id: the command keeps the first of each.")
            else:
                said.append(
                    f"{rows} an id of {found.id_column!r} with other values: all are kept, named by position and shown "
                    "with their id. One of each: id_column= and duplicates='last'."
                )
        elif many := found.repeated_rows or 0:
            rows = "1 row repeats" if many == 1 else f"{many:,} rows repeat"
            said.append(f"{rows} an earlier one in every column.")
        if found.label_column is not None:
            said.append(f"{found.positive!r} in {found.label_column!r} is taken for a known positive.")
        if codes := found.named("code"):
            said.append(f"Codes, taken as categories and not as quantities: {', '.join(map(repr, codes))}.")
        for column in self.columns:
            if column.role == "unclear" or (column.remark and column.role in ("time", "date", "number", "category")):
                said.append(f"{column.name!r}: {column.remark}.")
        if found.time_column is not None and any(":" in one for one in self._named(found.time_column).examples):
            said.append(
                f"{found.time_column!r} orders the rows. To let its hour and weekday take part: "
                f"dates=['{found.time_column}:hour,weekday']."
            )
        if found.time_column is None:
            said.append(
                "There is no column of times to split the table at: put the file of normal rows in the place of "
                f"{REFERENCE}."
            )
        return said

    @property
    def _copies(self) -> bool:
        """Whether rows with one id are the same in everything."""
        return self.found.repeated_rows is not None and self.found.repeated_rows >= self.found.repeated_ids

    @property
    def options(self) -> dict[str, Any]:
        """What `biselect.review` takes to make a report of the table: `review(table, **found.options)`.

        Without a column of times a `reference` is needed beside them.
        """
        found = self.found
        marks, out = self._odd_words()
        texts = found.named("free text")
        given: dict[str, Any] = {}
        if found.time_column is not None:
            given |= {"time_column": found.time_column, "reference_until": f"{REFERENCE_SHARE}%"}
            doubtful = self.reading is not None and found.time_column in self.reading.doubts
            given["date_format"] = self._named(found.time_column).date_form if doubtful else None
        if found.id_column is not None and (self._copies or not found.repeated_ids):
            given |= {"id_column": found.id_column, "duplicates": "first" if found.repeated_ids else None}
        elif found.id_column is not None:
            texts.insert(0, found.id_column)
        if found.label_column is not None:
            clear = found.positive_is_clear and not self._named(found.label_column).missing
            given["label_column"] = found.label_column if clear else f"{found.label_column}={found.positive}"
        given["na_values"] = marks
        given["categories"] = [name for name in found.named("code") if name not in out]
        given["show"] = texts[:MOST_SHOWN]
        given["exclude"] = [*texts[MOST_SHOWN:], *found.named("empty"), *out]
        given["k"], given["m"] = self._budgets(out)
        return {name: value for name, value in given.items() if value}

    def _named(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def command(self) -> str:
        """The command line that makes a report of the file.

        It runs as it stands where a column of times says which rows are the reference; otherwise the name of a file of
        normal rows has to be put in.
        """
        path = self.source or "TABLE.csv"
        parts = ["biselect", "select", f"./{path}" if path.startswith("-") else path]
        options = self.options
        if self.found.time_column is None:
            options = {"reference": REFERENCE, **options}
        for name, value in {**options, "out": "report"}.items():
            flag = f"-{name}" if len(name) == 1 else "--" + name.replace("_", "-")
            for one in _together(value) if isinstance(value, list) else [str(value)]:
                parts += [flag, one]
        return shlex.join(parts)

    def _odd_words(self) -> tuple[list[str], list[str]]:
        """Words that may mean missing in columns of numbers, and columns with too much else to be of use."""
        marks: dict[str, None] = {}
        out = [name for name in self.found.named("unclear") if name not in self.found.strange]
        for name, odd in self.found.strange.items():
            if len(odd) > MOST_MARKS or any("," in word or word != word.strip() for word in odd):
                out.append(name)
            else:
                marks.update(dict.fromkeys(odd))
        return list(marks), out

    def _budgets(self, out: Sequence[str]) -> tuple[int, int | str]:
        pool = self.rows
        if self.found.time_column is not None:
            pool -= self.rows * REFERENCE_SHARE // 100
        used = ("number", "category", "code", "flag", "unclear")
        features = sum(column.role in used and column.name not in out for column in self.columns)
        return max(1, min(MOST_ROWS, pool // SHARE)), "auto" if features > 2 else 1

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON."""
        return {
            "format": FORMAT,
            "version": __version__,
            "title": "What is in " + ("the table" if self.source is None else Source.of(self.source).name),
            "rows": self.rows,
            "form": self.form,
            "reading": None if self.reading is None else {**asdict(self.reading), "path": Path(self.reading.path).name},
            "columns": [asdict(column) for column in self.columns],
            "id_column": self.found.id_column,
            "time_column": self.found.time_column,
            "label_column": self.found.label_column,
            "positive": self.found.positive,
            "repeated_ids": self.found.repeated_ids,
            "repeated_rows": self.found.repeated_rows,
            "remarks": self.remarks,
            "options": self.options,
            "command": self.command(),
        }

    def to_html(self) -> str:
        """The same as one self-contained page."""
        return render_page("inspection.html", self.to_dict(), FORMAT)

    def _repr_html_(self) -> str:
        from html import escape

        lines = "".join(
            f"<tr><td>{escape(column.name)}</td><td>{column.role}</td><td>{column.missing:,}</td>"
            f"<td>{column.distinct:,}</td><td>{escape(', '.join(column.examples))}</td></tr>"
            for column in self.columns
        )
        head = "<tr><th>column</th><th>taken for</th><th>missing</th><th>different</th><th>such as</th></tr>"
        return f"<table>{head}{lines}</table><pre>{escape(self.command())}</pre>"


def inspect(table: Any, **form: Any) -> Inspection:
    """How a file is written, what each column is, and the command that makes a report of it.

    Args:
        table: a path, or a frame of any library.
        form: what is known of a CSV already: `encoding`, `delimiter`, `decimal`, `thousands`, `na_values` and
            `date_format`, as for `biselect.review`.

    >>> import pyarrow as pa
    >>> found = inspect(pa.table({"id": ["a", "b", "c"], "amount": [1.0, 2.5, 9.0]}))
    >>> [(column.name, column.role) for column in found.columns]
    [('id', 'id'), ('amount', 'number')]
    """
    if unknown := [name for name in form if name not in (*FORM_OPTIONS,)]:
        raise InputError(f"{unknown[0]}= is not known here; there are {', '.join(f'{name}=' for name in FORM_OPTIONS)}")
    given = with_roles(form_from(form), Roles(date_format=form.get("date_format")))
    read = as_table(table, given)
    return Inspection(
        source=next(map(str, paths_of([table])), None),
        rows=read.num_rows,
        found=roles_in(read),
        reading=reading_of(read),
    )


FORM_OPTIONS = ("encoding", "delimiter", "decimal", "thousands", "na_values", "date_format")


def _together(names: Sequence[str]) -> list[str]:
    """Names as one value where commas can part them, and each for itself where they hold one."""
    plain = [name for name in names if "," not in name and name == name.strip() and name]
    return [",".join(plain)] * bool(plain) + [name for name in names if name not in plain]


ROLES = ("number", "category", "id", "time", "label", "show", "leave out")  # that a person can give a column
DATE_ROLES = ("time", "show", "leave out")  # and a column of dates, whose parts may take part beside it


def parts_of(column: Column) -> tuple[str, ...]:
    """Which parts of a column of dates can take part; none of others."""
    if not column.type.startswith(("timestamp", "date")):
        return ()
    return DATE_PARTS if any(":" in one for one in column.examples) else ("weekday", "gap")


def role_of(column: Column, options: Mapping[str, Any]) -> str:
    """Which of ROLES a column has by the options that an inspection gives."""
    named = {"id_column": "id", "time_column": "time"}
    for option, role in named.items():
        if options.get(option) == column.name:
            return role
    if str(options.get("label_column", "")).partition("=")[0] == column.name:
        return "label"
    if column.name in options.get("show", ()):
        return "show"
    if column.name in options.get("exclude", ()) or column.role in ("date", "empty"):
        return "leave out"
    if column.role == "constant":  # here; it may vary in what the table is compared with
        return "number" if all(map(_is_written_number, column.examples)) else "category"
    return "category" if column.role in ("category", "code", "flag", "free text") else "number"


def _is_written_number(text: str) -> bool:
    try:
        return bool(float(text) or True)
    except ValueError:
        return False


def options_with(
    found: Inspection, roles: Mapping[str, str], parts: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """The options of an inspection, with other roles for some columns.

    Args:
        found: what was taken for what.
        roles: one of ROLES by the name of a column.
        parts: of dates that take part, by the name of a column; see `parts_of`.

    >>> import pyarrow as pa
    >>> found = inspect(pa.table({"id": ["a", "b", "c"], "amount": [1.0, 2.5, 9.0], "shop": [7, 8, 7]}))
    >>> options_with(found, {"shop": "category", "amount": "leave out"})
    {'id_column': 'id', 'k': 1, 'm': 1, 'exclude': ['amount'], 'categories': ['shop']}
    """
    columns = {column.name: column for column in found.columns}
    if unknown := [name for name in roles if name not in columns]:
        raise InputError(f"there is no column {unknown[0]!r}")
    if wrong := [role for role in roles.values() if role not in ROLES]:
        raise InputError(f"a column is one of {', '.join(ROLES)}; got {wrong[0]!r}")
    guessed = found.options
    all_roles = {name: role_of(column, guessed) for name, column in columns.items()} | dict(roles)
    given = {name: value for name, value in guessed.items() if name in ("k", "m", "na_values", "duplicates")}
    for role, option in (("id", "id_column"), ("time", "time_column"), ("label", "label_column")):
        named = [name for name, one in all_roles.items() if one == role]
        if len(named) > 1:
            raise InputError(f"only one column can be the {role}; got {' and '.join(map(repr, named))}")
        if named:
            same = str(guessed.get(option, "")).partition("=")[0] == named[0]
            given[option] = guessed[option] if same else named[0]
    if given.get("time_column") == guessed.get("time_column") and "date_format" in guessed:
        given["date_format"] = guessed["date_format"]
    if "id_column" not in given:
        given.pop("duplicates", None)
    used = {name: wanted for name, wanted in (parts or {}).items() if wanted}
    for name, wanted in used.items():
        if name not in columns or not {*wanted} <= {*parts_of(columns[name])}:
            raise InputError(f"column {name!r} has no {' and '.join(wanted)} that could take part")
    for role, option in (("show", "show"), ("leave out", "exclude")):
        given[option] = [name for name, one in all_roles.items() if one == role and name not in used]
    given["exclude"] = [name for name in given["exclude"] if columns[name].role != "date"]  # no part was asked for
    given["dates"] = [f"{name}:{','.join(wanted)}" for name, wanted in used.items()]
    plain = ("category", "flag", "constant", "free text")
    given["categories"] = [
        name
        for name, one in all_roles.items()
        if one == "category" and (columns[name].role not in plain or columns[name].role == "free text")
    ]
    given["numbers"] = [name for name, one in all_roles.items() if one == "number" and columns[name].role == "code"]
    order = ("id_column", "time_column", "label_column")
    first = {name: given[name] for name in order if name in given}
    return {name: value for name, value in {**first, **given}.items() if value}
