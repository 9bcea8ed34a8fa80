"""The command line: data on stdout, progress on stderr, exit codes 0 ok, 1 failed, 2 bad input, 3 infeasible."""

import io
import os
import sys
import warnings
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import typer
from typer.main import get_command

from biselect._version import __version__
from biselect.cli import (
    certify,
    check,
    compile,
    demo,
    doctor,
    missing,
    monitor,
    report,
    run,
    select,
    solve,
    summarise,
    train,
)
from biselect.cli.console import fail
from biselect.cli.flags import flags_of, in_flags
from biselect.errors import AlteredWarning, BiselectError, InfeasibleError, InputError

_AS_PYTHON = warnings.formatwarning

app = typer.Typer(
    name="biselect",
    help="Choose k samples and m features together, under exact budgets, and know how good the choice is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (
    select.select,
    solve.solve,
    certify.certify,
    check.check,
    monitor.monitor,
    summarise.summarise,
    train.train,
    run.run,
    demo.demo,
    report.report,
    doctor.doctor,
):
    app.command()(command)
app.command("compile")(compile.compile_)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit()


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    pass


@cache
def whole_app() -> typer.Typer:
    """The commands with those of other packages, which import parts of this one and must find them whole."""
    for extra in sorted(entry_points(group="biselect.commands"), key=lambda found: found.name):
        app.command(extra.name)(extra.load())
    if not any(command.name == "reproduce" for command in app.registered_commands):
        anything = {"allow_extra_args": True, "ignore_unknown_options": True}
        app.command("reproduce", context_settings=anything)(missing.reproduce)
    return app


def main() -> None:
    """Run the command line; every error we raise on purpose becomes one line and an exit code."""
    _settle_stdout()
    warnings.formatwarning = _one_line  # type: ignore[assignment]
    try:
        try:
            whole_app()()
        finally:
            _flush_stdout()
    except BiselectError as error:
        code = 2 if isinstance(error, InputError) else 3 if isinstance(error, InfeasibleError) else 1
        running = get_command(app).commands.get(sys.argv[1]) if len(sys.argv) > 1 else None  # type: ignore[attr-defined]
        fail(in_flags(str(error), flags_of(running)), code)
    except OSError as error:
        fail(f"cannot go on: {error.strerror or error}", code=1)


def _one_line(message: Warning | str, category: type[Warning], *where: Any) -> str:
    """A warning of ours as a person reads it; those of others say where they come from."""
    return f"warning: {message}\n" if category is AlteredWarning else _AS_PYTHON(message, category, *where)


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
