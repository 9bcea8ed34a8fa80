"""Tables that fit the terminal: as tables where there is room, else a line or two for each row."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from biselect.pages.words import phrase

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

BETWEEN = " · "
LEAST = 8  # characters that a value below its row is worth showing in
NONE = ("", "-")  # cells that say nothing
BOUNDLESS = 10_000  # the width at which a table is measured as it would like to be
SUSPECT = re.compile(r"[^\n -~]")  # characters to look at: not plain ASCII
JOINERS = "\u200c\u200d"  # that some alphabets and emoji need, and that show nothing of their own


def visible(text: str) -> str:
    """Text as it is, but for what could steer a terminal or turn what it shows around."""
    return SUSPECT.sub(lambda found: _seen(found[0], " " if found[0].isspace() else "�"), text)


def visible_json(text: str) -> str:
    """JSON with the same content, in which such characters are written as escapes."""
    return SUSPECT.sub(lambda found: _seen(found[0], json.dumps(found[0])[1:-1]), text)


def _seen(character: str, otherwise: str) -> str:
    return character if character.isprintable() or character in JOINERS else otherwise


def printable(text: str, style: str = "") -> Text:
    """Text as `visible` gives it, without markup."""
    from rich.text import Text

    return Text(visible(text), style=style)


def out() -> Console:
    """The console for answers."""
    from rich.console import Console

    return Console(highlight=False)


def show_line(text: str) -> None:
    """One line of an answer."""
    out().print(printable(text))


def figures(title: str, name: str, *columns: str) -> Table:
    """A table of figures: names to the left, columns of numbers to the right of them."""
    from rich.table import Table

    table = Table(title=printable(title), title_justify="left", title_style="bold")
    table.add_column(name, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def show_table(table: Table, below: Collection[int] = ()) -> None:
    """Print a table, or its rows as lines where it is too wide even with headings of several lines.

    The columns at the places `below` then stand in a second line, cut to fit. Numbers, which stand to the right in a
    table, keep their heading; words speak for themselves.
    """
    console, columns = out(), table.columns
    texts = [[" ".join(str(cell).split()) for cell in column.cells] for column in columns]
    needed = [_width(column, cells) for column, cells in zip(columns, texts, strict=True)]
    if console.measure(table, options=console.options.update(max_width=BOUNDLESS)).maximum <= console.width:
        return console.print(table)
    if sum(needed) + 3 * (len(needed) - 1) <= console.width:
        table.show_edge = table.pad_edge = False
        for column, width in zip(columns, needed, strict=True):
            column.width = width
        return console.print(table)
    if table.title is not None:
        console.print(str(table.title), style="bold", markup=False)
    lines: list[str] = []
    first = [place for place in range(len(columns)) if place not in below]
    kept = list(below)[: max(1, (console.width - 2 + len(BETWEEN)) // (LEAST + len(BETWEEN)))]
    if kept:
        lines.append("Below each: " + ", ".join(str(columns[place].header) for place in kept))
    cut = False
    for row in range(table.row_count):
        lines += _wrapped([_said(columns[place], texts[place][row]) for place in first], console.width)
        if kept:
            whole = [texts[place][row] or "–" for place in kept]
            clipped = _clipped(whole, console.width - 2)
            lines.append("  " + BETWEEN.join(clipped))
            cut = cut or clipped != whole
    if cut or len(kept) < len(below):
        left_out = ", ".join(str(columns[place].header) for place in list(below)[len(kept) :])
        lines.append(phrase("terminal.cut_without" if left_out else "terminal.cut", names=left_out))
    for line in lines:
        console.print(line, markup=False)


def _width(column: Column, cells: list[str]) -> int:
    """What a column needs: its longest cell, and of its heading, which may stand in several lines, the longest word."""
    from rich.cells import cell_len

    return max(map(cell_len, [*cells, *str(column.header).split()]), default=0)


def _said(column: Column, text: str) -> list[str]:
    """The words of a cell, which a line may end between; a number after its heading is one."""
    if text in NONE:
        return []
    return text.split() if column.justify == "left" else [f"{column.header} {text}".strip()]


def _wrapped(cells: list[list[str]], width: int) -> list[str]:
    """A row in one line; what does not fit goes on below, further in."""
    from rich.cells import cell_len

    name, *others = [words for words in cells if words]
    apart = [[*words[:-1], words[-1] + BETWEEN.rstrip()] for words in others[:-1]] + others[-1:]
    lines = [" ".join(name) + " "]
    for word in (word for words in apart for word in words):
        if cell_len(lines[-1]) + 1 + cell_len(word) > width:
            lines.append("   ")
        lines[-1] += f" {word}"
    return lines


def _clipped(texts: list[str], room: int) -> list[str]:
    """The texts, the longest shortened until all fit into one line."""
    from rich.cells import cell_len, set_cell_size

    widths = [cell_len(text) for text in texts]
    while sum(widths) > room - len(BETWEEN) * (len(texts) - 1) and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    return [
        text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"
        for text, width in zip(texts, widths, strict=True)
    ]
