"""`inspect`: how a file is written, what its columns are, and the command that makes a report of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from biselect._version import __version__
from biselect.columns.date import DATE_PARTS
from biselect.columns.date_text import in_words
from biselect.errors import InputError
from biselect.options import Columns, Csv, Split, non_defaults, spell, words_of
from biselect.tables._table import Table, paths_of
from biselect.tables.readers import Reading, reading_of
from biselect.tables.readers.sources import Source
from biselect.tables.roles import ColumnGuess, GuessedRoles, guess_roles

FORMAT = "biselect-inspection-1"  # of the plain data, which `biselect.pages.render_inspection` takes
REFERENCE = "REFERENCE-OF-NORMAL-ROWS.csv"  # what stands in a command for a table that only the reader knows
REFERENCE_SHARE = 60  # percent of the rows
MOST_SHOWN = 2  # free texts shown beside the rows; more make lines too long
MOST_MARKS = 6  # words for missing of a column; more of them are no such words


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What a table holds.

    Attributes:
        source: the file as it was given, or None for a frame.
        rows: how many there are.
        roles: of all columns, as they are guessed.
        reading: how the file is written; None where it says so itself.
    """

    source: str | None
    rows: int
    roles: GuessedRoles
    reading: Reading | None = None

    @property
    def columns(self) -> tuple[ColumnGuess, ...]:
        """All columns, in the order of the table."""
        return self.roles.columns

    @property
    def form(self) -> dict[str, str]:
        """How the file is written, in words by what is meant."""
        reading = self.reading
        if reading is None:
            return {}
        facts = {
            "encoding": reading.encoding + (" with a byte order mark" if reading.bom else ""),
            "between values": {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}.get(
                reading.delimiter, reading.delimiter
            ),
        }
        if reading.decimal:
            facts["decimals after a"] = {",": "comma", ".": "point"}[reading.decimal]
        if marks := sorted({mark for _, mark in reading.styles.values() if mark}):
            facts["between thousands"] = " or ".join(
                {" ": "space", "'": "apostrophe"}.get(mark, mark) for mark in marks
            )
        if reading.dates:
            facts["dates"] = ", ".join(in_words(form) for form in dict.fromkeys(reading.dates.values()))
        return facts

    @property
    def notes(self) -> list[tuple[str, str]]:
        """What a person should know, and what to type to have it otherwise; one of both may be empty."""
        guess, notes = self.roles, list[tuple[str, str]]()
        if many := guess.repeated_ids:
            rows = "1 row repeats" if many == 1 else f"{many:,} rows repeat"
            if self._copies:
                text = f"{rows} an earlier one in every column, with its id: the command keeps the first of each."
                notes.append((text, ""))
            else:
                text = (
                    f"{rows} an id of {guess.id_column!r} with other values: all are kept, named by position and shown "
                    "with their id."
                )
                notes.append((text, f"One of each: {spell(Columns(id=guess.id_column, duplicates='last'))}."))
        elif many := guess.repeated_rows or 0:
            rows = "1 row repeats" if many == 1 else f"{many:,} rows repeat"
            notes.append((f"{rows} an earlier one in every column.", ""))
        if guess.label_column is not None:
            notes.append((f"{guess.positive!r} in {guess.label_column!r} is taken for a known positive.", ""))
        if codes := guess.named("code"):
            names = ", ".join(map(repr, codes))
            notes.append((f"Codes, taken as categories and not as quantities: {names}.", ""))
        for column in self.columns:
            if column.role == "unclear" or (column.remark and column.role in ("time", "date", "number", "category")):
                text = f"{column.name!r}: {column.remark}."
                doubtful = self.reading is not None and column.name in self.reading.doubts
                notes.append(("", text) if doubtful else (text, ""))
        if guess.time_column is not None and any(":" in one for one in self._named(guess.time_column).examples):
            parts = spell(Columns(types={guess.time_column: "date:hour,weekday"}))
            advice = f"To let its hour and weekday take part: {parts}."
            notes.append((f"{guess.time_column!r} orders the rows.", advice))
        if guess.time_column is None:
            advice = (
                "There is no column of times to split the table at: put the file of normal rows in the place of "
                f"{REFERENCE}."
            )
            notes.append(("", advice))
        return notes

    @property
    def remarks(self) -> list[str]:
        """What a person should know or decide."""
        return [" ".join(filter(None, note)) for note in self.notes]

    @property
    def _copies(self) -> bool:
        """Whether rows with one id are the same in everything."""
        return self.roles.repeated_rows is not None and self.roles.repeated_rows >= self.roles.repeated_ids

    @property
    def options(self) -> ReviewOptions:
        """What `biselect.review` takes to make a report of the table.

        Without a column of times a reference is needed beside them.
        """
        guess = self.roles
        marks, out = self._odd_words()
        texts = guess.named("free text")
        doubtful = self.reading is not None and guess.time_column in self.reading.doubts
        unique = guess.id_column is not None and (self._copies or not guess.repeated_ids)
        if guess.id_column is not None and not unique:
            texts.insert(0, guess.id_column)
        label = guess.label_column
        if label is not None and not (guess.positive_is_clear and not self._named(label).missing):
            label = f"{label}={guess.positive}"
        return ReviewOptions(
            columns=Columns(
                time=guess.time_column,
                id=guess.id_column if unique else None,
                label=label,
                exclude=[*texts[MOST_SHOWN:], *guess.named("empty"), *out],
                show=texts[:MOST_SHOWN],
                types={name: "category" for name in guess.named("code") if name not in out},
                duplicates="first" if unique and guess.repeated_ids else "error",
            ),
            csv=Csv(
                na_values=marks,
                date_format=self._named(str(guess.time_column)).date_form if doubtful else None,
            ),
            split=Split(until=None if guess.time_column is None else f"{REFERENCE_SHARE}%"),
        )

    def _named(self, name: str) -> ColumnGuess:
        return next(column for column in self.columns if column.name == name)

    def command(self) -> str:
        """The command line that makes a report of the file.

        It runs as it stands where a column of times says which rows are the reference; otherwise the name of a file of
        normal rows has to be put in.
        """
        path, options = self.source or "TABLE.csv", self.options
        reference = words_of(reference=REFERENCE) if self.roles.time_column is None else []
        words = words_of(options.split, options.columns, options.csv, out="report")
        return shlex.join(["biselect", "select", f"./{path}" if path.startswith("-") else path, *reference, *words])

    def _odd_words(self) -> tuple[list[str], list[str]]:
        """Words that may mean missing in columns of numbers, and columns with too much else to be of use."""
        marks: dict[str, None] = {}
        out = [name for name in self.roles.named("unclear") if name not in self.roles.strange]
        for name, odd in self.roles.strange.items():
            if len(odd) > MOST_MARKS or any("," in word or word != word.strip() for word in odd):
                out.append(name)
            else:
                marks.update(dict.fromkeys(odd))
        return list(marks), out

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
            "id_column": self.roles.id_column,
            "time_column": self.roles.time_column,
            "label_column": self.roles.label_column,
            "positive": self.roles.positive,
            "repeated_ids": self.roles.repeated_ids,
            "repeated_rows": self.roles.repeated_rows,
            "remarks": self.remarks,
            "options": self.options.to_dict(),
            "command": self.command(),
        }

    def _repr_html_(self) -> str:
        from html import escape

        lines = "".join(
            f"<tr><td>{escape(column.name)}</td><td>{column.role}</td><td>{column.missing:,}</td>"
            f"<td>{column.distinct:,}</td><td>{escape(', '.join(column.examples))}</td></tr>"
            for column in self.columns
        )
        head = "<tr><th>column</th><th>taken for</th><th>missing</th><th>different</th><th>such as</th></tr>"
        return f"<table>{head}{lines}</table><pre>{escape(self.command())}</pre>"


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """What `biselect.review` takes to make a report of a table.

    Attributes:
        columns: for `biselect.table`.
        csv: likewise.
        split: where to split the table in time.
    """

    columns: Columns
    csv: Csv
    split: Split

    def to_dict(self) -> dict[str, Any]:
        """What is not as usual, as plain data."""
        return {one.parameter: non_defaults(one) for one in (self.columns, self.csv, self.split)}


def inspect(table: Any, *, csv: Csv = Csv()) -> Inspection:
    """How a file is written, what each column is, and the command that makes a report of it.

    Args:
        table: a path, a frame of any library, or a `Table`.
        csv: what is known already of a CSV.

    >>> import pyarrow as pa
    >>> found = inspect(pa.table({"id": ["a", "b", "c"], "amount": [1.0, 2.5, 9.0]}))
    >>> [(column.name, column.role) for column in found.columns]
    [('id', 'id'), ('amount', 'number')]
    """
    described = table if isinstance(table, Table) else Table(table, csv=csv)
    rows = described.read()
    return Inspection(
        source=next(map(str, paths_of([described.source])), None),
        rows=rows.num_rows,
        roles=guess_roles(rows),
        reading=reading_of(rows),
    )


ROLES = ("number", "category", "id", "time", "label", "show", "leave out")  # that a person can give a column
DATE_ROLES = ("time", "show", "leave out")  # and a column of dates, whose parts may take part beside it


def parts_of(column: ColumnGuess) -> tuple[str, ...]:
    """Which parts of a column of dates can take part; none of others."""
    if not column.type.startswith(("timestamp", "date")):
        return ()
    return DATE_PARTS if any(":" in one for one in column.examples) else ("weekday", "gap")


def role_of(column: ColumnGuess, options: ReviewOptions) -> str:
    """Which of ROLES a column has by the options that an inspection gives."""
    columns, name = options.columns, column.name
    if name in (columns.id, columns.time):
        return "id" if name == columns.id else "time"
    if str(columns.label or "").partition("=")[0] == name:
        return "label"
    if name in columns.show:
        return "show"
    if name in columns.exclude or column.role in ("date", "empty"):
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
    inspection: Inspection, roles: Mapping[str, str], parts: Mapping[str, Sequence[str]] | None = None
) -> ReviewOptions:
    """The options of an inspection, with other roles for some columns.

    Args:
        inspection: what was taken for what.
        roles: one of ROLES by the name of a column.
        parts: of dates that take part, by the name of a column; see `parts_of`.

    >>> import pyarrow as pa
    >>> found = inspect(pa.table({"id": ["a", "b", "c"], "amount": [1.0, 2.5, 9.0], "shop": [7, 8, 7]}))
    >>> options_with(found, {"shop": "category", "amount": "leave out"}).to_dict()["columns"]
    {'id': 'id', 'exclude': ['amount'], 'types': {'shop': 'category'}}
    """
    columns = {column.name: column for column in inspection.columns}
    if unknown := [name for name in roles if name not in columns]:
        raise InputError(f"there is no column {unknown[0]!r}")
    if wrong := [role for role in roles.values() if role not in ROLES]:
        raise InputError(f"a column is one of {', '.join(ROLES)}; got {wrong[0]!r}")
    guess = inspection.options
    all_roles = {name: role_of(column, guess) for name, column in columns.items()} | dict(roles)
    single: dict[str, str | None] = {}
    for role in ("id", "time", "label"):
        names = [name for name, one in all_roles.items() if one == role]
        if len(names) > 1:
            raise InputError(f"only one column can be the {role}; got {' and '.join(map(repr, names))}")
        before = str(getattr(guess.columns, role) or "")
        single[role] = None if not names else before if before.partition("=")[0] == names[0] else names[0]
    date_parts = {name: part_names for name, part_names in (parts or {}).items() if part_names}
    for name, part_names in date_parts.items():
        if name not in columns or not {*part_names} <= {*parts_of(columns[name])}:
            raise InputError(f"column {name!r} has no {' and '.join(part_names)} that could take part")
    types = {name: f"date:{','.join(part_names)}" for name, part_names in date_parts.items()}
    for name, role in all_roles.items():
        guessed_role = columns[name].role
        if role == "category" and guessed_role not in ("category", "flag", "constant"):
            types[name] = "category"
        if role == "number" and guessed_role == "code":
            types[name] = "number"
    return ReviewOptions(
        columns=Columns(
            **single,
            exclude=[
                name
                for name, role in all_roles.items()
                if role == "leave out" and name not in date_parts and columns[name].role != "date"
            ],
            show=[name for name, role in all_roles.items() if role == "show" and name not in date_parts],
            types=types,
            duplicates="error" if single["id"] is None else guess.columns.duplicates,
        ),
        csv=guess.csv if single["time"] == guess.columns.time else replace(guess.csv, date_format=None),
        split=guess.split if single["time"] == guess.columns.time else Split(),
    )
