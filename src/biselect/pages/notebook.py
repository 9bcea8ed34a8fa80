"""What a notebook shows of an object: small tables that need no script, read in light and dark, every name escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from biselect.pages.words import number, phrase, printed_scores, told_parts, words_of

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


def output(*parts: str) -> str:
    """All parts as one output of a notebook."""
    return f'{STYLE}<div class="biselect">{"".join(parts)}</div>'


def left_out(rows: int, columns: int) -> str:
    """How many rows and columns a table does not show, and where they are."""
    words = words_of()
    rest = [
        words.phrase(f"notebook.more_{what}", n=count - most)
        for count, most, what in ((rows, MOST_ROWS, "rows"), (columns, MOST_COLUMNS, "columns"))
        if count > most
    ]
    return paragraph(words.phrase("notebook.left_out", rest=words.listed(rest)), "quiet") if rest else ""


def some(names: Sequence[str], most: int = 8) -> str:
    """The first few of a list of names.

    >>> some(["a", "b", "c"], most=2)
    "['a', 'b', … 1 more]"
    """
    rest = [f"… {len(names) - most} more"] if len(names) > most else []
    return f"[{', '.join([*map(repr, names[:most]), *rest])}]"


def problem_html(problem: Any) -> str:
    """What a `SelectionProblem` chooses from, and what may not be chosen."""
    lowest, highest = (number(float(end)) for end in (problem.coupling.min(), problem.coupling.max()))
    sides = (
        ("samples", problem.sample_names, problem.sample_scores, problem.sample_rules),
        ("features", problem.feature_names, problem.feature_scores, problem.feature_rules),
    )
    lines = [
        [
            phrase(f"notebook.{side}"),
            phrase("notebook.unnamed") if names is None else some(names, 4),
            phrase("notebook.range", lowest=number(scores.min()), highest=number(scores.max())),
            phrase("notebook.ruled" if rules else "notebook.unruled"),
        ]
        for side, names, scores, rules in sides
    ]
    weight = number(problem.coupling_weight)
    return output(
        paragraph(phrase("notebook.problem", **sizes_of(problem)), "lead"),
        paragraph(phrase("notebook.weights", lowest=lowest, highest=highest, weight=weight)),
        table(["", *(phrase(f"notebook.{name}") for name in ("names", "scores", "rules"))], lines),
    )


def sizes_of(problem: Any) -> dict[str, int]:
    """Budgets and sizes of a problem, as sentences call them."""
    return {"k": problem.k, "m": problem.m, "samples": problem.n_samples, "features": problem.n_features}


def selection_html(selection: Any) -> str:
    """A `Selection`: the answer, how good it is, and its block."""
    score, standing = number(selection.score), selection.standing
    return output(
        paragraph(phrase("notebook.selection", **sizes_of(selection.problem)), "lead"),
        paragraph(phrase("notebook.standing", score=score, standing=standing, solver=selection.solver)),
        block_html(selection.explain(nearest=0)),
    )


def explanation_html(why: Any) -> str:
    """An `Explanation`: the block of an answer, and what nearly made it in."""
    return output(
        paragraph(phrase("notebook.explanation"), "lead"),
        block_html(why),
        _swaps_html("samples", why.sample_swaps, why.problem.sample_name),
        _swaps_html("features", why.feature_swaps, why.problem.feature_name),
    )


def block_html(why: Any) -> str:
    """The chosen block as a table, strongest first, as far as one can read it."""
    rows, columns = why.strongest_samples, why.strongest_features
    largest = float(np.abs(why.cells).max()) or 1.0

    def cell(i: int, j: int) -> Cell:
        adds = float(why.cells[i, j])
        return Cell(number(adds), abs(adds) / largest, "takes" if adds < 0 else "adds")

    lines: list[list[str | Cell]] = [
        [
            why.problem.sample_name(why.samples[i]),
            *(cell(i, j) for j in columns[:MOST_COLUMNS]),
            Cell(number(float(why.sample_marginals[i]))),
            Cell(number(float(why.sample_values[i]))),
        ]
        for i in rows[:MOST_ROWS]
    ]
    names = [why.problem.feature_name(why.features[j]) for j in columns[:MOST_COLUMNS]]
    head: list[str | Cell] = [
        phrase("notebook.sample"),
        *map(Cell, (*names, phrase("notebook.alone"), phrase("notebook.adds"))),
    ]
    return table(head, lines) + left_out(len(rows), len(columns))


def _swaps_html(side: str, swaps: Sequence[Any], name: Callable[[int], str]) -> str:
    if not swaps:
        return ""
    lines: list[list[str | Cell]] = [
        [name(swap.enters), name(swap.leaves), Cell(number(swap.cost))] for swap in swaps[:5]
    ]
    head: list[str | Cell] = [phrase("notebook.enters"), phrase("notebook.leaves"), Cell(phrase("notebook.cost"))]
    return paragraph(phrase(f"notebook.swaps_{side}"), "quiet") + table(head, lines)


def review_html(view: Mapping[str, Any]) -> str:
    """A review's finding, its proof, and its rows with their values and what makes up their scores."""
    kind = view["kinds"]["list"][0]
    rows, columns, printed = kind["rows"], kind["columns"], printed_scores(kind)
    labelled = rows[0]["label"] is not None
    strongest = max(part["part"] for row in rows for part in row["parts"]) or 1.0
    lines = [
        [
            row["name"],
            *(row["shown"].values()),
            *([Cell(phrase("notebook.yes" if row["label"] else "notebook.no"))] if labelled else []),
            *_cells(row, columns[:MOST_COLUMNS], strongest),
            Cell(score),
            "; ".join(f"{part} {text}" for text, part in told_parts(row, score)),
        ]
        for row, score in list(zip(rows, printed.rows, strict=True))[:MOST_ROWS]
    ]
    head = [
        phrase("notebook.row"),
        *rows[0]["shown"],
        *([Cell(phrase("notebook.label"))] if labelled else []),
        *map(Cell, columns[:MOST_COLUMNS]),
        Cell(phrase("notebook.score")),
        phrase("notebook.reason"),
    ]
    selection = view["selection"]
    certainty = "proven" if selection["proven_optimal"] else "open" if selection["gap"] is None else "gap"
    standing = phrase(f"standing.{certainty}", gap=100 * (selection["gap"] or 0), solver=selection["solver"])
    return output(
        paragraph(view["title"] if view["finding"] is None else view["finding"]["text"], "lead"),
        paragraph(phrase("notebook.review", **view["budgets"], score=printed.total, standing=standing)),
        *(paragraph(f"⚠ {warning['text']}") for warning in view["warnings"]),
        table(head, lines),
        left_out(len(rows), len(columns)),
        paragraph(phrase("notebook.legend"), "quiet"),
    )


def _cells(row: Mapping[str, Any], columns: Sequence[str], strongest: float) -> list[Cell]:
    """The values of a row, tinted by what they add."""
    by_name = {part["column"]: part for part in row["parts"]}
    cells = []
    for part in map(by_name.__getitem__, columns):
        text = part["shown"] or number(part["part"])  # a problem of weights has no values
        side = "adds" if part["part"] > 0 else "takes"
        cells.append(Cell(text + ARROWS.get(part["direction"], ""), abs(part["part"]) / strongest, side))
    return cells
