"""What the shell completes: names that we know, and the columns of the table that was given."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

HEAD = 1 << 16  # bytes in which a table's first line is looked for
TABLES = ("pool", "table", "problem")  # parameters that name one


def among(*names: str) -> Callable[[str], list[str]]:
    """One of a few words."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def solvers(incomplete: str) -> list[str]:
    """Names of solvers."""
    import biselect

    return among(*biselect.solver_names())(incomplete)


def maps(incomplete: str) -> list[str]:
    """Names of calibration maps that need no labels."""
    from biselect.calibrate.maps import map_names

    return among(*map_names(supervised=False), "auto")(incomplete)


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
    ending = path.suffix.lower()
    if ending == ".parquet":
        import pyarrow.parquet

        return list(pyarrow.parquet.read_schema(path).names)
    if ending not in (".csv", ".tsv", ".jsonl", ".ndjson"):
        return []
    with path.open("rb") as file:
        head = file.read(HEAD).decode("utf-8-sig", errors="replace")
    if ending.endswith("l") or ending == ".ndjson":
        first: Any = json.loads(head.partition("\n")[0])
        return list(first)
    line = head.splitlines()[:1]
    between = delimiter or max(",;\t|", key=lambda character: line[0].count(character) if line else 0)
    return next(csv.reader(line, delimiter=between), [])
