"""Ctrl-C and SIGTERM end a command with one line and the exit code 130 or 143, from the first import on.

This imports next to nothing: what comes before it is what cannot be guarded.
"""

from __future__ import annotations

import os
import sys
from _signal import (  # the public module takes as long to import as all else before a command
    SIG_IGN,
    SIGINT,
    SIGTERM,
    signal,
)

TYPE_CHECKING = False  # `typing` takes long as well
if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = {int(SIGINT): "interrupted", int(SIGTERM): "terminated"}

_received: list[int] = []
_running = False  # whether there is anything to tidy up
_advice = ""


def run_stoppable(load: Callable[[], Callable[[], None]]) -> None:
    """Run the command that `load` imports and gives.

    The first signal raises in the main thread, so that what was begun is finished or removed; compiled code returns
    first. A second one ends the process at once: files are safe from that. So is one during the imports before the
    command, where an exception could be lost.
    """
    global _running
    for number in WORDS:
        signal(number, _receive)
    sys.unraisablehook = _unraisable
    try:
        command = load()
        _running = True
        command()
    finally:
        for number in WORDS:  # all is done; Python would die of a signal while it cleans up
            signal(number, SIG_IGN)
        if _received:  # whatever became of the exception on its way here
            _say()
            sys.exit(128 + _received[0])


def advise(text: str) -> None:
    """Say this in the last line, too, if the command is stopped."""
    global _advice
    _advice = text


def _receive(number: int, frame: object) -> None:
    _received.append(number)
    if not _running or len(_received) > 1:
        _end()
    if number == SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _unraisable(lost: sys.UnraisableHookArgs) -> None:
    """An exception that nobody can catch, such as one within a destructor."""
    if _received:
        _end()
    sys.__unraisablehook__(lost)


def _end() -> None:
    """Leave at once."""
    _say()
    os._exit(128 + _received[0])


def _say() -> None:
    line = f"{WORDS[_received[0]]}{_advice and '; '}{_advice}\n"
    try:
        os.write(2, line.encode())
    except OSError:
        pass  # nobody is there to read it
