"""Threads on demand: starting them costs more than many a small task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Crew:
    """Maps over items in order, on threads that start with the first call that has work for two.

    >>> with Crew(2) as crew:
    ...     list(crew.map(abs, [-1, 2]))
    [1, 2]
    """

    def __init__(self, workers: int | None) -> None:
        self._workers = workers
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
        """Results in the order of the items."""
        if len(items) < 2 or self._workers == 1:
            return map(function, items)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers)
        return self._pool.map(function, items)
