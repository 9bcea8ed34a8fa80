"""Errors about the command line repeat what was typed; they must not steer the terminal either."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer.core import TyperGroup

from biselect.pages.terminal import visible


class PlainGroup(TyperGroup):
    """Commands whose usage errors are shown as `visible` gives them."""

    def make_context(self, *given: Any, **named: Any) -> Any:
        """As typer does it."""
        with _plain_errors():
            return super().make_context(*given, **named)

    def invoke(self, ctx: Any) -> Any:
        """As typer does it; the options of a command are read here."""
        with _plain_errors():
            return super().invoke(ctx)


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(told := getattr(error, "message", None), str):
            error.message = visible(told)  # type: ignore[attr-defined]
        raise


def show_warnings_plainly() -> None:
    """Warnings of libraries may repeat what a file holds."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        print(f"warning: {visible(str(message))}", file=sys.stderr)

    warnings.showwarning = show
