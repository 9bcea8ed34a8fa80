"""What people see: steps and progress on stderr, answers on stdout."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from biselect.solvers.registry import Progress


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
