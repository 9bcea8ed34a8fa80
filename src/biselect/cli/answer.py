"""The last steps that `select`, `solve` and `demo` share: solve, show, write."""

from __future__ import annotations

import hashlib
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biselect.cli.console import Steps, out, printable
from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.core import Selection, SelectionProblem

SHOWN_ROWS = 30


def answer(
    problem: SelectionProblem,
    summarise: Callable[[Selection, list[Selection]], dict[str, Any]],
    *,
    solver: str,
    seed: int,
    time_limit: float | None,
    folder: Path | None,
    neighbours: tuple[int, int],
    as_json: bool,
    steps: Steps,
    proof: bool = False,
) -> None:
    """Solve the problem, print the answer on stdout and write the folder if one is asked for.

    Only a folder has a page in which budgets can be moved, so only then are neighbouring budgets solved.
    """
    from biselect.core.files import check_folder
    from biselect.report.files import selection_json, write_outputs
    from biselect.solvers import neighbours as solve_neighbours
    from biselect.solvers import solve
    from biselect.solvers.neighbouring import PATIENCE

    rows, columns = neighbours
    if min(neighbours) < 0:
        raise InputError(f"--neighbours takes two numbers from 0 up, got {rows} {columns}")
    if proof and folder is None:
        raise InputError("--proof writes into the folder of --out; give that too")
    if folder is not None:
        check_folder(folder)  # before the work, not after it
    with steps.bar(f"Solving with {solver}") as progress:
        selection = solve(problem, solver, seed=seed, time_limit=time_limit, progress=progress)
    nearby = [selection]
    if folder is not None and any(neighbours):
        limit = PATIENCE if time_limit is None else min(PATIENCE, time_limit)
        try:
            with steps.bar("Solving neighbouring budgets") as progress:
                nearby = solve_neighbours(
                    selection, rows=rows, columns=columns, seed=seed, time_limit=limit, progress=progress
                )
        except KeyboardInterrupt:  # the answer is there; a second interrupt ends it all
            steps.say("Neighbouring budgets left out: interrupted.", style="yellow")
    summary = summarise(selection, nearby)
    written = [] if folder is None else write_outputs(folder, selection, summary)
    if proof and folder is not None and selection.proof is not None:
        selection.save_proof(folder / "proof.json")
        written.append(folder / "proof.json")
    elif proof:
        steps.say("No proof.json: the answer is not proven.", style="yellow")
    if as_json:
        sys.stdout.write(selection_json(summary))
    else:
        show(summary)
    for warning in summary["warnings"]:
        steps.say(warning, style="yellow")
    if "advice" in selection.info:
        steps.say(selection.info["advice"], style="yellow")
    for path in written:
        steps.say(f"wrote {path}")


def show(summary: dict[str, Any]) -> None:
    """The answer as tables for a terminal."""
    from rich.table import Table

    console, selection, budgets = out(), summary["selection"], summary["budgets"]
    console.print(printable(f"Look at these {budgets['m']}: " + ", ".join(selection["features"])), style="bold")
    table = Table(title=printable(f"Review these {budgets['k']}"), title_justify="left", title_style="bold")
    table.add_column("sample", overflow="fold")
    beside = list(summary["rows"][0]["shown"])
    for name in beside:
        table.add_column(printable(name), overflow="fold")
    table.add_column("adds", justify="right")
    table.add_column("strongest reason", overflow="fold")
    for row in summary["rows"][:SHOWN_ROWS]:
        cell = row["cells"][0]
        reason = f"{cell['feature']}: {cell.get('words', format(cell['adds'], '.4g'))}"
        shown = [printable(row["shown"][name]) for name in beside]
        table.add_row(printable(row["name"]), *shown, f"{row['value']:.2f}", printable(reason))
    console.print(table)
    if len(summary["rows"]) > SHOWN_ROWS:
        console.print(f"… and {len(summary['rows']) - SHOWN_ROWS} more (--json or --out for all)")
    console.print(printable(verdict(summary)))
    if summary["rules"] is not None:
        console.print(printable(f"Rules: {'; '.join(summary['rules']['words'])}"))
        console.print(printable(allowed_budgets(summary["rules"])))
    parts = ", ".join(f"{name} {100 * part['share']:.0f} %" for name, part in summary["parts"].items())
    console.print(printable(f"Score held by: {parts}"))
    if summary["labels"] is not None:
        facts = summary["labels"]
        console.print(
            f"Known labels (shown, never used): {facts['hits']} of {facts['chosen']} chosen are positive, "
            f"F1@k {facts['f1']:.3f}; blind choice would find {facts['by_chance']:.1f}"
        )


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


def allowed_budgets(rules: dict[str, Any]) -> str:
    """Which budgets the rules leave a choice for."""
    (fewest_rows, most_rows), (fewest_columns, most_columns) = rules["k"], rules["m"]
    return f"Under the rules k may be {fewest_rows} to {most_rows} and m {fewest_columns} to {most_columns}"


def reproduce(seed: int, files: Iterable[Path]) -> dict[str, Any]:
    """What it takes to get the same answer again."""
    return {
        "command": shlex.join(["biselect", *sys.argv[1:]]),
        "seed": seed,
        "inputs": [{"name": path.name, "sha256": _sha256(path)} for path in files],
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
