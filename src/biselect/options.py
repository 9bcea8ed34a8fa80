"""Every option of biselect once: its name, what it means, and what it is unless set.

The command line, `biselect.toml`, the form of the workbench and the reference pages are read off these fields, so an
option is added, renamed or explained here and nowhere else. Functions take the objects:

>>> Search(time_limit=10).solver
'auto'

A class of options of another package is made in the same way: a frozen dataclass on `Options`, each field annotated
with its `Flag`.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

from biselect.errors import InputError

__all__ = [
    "Columns",
    "Compute",
    "Csv",
    "Flag",
    "Kinds",
    "Options",
    "Reviewing",
    "RowRules",
    "Search",
    "Split",
    "Watch",
    "Weighing",
]
ANY: Any = ...  # in an advice: some value, which the reader must know


class Stated(str):
    """A value that an advice names although it is the default."""


class Flag:
    """How the command line and the workbench offer a field.

    Args:
        help: one sentence for people; also the field's documentation in Python.
        names: what one types; none for the field's name with hyphens.
        value: what stands for the value in help; empty to take it from the choices or the type.
        choices: words that it takes, which the shell completes.
        source: what the shell completes it from instead: `columns`, `solvers` or `maps`.
        least: the smallest number that it takes.
        parse: makes the value of what was typed, where the type does not say how.
        first: whether help shows it among what matters most.
        offered: whether the command line has it at all; False for what only Python can pass.
    """

    def __init__(
        self,
        help: str,
        *names: str,
        value: str = "",
        choices: Sequence[str] = (),
        source: str = "",
        least: float | None = None,
        parse: Callable[[str], Any] | None = None,
        first: bool = False,
        offered: bool = True,
    ) -> None:
        self.help, self.names, self.value, self.choices, self.source = help, names, value, choices, source
        self.least, self.parse, self.first, self.offered = least, parse, first, offered


class Options:
    """Base of the classes of options, which are frozen dataclasses.

    Args:
        parameter: what functions call an object of the class; its name in small letters unless given.
        heading: what stands above its flags in help.
    """

    parameter: ClassVar[str]
    heading: ClassVar[str]

    def __init_subclass__(cls, *, heading: str, parameter: str = "") -> None:
        cls.heading, cls.parameter = heading, parameter or cls.__name__.lower()
        lines = [f"    {name}: {flag.help}" for name, (_, flag) in flags_of(cls).items()]
        cls.__doc__ = "\n".join([cls.__doc__ or heading, "", "Attributes:", *lines])


def flags_of(cls: type) -> dict[str, tuple[Any, Flag]]:
    """The fields of a class of options by name, each with its type and how it is offered."""
    hints = get_type_hints(cls, include_extras=True)
    return {
        name: (hint.__origin__, flag)
        for name, hint in hints.items()
        for flag in getattr(hint, "__metadata__", ())
        if isinstance(flag, Flag)
    }


def names_of(name: str, flag: Flag) -> tuple[str, ...]:
    """What one types for a field."""
    return flag.names or ("--" + name.replace("_", "-"),)


def non_defaults(options: Options) -> dict[str, Any]:
    """The fields that are not as the class has them by itself.

    >>> non_defaults(Search(solver="auto", seed=3))
    {'seed': 3}
    """
    found = {}
    for one in fields(options):  # type: ignore[arg-type]
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        value = getattr(options, one.name)
        plain = tuple(value) if isinstance(value, list) else value
        if value is not default and not (type(plain) is type(default) and plain == default):
            found[one.name] = value
    return found


def refuse_others(options: Any, *names: str) -> None:
    """Refuse fields that were set and play no part in what is asked for.

    Raises:
        InputError: another field than those named is not as the class has it by itself.
    """
    if others := {name: value for name, value in non_defaults(options).items() if name not in names}:
        raise InputError(f"{spell(replace(type(options)(), **others))}: this plays no part here; leave it out")


def in_python(*options: Options, **parameters: Any) -> str:
    """Options and plain parameters as arguments of a call, without what is left at its default.

    >>> in_python(Columns(exclude=["note"]), k=3)
    "columns=Columns(exclude=['note']), k=3"
    """
    parts = []
    for one in options:
        values = ", ".join(f"{name}={_literal(name, value)}" for name, value in non_defaults(one).items())
        parts.append(f"{one.parameter}={type(one).__name__}({values})")
    parts += [f"{name}=" if value is ANY else f"{name}={value!r}" for name, value in parameters.items()]
    return ", ".join(parts)


def _literal(name: str, value: Any) -> str:
    plain = value is None or isinstance(value, str | int | float | list | tuple | dict | Path)
    return "..." if value is ANY else repr(str(value) if isinstance(value, Path) else value) if plain else name


def in_flags(*options: Options, **parameters: Any) -> str:
    """The same as words of a command line.

    >>> in_flags(Columns(exclude=["note", "a,b"], types={"zip": "category"}), k=3)
    '--exclude note --exclude a,b --column zip=category -k 3'
    """
    return shlex.join(words_of(*options, **parameters))


def words_of(*options: Options, **parameters: Any) -> list[str]:
    """The words of such a command line, one by one."""
    words: list[str] = []
    for one in options:
        flags = flags_of(type(one))
        for name, value in non_defaults(one).items():
            words += _words(max(names_of(name, flags[name][1]), key=len), value)
    for name, value in parameters.items():
        words += _words(f"-{name}" if len(name) == 1 else "--" + name.replace("_", "-"), value)
    return words


def _words(flag: str, value: Any) -> list[str]:
    if value is ANY or value is True:
        return [flag]
    if isinstance(value, Mapping):
        return [word for name, kind in value.items() for word in (flag, f"{name}={kind}")]
    if isinstance(value, tuple) and all(isinstance(one, int) for one in value):
        return [flag, *map(str, value)]
    if isinstance(value, list | tuple):
        plain = [str(one) for one in value if "," not in str(one) and str(one) == str(one).strip() != ""]
        alone = [str(one) for one in value if str(one) not in plain]
        return [word for one in [",".join(plain)] * bool(plain) + alone for word in (flag, one)]
    return [flag, str(value)]


def names_in(names: str | Iterable[Any] | None, known: Iterable[str]) -> list[str]:
    """Names given one by one or separated by commas; a name that holds a comma itself is known as a whole.

    >>> names_in(["a,b", "c,d"], known=["a", "b", "c,d"])
    ['a', 'b', 'c,d']
    """
    columns = set(known)
    entries = [names] if isinstance(names, str) else [str(entry) for entry in names or ()]
    parts = [[entry] if entry in columns else entry.split(",") for entry in entries]
    return [name.strip() for part in parts for name in part if name.strip()]


def possible_names(names: Any) -> set[str]:
    """Names with and without their commas: only the table can tell which are meant."""
    return {*names_in(names, [names] if isinstance(names, str) else names), *names_in(names, ())}


_command: str | None = None  # as it was typed, while one is running


def running_command() -> str | None:
    """The command line that is running; None in a program."""
    return _command


def spell(*options: Options, **parameters: Any) -> str:
    """Options as the reader of a message would type them: as Python, or as flags while a command is running.

    >>> f"leave it out with {spell(Columns(exclude=['note']))}, or say {spell(Csv(decimal=ANY))}"
    "leave it out with columns=Columns(exclude=['note']), or say csv=Csv(decimal=...)"
    """
    return in_python(*options, **parameters) if _command is None else in_flags(*options, **parameters)


@contextmanager
def running(command: str) -> Iterator[None]:
    """Let messages name flags, and answers the command that gave them, for as long as it runs."""
    global _command
    before, _command = _command, command
    try:
        yield
    finally:
        _command = before


def _column(help: str, *names: str, value: str = "COLUMN", **more: Any) -> Flag:
    return Flag(help, *names, value=value, source="columns", **more)


@dataclass(frozen=True, kw_only=True)
class Columns(Options, heading="Columns"):
    """What the columns of a table are; all without a role are features."""

    time: Annotated[
        str | None, _column("Column that orders the rows; never a feature.", "--time-column", first=True)
    ] = None
    id: Annotated[
        str | None, _column("Column that names the rows; otherwise their position.", "--id-column", first=True)
    ] = None
    label: Annotated[
        str | None,
        _column("Known positives (0/1, yes/no; or NAME=VALUE): shown with the answer, never used.", "--label-column"),
    ] = None
    features: Annotated[
        Sequence[str] | None, _column("Columns to use; repeat or separate by commas.", value="COLUMNS")
    ] = None
    exclude: Annotated[
        Sequence[str], _column("Columns to leave out; repeat or separate by commas.", value="COLUMNS")
    ] = ()
    show: Annotated[
        Sequence[str],
        _column("Columns shown beside the rows, never used to choose; repeat or use commas.", value="COLUMNS"),
    ] = ()
    types: Annotated[
        Mapping[str, str],
        _column(
            "What a column holds where the guess is wrong, or of a date which parts to use: postcode=category, "
            "code=number, created=date:hour,weekday,gap; repeat.",
            "--column",
            value="NAME=TYPE",
        ),
    ] = field(default_factory=dict)
    duplicates: Annotated[
        str,
        Flag("Which of the rows with one id to keep, or refuse them.", choices=("first", "last", "error")),
    ] = "error"


@dataclass(frozen=True, kw_only=True)
class Csv(Options, heading="Reading the tables"):
    """How texts are written, in a CSV or in the cells of any table; what is left out is found out."""

    encoding: Annotated[str | None, Flag("Of a CSV, such as cp1252; else found out.", value="NAME")] = None
    delimiter: Annotated[
        str | None, Flag("Between values of a CSV, such as ';'; else found out.", value="CHARACTER")
    ] = None
    header: Annotated[
        int | None,
        Flag(
            "Line of a CSV or row of a sheet that holds the names, 0 for none; else found out.", value="LINE", least=0
        ),
    ] = None
    decimal: Annotated[str | None, Flag("Before decimals: , or . ; else found out.", value="CHARACTER")] = None
    thousands: Annotated[str | None, Flag("Between thousands: . , ' or a space; '' for none.", value="CHARACTER")] = (
        None
    )
    na_values: Annotated[
        Sequence[str],
        Flag("Texts that mean missing, beside NA and its like; repeat or use commas.", value="TEXT"),
    ] = ()
    date_format: Annotated[
        str | None, Flag("How dates are written, such as '%d/%m/%Y %H:%M'; else found out.", value="FORMAT")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Split(Options, heading="Reading the tables"):
    """One table as two, in time: earlier rows are the reference, later ones the pool."""

    until: Annotated[
        Any,
        Flag(
            "Split the pool in time: rows up to this time, or this share of the rows (60%), are the reference.",
            "--reference-until",
            value="TIME|SHARE%",
            first=True,
        ),
    ] = None
    last: Annotated[
        int | None, Flag("Of the rows after the reference keep only so many of the latest.", "--pool-last")
    ] = None


@dataclass(frozen=True, kw_only=True)
class Weighing(Options, heading="What counts as unusual"):
    """What counts as unusual."""

    preset: Annotated[
        str,
        Flag(
            "The product's form, or the paper's as printed: what map, kinds and drift are unless given.",
            choices=("default", "paper"),
        ),
    ] = "default"
    map: Annotated[
        Any,
        Flag("How extremeness becomes a weight: a map's name; in Python also a map.", value="NAME", source="maps"),
    ] = None
    cap: Annotated[float | None, Flag("Largest weight, w_max; the map's own unless given.")] = None
    missing: Annotated[
        str,
        Flag(
            "Missing values: weigh how rare they are, fill them, or refuse them.",
            choices=("weigh", "median", "error"),
        ),
    ] = "weigh"
    drift: Annotated[
        str | None,
        Flag(
            "Columns that moved against the reference: recentre them, or keep them as they are.",
            choices=("recentre", "keep"),
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RowRules(Options, heading="Rules", parameter="rules"):
    """What must and what must not be chosen."""

    must: Annotated[Sequence[Any], Flag("Rows that must be chosen, by id.", value="IDS")] = ()
    never: Annotated[Sequence[Any], Flag("Rows that must not be chosen, by id.", value="IDS")] = ()
    must_columns: Annotated[
        Sequence[Any], _column("Columns that must be chosen.", "--must-column", value="COLUMNS")
    ] = ()
    at_most: Annotated[
        int | None, Flag("Rows to choose at most with the same value of the column of --per.", least=0)
    ] = None
    per: Annotated[str | None, _column("Column that --at-most is about; shown, never a feature.")] = None


@dataclass(frozen=True, kw_only=True)
class Kinds(Options, heading="Kinds of unusual"):
    """Kinds of unusual."""

    kinds: Annotated[
        int | None,
        Flag("How many kinds of unusual to look for; the first is the answer.", least=1),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Reviewing(Options, heading="Reviewing of review"):
    """What the rows of a further table are chosen with; None for as with the last one, or as usual."""

    m: Annotated[
        int | None, Flag("How many columns to a kind of unusual; 4 if left out.", "-m", least=1, first=True)
    ] = None
    kinds: Annotated[int | None, Flag("How many kinds of unusual to look for; 5 if left out.", least=1)] = None
    missing: Annotated[
        str | None,
        Flag("What to do with missing values; weigh if left out.", choices=("weigh", "median", "error")),
    ] = None
    seed: Annotated[int | None, Flag("Fixes every random draw; 0 if left out.", least=0)] = None


@dataclass(frozen=True, kw_only=True)
class Search(Options, heading="Solving"):
    """Who solves it, and for how long."""

    solver: Annotated[
        str,
        Flag("Who solves it: auto or exact for a proof, or another solver by name.", value="NAME", source="solvers"),
    ] = "auto"
    time_limit: Annotated[
        float | None, Flag("Seconds after which the best found is returned, with a bound.", value="SECONDS")
    ] = None
    seed: Annotated[int, Flag("Fixes every random draw.", least=0)] = 0
    neighbours: Annotated[
        tuple[int, int],
        Flag("How far k and m may be moved in the report, solved ahead; 0 0 for not at all.", value="ROWS COLUMNS"),
    ] = (2, 1)


@dataclass(frozen=True, kw_only=True)
class Watch(Options, heading="When to alarm"):
    """Windows in time, and when a change is an alarm."""

    window: Annotated[
        int | None, Flag("Compare windows of this many rows of the table with its newest.", least=1, first=True)
    ] = None
    step: Annotated[
        int | None, Flag("Rows from one window to the next; a whole window if left out.", least=1, first=True)
    ] = None
    false_alarms: Annotated[
        float, Flag("How often a run may alarm although nothing changed, over all columns and windows.")
    ] = 0.05
    min_effect: Annotated[float, Flag("Smaller changes are told but do not alarm.")] = 0.0
    pool_rows: Annotated[
        int | None, Flag("How many rows to draw to choose from; 200, at most half of the newest, if left out.")
    ] = None
    fail_on_change: Annotated[bool, Flag("Alarm if the selection would change, too; chance alone can change it.")] = (
        False
    )


@dataclass(frozen=True, kw_only=True)
class Compute(Options, heading="Large tables"):
    """Where a table that no memory holds is read."""

    on: Annotated[
        str | None,
        Flag(
            "Who reads tables too large to be held: dask://HOST:PORT; else threads here.",
            value="WHERE",
            choices=("threads", "dask://"),
            first=True,
        ),
    ] = None
    memory: Annotated[
        int | str | None,
        Flag("Memory that reading them may take here, such as '512 MB'; 2 GiB if left out.", value="SIZE", first=True),
    ] = None
