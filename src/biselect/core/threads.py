"""Work on other threads: until a deadline, and shared out.

Work that must be over by a deadline runs on a thread of its own and is left behind where it is late: whoever keeps the
time turns one byte to 1, and the work ends at its next look. A pool starts its threads on demand, as starting them
costs more than many a small task.
"""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Stop = NDArray[np.uint8]

NEVER: Stop = np.zeros(1, dtype=np.uint8)  # nobody turns it; read-only it would be another type to compiled code
GRACE = 0.2  # seconds that work has to end by itself once its time is up
LOOK_AROUND = 0.05  # seconds between two looks at another's byte, and for Ctrl-C on any system

MOST_BLOCK = 1 << 26  # bytes that a thread may gather
BLOCK_SHARE = 0.05  # of the table, where that is more
AHEAD = 128  # items begun before their turn, enough for any number of threads

Item = TypeVar("Item")
Result = TypeVar("Result")


class OutOfTimeError(Exception):
    """The byte turned to 1 before there was a result."""


def run_until(deadline: float, work: Callable[[Stop], Result], outer: Stop = NEVER, *, grace: float = GRACE) -> Result:
    """What the work gives, which runs on a thread of its own; OutOfTimeError soon after the deadline.

    The work is given a byte that turns to 1 at the deadline, when `outer` does, or when Ctrl-C ends the waiting. What
    cannot look at it, such as an import, the compiler or one large call of NumPy, is left behind whole, and ends at its
    next look: no interrupt is ever raised inside of it.

    Args:
        deadline: of `time.perf_counter`.
        work: what to run.
        outer: another's byte. With none, work without a deadline runs on the caller's own thread.
        grace: seconds that the work has to end by itself after the deadline.
    """
    if outer is NEVER and deadline == np.inf:
        return work(NEVER)
    stop = np.full(1, outer[0] or deadline <= time.perf_counter(), dtype=np.uint8)
    result: Future[Result] = Future()

    def run() -> None:
        try:
            result.set_result(work(stop))
        except BaseException as error:  # whatever it is, the caller gets it
            result.set_exception(error)

    context = contextvars.copy_context()  # who shows progress
    threading.Thread(target=context.run, args=(run,), daemon=True).start()
    try:
        while not outer[0] and (seconds := deadline - time.perf_counter()) > 0:
            if wait([result], min(seconds, LOOK_AROUND)).done:
                break
        else:
            stop.fill(1)
            wait([result], grace)
    finally:
        stop.fill(1)  # also where Ctrl-C ended the waiting
    if not result.done():
        raise OutOfTimeError
    return result.result()


class ThreadPool:
    """Maps over items in order, on threads that start with the first call that has work for two.

    >>> with ThreadPool(2) as pool:
    ...     list(pool.map(abs, [-1, 2]))
    [1, 2]
    """

    def __init__(self, workers: int | None) -> None:
        self._workers = workers
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Results in the order of the items; few are begun ahead, so that whoever has enough can stop asking."""
        if len(items) < 2 or self._workers == 1:
            return map(function, items)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers or os.cpu_count())
        return self._in_order(self._pool, function, items)

    @staticmethod
    def _in_order(
        pool: ThreadPoolExecutor, function: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[Result]:
        begun: deque[Future[Result]] = deque()
        for item in items:
            begun.append(pool.submit(function, item))
            if len(begun) > AHEAD:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
