"""`biselect report`: the page again, from a folder that `select`, `solve` or `demo` wrote."""

from pathlib import Path
from typing import Annotated

import typer

from biselect.cli.answer import open_in_browser
from biselect.cli.console import Steps, show_json
from biselect.cli.from_options import Only
from biselect.cli.options import Output, may_be
from biselect.errors import InputError
from biselect.pages.terminal import show_answer


def report(
    folder: Annotated[Path, typer.Argument(help="A folder written with --out.")],
    out: Annotated[
        Path | None, may_be(metavar="FILE", help="Where to write the page; otherwise report.html in FOLDER.")
    ] = None,
    output: Annotated[Output, Only("open", json="Print report.json instead of tables.")] = Output(),
) -> None:
    """Render report.html anew from report.json, and show the answer."""
    from biselect.core.files import tidy, write_file
    from biselect.core.untrusted import read_json, refused_as
    from biselect.pages import render_html

    source = folder / "report.json"
    tidy(folder)  # an answer that was killed on its way into the folder is finished first
    if not source.exists():
        raise InputError(f"{source}: no such file; give a folder that was written with --out")
    with refused_as(f"{source}: cannot be read as a report"):
        view = read_json(source)
        page = render_html(view)
        if not output.json:
            show_answer(view)
    place = out or folder / "report.html"
    write_file(place, page)
    if output.json:
        show_json(view)
    if output.open:
        open_in_browser(place, Steps())
