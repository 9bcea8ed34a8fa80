"""Plain data to a terminal: answers line by line, and tables that fit, as lines where there is no room for a table.

Nothing that a file or a command line holds steers the terminal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biselect.pages.words import phrase, points, printed_scores, told_parts, words_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

SHOWN_ROWS, SHOWN_CHANGES, SHOWN_COLUMNS = 30, 10, 60  # of a table; --json and --out have all
BETWEEN = " · "
LEAST = 8  # characters that a value below its row is worth showing in
NONE = ("", "-")  # cells that say nothing
BOUNDLESS = 10_000  # the width at which a table is measured as it would like to be
SUSPECT = re.compile(r"[^\n -~]")  # characters to look at: not plain ASCII
JOINERS = "\u200c\u200d"  # that some alphabets and emoji need, and that show nothing of their own


def visible(text: str) -> str:
    """Text as it is, but for what could steer a terminal or turn what it shows around."""
    return SUSPECT.sub(lambda match: _seen(match[0], " " if match[0].isspace() else "�"), text)


def visible_json(text: str) -> str:
    """JSON with the same content, in which such characters are written as escapes."""
    return SUSPECT.sub(lambda match: _seen(match[0], json.dumps(match[0])[1:-1]), text)


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


def show_line(text: str, style: str = "") -> None:
    """Print one line of an answer."""
    out().print(printable(text), style=style or None)


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
    fitting = list(below)[: max(1, (console.width - 2 + len(BETWEEN)) // (LEAST + len(BETWEEN)))]
    if fitting:
        lines.append(phrase("terminal.below", names=", ".join(str(columns[place].header) for place in fitting)))
    cut = False
    for row in range(table.row_count):
        lines += _wrapped([_said(columns[place], texts[place][row]) for place in first], console.width)
        if fitting:
            whole = [texts[place][row] or "–" for place in fitting]
            clipped = _clipped(whole, console.width - 2)
            lines.append("  " + BETWEEN.join(clipped))
            cut = cut or clipped != whole
    if cut or len(fitting) < len(below):
        left_out = ", ".join(str(columns[place].header) for place in list(below)[len(fitting) :])
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


def show_answer(view: Mapping[str, Any], *, more: bool = False) -> None:
    """Print a review: its finding, its rows with what makes up their scores, its proof, and its kinds.

    Args:
        view: what the review shows, as plain data.
        more: whether to print what stands beside the answer, too.
    """
    budgets, kind = view["budgets"], view["kinds"]["list"][0]
    if view["finding"] is not None:
        show_line(view["finding"]["text"], style="bold")
    beside = list(kind["rows"][0]["shown"])
    table = figures(phrase("terminal.review", n=budgets["k"], columns=kind["name"]), phrase("terminal.sample"))
    for name in beside:
        table.add_column(printable(name), overflow="fold")
    table.add_column(phrase("terminal.score"), justify="right")
    table.add_column(phrase("terminal.reason"), overflow="fold")
    for row, score in list(zip(kind["rows"], printed_scores(kind).rows, strict=True))[:SHOWN_ROWS]:
        told = [f"{part} {text}" for text, part in told_parts(row, score)]
        why = "; ".join(told + [words_of().not_shared(row, kind["rows"])] * (not row["shares"]))
        table.add_row(*map(printable, (row["name"], *row["shown"].values(), score, why)))
    show_table(table, below=range(1, 1 + len(beside)))
    if len(kind["rows"]) > SHOWN_ROWS:
        show_line(phrase("terminal.more_rows", n=len(kind["rows"]) - SHOWN_ROWS))
    for line in (*_below_the_rows(view), *(_more(view) if more else ())):
        show_line(line)


def _below_the_rows(view: Mapping[str, Any]) -> Iterator[str]:
    """How good the choice is, under which rules, and which other kinds there are."""
    selection, k = view["selection"], view["budgets"]["k"]
    kinds = view["kinds"]["list"]
    certainty = "proven" if selection["proven_optimal"] else "open" if selection["gap"] is None else "gap"
    printed, gap = printed_scores(kinds[0]), 100 * (selection["gap"] or 0.0)
    facts = {"score": printed.total, "solver": selection["solver"], "gap": gap, "bound": printed.bound}
    yield phrase(f"terminal.{certainty}", **facts)
    for near in view["neighbours"]:
        if near["k"] == k and 2 * near["rows_shared"] < k:
            yield phrase("page.fragile", n=near["m"], shared=near["rows_shared"], k=k)
    if (rules := view["rules"]) is not None:
        yield phrase("page.rules", rules="; ".join(rules["words"]))
    if (held := view["false_share"]) is not None:
        level = f"{100 * held['level']:g} %"
        yield phrase("page.held", n=held["pool"], level=level, chosen=held["chosen"], k=k, **view["noun"])
    if len(kinds) > 1:
        yield phrase("terminal.kinds", words=view["kinds"]["words"])
    for kind in kinds[1:]:
        name = words_of().kind_headline(kind, view["noun"]).removesuffix(".")
        proof = phrase(f"terminal.kind_{'proven' if kind['selection']['proven_optimal'] else 'open'}")
        beyond = "" if kinds[0]["p"] is None else "beyond" if (kind["p"] or 1) <= 0.05 + 1e-9 else "by_chance"
        chance = phrase(f"terminal.kind_{beyond}") if beyond else ""
        hits = "" if kind["hits"] is None else phrase("terminal.kind_known", hits=kind["hits"], k=k)
        facts = {"number": kind["number"], "name": name, "score": printed_scores(kind).total}
        yield phrase("terminal.kind", **facts, proof=proof, chance=chance, known=hits)
    if (labels := view["labels"]) is not None:
        yield phrase("terminal.labels", **labels)


def _more(view: Mapping[str, Any]) -> Iterator[str]:
    """What nearly made it in, other budgets, and how values were weighed."""
    for side in ("samples", "features"):
        for swap in view[f"near_{side}"][:3]:
            yield phrase("terminal.near", **swap)
    decimals = printed_scores(view["kinds"]["list"][0]).decimals
    for near in view["neighbours"]:
        proof = phrase("terminal.kind_proven" if near["proven"] else "terminal.kind_open")
        facts = {**near, "proof": proof, "columns": ", ".join(near["columns"])}
        yield phrase("terminal.budget", **{**facts, "score": points(near["score"], decimals)})
    if (facts := view["calibration"]) is not None:
        yield phrase("terminal.weighed", **{name: facts[name] for name in ("map", "reference_rows", "near_weight")})


def show_monitoring(view: Mapping[str, Any]) -> None:
    """Print the alarms of a comparison with the reference, and what they do to the selection where that is known."""
    from biselect.pages.over_time import chance, clearest

    show_line(view["verdict"], style="bold red" if view["crossed"] else "bold green")
    for name, why in view["untested"].items():
        show_line(phrase("monitor.untested", name=name, why=why))
    for remark in view["remarks"]:
        show_line(remark)
    changes, timed = clearest(view, SHOWN_CHANGES), len(view["points"]) > 1
    if changes:
        from rich.table import Table

        table = Table(title=None if view["changed_columns"] else phrase("monitor.nearest"), title_justify="left")
        table.add_column(phrase("monitor.column"), no_wrap=True)
        table.add_column(phrase("monitor.words"))
        for name in ("effect", "chance"):
            table.add_column(phrase(f"monitor.{name}"), justify="right")
        if timed:
            table.add_column(phrase("monitor.window"))
        for change in changes:
            effect = f"{change['measure']} {change['effect']:.3f}"
            cells = [change["column"], change["words"], effect, chance(change["adjusted_p"])]
            table.add_row(*map(printable, [*cells, change["when"]] if timed else cells))
        show_table(table)
    if (more := len(view["changed_columns"]) - SHOWN_CHANGES) > 0:
        show_line(phrase("monitor.more", n=more))
    if view["budgets"] is not None:
        _show_replacements(view)


def _show_replacements(view: Mapping[str, Any]) -> None:
    """Which rows and columns of the answer the newest reference replaces."""
    from rich.table import Table

    from biselect.pages.over_time import replacements

    show_line(view["selection_verdict"], style="bold")
    if lines := replacements(view["points"]):
        table = Table(title_justify="left")
        for name in lines[0]:
            table.add_column(phrase(f"monitor.{name}"))
        for line in lines:
            table.add_row(*map(printable, line.values()))
        show_table(table)


def show_inspection(view: Mapping[str, Any]) -> None:
    """Print what a file holds, and the command that makes a report of it."""
    columns = view["columns"]
    form = "".join(f"; {one}" for one in view["read_as"])
    show_line(phrase("inspection.form", rows=view["rows"], columns=len(columns), form=form))
    heads = [phrase(f"inspection.{name}") for name in ("columns", "column", "role", "missing", "distinct")]
    table = figures(*heads)
    table.add_column(phrase("inspection.examples"), overflow="fold")
    for column in columns[:SHOWN_COLUMNS]:
        marks = f" ({' '.join(column['missing_marks'])})" if column["missing_marks"] else ""
        cells = (f"{column['missing']:,}{marks}", f"{column['distinct']:,}", ", ".join(column["examples"]))
        table.add_row(printable(column["name"]), column["role"], *map(printable, cells))
    out().print(table)  # examples fold, so that it fits
    if len(columns) > SHOWN_COLUMNS:
        show_line(phrase("terminal.more_columns", n=len(columns) - SHOWN_COLUMNS))
    for remark in view["remarks"]:
        show_line(remark)
    show_line(phrase("inspection.report") + ":", style="bold")
    out().print(printable(view["command"]), soft_wrap=True)  # to be copied whole


def show_queue(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the rows that come next."""
    from biselect.pages.over_time import queue_sum

    table = figures(phrase("terminal.next"), phrase("review.row"), phrase("terminal.score"))
    table.add_column(phrase("review.why"), overflow="fold")
    table.add_column(phrase("terminal.reason"), overflow="fold")
    for row in rows:
        reasons = "; ".join(part["text"] for part in row["parts"] if part["is_reason"])
        table.add_row(*map(printable, (row["name"], queue_sum(row), row["why"], reasons)))
    out().print(table)


def show_queued(row: Mapping[str, Any]) -> None:
    """Print one row to review: why it comes, its reasons, and the row as it stands in its table."""
    from biselect.pages.over_time import queue_sum

    show_line(f"{row['name']}  {queue_sum(row)}  ({row['why']})", style="bold")
    for part in row["parts"]:
        if part["is_reason"]:
            show_line(f"  · {part['text']}")
    for name, text in row["record"].items():
        show_line(f"    {name}: {text}")


def show_found(table: Mapping[str, Any]) -> None:
    """Print what was found in a table so far, beside chance and the plain ranking, and whether it is time to stop."""
    from biselect.pages.over_time import found_lines

    for line in found_lines(table["found"], table["ahead"]):
        show_line(line)
