"""The command line: data on stdout, progress on stderr, exit codes 0 ok, 1 failed, 2 bad input, 3 infeasible.

`docs/reference/exit-codes.md` has them all, those of signals included. A command, ours or an installed package's, is
loaded when it is asked for.
"""

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import typer

from biselect._version import __version__
from biselect.cli._help import Command, PlainGroup, Unbroken, described, section, show_warnings_plainly, spelled
from biselect.cli.console import fail
from biselect.cli.from_options import make_command
from biselect.errors import BiselectError, InfeasibleError, InputError
from biselect.extensions import Registry

HEADINGS = {
    "From a table to an answer": ("demo", "app", "inspect", "select", "review", "report", "monitor", "summarise"),
    "Any selection problem": ("solve", "check", "certify"),
    "Circuits": ("quantum", "train", "compile", "run", "reproduce"),
    "This installation": ("doctor",),
}
FILES = {  # file to its commands
    "doctor": ("doctor",),
    "inspect": ("inspect",),
    "monitor": ("monitor", "summarise"),
    "review": ("review",),
    "select": ("select", "demo", "report"),
    "solve": ("solve", "check"),
    "workbench": ("app",),
}
COMMANDS: Registry[Callable[..., None]] = Registry(
    "biselect.commands",
    "command",
    {name: f"biselect.cli.{file}:{name}" for file, names in FILES.items() for name in names},
)


class Commands(Mapping[str, Command]):
    """The commands, made of their functions on first use."""

    def __init__(self) -> None:
        self._cache: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._cache:
            try:
                function = COMMANDS.load(name)
            except BiselectError as error:
                if isinstance(error, InputError) and name not in COMMANDS.names():
                    raise KeyError(name) from None
                raise
            except Exception as error:  # whatever is wrong with one package, the other commands go on
                why = f"{type(error).__name__}: {error}"
                raise BiselectError(f"the command {name!r} cannot be loaded: {why}") from error
            self._cache[name] = make_command(name, function)
        return self._cache[name]

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS.names()

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS.names())

    def __len__(self) -> int:
        return len(COMMANDS.names())


class Group(Unbroken, PlainGroup):
    """All commands, grouped by who needs them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return [*self.commands]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The commands, then the few options."""
        grouped = {name for names in HEADINGS.values() for name in names}
        more = [name for name in self.commands if name not in grouped]
        for title, names in {**HEADINGS, "More commands": more}.items():
            section(formatter, title, [(name, self._purpose(name)) for name in names], left=10)
        section(formatter, "Options", [(spelled(self, one), described(one, ctx)) for one in self.get_params(ctx)])

    def _purpose(self, name: str) -> str:
        """What a command does; or which package brings it, or why it cannot be loaded."""
        try:
            return str(self.commands[name].help or "").split("\n\n")[0]
        except BiselectError as error:
            return str(error)


app = typer.Typer(
    name="biselect",
    help="Choose k samples and m features together, under exact budgets, and know how good the choice is.",
    cls=Group,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,  # help of our own, which fits 80 columns
    pretty_exceptions_enable=False,
)


def _show_version(asks: bool) -> None:
    if asks:
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
