"""`biselect`, and `python -m biselect`."""

from __future__ import annotations

from biselect._stopping import TYPE_CHECKING, run_stoppable

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Run the command line."""
    run_stoppable(_load)


def _load() -> Callable[[], None]:
    from biselect.cli import main as command

    return command


if __name__ == "__main__":
    main()
