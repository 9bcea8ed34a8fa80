"""What `select`, `solve`, `demo` and `report` share: print an answer, and write its folder if one is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.cli.console import Steps
from biselect.cli.options import Output
from biselect.errors import InputError
from biselect.options import Search
from biselect.pages.terminal import out, printable, show_table, visible_json

if TYPE_CHECKING:
    from biselect.reviews import Review

SHOWN_ROWS = 30


def check_place(output: Output, names: Iterable[str] = ()) -> None:
    """Refuse, before the work, a folder that cannot be written, or what needs one where there is none."""
    from biselect.core.files import check_folder

    for flag, wanted in (("--proof", output.proof), ("--open", output.open)):
        if wanted and output.out is None:
            raise InputError(f"{flag} needs the folder of --out; give that too")
    if output.out is not None:
        check_folder(output.out, names)


def without_neighbours(search: Search) -> Search:
    """The same without a look at neighbouring budgets, which can be moved only in a page; what is wrong stays so."""
    return replace(search, neighbours=(0, 0)) if min(search.neighbours) >= 0 else search


def answer(review: Review, output: Output, steps: Steps) -> None:
    """Print the answer, or selection.json, write the folder, and open its page where that is asked for."""
    from biselect.pages._answer_files import selection_json

    written = [] if output.out is None else review.save(output.out, proof=output.proof)
    if output.proof and review.selection.proof is None:
        steps.say("No proof.json: the answer is not proven.", style="yellow")
    if output.json:
        sys.stdout.write(visible_json(selection_json(review.summary)))
    else:
        show(review.summary)
    for finding in review.warnings:
        steps.say(finding.text, style="yellow")
    if "advice" in review.selection.info:
        steps.say(review.selection.info["advice"], style="yellow")
    for path in written:
        steps.say(f"wrote {path}")
    if output.open and output.out is not None:
        open_in_browser(output.out / "report.html", steps)


def open_in_browser(path: Path, steps: Steps) -> None:
    """Open a page that was written; where there is no browser, say where it lies."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        steps.say(f"found no browser; the page is {path.resolve()}", style="bold")


def show(summary: dict[str, Any]) -> None:
    """The answer as tables for a terminal."""
    from rich.table import Table

    from biselect.reviews.result import strongest_reason

    console, selection, budgets = out(), summary["selection"], summary["budgets"]
    if summary["finding"] is not None:
        console.print(printable(summary["finding"]["words"]), style="bold")
    console.print(printable(f"Look at these {budgets['m']}: " + ", ".join(selection["features"])), style="bold")
    table = Table(title=printable(f"Review these {budgets['k']}"), title_justify="left", title_style="bold")
    table.add_column("sample", overflow="fold")
    beside = list(summary["rows"][0]["shown"])
    for name in beside:
        table.add_column(printable(name), overflow="fold")
    table.add_column("adds", justify="right")
    table.add_column("strongest reason", overflow="fold")
    for row in summary["rows"][:SHOWN_ROWS]:
        shown = [printable(row["shown"][name]) for name in beside]
        table.add_row(printable(row["name"]), *shown, f"{row['value']:.2f}", printable(strongest_reason(row)))
    show_table(table, below=range(1, 1 + len(beside)))
    if len(summary["rows"]) > SHOWN_ROWS:
        console.print(f"… and {len(summary['rows']) - SHOWN_ROWS} more (--json or --out for all)")
    console.print(printable(verdict(summary)))
    if summary["rules"] is not None:
        console.print(printable(f"Rules: {'; '.join(summary['rules']['words'])}"))
        (fewest_rows, most_rows), (fewest_columns, most_columns) = summary["rules"]["k"], summary["rules"]["m"]
        console.print(f"Under the rules k may be {fewest_rows} to {most_rows} and m {fewest_columns} to {most_columns}")
    parts = ", ".join(f"{name} {100 * part['share']:.0f} %" for name, part in summary["parts"].items())
    console.print(printable(f"Score held by: {parts}"))
    for line in beside_the_answer(summary):
        console.print(printable(line))
    if summary["labels"] is not None:
        facts = summary["labels"]
        console.print(
            f"Known labels (shown, never used): {facts['hits']} of {facts['chosen']} chosen are positive, "
            f"F1@k {facts['f1']:.3f}; blind choice would find {facts['by_chance']:.1f}"
        )


def beside_the_answer(summary: dict[str, Any]) -> list[str]:
    """Coverage, numbers of columns, false share and kinds, a line each."""
    lines, k, m = [], summary["budgets"]["k"], summary["budgets"]["m"]
    if (shown := summary.get("coverage")) is not None:
        columns = "column shows" if m == 1 else f"{m} columns show"
        text = f"The {columns} {100 * shown['share']:.0f} % of what is unusual about these rows"
        if (following := shown["next"]) is not None:
            text += f"; {following['name']} would add {100 * following['share']:.0f} %"
        lines.append(text)
    if (compared := summary.get("how_many")) is not None:
        lines.append(compared["words"])
        if compared["knee"] is not None:
            most = max(one["excess"] for one in compared["by_m"])
            by_m = ", ".join(f"{one['m']}: {100 * one['excess'] / most:.0f} %" for one in compared["by_m"])
            lines.append(f"  beyond chance, by number of columns: {by_m}")
    if (held := summary.get("guarantee")) is not None:
        text = f"At an expected false share of {100 * held['level']:g} % "
        if held["pool"]:
            text += f"{held['pool']} rows of the pool stand out from the reference; "
            text += f"{held['chosen']} of the {k} chosen are among them"
        else:
            text += "no row stands out from the reference by itself"
        lines.append(text)
    if (kinds := summary.get("kinds")) is not None:
        given = " The proof of a later one holds given those before it." if len(kinds["found"]) > 1 else ""
        lines.append(f"Kinds of unusual, {k} rows each. {kinds['words']}{given}")
        for kind in kinds["found"]:
            known = "" if kind["hits"] is None else f", {kind['hits']} of {k} known positives"
            proof = "proven" if kind["selection"]["proven_optimal"] else "not proven"
            lines.append(f"  {kind['number']}. {kind['name']}: score {kind['selection']['score']:.6g}, {proof}{known}")
    return lines


def verdict(summary: dict[str, Any]) -> str:
    """How good the choice is, in one line."""
    selection = summary["selection"]
    if selection["proven_optimal"] and summary["rules"] is not None:
        return f"Proven optimal among all choices that the rules allow: score {selection['score']:.6g}"
    if selection["proven_optimal"]:
        return f"Proven optimal among {summary['choices']} choices: score {selection['score']:.6g}"
    if selection["gap"] is None:
        return f"Not proven: score {selection['score']:.6g}, no bound from {selection['solver']}"
    return (
        f"Not proven: score {selection['score']:.6g}, no choice exceeds {-selection['bound']:.6g} "
        f"(gap {100 * selection['gap']:.2f} %)"
    )
