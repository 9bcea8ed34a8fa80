"""What people see: steps and progress on stderr, answers on stdout."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from biselect._stopping import advise as advise  # commands of other packages take it from here
from biselect.pages.terminal import printable, visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console

    from biselect.progress import Progress


def fail(message: str, code: int) -> NoReturn:
    """Say what was wrong and stop."""
    print(f"error: {visible(message)}", file=sys.stderr)
    sys.exit(code)


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


def show_json(content: Any) -> None:
    """An answer as JSON."""
    sys.stdout.write(visible_json(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)) + "\n")
