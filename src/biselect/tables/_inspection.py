"""What is known and guessed about a table, as plain data, as text and as the command that makes a report of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from biselect._version import __version__
from biselect.columns.date_text import in_words
from biselect.options import Columns, Csv, non_defaults, words_of
from biselect.tables._guess import Guess
from biselect.tables.readers import Reading

FORMAT = "biselect-inspection-1"  # of the plain data, which `biselect.pages.render_inspection` takes
BETWEEN = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "spaces", "  ": "spaces"}
MARKS = {" ": "space", "'": "apostrophe"}


def inspection_of(name: str, source: str, guess: Guess, columns: Columns, csv: Csv) -> dict[str, Any]:
    """Everything as plain data, for JSON.

    Args:
        name: of the table, short.
        source: its path; a word for a frame.
        guess: what its columns are taken for.
        columns: what a person said of them.
        csv: and of how texts are written.
    """
    reading, label = guess.reading, guess.described.label
    return {
        "format": FORMAT,
        "version": __version__,
        "title": f"What is in {name}",
        "rows": guess.rows,
        "form": form_of(reading),
        "reading": {**asdict(reading), "path": Path(reading.path).name},
        "columns": [
            {**asdict(one), "missing_marks": [str(mark) for mark in one.missing_marks], "way_out": one.way_out}
            for one in guess.columns
        ],
        "id_column": guess.described.id,
        "time_column": guess.described.time,
        "label_column": label and label.rpartition("=")[0],
        "positive": next((one.positive for one in guess.columns if one.positive), None),
        "repeated_ids": sum(one.repeats for one in guess.columns),
        "remarks": [f"{text} {way}".strip() for text, way in guess.notes],
        "options": {one.parameter: non_defaults(one) for one in (guess.described, csv)},
        "command": command_for(source, columns, csv),
    }


def form_of(reading: Reading) -> dict[str, str]:
    """How a table is written, in words by what is meant."""
    facts = {}
    if reading.part:
        facts["part"] = reading.part
    if reading.delimiter:
        facts["encoding"] = reading.encoding + (" with a byte order mark" if reading.bom else "")
        facts["between values"] = BETWEEN.get(reading.delimiter, reading.delimiter)
    if reading.skipped or not reading.names:
        facts["names"] = f"in line {reading.skipped + 1}" if reading.names else "none"
    if reading.decimal:
        facts["decimals after a"] = {",": "comma", ".": "point"}[reading.decimal]
    if marks := sorted({mark for _, mark in reading.styles.values() if mark}):
        facts["between thousands"] = " or ".join(MARKS.get(mark, mark) for mark in marks)
    if reading.dates:
        facts["dates"] = ", ".join(in_words(form) for form in dict.fromkeys(reading.dates.values()))
    return facts


def command_for(source: str, columns: Columns, csv: Csv) -> str:
    """The command line that makes a report of the table; what it finds out by itself is not said."""
    words = words_of(columns, csv, out="report")
    return shlex.join(["biselect", "select", f"./{source}" if source.startswith("-") else source, *words])


def as_text(view: Mapping[str, Any]) -> str:
    """An inspection in lines: the columns, what is to be said about them, and the command."""
    rows = [("column", "taken for", "missing", "different", "such as")]
    for one in view["columns"]:
        rows.append(
            (one["name"], one["role"], f"{one['missing']:,}", f"{one['distinct']:,}", ", ".join(one["examples"]))
        )
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    form = "".join(f"; {what}: {how}" for what, how in view["form"].items())
    lines = [f"{view['rows']:,} rows, {len(view['columns']):,} columns{form}"]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *view["remarks"], view["command"]])


def as_html(view: Mapping[str, Any]) -> str:
    """An inspection as a table for a notebook."""
    lines = "".join(
        f"<tr><td>{escape(one['name'])}</td><td>{escape(one['role'])}</td><td>{one['missing']:,}</td>"
        f"<td>{one['distinct']:,}</td><td>{escape(', '.join(one['examples']))}</td></tr>"
        for one in view["columns"]
    )
    head = "<tr><th>column</th><th>taken for</th><th>missing</th><th>different</th><th>such as</th></tr>"
    notes = "".join(f"<p>{escape(text)}</p>" for text in view["remarks"])
    return f"<table>{head}{lines}</table>{notes}<pre>{escape(view['command'])}</pre>"
