"""What people see: steps and progress on stderr, answers on stdout."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from biselect.reviews import Review
    from biselect.solvers.registry import Progress

SHOWN_ROWS = 30


def fail(message: str, code: int) -> NoReturn:
    """Say what was wrong and stop."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


def printable(text: str, style: str = "") -> Text:
    """Text as it is: no markup, and nothing in it that could steer the terminal."""
    from rich.text import Text

    seen = "".join(character if character.isprintable() or character == "\n" else "�" for character in text)
    return Text(seen, style=style)


class Steps:
    """Names each step of a command on stderr, with the time it took."""

    def __init__(self, quiet: bool = False) -> None:
        from rich.console import Console

        self.console: Console = Console(stderr=True, quiet=quiet, highlight=False)

    @contextmanager
    def step(self, name: str, shown_as: str = "best score") -> Iterator[Progress]:
        """A step of the work; gives the callback that solvers take. `shown_as` is what minus its number is called."""
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        start = time.perf_counter()
        label = TextColumn("{task.description}", markup=False)
        shown = (label, BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[best]}"))
        if self.console.is_terminal:
            with Progress(*shown, console=self.console, transient=True) as progress:
                task = progress.add_task(printable(name).plain, total=None, best="")  # it pulses until somebody reports
                yield lambda done, energy: progress.update(
                    task, total=1.0, completed=done, best=f"{shown_as} {-energy:.6g}"
                )
        else:
            yield lambda done, energy: None
        self.say(f"{name}: {time.perf_counter() - start:.2f} s")

    def say(self, text: str, style: str = "dim") -> None:
        """A line for the person who watches."""
        self.console.print(printable(text), style=style, markup=False, soft_wrap=True)  # a path stays whole


def out() -> Console:
    """The console for answers."""
    from rich.console import Console

    return Console(highlight=False)


def this_command() -> str:
    """The command line that is running."""
    return shlex.join(["biselect", *sys.argv[1:]])


def answer(review: Review, *, folder: Path | None, as_json: bool, steps: Steps) -> None:
    """Print the answer, or selection.json, and write the folder."""
    from biselect.report.answer_files import selection_json

    written = [] if folder is None else review.save(folder)
    if as_json:
        sys.stdout.write(selection_json(review.summary))
    else:
        show(review.summary)
    for finding in review.warnings:
        steps.say(finding.text, style="yellow")
    if "advice" in review.selection.info:
        steps.say(review.selection.info["advice"], style="yellow")
    for path in written:
        steps.say(f"wrote {path}")


def show(summary: dict[str, Any]) -> None:
    """The answer as tables for a terminal."""
    from rich.table import Table

    from biselect.reviews.result import strongest_reason

    console, selection, budgets = out(), summary["selection"], summary["budgets"]
    console.print(printable(f"Look at these {budgets['m']}: " + ", ".join(selection["features"])), style="bold")
    table = Table(title=printable(f"Review these {budgets['k']}"), title_justify="left", title_style="bold")
    beside = list(summary["rows"][0]["shown"])
    for name in ("sample", *beside):
        table.add_column(printable(name), overflow="fold")
    table.add_column("adds", justify="right")
    table.add_column("strongest reason", overflow="fold")
    for row in summary["rows"][:SHOWN_ROWS]:
        named = [printable(text) for text in (row["name"], *(row["shown"][name] for name in beside))]
        table.add_row(*named, f"{row['value']:.2f}", printable(strongest_reason(row)))
    console.print(table)
    if len(summary["rows"]) > SHOWN_ROWS:
        console.print(f"… and {len(summary['rows']) - SHOWN_ROWS} more (--json or --out for all)")
    console.print(printable(verdict(summary)))
    if summary["rules"] is not None:
        console.print(printable(f"Rules: {'; '.join(summary['rules']['words'])}"))
        (fewest_rows, most_rows), (fewest_columns, most_columns) = summary["rules"]["k"], summary["rules"]["m"]
        console.print(f"Under the rules k may be {fewest_rows} to {most_rows} and m {fewest_columns} to {most_columns}")
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
    selection, score = summary["selection"], f"score {summary['selection']['score']:.6g}"
    if selection["proven_optimal"]:
        ruled = summary["rules"] is not None
        among = "all choices that the rules allow" if ruled else f"{summary['choices']} choices"
        return f"Proven optimal among {among}: {score}"
    if selection["gap"] is None:
        return f"Not proven: {score}, no bound from {selection['solver']}"
    return f"Not proven: {score}, no choice exceeds {-selection['bound']:.6g} (gap {100 * selection['gap']:.2f} %)"
