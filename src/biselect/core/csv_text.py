"""CSV as we write it: text that a spreadsheet would run as a formula is kept a text by an apostrophe before it.

A spreadsheet may take a semicolon, a tab or the end of a line within our text for the end of a cell, whatever quotes
stand around it, and what follows for the next cell; and some take full-width signs for plain ones. Text that has an
apostrophe there already gets one more, so that a guard can be taken off again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

SIGNS = r"=+\-@＝＋－＠"
FORMULA = re.compile(rf"\A(?='*[{SIGNS}\t\r])|(?<=[;\t\r\n])(?=['\"]*[{SIGNS}])")  # where an apostrophe goes
GUARD = re.compile(f"(?:{FORMULA.pattern})'")  # where one was put
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
    """A cell that no spreadsheet runs: an apostrophe before whatever begins like a formula, unless it is a number."""
    return FORMULA.sub("'", cell) if isinstance(cell, str) and not NUMBER.fullmatch(cell) else cell


def unguarded(cell: str) -> str:
    """The text that `guarded` was given."""
    return GUARD.sub("", cell)
