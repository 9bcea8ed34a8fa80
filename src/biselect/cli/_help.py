"""Help that fits 80 columns: options in groups, the ones that matter first, and no types.

Errors about the command line repeat what was typed; they must not steer the terminal either.
"""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import cleandoc
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from biselect.cli._toml import FILE, as_flags, key_of, read_defaults
from biselect.cli.console import Steps
from biselect.errors import InputError
from biselect.options import running
from biselect.pages.terminal import visible

HYPHEN, SPACE = "\N{NON-BREAKING HYPHEN}", "\N{NO-BREAK SPACE}"
LEFT = 24  # characters of options; a longer one has a line of its own

FIRST, LAST = "What matters most", "Output"  # the first and the last group of options


class Unbroken:
    """Help whose lines end where a reader would pause: no flag is torn at a hyphen, no default from its value."""

    help: str | None

    def get_help(self, ctx: Any) -> str:
        """The whole help."""
        return str(super().get_help(ctx)).replace(HYPHEN, "-").replace(SPACE, " ")  # type: ignore[misc]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """What the command does."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(cleandoc(self.help or "").replace("-", HYPHEN))


class Command(Unbroken, TyperCommand):
    """A command with grouped help, whose defaults may stand in a file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The command line first, then the file, then what the command declares."""
        if not ctx.resilient_parsing:  # which is what the shell asks for while one types
            try:
                ctx.default_map = read_defaults(ctx.parent.command.commands).get(self.name or "")
            except InputError:
                if self.name != "doctor" and not {*args} & {*ctx.help_option_names}:  # they help to mend it
                    raise
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if error.param is None or not _from_file(ctx, error.param):
                raise
            raise InputError(f"{FILE}: [{self.name}] {key_of(error.param)}: {error.message}") from None

    def invoke(self, ctx: Any) -> Any:
        """Say what came from the file; the command that a report records holds it, and needs no file to run again."""
        values = {one.name: ctx.default_map[one.name] for one in self.params if _from_file(ctx, one)}
        if words := as_flags(self.params, values):
            Steps(bool(ctx.params.get("quiet"))).say(f"from {FILE}: {shlex.join(words)}")
        with running(shlex.join(["biselect", *sys.argv[1:2], *words, *sys.argv[2:]])):
            return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments and the options that must be given, then the rest."""
        return usage(self)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, then each group of options."""
        parameters: list[Any] = self.get_params(ctx)
        arguments = [one for one in parameters if one.param_type_name == "argument"]
        section(formatter, "Arguments", [(placeholder(self, one), one.help or "") for one in arguments])
        for name, options in grouped([one for one in parameters if one.param_type_name == "option"]).items():
            section(formatter, name, [(spelled(self, one), described(one, ctx)) for one in options])


def grouped(options: list[Any]) -> dict[str, list[Any]]:
    """Options by the heading of their class: what matters most and a command's own first, what is printed last."""
    groups: dict[str, list[Any]] = {FIRST: []}
    for option in options:
        heading = getattr(option, "rich_help_panel", None) or (LAST if option.name == "help" else FIRST)
        groups.setdefault(heading, []).append(option)
    groups[LAST] = groups.pop(LAST, [])
    return {heading: members for heading, members in groups.items() if members}


def usage(command: Any) -> list[str]:
    """What must be given, as one types it."""
    must = [one for one in command.params if one.required]
    arguments = [placeholder(command, one) for one in command.params if one.param_type_name == "argument"]
    options = [spelled(command, one, shortest=True) for one in must if one.param_type_name == "option"]
    return [*arguments, *options, "[OPTIONS]"]


def spelled(command: Any, option: Any, *, shortest: bool = False) -> str:
    """The option as one types it: `-r, --reference PATH`."""
    names = sorted(option.opts, key=len)[:1] if shortest else sorted(option.opts, key=len)
    if option.is_flag:
        return " / ".join([", ".join(names), *option.secondary_opts])
    return f"{', '.join(names)} {placeholder(command, option)}"


def placeholder(command: Any, parameter: Any) -> str:
    """What stands for the value: `NUMBER`, `PATH`, or a word of the option's own name."""
    if parameter.metavar:
        return str(parameter.metavar)
    if parameter.param_type_name == "argument":
        name = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
        return name if parameter.required else f"[{name}]"
    kind = get_type_hints(command.callback).get(parameter.name)
    kinds = {kind, *get_args(kind)}
    return "NUMBER" if kinds & {int, float} else "PATH" if Path in kinds else parameter.opts[-1].split("-")[-1].upper()


def described(option: Any, ctx: Any) -> str:
    """The help of an option with its default, or what the file of defaults says."""
    text, default = option.help or "", option.default
    if (file_value := ctx.lookup_default(option.name, call=False)) is not None:
        return f"{text}  [{FILE}:{SPACE}{_typed(option, file_value)}]"
    if option.required:
        return f"{text}  [required]"
    if option.show_default and default is not None and (default is not False or option.secondary_opts):
        return f"{text}  [default:{SPACE}{_typed(option, default)}]"
    return text


def _from_file(ctx: Any, parameter: Any) -> bool:
    source = ctx.get_parameter_source(parameter.name)
    return source is not None and source.name == "DEFAULT_MAP"


def _typed(option: Any, value: Any) -> str:
    if option.is_flag and option.secondary_opts:
        return str((option.opts if value else option.secondary_opts)[0]).lstrip("-")
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def section(formatter: Any, title: str, rows: list[tuple[str, str]], left: int = LEFT) -> None:
    """A heading and what stands below it, in two columns."""
    if rows:
        first, *others = [(name, text.replace("-", HYPHEN)) for name, text in rows]
        with formatter.section(typer.style(title, bold=True)):
            formatter.write_dl([(first[0].ljust(left), first[1]), *others], col_max=left)  # one edge in all groups


class PlainGroup(TyperGroup):
    """Commands whose usage errors are shown as `visible` gives them."""

    def make_context(self, *positional: Any, **keywords: Any) -> Any:
        """As typer does it."""
        with _plain_errors():
            return super().make_context(*positional, **keywords)

    def invoke(self, ctx: Any) -> Any:
        """As typer does it; the options of a command are read here."""
        with _plain_errors():
            return super().invoke(ctx)


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):
            error.message = visible(message)  # type: ignore[attr-defined]
        raise


def show_warnings_plainly() -> None:
    """Warnings of libraries may repeat what a file holds."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        print(f"warning: {visible(str(message))}", file=sys.stderr)

    warnings.showwarning = show
