"""Progress of what takes longer than two seconds, for a person in a terminal or a notebook; nobody else sees any."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from html import escape
from importlib import import_module
from math import isfinite, nan
from typing import Any, Protocol

Progress = Callable[[float, float], None]
"""Called with the done share of the work, 0 to 1, and the best energy so far."""
Steps = Callable[[str], AbstractContextManager[Progress | None]]
"""Called with the name of a step; gives a context manager around it, which may give a `Progress`."""

PATIENCE = 2.0  # seconds before anything is shown
REFRESH = 0.2  # seconds between two looks

_ALONE: ContextVar[bool] = ContextVar("alone", default=True)  # False while somebody else shows progress
_SILENT: ContextVar[bool] = ContextVar("silent", default=False)  # True where progress=False was asked for


@contextmanager
def progress_of(progress: Progress | bool | None, name: str, shown_as: str = "best score") -> Iterator[Progress | None]:
    """The callback that somebody gave, or one that shows a bar named so; None where nothing is to be shown.

    Args:
        progress: a callback; False for none; None or True for a bar where somebody watches.
        name: of the work.
        shown_as: what minus the reported energy is called.
    """
    with steps_of((lambda _: nullcontext(progress)) if callable(progress) else progress, shown_as)(name) as callback:
        yield callback


def steps_of(steps: Steps | bool | None, shown_as: str = "best score") -> Steps:
    """The same for work in several steps: they share the two seconds and one bar."""
    begin = time.monotonic()
    place = _place() if steps in (None, True) and _ALONE.get() else None
    bar = None if place is None else place(begin)

    @contextmanager
    def step(name: str) -> Iterator[Progress | None]:
        with shown_elsewhere(silent=steps is False):
            if callable(steps):
                with steps(name) as callback:
                    yield callback
            elif bar is not None:
                with _Watch(bar, name, shown_as) as watch:
                    yield watch.tell
            else:
                yield None

    return step


@contextmanager
def shown_elsewhere(silent: bool = False) -> Iterator[None]:
    """What is called within shows no progress of its own; `silent`, says nothing at all."""
    before, was_silent = _ALONE.set(False), _SILENT.set(_SILENT.get() or silent)
    try:
        yield
    finally:
        _ALONE.reset(before)
        _SILENT.reset(was_silent)


def say_to_whoever_watches(text: str) -> None:
    """One line on stderr for a person in a terminal or a notebook, from any thread; nobody else sees it."""
    if _SILENT.get() or not _is_main_process() or not (in_notebook() or _at_a_terminal()):
        return
    from rich.console import Console

    with suppress(OSError, ValueError):  # whoever watched is gone
        Console(stderr=True, highlight=False).print(text, style="dim", markup=False)


class _Bar(Protocol):
    """Where progress is shown; `begin` is when the work began."""

    begin: float

    def show(self, name: str, share: float, best: str) -> None:
        """Show how far the work is; a share that is no number means that nobody knows."""

    def clear(self) -> None:
        """Take it away."""


class _Watch:
    """Looks at one step from a thread of its own, so that work which never reports is shown too."""

    def __init__(self, bar: _Bar, name: str, shown_as: str) -> None:
        self.bar, self.name, self.shown_as = bar, name, shown_as
        self.done, self.energy = nan, nan
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)

    def tell(self, share: float, energy: float) -> None:
        self.done, self.energy = share, energy

    def __enter__(self) -> _Watch:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()

    def _look(self) -> None:
        if self.over.wait(max(0.0, self.bar.begin + PATIENCE - time.monotonic())):
            return
        with suppress(OSError, ValueError):  # whoever watched is gone
            while True:
                best = f"{self.shown_as} {-self.energy:.6g}" if isfinite(self.energy) else ""
                self.bar.show(self.name, self.done, best)
                if self.over.wait(REFRESH):
                    break
            self.bar.clear()


def _place() -> Callable[[float], _Bar] | None:
    """Where a person would see progress; None in scripts that write to files, in worker processes and threads."""
    if not _is_main_process():
        return None
    if threading.current_thread() is not threading.main_thread():
        return None
    if in_notebook():
        return _NotebookBar
    return _TerminalBar if _at_a_terminal() else None


def _is_main_process() -> bool:
    return multiprocessing.current_process().name == "MainProcess" and multiprocessing.parent_process() is None


def _at_a_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


class _TerminalBar:
    def __init__(self, begin: float) -> None:
        self.begin = begin
        self.bar: Any = None

    def show(self, name: str, share: float, best: str) -> None:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            texts = [TextColumn(f"{{task.{field}}}", markup=False) for field in ("description", "fields[best]")]
            quiet: Any = {"transient": True, "auto_refresh": False, "redirect_stdout": False, "redirect_stderr": False}
            columns = (texts[0], BarColumn(), TimeElapsedColumn(), texts[1])
            self.bar = Progress(*columns, console=Console(stderr=True), **quiet)
            self.task = self.bar.add_task(_printable(name), total=None, best=best)
            self.bar.tasks[0].start_time = self.begin
            self.bar.start()
        completion = {} if share != share else {"total": 1.0, "completed": share}
        self.bar.update(self.task, description=_printable(name), best=best, **completion)
        self.bar.refresh()

    def clear(self) -> None:
        self.bar.stop()
        self.bar = None


class _NotebookBar:
    """An output of the cell that is replaced again and again; needs no widgets."""

    def __init__(self, begin: float) -> None:
        self.begin = begin
        self.output: Any = None

    def show(self, name: str, fraction: float, best: str) -> None:
        share = "" if fraction != fraction else f' value="{fraction:.3f}"'
        words = f"{_printable(name)} {time.monotonic() - self.begin:.0f} s {best}"
        self._put(f"{escape(words)}<br><progress{share} style='width:20em'></progress>", words)

    def clear(self) -> None:
        self._put("", "")

    def _put(self, html: str, text: str) -> None:
        content = {"text/html": html, "text/plain": text}
        if self.output is None:
            self.output = import_module("IPython.display").display(content, raw=True, display_id=True)
        else:
            self.output.update(content, raw=True)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "�" for letter in text)
