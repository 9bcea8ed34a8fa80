"""`biselect inspect`: what is in a file, and the command that makes a report of it."""

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli.console import Steps, show_json
from biselect.cli.from_options import Only
from biselect.cli.options import Output, may_be
from biselect.errors import InputError
from biselect.options import Columns, Csv
from biselect.pages.terminal import show_inspection
from biselect.pages.words import phrase


def inspect(
    table: Annotated[Path, typer.Argument(help="The file to look at.")],
    page: Annotated[Path | None, may_be("--out", help="A page (.html) to write.")] = None,
    columns: Columns = Columns(),
    csv: Csv = Csv(),
    output: Annotated[Output, Only("quiet", json="Print everything as JSON.")] = Output(),
) -> None:
    """Say how TABLE is written and what each of its columns is taken for, as every command takes it.

    A line says what to type where a guess is wrong: `inspect` and `select` take the same options.
    """
    from biselect.core.files import write_file
    from biselect.pages import render_inspection
    from biselect.tables import inspect as look
    from biselect.tables.readers.sources import Source

    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out {page}: the page ends in .html")
    steps = Steps(output.quiet)
    with steps.step(phrase("steps.reading", name=Source.of(table).name)):
        view = look(table, columns=columns, csv=csv).to_dict()
    if page is not None:
        write_file(page, render_inspection(view))
        steps.say(phrase("terminal.wrote", path=page))
    if output.json:
        show_json(view)
    else:
        show_inspection(view)
