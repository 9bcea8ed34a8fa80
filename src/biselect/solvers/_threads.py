"""Threads on demand: starting them costs more than many a small task."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self, TypeVar

MOST_BLOCK = 1 << 26  # bytes that a thread may gather
BLOCK_SHARE = 0.05  # of the table, where that is more
AHEAD = 128  # items begun before their turn, enough for any number of threads

Item = TypeVar("Item")
Result = TypeVar("Result")


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
