"""Commands from functions that take classes of options: every field that is offered becomes a flag.

A function's other parameters are declared as typer wants them. The objects are made of what was typed:

    def solve(problem: Annotated[Path, typer.Argument(help="A problem.")], search: Search = Search()) -> None: ...

gives `solve PROBLEM --solver NAME --time-limit SECONDS …`. The default of a parameter says what its flags are unless
typed; one without a default takes that of the class. `Annotated[Search, Only("solver", "seed")]` offers these alone.

The shell completes names that we know, and the columns of the table that was given.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.main import get_command_from_info
from typer.models import CommandInfo

from biselect.cli._help import FIRST as FIRST  # commands of other packages take it from here
from biselect.cli._help import Command
from biselect.options import Csv, Flag, Options, flags_of, names_of

HEAD = 1 << 16  # bytes of a first line of JSON
TABLES = ("pool", "table", "problem")  # parameters that name one

Hint = Any  # a type as it is annotated


class Only:
    """The fields of a class that a command offers; `helps` says what one means there, where that differs."""

    def __init__(self, *names: str, **helps: str) -> None:
        self.names, self.helps = {*names, *helps}, helps


def make_command(name: str, function: Callable[..., None]) -> Command:
    """The command of a function."""
    info = CommandInfo(name=name, cls=Command, callback=_flat(function))
    command = get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None)
    assert isinstance(command, Command)
    return command


def _flat(function: Callable[..., None]) -> Callable[..., None]:
    """The function with one parameter for each flag, which collects them into its options."""
    hints = get_type_hints(function, include_extras=True)
    parameters, objects = dict[str, Parameter](), dict[str, tuple[type[Options], Any, dict[str, tuple[Hint, Flag]]]]()
    for name, parameter in signature(function).parameters.items():
        annotated = hints[name]
        cls = get_args(annotated)[0] if get_origin(annotated) is Annotated else annotated
        if not (isinstance(cls, type) and issubclass(cls, Options)):
            parameters[name] = parameter.replace(annotation=annotated, kind=Parameter.KEYWORD_ONLY)
            continue
        only = next((one for one in getattr(annotated, "__metadata__", ()) if isinstance(one, Only)), None)
        default = None if parameter.default is Parameter.empty else parameter.default
        objects[name] = (cls, default, {})
        for field, (hint, flag) in flags_of(cls).items():
            if flag.offered and (only is None or field in only.names):
                assert field not in parameters, f"{function.__name__} has two options {field}"
                help = flag.help if only is None else only.helps.get(field, flag.help)
                parameters[field] = _as_parameter(field, hint, flag, help, cls, default)
                objects[name][2][field] = hint, flag

    def collect(**values: Any) -> None:
        for name, (cls, default, offered) in objects.items():
            typed = {field: _as_value(hint, flag, values.pop(field)) for field, (hint, flag) in offered.items()}
            rest = {} if default is None else vars(default)
            values[name] = cls(**{**rest, **{field: value for field, value in typed.items() if value is not MISSING}})
        function(**values)

    collect.__name__, collect.__doc__ = function.__name__, function.__doc__
    collect.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    collect.__signature__ = Signature([*parameters.values()])  # type: ignore[attr-defined]
    return collect


def _as_parameter(name: str, hint: Hint, flag: Flag, help: str, cls: type, default: Any) -> Parameter:
    value = getattr(default, name) if default is not None else _default(cls, name)
    several = _takes_several(hint)
    if several and not value:
        value = None
    complete = COMPLETIONS.get(flag.source) or among(*flag.choices)
    declared = typer.Option(
        *names_of(name, flag),
        help=help,
        metavar=flag.value or "|".join(flag.choices) or None,
        min=flag.least,
        parser=_parser(flag),
        autocompletion=complete if flag.source or flag.choices else None,
        rich_help_panel=FIRST if flag.first else getattr(cls, "heading", ""),
        show_default=value is not None,
    )
    plain: Hint = list[str] | None if several else _plain(hint)
    empty = value is MISSING
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        annotation=Annotated[plain, declared],
        default=Parameter.empty if empty else list(value) if several and value is not None else value,
    )


def _parser(flag: Flag) -> Callable[[Any], Any] | None:
    """The parser of a flag, which leaves a default as it is."""
    parse = flag.parse
    return None if parse is None else lambda typed: parse(typed) if isinstance(typed, str) else typed


def _default(cls: type, name: str) -> Any:
    (one,) = (one for one in fields(cls) if one.name == name)
    return one.default_factory() if one.default_factory is not MISSING else one.default


def _takes_several(hint: Hint) -> bool:
    return any(get_origin(one) in (Sequence, Mapping) for one in (hint, *get_args(hint)))


def _plain(hint: Hint) -> Any:
    """The type as typer reads it; text where it may be many things."""
    origin: Any = get_origin(hint)
    if origin is tuple or hint is bool:
        return hint
    kinds = {*get_args(hint)} or {hint}
    for kind in (str, Path, float, int):
        if kind in kinds:
            return kind | None if NoneType in kinds else kind
    return str | None


def _as_value(hint: Hint, flag: Flag, typed: Any) -> Any:
    """What goes into the field; MISSING where nothing was typed and the class knows the value."""
    if not _takes_several(hint):
        return typed
    if not typed:
        return MISSING
    origin: Any = get_origin(hint)
    if origin is not Mapping:
        return tuple(typed)
    pairs = [one.rpartition("=") for one in typed]
    if wrong := [kind for name, _, kind in pairs if not name]:
        raise typer.BadParameter(f"{wrong[0]!r} is no {flag.value}.")
    return {name: kind for name, _, kind in pairs}


def among(*names: str) -> Callable[[str], list[str]]:
    """One of a few words."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def _solvers(incomplete: str) -> list[str]:
    """Names of solvers."""
    from biselect.solvers import solver_names

    return among(*solver_names())(incomplete)


def _maps(incomplete: str) -> list[str]:
    """Names of maps."""
    from biselect.weights.maps import map_names

    return among(*map_names())(incomplete)


def _columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the first table on the command line; after a comma, one more."""
    before, comma, begun = incomplete.rpartition(",")
    paths = [ctx.params[name] for name in TABLES if isinstance(ctx.params.get(name), Path)]
    words = [*paths, *ctx.args]  # an option whose value is being typed leaves the arguments as words
    try:
        names = _names(Path(words[0]), ctx.params.get("delimiter")) if words else []
    except (OSError, ValueError):  # no file yet, or none of ours: the shell goes on without us
        return []
    return [f"{before}{comma}{name}" for name in names if name.startswith(begun)]


def _names(path: Path, delimiter: str | None) -> list[str]:
    """The names of a table's columns, from its first bytes."""
    from biselect.tables.readers import sniff
    from biselect.tables.readers.sources import CSV, JSON_LINES, opened

    name = path.name.lower()
    if name.endswith(".parquet"):
        from pyarrow.parquet import read_schema

        return list(read_schema(path).names)
    if name.endswith(JSON_LINES):
        with opened(path) as file:
            first: Any = json.loads(file.readline(HEAD))
        return list(first)
    return (sniff(path, Csv(delimiter=delimiter)).names or []) if name.endswith(CSV) else []


COMPLETIONS: dict[str, Callable[..., list[str]]] = {
    "columns": _columns,
    "maps": _maps,
    "solvers": _solvers,
}
