"""The first use of compiled kernels on a machine: a word to whoever waits for it."""

from __future__ import annotations

from contextvars import copy_context
from functools import cache
from threading import Timer
from typing import Any

from biselect.progress import say_to_whoever_watches

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
        said = False

        def on_start(self, event: Any) -> None:
            self.deep += 1
            if self.timer is None and not self.said:
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
            if not self.said:
                self.said = True
                say_to_whoever_watches(WORDS)

    event.register("numba:compile", Compiling())
