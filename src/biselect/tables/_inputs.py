"""What `review` takes as a table, frames of any library, arrays and files, as Arrow tables and then as a pool."""

import hashlib
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from biselect.columns.date import parts_of_dates
from biselect.errors import InputError
from biselect.options import ANY, Columns, Csv, Options, Split, in_python, non_defaults, running_command, spell
from biselect.tables._frames import row_labels
from biselect.tables._named_columns import is_text, names_in
from biselect.tables._split import Pool, Roles, from_two_tables, split_in_time
from biselect.tables._table import Table, as_described, as_table
from biselect.tables.readers import PLAIN, CsvForm, reading_of
from biselect.tables.readers.sources import CSV, Source
from biselect.tables.roles import looks_like_code

MOST_HASHED = 1 << 30  # bytes of files that are read once more to identify them; of more only their ends are
END_BYTES = 1 << 16
CSV_OPTIONS = ("encoding", "delimiter", "decimal", "thousands", "na_values")


def tables_of(pool: Any, reference: Any) -> tuple[Table, Any]:
    """The pool with what its columns are, and the source of the reference, which is read in the same way.

    Raises:
        InputError: something else is said about the columns of the reference.
    """
    described = as_described(pool)
    if not isinstance(reference, Table):
        return described, reference
    for name in ("columns", "csv"):
        if getattr(reference, name) not in (getattr(described, name), getattr(Table(None), name)):
            raise InputError(f"the reference is read as the pool is; say what is in {name}= of the pool alone")
    return described, reference.source


def open_pool(pool: Any, reference: Any, roles: Roles, *, split: Split = Split(), form: CsvForm = PLAIN) -> Pool:
    """Reference and pool from two tables, or from one that is split in time.

    Args:
        pool: rows to choose from, a table or a path.
        reference: normal rows; None to split `pool`.
        roles: of the columns; its lists may hold names separated by commas.
        split: where to split `pool`.
        form: of CSV files, as far as it is known.
    """
    check_combination(pool, reference, roles, split, form)
    sources = [source for source in (pool, reference) if source is not None]
    form = with_roles(form, roles)
    tables = [as_table(source, form) for source in sources]
    if reference is not None and form.decimal is None:
        tables = _in_one_style(sources, tables, form)
    if reference is not None and (unlike := _text_in_one(*tables)):
        form = replace(form, categories=sorted({*form.categories, *unlike} - set(form.text_columns)))
        tables = [
            as_table(source, form) if _is_csv(source) else table for source, table in zip(sources, tables, strict=True)
        ]
    if roles.id_column is None and row_labels(pool) is not None:
        tables[0], name = with_index(tables[0], pool)
        roles = replace(roles, id_column=name)
    roles = resolved(roles, {name for table in tables for name in table.column_names})
    zero_led = {name for table in tables if (reading := reading_of(table)) for name in reading.codes}
    codes = code_columns(tables[-1], roles, zero_led) if paths_of(sources) else []
    roles = replace(roles, categories=[*roles.categories, *codes])
    if reference is not None:
        return replace(from_two_tables(tables[1], tables[0], roles), codes=codes)
    return replace(split_in_time(tables[0], roles, split), codes=codes)


def with_index(table: pa.Table, frame: Any) -> tuple[pa.Table, str]:
    """The table of a pandas frame whose index names the rows, with that index as a column, and the column's name."""
    name = unused_name(str(getattr(frame.index, "name", None) or "index"), table)
    return table.append_column(name, pa.array(row_labels(frame))), name


def unused_name(name: str, table: pa.Table) -> str:
    """A name like this one that no column of the table has."""
    while name in table.column_names:
        name += "_"
    return name


def check_combination(pool: Any, reference: Any, roles: Roles, split: Split, form: CsvForm) -> None:
    """Refuse options that do not go together."""
    time, until = spell(Columns(time=ANY)), spell(Split(until=ANY))
    if (reference is None) == (split.until is None):
        raise InputError(f"give either {spell(reference=ANY)}, or {time} and {until} to split the pool in time")
    if reference is not None and split.last is not None:
        raise InputError(f"{spell(Split(last=ANY))} goes with {until}")
    if reference is None and roles.time_column is None:
        raise InputError(f"{until} needs {time}")
    sources = [source for source in (pool, reference) if source is not None]
    if not any(map(_is_csv, sources)):
        if roles.date_format is not None and roles.time_column is None:
            raise InputError(f"{spell(Csv(date_format=ANY))} goes with {time}")
        if written := {name: ANY for name in CSV_OPTIONS if getattr(form, name)}:
            raise InputError(f"{spell(Csv(**written))}: such options are for CSV files; other tables say it themselves")


def resolved(roles: Roles, known: Collection[str]) -> Roles:
    """The roles with their lists of names taken apart, now that it is known which names there are."""
    return replace(
        _with_label_value(roles, known),
        features=names_in(roles.features, known) or None,
        exclude=names_in(roles.exclude, known),
        show=names_in(roles.show, known),
        categories=names_in(roles.categories, known),
        numbers=names_in(roles.numbers, known),
    )


def with_roles(form: CsvForm, roles: Roles) -> CsvForm:
    """The form with what the roles say: names and shown columns stay as they are written."""
    as_text = {roles.id_column, roles.per, *all_names(roles.show)} - {roles.label_column}
    if roles.date_format is not None:
        as_text.add(roles.time_column)
    return replace(
        form,
        na_values=names_in(form.na_values, ()),
        date_format=roles.date_format,
        text_columns=sorted(name for name in as_text if name is not None),
        categories=sorted(all_names(roles.categories)),
        numbers=sorted(all_names(roles.numbers)),
    )


def _in_one_style(sources: Sequence[Any], tables: list[pa.Table], form: CsvForm) -> list[pa.Table]:
    """The tables, with a file that does not show how decimals are written read as the other: 1.234 may be 1234."""
    marks = [reading.decimal if (reading := reading_of(table)) else None for table in tables]
    if sorted(marks, key=str) != ["", ","]:
        return tables
    told = replace(form, decimal=",")
    return [
        as_table(source, told) if mark == "" else table
        for source, table, mark in zip(sources, tables, marks, strict=True)
    ]


def all_names(given: Any) -> set[str]:
    """Names as they are given and without their commas: which is meant is known once the table is read."""
    return {*names_in(given, [given] if isinstance(given, str) else given), *names_in(given, ())}


def _with_label_value(roles: Roles, known: Collection[str]) -> Roles:
    """`fraud=yes` names a column and its positive value, unless a column is called so."""
    label = roles.label_column
    if label is None or label in known or "=" not in label:
        return roles
    name, _, value = label.rpartition("=")
    return replace(roles, label_column=name, label_value=value)


def code_columns(reference: pa.Table, roles: Roles, zero_led: Collection[str]) -> list[str]:
    """Columns of the reference that are codes by name and by what they hold, and of which nobody said anything."""
    taken = {roles.id_column, roles.label_column, roles.time_column, roles.per, *roles.show, *roles.exclude}
    taken |= {*roles.categories, *roles.numbers, *parts_of_dates(roles.dates)}
    return [
        name
        for name, column in zip(reference.column_names, reference.columns, strict=True)
        if name not in taken
        and (roles.features is None or name in roles.features)
        and (name in zero_led or looks_like_code(name, column))
    ]


def _is_csv(source: Any) -> bool:
    return any(found.path.name.lower().endswith(CSV) for found in paths_of([source]))


def _text_in_one(pool: pa.Table, reference: pa.Table) -> set[str]:
    """Columns that are text in the reference and something else in the pool, or text beside true and false."""
    there = set(pool.column_names)
    shared = [name for name in reference.column_names if name in there]
    kinds = {name: (reference[name].type, pool[name].type) for name in shared}
    return {
        name
        for name, (before, now) in kinds.items()
        if is_text(before) != is_text(now) and (is_text(before) or pa.types.is_boolean(before))
    }


def features_in(table: pa.Table, roles: Roles) -> list[str]:
    """The feature columns of a table; lists of the roles may hold names separated by commas."""
    return resolved(roles, table.column_names).feature_columns(table)


def paths_of(sources: Iterable[Any]) -> list[Source]:
    """Those tables that are files, parts of files, or sets of them."""
    return [Source.of(source) for source in sources if isinstance(source, str | Path)]


def provenance(
    command: str, seed: int, sources: Iterable[Any], read_as: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """What it takes to get the same answer again; `read_as` says how files were read, where that is not plain."""
    words = read_as or {}
    inputs = []
    for source in paths_of(sources):
        files = source.files
        if sum(path.stat().st_size for path in files) > MOST_HASHED:
            inputs.append({"name": source.name, "sha256": _sha256_of_ends(files), "of": "ends", "read_as": []})
            continue
        inputs += [
            {
                "name": path.name if source.is_set else source.name,
                "sha256": _sha256(path),
                "read_as": list(words.get(path.name, ())),
            }
            for path in files
        ]
    return {"command": command, "seed": seed, "inputs": inputs}


def _sha256_of_ends(files: Sequence[Path]) -> str:
    """Of names, sizes and last bytes: a Parquet file ends with what it says about all of its columns."""
    found = hashlib.sha256()
    for path in files:
        size = path.stat().st_size
        found.update(f"{path.name}:{size}\n".encode())
        with path.open("rb") as file:
            file.seek(max(0, size - END_BYTES))
            found.update(file.read())
    return found.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def call_in_words(function: Callable[..., Any], **arguments: Any) -> str:
    """How to get the answer again: the command that is running, or the call as Python.

    What is left at its default is left out, and tables that are no files go by the name of their parameter.
    """
    if (command := running_command()) is not None:
        return command
    written = []
    for name, parameter in inspect.signature(function).parameters.items():
        value = arguments.get(name, parameter.default)
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            written += [] if value is None else [_table_in_words(name, value)]
        elif name == "pool":
            written += [] if value is None else [f"pool={_table_in_words(name, value)}"]
        elif isinstance(value, Options):
            written += [in_python(value)] if non_defaults(value) else []
        elif value is not parameter.default and value != parameter.default:
            written.append(f"{name}={value!r}")
    return f"biselect.{function.__name__}({', '.join(written)})"


def _table_in_words(name: str, value: Any) -> str:
    table = as_described(value)
    source = repr(str(table.source)) if table.is_file else name
    options = in_python(*(one for one in (table.columns, table.csv) if non_defaults(one)))
    return f"biselect.table({source}, {options})" if options else source


def form_of(csv: Csv) -> CsvForm:
    """What is known of CSV files."""
    return CsvForm(**{name: getattr(csv, name) for name in CSV_OPTIONS})
