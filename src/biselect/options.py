"""Every option of biselect once: its name, what it means, and what it is unless set.

The command line, `biselect.toml`, the form of the workbench and the reference pages are read off these fields, so an
option is added, renamed or explained here and nowhere else. Functions take the objects:

>>> Search(time_limit=10).solver
'auto'
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


@dataclass(frozen=True, kw_only=True)
class Flag:
    """How the command line and the workbench offer a field.

    Attributes:
        help: one sentence for people; also the field's documentation in Python.
        names: what one types; empty for the field's name with hyphens.
        value: what stands for the value in help; empty to take it from the type.
        choices: the words that it takes; empty for any.
        source: what the shell completes it from: `columns`, `solvers` or `maps`; empty for `choices`.
        least: the smallest number that it takes.
        first: whether help shows it among what matters most.
        offered: whether the command line has it at all; False for what only Python can pass.
    """

    help: str
    names: tuple[str, ...] = ()
    value: str = ""
    choices: tuple[str, ...] = ()
    source: str = ""
    least: float | None = None
    first: bool = False
    offered: bool = True


def option(default: Any, help: str, *names: str, **more: Any) -> Any:
    """A field of an options class: its default, its help, its flags, and what else `Flag` holds."""
    metadata = {"flag": Flag(help=help, names=names, **more)}
    return (
        field(default_factory=dict, metadata=metadata) if default == {} else field(default=default, metadata=metadata)
    )


def flag_of(one: Any) -> Flag:
    """How a field of an options class is offered."""
    flag: Flag = one.metadata["flag"]
    return flag


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
def options(cls: Class) -> Class:
    """Make a class of options: frozen, by keyword, documented by the help of its fields."""
    made: Any = dataclass(frozen=True, kw_only=True)(cls)
    lines = [f"    {one.name}: {flag_of(one).help}" for one in fields(made)]
    made.__doc__ = "\n".join([cls.__doc__ or "", "", "Attributes:", *lines])
    return made


@options
class Columns:
    """What the columns of a table are."""

    id: str | None = option(
        None,
        "Column that names the rows; otherwise their position.",
        "--id-column",
        value="COLUMN",
        source="columns",
        first=True,
    )
    label: str | None = option(
        None,
        "Known positives (0/1, yes/no; or NAME=VALUE): shown with the answer, never used.",
        "--label-column",
        value="COLUMN",
        source="columns",
    )
    time: str | None = option(
        None,
        "Column that orders the rows; never a feature.",
        "--time-column",
        value="COLUMN",
        source="columns",
        first=True,
    )
    features: Sequence[str] | None = option(
        None, "Columns to use; repeat or separate by commas.", value="COLUMNS", source="columns"
    )
    exclude: Sequence[str] = option(
        (), "Columns to leave out; repeat or separate by commas.", value="COLUMNS", source="columns"
    )
    show: Sequence[str] = option(
        (),
        "Columns shown beside the rows, never used to choose; repeat or use commas.",
        value="COLUMNS",
        source="columns",
    )
    score: str | None = option(
        None,
        "Column of the pool with your own score of each row, higher for odder.",
        "--score-column",
        value="COLUMN",
        source="columns",
    )
    types: Mapping[str, str] = option(
        {},
        "What a column holds, where the guess is wrong: number, category, or date, whose parts may be named as in "
        "created=date:hour,weekday,gap; repeat.",
        "--column",
        value="NAME=TYPE",
        source="columns",
    )
    duplicates: str = option(
        "error", "Which of the rows with one id to keep, or refuse them.", choices=("first", "last", "error")
    )


@options
class Csv:
    """How the text of a table is written; what is left out is found out."""

    encoding: str | None = option(None, "Of a CSV, such as cp1252; else found out.", value="NAME")
    delimiter: str | None = option(None, "Between values of a CSV, such as ';'; else found out.", value="CHARACTER")
    decimal: str | None = option(None, "Before decimals in a CSV: , or . ; else found out.", value="CHARACTER")
    thousands: str | None = option(
        None, "Between thousands in a CSV: . , ' or a space; '' for none.", value="CHARACTER"
    )
    na_values: Sequence[str] = option(
        (), "What means missing in a CSV, beside NA and its like; repeat or use commas.", value="TEXT"
    )
    date_format: str | None = option(
        None, "How dates are written, such as '%d/%m/%Y %H:%M'; else found out.", value="FORMAT"
    )


@options
class Split:
    """One table as two, in time: earlier rows are the reference, later ones the pool."""

    until: Any = option(
        None,
        "Rows up to this time, or this share of the rows (60%), are the reference.",
        "--reference-until",
        value="TIME|SHARE%",
        first=True,
    )
    last: int | None = option(
        None, "Of the rows after the reference keep only so many of the latest.", "--pool-last", least=1
    )


@options
class Weighing:
    """What counts as unusual."""

    preset: str = option(
        "default",
        "The product's form, or the paper's as printed; decides what is left out of map, kinds and drift.",
        choices=("default", "paper"),
    )
    map: Any = option(
        None, "How extremeness becomes a weight: a map's name; in Python also a map.", value="NAME", source="maps"
    )
    cap: float | None = option(None, "Largest weight, w_max; the map's own unless given.")
    missing: str = option(
        "weigh",
        "Missing values: weigh how rare they are, fill them, or refuse them.",
        choices=("weigh", "median", "error"),
    )
    drift: str | None = option(
        None,
        "Columns that moved against the reference: recentre them, or keep them as they are.",
        choices=("recentre", "keep"),
    )
    row_scores: Any = option(
        None,
        "Somebody's own score of each row, higher for odder: an array, or a fitted scikit-learn or PyOD detector.",
        offered=False,
    )


@options
class RowRules:
    """What must and what must not be chosen."""

    must: Sequence[Any] = option((), "Rows that must be chosen, by id.", value="IDS")
    never: Sequence[Any] = option((), "Rows that must not be chosen, by id.", value="IDS")
    must_columns: Sequence[str] = option(
        (), "Columns that must be chosen.", "--must-column", value="COLUMNS", source="columns"
    )
    at_most: int | None = option(None, "Rows to choose at most with the same value of --per.", least=0)
    per: str | None = option(
        None, "Column that --at-most is about; shown, never a feature.", value="COLUMN", source="columns"
    )


@options
class Kinds:
    """Kinds of unusual, and what chance alone would show."""

    kinds: int | None = option(
        None, "How many kinds of unusual to look for; 1 for the best block alone, the paper's answer.", least=1
    )
    null_draws: int = option(19, "Draws from the reference that say what score chance alone gives.", least=0)
    false_share: float = option(
        0.1,
        "Of the rows said to stand out, the share that may be expected to be normal.",
        "--expected-false-share",
    )


@options
class Search:
    """Who solves it, and for how long."""

    solver: str = option(
        "auto",
        "Who solves it: auto or exact for a proof, or another solver by name.",
        value="NAME",
        source="solvers",
    )
    time_limit: float | None = option(
        None, "Seconds after which the best found is returned, with a bound.", value="SECONDS"
    )
    seed: int = option(0, "Fixes every random draw.", least=0)
    neighbours: tuple[int, int] = option(
        (2, 1),
        "How far k and m may be moved in the report, solved ahead; 0 0 for not at all.",
        value="ROWS COLUMNS",
    )


@options
class Compute:
    """Where a table that no memory holds is read."""

    on: str | None = option(
        None,
        "Who reads tables too large to be held: dask://HOST:PORT; else threads here.",
        value="WHERE",
        choices=("threads", "dask://"),
        first=True,
    )
    memory: int | str | None = option(
        None,
        "Memory that reading them may take here, such as '512 MB'; 2 GiB if left out.",
        value="SIZE",
        first=True,
    )
    resume: str | Path | None = option(
        None,
        "Folder in which finished passes are kept until the answer is there, so that a stopped run goes on after them.",
        offered=False,
    )
