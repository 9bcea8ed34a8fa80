"""What a notebook shows of an object: small tables that need no script, read in light and dark, every name escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

MOST_ROWS, MOST_COLUMNS = 20, 8  # of a table; the rest is counted
HUES = {  # as in the pictures, over any background
    "low": "0,114,178",
    "high": "213,94,0",
    "adds": "0,158,115",
    "takes": "204,121,167",
    "": "128,128,128",
}
ARROWS = {"low": " ▼", "high": " ▲"}  # direction without colour
STYLE = (
    "<style>.biselect{font-size:13px;line-height:1.45;overflow-x:auto}"
    ".biselect p{margin:.2em 0}.biselect .lead{font-size:15px;font-weight:600}.biselect .quiet{opacity:.75}"
    ".biselect table{border-collapse:collapse;margin:.5em 0;font-size:inherit}"
    ".biselect th,.biselect td{padding:2px 9px;text-align:left;max-width:32em;overflow-wrap:anywhere;"
    "border-bottom:1px solid rgba(128,128,128,.3)}.biselect td:last-child:not(.number){min-width:15em}"
    ".biselect .number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}</style>"
)


@dataclass(frozen=True)
class Cell:
    """A cell of a table; the stronger, the more it is tinted, in the hue of its side."""

    text: str
    strength: float = 0.0
    side: str = ""
    number: bool = True

    def html(self) -> str:
        """The markup."""
        tint = f"rgba({HUES.get(self.side, HUES[''])},{0.5 * min(max(self.strength, 0.0), 1.0):.2f})"
        look = ' class="number"' if self.number else ""
        look += f' style="background:{tint}"' if self.strength > 0 else ""
        return f"<td{look}>{plain(self.text)}</td>"


def plain(text: str) -> str:
    """Text as it is, for HTML: on one line, and nothing in it is markup.

    >>> plain("<b>")
    '&lt;b&gt;'
    """
    return escape("".join(character if character.isprintable() else "�" for character in text))


def paragraph(text: str, look: str = "") -> str:
    """A line above or below a table."""
    return f'<p class="{look}">{plain(text)}</p>'


def table(head: Sequence[str | Cell], rows: Iterable[Sequence[str | Cell]]) -> str:
    """A table; plain texts are names, to the left."""

    def markup(cell: str | Cell, heading: bool = False) -> str:
        cell = Cell(cell, number=False) if isinstance(cell, str) else cell
        return cell.html().replace("<td", "<th").replace("</td", "</th") if heading else cell.html()

    lines = "".join(f"<tr>{''.join(map(markup, row))}</tr>" for row in rows)
    return (
        f"<table><thead><tr>{''.join(markup(cell, True) for cell in head)}</tr></thead><tbody>{lines}</tbody></table>"
    )


def shown(*parts: str) -> str:
    """All parts as one output of a notebook."""
    return f'{STYLE}<div class="biselect">{"".join(parts)}</div>'


def left_out(rows: int, columns: int, where: str) -> str:
    """What a table of so many rows and columns does not show, and where it is."""
    rest = [
        f"{count - most:,} more {what}"
        for count, most, what in ((rows, MOST_ROWS, "rows"), (columns, MOST_COLUMNS, "columns"))
        if count > most
    ]
    return paragraph(f"{' and '.join(rest)}: {where}.", "quiet") if rest else ""


def number(value: float) -> str:
    """Four digits, thousands apart.

    >>> number(12345.6), number(0.0123), number(-0.0)
    ('12,346', '0.0123', '0')
    """
    value += 0.0
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"


def some(names: Sequence[str], most: int = 8) -> str:
    """The first few of a list of names.

    >>> some(["a", "b", "c"], most=2)
    "['a', 'b', … 1 more]"
    """
    rest = [f"… {len(names) - most} more"] if len(names) > most else []
    return f"[{', '.join([*map(repr, names[:most]), *rest])}]"


def strongest_first(values: Iterable[float]) -> list[int]:
    """Positions by value, the largest first; ties keep their order."""
    order: list[int] = np.argsort(-np.asarray(values), kind="stable").tolist()
    return order


def review_html(summary: Mapping[str, Any], standing: str, reasons: Sequence[str]) -> str:
    """A compact table of a summary; `reasons` holds the strongest one of each row."""
    budgets, rows = summary["budgets"], summary["rows"]
    sizes = (
        f"{budgets['k']} of {budgets['samples']:,} rows, {budgets['m']} of {budgets['features']:,} columns; "
        f"score {number(summary['selection']['score'])}, {standing}."
    )
    finding = (summary.get("finding") or {}).get("words")
    columns = [column["name"] for column in summary["columns"]]
    names = columns[:MOST_COLUMNS]
    strongest = max(abs(cell["adds"]) for row in rows for cell in row["cells"]) or 1.0
    labelled = rows[0]["label"] is not None
    lines = [
        [
            row["name"],
            *(row["shown"].values()),
            *([Cell("yes" if row["label"] else "no")] if labelled else []),
            *_cells(row, names, strongest),
            Cell(number(row["value"])),
            reason,
        ]
        for row, reason in list(zip(rows, reasons, strict=True))[:MOST_ROWS]
    ]
    head = [
        "row",
        *rows[0]["shown"],
        *([Cell("label")] if labelled else []),
        *map(Cell, names),
        Cell("adds"),
        "strongest reason",
    ]
    warnings = [paragraph(f"⚠ {warning['text']}") for warning in summary["warnings"]]
    return shown(
        paragraph(finding or summary["title"], "lead"),
        paragraph(sizes),
        *warnings,
        table(head, lines),
        left_out(len(rows), len(columns), "to_frame() has all of them"),
        paragraph("▼ lower, ▲ higher than usual; stronger tints add more. show() opens the page.", "quiet"),
    )


def _cells(row: Mapping[str, Any], columns: Sequence[str], strongest: float) -> list[Cell]:
    """The values of a row, tinted by what they add."""
    found = {cell["feature"]: cell for cell in row["cells"]}
    cells = []
    for name in columns:
        cell = found[name]
        value = cell.get("value", cell["adds"])
        text = "–" if value is None or cell.get("filled") else value if isinstance(value, str) else f"{value:,.6g}"
        side = cell.get("direction", "adds" if cell["adds"] > 0 else "takes")
        arrow = ARROWS.get(cell.get("direction", ""), "")
        cells.append(Cell(text + arrow, abs(cell["adds"]) / strongest, side))
    return cells
