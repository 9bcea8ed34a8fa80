"""What people see: steps and progress on stderr, answers on stdout."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from biselect._stopping import advise as advise  # commands of other packages take it from here

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from biselect.progress import Progress


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


def fail(message: str, code: int) -> NoReturn:
    """Say what was wrong and stop."""
    print(f"error: {visible(message)}", file=sys.stderr)
    sys.exit(code)


def printable(text: str, style: str = "") -> Text:
    """Text as `visible` gives it, without markup."""
    from rich.text import Text

    return Text(visible(text), style=style)


class Steps:
    """Names each step of a command on stderr, with the time it took."""

    def __init__(self, quiet: bool = False) -> None:
        from rich.console import Console

        self.console: Console = Console(stderr=True, quiet=quiet, highlight=False)
        _tell_how_files_are_read(self)

    @contextmanager
    def step(self, name: str, shown_as: str = "best score") -> Iterator[Progress]:
        """A step of the work; gives the callback that solvers take. `shown_as` is what minus its number is called."""
        from biselect.progress import steps_of

        start = time.perf_counter()
        with steps_of(False if self.console.quiet else None, shown_as)(name) as told:
            yield told or (lambda done, energy: None)
        self.say(f"{name}: {time.perf_counter() - start:.2f} s")

    def say(self, text: str, style: str = "dim") -> None:
        """A line for the person who watches."""
        self.console.print(printable(text), style=style, markup=False, soft_wrap=True)  # a path stays whole


class _Readings(logging.Handler):
    """Says how files were read, each thing once."""

    def __init__(self, steps: Steps) -> None:
        super().__init__(logging.INFO)
        self.steps, self.said = steps, set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self.said:
            self.said.add(text)
            self.steps.say(text, style="yellow" if record.levelno > logging.INFO else "dim")


def _tell_how_files_are_read(steps: Steps) -> None:
    log = logging.getLogger("biselect.reading")
    log.handlers = [_Readings(steps)]  # one command, one console
    log.setLevel(logging.INFO)
    log.propagate = False


def out() -> Console:
    """The console for answers."""
    from rich.console import Console

    return Console(highlight=False)


def show_json(content: Any) -> None:
    """An answer as JSON."""
    sys.stdout.write(visible_json(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)) + "\n")


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
