"""`biselect review`: a review in a folder, row by row in the terminal or through files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.cli.console import Steps, show_json
from biselect.cli.from_options import FIRST, Only
from biselect.cli.options import Output, Reference
from biselect.options import Columns, Csv, Flag, Options, Reviewing, Split
from biselect.pages.terminal import show_found, show_line, show_queue, show_queued
from biselect.pages.words import phrase

if TYPE_CHECKING:
    from biselect.sessions import ReviewSession

SHOWN = 10  # of the next rows; the rest is in the file
KEYS = {"1": "fine", "2": "not fine", "3": "unsure"}

ROLES = ("time", "id", "label", "features", "exclude", "show", "types", "duplicates")  # of a session's columns
OUT = "Folder for answers.csv, the pages and the proof."


@dataclass(frozen=True, kw_only=True)
class Turn(Options, heading=Reviewing.heading):
    """Answers and exports of a session."""

    from_last: Annotated[
        bool,
        Flag("With a new export: take the last one, less what was not fine, as reference.", first=True),
    ] = False
    answers: Annotated[
        Path | None,
        Flag("Take the answers of this table: ids, a column 'answer' and, if there are any, 'note'.", value="TABLE"),
    ] = None
    who: Annotated[str, Flag("Who answers, as they want to be called.")] = ""
    when: Annotated[str, Flag("When, in whatever words.")] = ""


def review(
    folder: Annotated[Path, typer.Argument(help="Folder of the session; holds review.sqlite.")],
    pool: Annotated[
        Path | None,
        typer.Argument(metavar="[POOL]", help="Table to review, to begin with or as a new export; else go on."),
    ] = None,
    reference: Reference = None,
    k: Annotated[int, typer.Option("-k", min=1, rich_help_panel=FIRST, help="How many rows to review today.")] = 20,
    reviewing: Reviewing = Reviewing(),
    split: Annotated[Split, Only("until")] = Split(),
    columns: Annotated[Columns, Only(*ROLES)] = Columns(),
    csv: Csv = Csv(),
    turn: Turn = Turn(),
    output: Annotated[Output, Only("quiet", out=OUT, json="Print everything as JSON.")] = Output(),
) -> None:
    """Review rows one by one: every answer decides which row comes next.

    In a terminal it asks row by row; elsewhere next.csv in FOLDER is to be filled in and given to --answers.
    What was answered is kept at once; `biselect app FOLDER` shows the same session in the browser.
    """
    from biselect.core.files import private_files
    from biselect.pages.over_time import learnt
    from biselect.sessions.exports import NEXT, export, go_on, offer_rows, summarise, take_answers
    from biselect.tables import Table

    steps = Steps(output.quiet)

    def tell_drift(drift: Mapping[str, Any]) -> None:
        style = "yellow" if drift["crossed"] else "dim"
        steps.say(phrase("terminal.drift", verdict=drift["verdict"]), style=style)

    def tell_left_out(number: int) -> None:
        if number:
            steps.say(phrase("review.left_out", n=number))

    with private_files():
        session = go_on(
            *(folder, Table(pool, columns, csv), reference),
            from_last=turn.from_last,
            split=split,
            reviewing=reviewing,
            tell_drift=tell_drift,
            tell_left_out=tell_left_out,
            who=turn.who,
            when=turn.when,
            progress=steps.step,
        )
        if text := learnt(session.record["taught"]):
            steps.say(text)
        sizes = session.record["sizes"]
        if sizes["held"] < sizes["pool"]:
            steps.say(phrase("review.held", held=sizes["held"], rows=sizes["pool"]))
        if turn.answers is not None:
            number = take_answers(session, turn.answers, who=turn.who, when=turn.when)
            steps.say(phrase("terminal.answers", n=number, path=turn.answers))
        if not output.json and sys.stdin.isatty() and sys.stdout.isatty():
            _by_hand(session, k, turn.who, turn.when)
        rows = offer_rows(session, k)
        key = "terminal.fill_in" if rows else "terminal.all_asked"
        steps.say(phrase(key, n=rows, path=folder / NEXT))
        if output.out is not None:
            for place in export(session, output.out, progress=steps.step):
                steps.say(phrase("terminal.wrote", path=place))
        view, queue = summarise(session.file), [row.to_dict() for row in session.next_rows(k)]
        if output.json:
            show_json({**view, "queue": queue})
        else:
            show_queue(queue[:SHOWN])
            show_found(view["tables"][session.choice])


def _by_hand(session: ReviewSession, count: int, who: str, when: str) -> None:
    """Ask for one answer after the other, until there are so many, no row is open, or the person stops."""
    show_line(phrase("terminal.keys"))
    unlike, answered = False, 0
    while answered < count and (row := session.next_row(who, unlike=unlike)) is not None:
        show_queued(row.to_dict())
        try:
            key, _, note = input("> ").strip().partition(" ")
        except EOFError:
            return
        unlike = key == "e"
        if key in KEYS:
            session.answer(row, KEYS[key], note=note or None, who=who, when=when)
            answered += 1
        elif key == "q":
            return
        elif key == "u":
            if (back := session.undo(who=who, when=when)) is None:
                show_line(phrase("bench.no_undo"))
            else:
                show_line(phrase(f"bench.undone{'_as' if back.verdict else ''}", **asdict(back)))
        elif not unlike:
            show_line(phrase("terminal.keys"))
