"""CSV as we write it: text that a spreadsheet would run as a formula is kept a text by an apostrophe before it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

FORMULA = re.compile(r"'*[=+\-@\t\r]")  # with the apostrophes of guarded text, so that a guard can be taken off again
SPECIAL = re.compile(r'[",\r\n]')
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A header and a line for each row.

    >>> print(csv_text([{"name": "=1+1", "adds": -2.5}], ["name", "adds"]), end="")
    name,adds
    '=1+1,-2.5
    """
    lines = [columns, *([row[column] for column in columns] for row in rows)]
    return "".join(",".join(map(_quoted, line)) + "\n" for line in lines)


def _quoted(cell: Any) -> str:
    text = "" if cell is None else str(guarded(cell))
    return '"' + text.replace('"', '""') + '"' if SPECIAL.search(text) else text


def guarded(cell: Any) -> Any:
    """A cell that no spreadsheet runs: an apostrophe before text that begins like a formula and is no number."""
    risky = isinstance(cell, str) and FORMULA.match(cell) and not NUMBER.fullmatch(cell)
    return f"'{cell}" if risky else cell


def unguarded(cell: str) -> str:
    """The text that `guarded` was given."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell
