"""What the shell completes: names that we know, and the columns of the table that was given."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

HEAD = 1 << 16  # bytes of a first line of JSON
TABLES = ("pool", "table", "problem")  # parameters that name one


def among(*names: str) -> Callable[[str], list[str]]:
    """One of a few words."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def solvers(incomplete: str) -> list[str]:
    """Names of solvers."""
    from biselect.solvers import solver_names

    return among(*solver_names())(incomplete)


def maps(incomplete: str) -> list[str]:
    """Names of maps."""
    from biselect.weights.maps import map_names

    return among(*map_names())(incomplete)


def columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Columns of the first table on the command line; after a comma, one more."""
    before, comma, begun = incomplete.rpartition(",")
    given = [ctx.params[name] for name in TABLES if isinstance(ctx.params.get(name), Path)]
    words = [*given, *ctx.args]  # an option whose value is being typed leaves the arguments as words
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
    return (sniff(path, delimiter=delimiter).names or []) if name.endswith(CSV) else []


SOURCES: dict[str, Callable[..., list[str]]] = {"columns": columns, "maps": maps, "solvers": solvers}
