"""`biselect inspect`: what is in a file, and the command that makes a report of it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from biselect.cli import options
from biselect.cli.console import Steps, figures, out, printable, show_json
from biselect.errors import InputError

SHOWN = 60  # columns in a terminal; --json and --out have all


def inspect(
    table: Annotated[Path, typer.Argument(help="The file to look at.")],
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    thousands: options.Thousands = None,
    na_values: options.NaValues = None,
    date_format: options.DateFormat = None,
    page: Annotated[Path | None, options.may_be("--out", help="A page (.html) to write.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Say how TABLE is written, what each of its columns is, and which `select` command makes a report of it."""
    given = dict(locals())
    from biselect.core.files import write_file
    from biselect.data.readers.sources import Source
    from biselect.reviews import inspect as look

    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"out={str(page)!r}: the page ends in .html")
    steps = Steps(quiet)
    names = ("encoding", "delimiter", "decimal", "thousands", "na_values", "date_format")
    with steps.step(f"Reading {Source.of(table).name}"):
        found = look(table, **{name: given[name] for name in names if given[name] is not None})
    if page is not None:
        write_file(page, found.to_html())
        steps.say(f"wrote {page}")
    if as_json:
        show_json(found.to_dict())
    else:
        show(found.to_dict())


def show(found: dict[str, Any]) -> None:
    """The same as tables for a terminal."""
    console = out()
    form = ", ".join(f"{what}: {how}" for what, how in found["form"].items())
    console.print(printable(f"{found['rows']:,} rows, {len(found['columns']):,} columns{'; ' + form if form else ''}"))
    table = figures("Columns", "column", "taken for", "missing", "different")
    table.add_column("such as", overflow="fold")
    for column in found["columns"][:SHOWN]:
        marks = f" ({' '.join(column['missing_marks'])})" if column["missing_marks"] else ""
        cells = (f"{column['missing']:,}{marks}", f"{column['distinct']:,}", ", ".join(column["examples"]))
        table.add_row(printable(column["name"]), column["role"], *map(printable, cells))
    console.print(table)  # examples fold, so that it fits
    if len(found["columns"]) > SHOWN:
        console.print(f"… and {len(found['columns']) - SHOWN:,} more (--json or --out for all)")
    for remark in found["remarks"]:
        console.print(printable(remark))
    console.print("A report of it:", style="bold")
    console.print(printable(found["command"]), soft_wrap=True)  # to be copied whole
