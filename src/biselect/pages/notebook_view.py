"""What a notebook shows of a review: the finding, the proof, the rows with their values and reasons."""

from collections.abc import Mapping, Sequence
from typing import Any

from biselect.core import notebook
from biselect.core.notebook import Cell

ARROWS = {"low": " ▼", "high": " ▲"}  # direction without colour


def review_html(summary: Mapping[str, Any], standing: str, reasons: Sequence[str]) -> str:
    """A compact table of a summary; `reasons` holds the strongest one of each row."""
    budgets, rows = summary["budgets"], summary["rows"]
    sizes = (
        f"{budgets['k']} of {budgets['samples']:,} rows, {budgets['m']} of {budgets['features']:,} columns; "
        f"score {notebook.number(summary['selection']['score'])}, {standing}."
    )
    finding = (summary.get("finding") or {}).get("words")
    columns = [column["name"] for column in summary["columns"]]
    shown = columns[: notebook.MOST_COLUMNS]
    strongest = max(abs(cell["adds"]) for row in rows for cell in row["cells"]) or 1.0
    labelled = rows[0]["label"] is not None
    lines = [
        [
            row["name"],
            *(row["shown"].values()),
            *([Cell("yes" if row["label"] else "no")] if labelled else []),
            *_cells(row, shown, strongest),
            Cell(notebook.number(row["value"])),
            reason,
        ]
        for row, reason in list(zip(rows, reasons, strict=True))[: notebook.MOST_ROWS]
    ]
    head = [
        "row",
        *rows[0]["shown"],
        *([Cell("label")] if labelled else []),
        *map(Cell, shown),
        Cell("adds"),
        "strongest reason",
    ]
    warnings = [notebook.paragraph(f"⚠ {warning['text']}") for warning in summary["warnings"]]
    return notebook.shown(
        notebook.paragraph(finding or summary["title"], "lead"),
        notebook.paragraph(sizes),
        *warnings,
        notebook.table(head, lines),
        notebook.left_out(len(rows), len(columns), "to_frame() has all of them"),
        notebook.paragraph("▼ lower, ▲ higher than usual; stronger tints add more. show() opens the page.", "quiet"),
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
