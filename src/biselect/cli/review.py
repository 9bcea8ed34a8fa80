"""`biselect review`: rounds of review in a folder, by hand or through files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.cli.console import Steps, show_json
from biselect.cli.from_options import Only
from biselect.cli.help import FIRST
from biselect.cli.options import Output, Reference
from biselect.errors import InputError
from biselect.options import Columns, Csv, Flag, Options, Rounds, Split
from biselect.pages.terminal import figures, out, printable, show_line

if TYPE_CHECKING:
    from biselect.sessions import ReviewSession

KEYS = {"1": "fine", "2": "not fine", "3": "unsure"}
HINT = "1 fine, 2 not fine, 3 unsure; a note may follow. u undo, s skip, q stop"

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
    from biselect.pages._monitor_view import learnt
    from biselect.sessions.new_export import go_on
    from biselect.sessions.rounds import export, offer_rows, rounds_summary, take_answers
    from biselect.tables import Table

    steps = Steps(output.quiet)

    def tell_drift(drift: Mapping[str, Any]) -> None:
        style = "yellow" if drift["crossed"] else "dim"
        steps.say(f"Against the reference in use. {drift['verdict']}", style=style)

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
            steps.say(f"took {number} answers from {turn.answers}")
        if turn.replay:
            _replay(session, steps)
        rows = _present(session, k, turn.next, steps)
        if not output.json and sys.stdin.isatty() and sys.stdout.isatty():
            while rows and _by_hand(session, turn.who, turn.when):
                rows = _present(session, k, False, steps)
        place = offer_rows(session)
        if session.open_rows:
            steps.say(f"wrote {place}: fill in its column 'answer' and give it to --answers")
        else:
            steps.say("All rows of the table were asked for.")
        if output.out is not None:
            for place in export(session, output.out, k=k, progress=steps.step):
                steps.say(f"wrote {place}")
        summary = rounds_summary(session.file)
        if output.json:
            show_json(summary)
        else:
            _show(summary["tables"][session.choice])


def _replay(session: ReviewSession, steps: Steps) -> None:
    found = session.replay(progress=steps.step)
    for name in found.taken:
        steps.say(f"not proven, so taken as it is stored: {name}", style="yellow")
    if not found.same:
        raise InputError(f"a replay chose other rows in round {', '.join(map(str, found.differing))}")
    steps.say(f"the replay chose the same rows in all {len(session.standing.rounds)} rounds")


def _present(session: ReviewSession, k: int, more: bool, steps: Steps) -> list[Any]:
    """Rows without an answer: of the present round, or of the next one where it is done."""
    rows = [] if more else session.open_rows
    if not rows:
        with steps.step("Choosing the next rows"):
            rows = session.next_rows(k)
    return rows


def _by_hand(session: ReviewSession, who: str, when: str) -> bool:
    """Ask for one answer after the other, about what is open at that moment; False where the person stops."""
    show_line(HINT)
    skipped: set[int] = set()
    while rows := [row for row in session.open_rows if row.row not in skipped]:
        asked = rows[0]
        show_line(f"{asked.name}  ({_list_name(asked.source)})")
        for name, text in asked.told["shown"].items():
            show_line(f"    {name}: {text}")
        for one in asked.told["reasons"]:
            show_line(f"    {one['column']} {one['value']}: {one['words']}")
        try:
            key, _, note = input("> ").strip().partition(" ")
        except EOFError:
            return False
        if key in KEYS:
            session.answer({asked.row: KEYS[key]}, note=note or None, who=who, when=when)
        elif key == "q":
            return False
        elif key == "s":
            skipped.add(asked.row)
        elif key == "u" and (back := session.undo(who=who, when=when)) is not None:
            show_line(_say(f"bench.undone{'_as' if back.verdict else ''}", **asdict(back)))
        else:
            show_line(HINT)
    return not skipped


def _list_name(source: str) -> str:
    """What the page calls a list; a kind of unusual has its own name."""
    return _say(f"rounds.{source}") if source in ("overall", "learner") else source


def _say(key: str, **values: Any) -> str:
    """A sentence of the page, for the terminal."""
    from biselect.pages.words import words_of

    return str(words_of().say(key, **values).striptags())


def _show(table: dict[str, Any]) -> None:
    """The present round and what was found, as tables for a terminal."""
    console, present = out(), table["rounds"][-1]
    shown = figures(f"Round {present['number']}", "row")
    shown.add_column("list", overflow="fold")
    shown.add_column("strongest reason", overflow="fold")
    shown.add_column("answer")
    for row in present["rows"]:
        why = row["reasons"][0]
        reason = f"{why['column']} {why['value']}: {why['words']}"
        cells = (row["name"], _list_name(row["source"]), reason, row["verdict"])
        shown.add_row(*map(printable, cells))
    console.print(shown)
    rounds = [one for one in table["found"] if one["answered"]]
    if not rounds:
        return
    found = figures("Found so far", "round", "answered", "not fine", "so far", "by chance", "plain ranking")
    for one in rounds:
        chance = f"{'' if one['from_labels'] else 'at least '}{one['by_chance']:.1f}"
        plain = f"{one['plain_hits']}" + (f", {one['plain_open']} not looked at" if one["plain_open"] else "")
        told = (one["number"], one["answered"], one["hits"], one["all_hits"], chance, plain)
        found.add_row(*map(str, told))
    console.print(found)
