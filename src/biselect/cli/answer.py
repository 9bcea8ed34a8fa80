"""`select`, `solve`, `demo` and `report` share this: print an answer, and write its folder if one is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from biselect.cli.console import Steps
from biselect.cli.options import Output
from biselect.errors import InputError
from biselect.options import Search
from biselect.pages.terminal import show_answer, visible_json
from biselect.pages.words import phrase

if TYPE_CHECKING:
    from biselect.reviews import Review


def check_place(output: Output, names: Iterable[str] = ()) -> None:
    """Refuse, before the work, a folder that cannot be written, or what needs one where there is none."""
    from biselect.core.files import check_folder

    for flag, is_given in (("--proof", output.proof), ("--open", output.open)):
        if is_given and output.out is None:
            raise InputError(f"{flag} needs the folder of --out; give that too")
    if output.out is not None:
        check_folder(output.out, names)


def without_neighbours(search: Search) -> Search:
    """The same without a look at neighbouring budgets, which can be moved only in a page; what is wrong stays so."""
    return replace(search, neighbours=(0, 0)) if min(search.neighbours) >= 0 else search


def answer(review: Review, output: Output, steps: Steps) -> None:
    """Print the answer, or selection.json, write the folder, and open its page where that is asked for."""
    from biselect.pages.answer_files import selection_json

    paths = [] if output.out is None else review.save(output.out, proof=output.proof)
    if output.proof and review.selection.proof is None:
        steps.say(phrase("terminal.no_proof"), style="yellow")
    if output.json:
        sys.stdout.write(visible_json(selection_json(review.summary)))
    else:
        show_answer(review.summary, more=output.more)
    for caveat in review.warnings:
        steps.say(caveat.text, style="yellow")
    if "advice" in review.selection.info:
        steps.say(review.selection.info["advice"], style="yellow")
    for path in paths:
        steps.say(phrase("terminal.wrote", path=path))
    if output.open and output.out is not None:
        open_in_browser(output.out / "report.html", steps)


def open_in_browser(path: Path, steps: Steps) -> None:
    """Open a page that was written; where there is no browser, say where it lies."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        steps.say(phrase("terminal.no_browser", path=path.resolve()), style="bold")
