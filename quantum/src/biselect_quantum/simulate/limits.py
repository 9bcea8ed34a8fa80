"""Limits of long work: the memory it may take, and how it is ended from outside.

A caller that keeps the time turns one byte to 1; long work looks at that byte between its parts and gives up. Compiling
kernels for the first time takes long too, and is announced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import cache
from threading import Timer
from typing import Any

import numpy as np

from biselect.core.checks import free_memory
from biselect.core.sector import Sector, TooLargeError, count_in_words
from biselect.core.threads import NEVER as NEVER
from biselect.core.threads import OutOfTimeError as OutOfTimeError
from biselect.core.threads import Stop as Stop
from biselect.progress import say_to_whoever_watches

StopCheck = Callable[[], None]
"""Called between parts of long work; raises OutOfTimeError to end it."""

PART = 1 << 20  # numbers between two looks: a few milliseconds


def check_stop(stop: Stop) -> None:
    """Give up where the byte is 1."""
    if stop[0]:
        raise OutOfTimeError


def never_stop() -> None:
    """A look that never ends anything."""


def parts(rows: int, width: int, stop: Stop) -> Iterator[slice]:
    """Slices of so many rows of this width, with a look before each.

    >>> list(parts(3, PART, NEVER))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    step = max(1, PART // max(1, width))
    for begin in range(0, rows, step):
        check_stop(stop)
        yield slice(begin, min(begin + step, rows))


ITEM_BYTES = 18  # measured: what building the tables takes for each item of each subset of a register
ANY_MACHINE = 2**50  # bytes; beyond this figures help nobody


def check_memory(sector: Sector, dtype: Any, *, states: int, plain: bool = False) -> None:
    """Refuse what would not fit, with the figures and the ways out that there are."""
    each, available = sector.size * np.dtype(dtype).itemsize, free_memory()
    tables = ITEM_BYTES * (sector.sample_subsets * sector.n_samples + sector.feature_subsets * sector.n_features)
    needed = each * states + tables
    if available is None or needed <= available:
        return
    n, d, k, m = sector.n_samples, sector.n_features, sector.k, sector.m
    figures = f"the sector has C({n}, {k})·C({d}, {m}) choices"
    if sector.sample_rules or sector.feature_rules:
        figures += " less those that the rules forbid"
    figures += f", {count_in_words(sector.size)}, and its circuit needs "
    if needed > ANY_MACHINE:
        figures += "far more memory than any machine has"
    else:
        figures += f"{needed / 2**30:,.1f} GiB, but {available / 2**30:.1f} GiB are free"
    ways = []
    if plain and each + tables <= available:
        ways.append("take backend='compiled', which fits")
    if np.dtype(dtype) == np.complex128 and each * states // 2 + tables <= available:
        ways.append("take dtype='complex64', which fits")
    ways.append("take fewer samples or features, draw the shots of a sparse circuit with simulate.wide.WideSampler")
    raise TooLargeError(figures, ", ".join([*ways, "or let solve(problem) choose without a circuit"]))


PATIENCE = 1.0  # seconds before anything is said
WORDS = "compiling kernels, once on this machine"


@cache
def tell_when_compiling() -> None:
    """From now on, say once that kernels are being compiled where that takes longer than a second."""
    from numba.core import event

    class Compiling(event.Listener):
        """Kernels call one another, so compiling one may begin within another."""

        timer: Timer | None = None
        deep = 0
        announced = False

        def on_start(self, event: Any) -> None:
            self.deep += 1
            if self.timer is None and not self.announced:
                context = copy_context()  # of whoever asked for it, who may want silence
                self.timer = Timer(PATIENCE, lambda: context.run(self.say))
                self.timer.daemon = True
                self.timer.start()

        def on_end(self, event: Any) -> None:
            self.deep -= 1
            if self.deep == 0 and self.timer is not None:
                self.timer.cancel()
                self.timer = None

        def say(self) -> None:
            if not self.announced:
                self.announced = True
                say_to_whoever_watches(WORDS)

    event.register("numba:compile", Compiling())
