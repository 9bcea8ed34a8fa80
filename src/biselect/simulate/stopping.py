"""Long work that can be ended from outside: it looks at one byte between its parts.

Whoever keeps the time turns the byte to 1; what was under way is then given up.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Stop = NDArray[np.uint8]
Look = Callable[[], None]
"""Called between parts of long work; raises OutOfTimeError to end it."""

NEVER: Stop = np.zeros(1, dtype=np.uint8)  # nobody turns it; read-only it would be another type to compiled code
PART = 1 << 20  # numbers between two looks: a few milliseconds
GRACE = 0.2  # seconds that work has to end by itself once its time is up
LOOK_AROUND = 0.05  # seconds between two looks at another's byte

Result = TypeVar("Result")


class OutOfTimeError(Exception):
    """The byte turned to 1 before there was a result."""


def look(stop: Stop) -> None:
    """Give up where the byte is 1."""
    if stop[0]:
        raise OutOfTimeError


def go_on() -> None:
    """A look that never ends anything."""


def parts(rows: int, width: int, stop: Stop) -> Iterator[slice]:
    """Slices of so many rows of this width, with a look before each.

    >>> list(parts(3, PART, NEVER))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    step = max(1, PART // max(1, width))
    for begin in range(0, rows, step):
        look(stop)
        yield slice(begin, min(begin + step, rows))


def finished_by(deadline: float, work: Callable[[Stop], Result], outer: Stop = NEVER) -> Result:
    """What the work gives, which runs on a thread of its own; OutOfTimeError soon after the deadline.

    The work is given a byte that turns to 1 at the deadline (of `time.perf_counter`), or when `outer` does. What cannot
    look at it, such as the compiler or one large call of NumPy, is left behind, and ends at its next look.
    """
    if outer is NEVER and deadline == np.inf:
        return work(NEVER)
    if outer[0] or deadline <= time.perf_counter():
        raise OutOfTimeError
    stop, over = np.zeros(1, dtype=np.uint8), threading.Event()
    found: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work(stop))
        except BaseException as error:  # whatever it is, the caller gets it
            failed.append(error)
        over.set()

    context = contextvars.copy_context()  # who shows progress
    threading.Thread(target=context.run, args=(run,), daemon=True).start()
    try:
        while not outer[0] and (left := deadline - time.perf_counter()) > 0:
            if over.wait(min(left, threading.TIMEOUT_MAX if outer is NEVER else LOOK_AROUND)):
                break
        else:
            stop.fill(1)
            over.wait(GRACE)
    finally:
        stop.fill(1)  # also where Ctrl-C ended the waiting
    if failed:
        raise failed[0]
    if not found:
        raise OutOfTimeError
    return found[0]
