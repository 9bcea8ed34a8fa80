"""What is known and guessed about a table, as plain data, as text and as the command that makes a report of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from biselect._version import __version__
from biselect.options import Columns, Csv, non_defaults, words_of
from biselect.tables._guess import Guess

FORMAT = "biselect-inspection-1"  # of the plain data, which `biselect.pages.render_inspection` takes


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
        "read_as": reading.words,
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


def command_for(source: str, columns: Columns, csv: Csv) -> str:
    """The command line that makes a report of the table; what it finds out by itself is not said."""
    stem = Path(source.partition("::")[0]).name.partition(".")[0]
    words = words_of(columns, csv, out=f"{stem}-report" if stem.strip("*?-") else "report")
    return shlex.join(["biselect", "select", f"./{source}" if source.startswith("-") else source, *words])


def as_text(view: Mapping[str, Any]) -> str:
    """An inspection in lines: the columns, what is to be said about them, and the command."""
    rows = [("column", "taken for", "missing", "different", "such as")]
    for one in view["columns"]:
        rows.append(
            (one["name"], one["role"], f"{one['missing']:,}", f"{one['distinct']:,}", ", ".join(one["examples"]))
        )
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = ["; ".join([f"{view['rows']:,} rows, {len(view['columns']):,} columns", *view["read_as"]])]
    lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, *view["remarks"], view["command"]])
