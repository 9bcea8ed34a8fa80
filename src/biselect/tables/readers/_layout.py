"""Where in a sheet or a text file the names of the columns stand, and which rows at its end are none of the table."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise, zip_longest

from biselect.columns import types
from biselect.columns.date import DATE
from biselect.columns.distinct_texts import LONGEST, MISSING_MARKS

PREAMBLE = 20  # lines above the names, at most
FEWEST_NAMES = 3  # under a preamble; of fewer, text with a comma in it could be meant
LOOK_ROWS, LOOK_COLUMNS = 30, 100  # that show what the columns hold
VALUES = 0.8  # share of values in a column of numbers or dates
UNIT = 12  # characters of what stands under a name
TAIL = 8  # rows at the end that are looked at
TOTAL = re.compile(
    r"\*{1,3}|(?:grand |sub|general |genel )?(?:totals?|totaux|totale?n?|summen?|zwischensumme|gesamt\w*|insgesamt|sum"
    r"|somme|summa|suma|toplam|合計|小計|総計|итого|всего|razem|celkem|összesen|yhteensä|i alt)\b.{0,30}",
    re.IGNORECASE,
)
RULE = re.compile(r"[-=_*. ]+")

Cells = Sequence[str]


def layout(rows: Sequence[Cells]) -> tuple[int, int]:
    """Find the names of the columns.

    Args:
        rows: the first rows, as texts without space around them; empty for no value.

    Returns:
        How many rows stand above the names, and how many hold names: 0 for none, more where groups of columns have a
        name of their own, or units or the like follow.
    """
    top, names = _names(rows)
    if names and top and _are_groups(rows[top - 1], rows[top]):
        return top - 1, names + 1
    below = rows[top + 1] if names == 1 and top + 1 < len(rows) else ()
    return top, names + (_are_groups(rows[top], below) and _are_names(below, rows[top + 2 :])) if below else names


def _names(rows: Sequence[Cells]) -> tuple[int, int]:
    filled = [sum(map(bool, row)) for row in rows]
    usual = max((fill for fill, times in Counter(filled).items() if times > 1), default=max(filled, default=0))
    top = next((at for at, fill in enumerate(filled[: PREAMBLE + 1]) if fill >= usual), 0)
    if top and filled[top] >= FEWEST_NAMES and _are_names(rows[top], rows[top + 1 :], counting=False):
        return top, 1 + _are_units(rows[top + 1 :])
    for above in dict.fromkeys([max(0, top - 1), 0]):  # one of the names may be missing
        if filled[above : above + 1] and 2 * filled[above] >= usual and _are_names(rows[above], rows[above + 1 :]):
            return above, 1 + _are_units(rows[above + 1 :])
    return 0, int(not rows or (usual < 2 and not _is_value(rows[0][0])))


def _are_names(row: Cells, below: Sequence[Cells], *, counting: bool = True) -> bool:
    """Whether a row names the columns below it: words stand above numbers, and none comes back."""
    numbers = [int(cell) for cell in row if cell.isascii() and cell.isdigit()]
    steps = {after - before for before, after in pairwise(numbers)}
    if counting and len(steps) == 1 and steps != {0} and (len(numbers) > 2 or {n // 100 for n in numbers} <= {19, 20}):
        return len(numbers) >= sum(map(bool, row)) - 1  # 2023, 2024, 2025
    names = data = 0
    for cell, column in zip(row, _columns(below), strict=False):
        if not cell or cell.lower() in MISSING_MARKS or not column:
            continue
        if _hold_values(column):
            names, data = names + (not _is_value(cell)), data + _is_value(cell)
        elif cell in column:
            data += 1
    return names > data or names == data == 0


def _are_groups(row: Cells, below: Cells) -> bool:
    """Whether cells that hold the same, as those of merged cells do, stand above one word each."""
    groups = sum(bool(cell) and cell == after for cell, after in pairwise(row))
    words = [cell for cell in below if cell]
    return groups > 0 and len(words) > len({*row} - {""}) and not any(map(_is_value, words))


def _are_units(below: Sequence[Cells]) -> bool:
    """Whether the first of these rows goes on with what the names say, as units do."""
    if len(below) < 3:
        return False
    cells = [cell for cell, column in zip(below[0], _columns(below[1:]), strict=False) if _hold_values(column)]
    words = [cell for cell in cells if cell]
    return (
        len(words) > 1 and 2 * len(words) > len(cells) and not any(len(one) > UNIT or _is_value(one) for one in words)
    )


def _columns(rows: Sequence[Cells]) -> list[list[str]]:
    """The first columns of the first rows, what means missing left out."""
    rows = rows[:LOOK_ROWS]
    width = min(LOOK_COLUMNS, max(map(len, rows), default=0))
    columns = ([row[at] for row in rows if at < len(row)] for at in range(width))
    return [[cell for cell in column if cell and cell.lower() not in MISSING_MARKS] for column in columns]


def _hold_values(column: Sequence[str]) -> bool:
    return bool(column) and sum(map(_is_value, column)) >= VALUES * len(column)


def _is_value(text: str) -> bool:
    """Whether a text is a number, a date or the like."""
    return len(text) <= LONGEST and any(one.recognises(text) for one in types())


def unique_names(names: Iterable[str]) -> list[str]:
    """The names, those that stand again with a number, and positions for those that are missing.

    >>> unique_names(["a", "", "a", "b", "a"])
    ['a', 'column 2', 'a (2)', 'b', 'a (3)']
    """
    unique: dict[str, None] = {}
    for at, raw in enumerate(names, 1):
        name, number = raw or f"column {at}", 1
        while name in unique:
            name = f"{raw or f'column {at}'} ({(number := number + 1)})"
        unique[name] = None
    return list(unique)


def joined_names(rows: Sequence[Cells]) -> list[str]:
    """The names that one or two rows make, each in one line."""
    return [" ".join(dict.fromkeys(" ".join(part.split()) for part in parts if part)) for parts in zip_longest(*rows)]


def closing_rows(rows: Sequence[Cells]) -> int:
    """How many of the last rows close the table, as totals do.

    Args:
        rows: the last rows, as texts; empty for no value.
    """
    usual = max((sum(map(bool, row)) for row in rows), default=0)
    closing = 0
    while closing < len(rows) and _closes(rows[-1 - closing], rows[: len(rows) - 1 - closing], usual):
        closing += 1
    return closing if closing < len(rows) else 0


def _closes(row: Cells, before: Sequence[Cells], usual: int) -> bool:
    cells = [(at, cell) for at, cell in enumerate(row) if cell]
    dates = [other[0] for other in before]
    if not row[0] and cells and len(dates) > 2 and all(one and DATE.recognises(one) for one in dates):
        return True  # each row has a date but the last
    if not cells or all(RULE.fullmatch(cell) for _, cell in cells):
        return True
    at, first = cells[0]
    column = [other[at] for other in before if other[at]]
    if first in column or _is_value(first):
        return False
    if TOTAL.fullmatch(first) and (len(cells) < usual or " " not in first):
        return True
    if usual < FEWEST_NAMES or 2 * len(cells) > usual:
        return False
    return _hold_values(column) or (len(cells) == 1 and " " in first)
