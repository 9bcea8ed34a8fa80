"""`biselect inspect`: what is in a file, and the command that makes a report of it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from biselect.cli.console import Steps, show_json
from biselect.cli.from_options import Only
from biselect.cli.options import Output, may_be
from biselect.errors import InputError
from biselect.options import Csv
from biselect.pages.terminal import figures, out, printable

SHOWN = 60  # columns in a terminal; --json and --out have all


def inspect(
    table: Annotated[Path, typer.Argument(help="The file to look at.")],
    page: Annotated[Path | None, may_be("--out", help="A page (.html) to write.")] = None,
    csv: Csv = Csv(),
    output: Annotated[Output, Only("quiet", json="Print everything as JSON.")] = Output(),
) -> None:
    """Say how TABLE is written, what each of its columns is, and which `select` command makes a report of it."""
    from biselect.core.files import write_file
    from biselect.pages import render_inspection
    from biselect.tables import inspect as look
    from biselect.tables.readers.sources import Source

    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out {page}: the page ends in .html")
    steps = Steps(output.quiet)
    with steps.step(f"Reading {Source.of(table).name}"):
        found = look(table, csv=csv)
    if page is not None:
        write_file(page, render_inspection(found.to_dict()))
        steps.say(f"wrote {page}")
    if output.json:
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
