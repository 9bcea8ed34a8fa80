"""The command line: data on stdout, progress on stderr, exit codes 0 ok, 1 failed, 2 bad input, 3 infeasible.

`docs/reference/exit-codes.md` has them all, those of signals included.
"""

import io
import os
import sys

import typer

from biselect._version import __version__
from biselect.cli.commands import Group
from biselect.cli.console import fail
from biselect.cli.usage import show_warnings_plainly
from biselect.errors import BiselectError, InfeasibleError, InputError

app = typer.Typer(
    name="biselect",
    help="Choose k samples and m features together, under exact budgets, and know how good the choice is.",
    cls=Group,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # help of our own, which fits 80 columns
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit()


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line; every error we raise on purpose becomes one line and an exit code."""
    _settle_stdout()
    show_warnings_plainly()
    try:
        try:
            app(prog_name="biselect")
        finally:
            _flush_stdout()
    except BiselectError as error:
        code = 2 if isinstance(error, InputError) else 3 if isinstance(error, InfeasibleError) else 1
        fail(str(error), code)
    except MemoryError as error:
        fail(f"not enough memory ({error or 'the system gives no more'}); take fewer rows or columns", code=1)
    except OSError as error:
        fail(f"cannot go on: {error.strerror or error}", code=1)


def _settle_stdout() -> None:
    """Names of any alphabet must not break the output, nor must a closed stdout."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _flush_stdout() -> None:
    """Write what is left while an error can still be told; Python would tell it at exit only, in its own words."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what cannot be written is given up
        raise
