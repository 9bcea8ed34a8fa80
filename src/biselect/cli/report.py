"""`biselect report`: the page again, from a folder that `select`, `solve` or `demo` wrote."""

import json
from pathlib import Path
from typing import Annotated

import typer

from biselect.cli import options
from biselect.cli.answer import show, show_page
from biselect.cli.console import Steps
from biselect.errors import InputError


def report(
    folder: Annotated[Path, typer.Argument(help="A folder written with --out.")],
    out: Annotated[
        Path | None, options.may_be(metavar="FILE", help="Where to write the page; otherwise report.html in FOLDER.")
    ] = None,
    open_page: options.Open = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json instead of tables.")] = False,
) -> None:
    """Render report.html anew from report.json, and show the answer."""
    from biselect.core.files import write_file
    from biselect.report import render_html

    source = folder / "report.json"
    try:
        summary = json.loads(source.read_text(encoding="utf-8"))
        page = render_html(summary)
    except FileNotFoundError:
        raise InputError(f"{source}: no such file; give a folder that was written with --out") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{source}: cannot be read as a report: {error}") from error
    place = out or folder / "report.html"
    write_file(place, page)
    if as_json:
        typer.echo(json.dumps(summary, indent=1, ensure_ascii=False))
    else:
        show(summary)
    if open_page:
        show_page(place, Steps())
