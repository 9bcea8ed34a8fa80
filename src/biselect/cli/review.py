"""`biselect review`: rounds of review in a folder, by hand or through files."""

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
from biselect.errors import InputError
from biselect.options import Columns, Csv, Flag, Options, Rounds, Split
from biselect.pages.terminal import list_name, said_reason, show_line, show_rounds
from biselect.pages.words import phrase

if TYPE_CHECKING:
    from biselect.sessions import ReviewSession

KEYS = {"1": "fine", "2": "not fine", "3": "unsure"}

ROLES = ("time", "id", "label", "features", "exclude", "show", "types", "duplicates")  # of a session's columns
OUT = "Folder for answers.csv, the pages and the proof."


@dataclass(frozen=True, kw_only=True)
class Turn(Options, heading=Rounds.heading):
    """What happens in this turn of a session."""

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
    next: Annotated[bool, Flag("Ask for the next round although rows are open.")] = False
    replay: Annotated[bool, Flag("Choose every round again from the tables, and say whether it is the same.")] = False


def review(
    folder: Annotated[Path, typer.Argument(help="Folder of the session; holds review.sqlite.")],
    pool: Annotated[
        Path | None,
        typer.Argument(metavar="[POOL]", help="Table to review, to begin with or as a new export; else go on."),
    ] = None,
    reference: Reference = None,
    k: Annotated[int, typer.Option("-k", min=1, rich_help_panel=FIRST, help="How many rows to a round.")] = 20,
    rounds: Rounds = Rounds(),
    split: Annotated[Split, Only("until")] = Split(),
    columns: Annotated[Columns, Only(*ROLES)] = Columns(),
    csv: Csv = Csv(),
    turn: Turn = Turn(),
    output: Annotated[Output, Only("quiet", out=OUT, json="Print everything as JSON.")] = Output(),
) -> None:
    """Review rows in rounds: what was answered decides which rows come next.

    In a terminal rows are answered one by one; elsewhere next.csv in FOLDER is to be filled in and given to --answers.
    What was answered is kept at once; `biselect app FOLDER` shows the same session in the browser.
    """
    from biselect.core.files import private_files
    from biselect.pages.over_time import learnt
    from biselect.sessions.exports import export, go_on, offer_rows, rounds_summary, take_answers
    from biselect.tables import Table

    steps = Steps(output.quiet)

    def tell_drift(drift: Mapping[str, Any]) -> None:
        style = "yellow" if drift["crossed"] else "dim"
        steps.say(phrase("terminal.drift", verdict=drift["verdict"]), style=style)

    with private_files():
        session = go_on(
            *(folder, Table(pool, columns, csv), reference),
            from_last=turn.from_last,
            split=split,
            rounds=rounds,
            tell_drift=tell_drift,
            who=turn.who,
            when=turn.when,
            progress=steps.step,
        )
        if text := learnt(session.record.get("taught", {})):
            steps.say(text)
        if turn.answers is not None:
            number = take_answers(session, turn.answers, who=turn.who, when=turn.when)
            steps.say(phrase("terminal.answers", n=number, path=turn.answers))
        if turn.replay:
            _replay(session, steps)
        rows = _present(session, k, turn.next, steps)
        if not output.json and sys.stdin.isatty() and sys.stdout.isatty():
            while rows and _by_hand(session, turn.who, turn.when):
                rows = _present(session, k, False, steps)
        place = offer_rows(session)
        if session.open_rows:
            steps.say(phrase("terminal.fill_in", path=place))
        else:
            steps.say(phrase("terminal.all_asked"))
        if output.out is not None:
            for place in export(session, output.out, k=k, progress=steps.step):
                steps.say(phrase("terminal.wrote", path=place))
        view = rounds_summary(session.file)
        if output.json:
            show_json(view)
        else:
            show_rounds(view["tables"][session.choice])


def _replay(session: ReviewSession, steps: Steps) -> None:
    replay = session.replay(progress=steps.step)
    for name in replay.taken:
        steps.say(phrase("terminal.stored", name=name), style="yellow")
    if not replay.same:
        raise InputError(f"a replay chose other rows in round {', '.join(map(str, replay.differing))}")
    steps.say(phrase("terminal.replayed", n=len(session.standing.rounds)))


def _present(session: ReviewSession, k: int, more: bool, steps: Steps) -> list[Any]:
    """Rows without an answer: of the present round, or of the next one where it is done."""
    rows = [] if more else session.open_rows
    if not rows:
        with steps.step(phrase("steps.next_rows")):
            rows = session.next_rows(k)
    return rows


def _by_hand(session: ReviewSession, who: str, when: str) -> bool:
    """Ask for one answer after the other, about what is open at that moment; False where the person stops."""
    show_line(phrase("terminal.keys"))
    skipped: set[int] = set()
    while rows := [row for row in session.open_rows if row.row not in skipped]:
        row = rows[0]
        show_line(f"{row.name}  ({list_name(row.source)})")
        for name, text in row.told["shown"].items():
            show_line(f"    {name}: {text}")
        for reason in row.told["reasons"]:
            show_line(f"    {said_reason(reason)}")
        try:
            key, _, note = input("> ").strip().partition(" ")
        except EOFError:
            return False
        if key in KEYS:
            session.answer({row.row: KEYS[key]}, note=note or None, who=who, when=when)
        elif key == "q":
            return False
        elif key == "s":
            skipped.add(row.row)
        elif key == "u" and (back := session.undo(who=who, when=when)) is not None:
            show_line(phrase(f"bench.undone{'_as' if back.verdict else ''}", **asdict(back)))
        else:
            show_line(phrase("terminal.keys"))
    return not skipped
