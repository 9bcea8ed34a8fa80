"""`biselect review`: rounds of review in a folder, by hand or through files."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biselect.cli import options
from biselect.cli.console import Steps, figures, out, printable, show_json, show_line
from biselect.errors import InputError

if TYPE_CHECKING:
    from biselect.reviews import ReviewSession

KEYS = {"1": "fine", "2": "not fine", "3": "unsure"}
HINT = "1 fine, 2 not fine, 3 unsure; a note may follow. u undo, s skip, q stop"


def review(
    folder: Annotated[Path, typer.Argument(help="Folder of the session; holds review.sqlite.")],
    pool: Annotated[
        Path | None,
        typer.Argument(metavar="[POOL]", help="Table to review, to begin with or as a new export; else go on."),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many rows to a round.")] = 20,
    m: Annotated[
        int | None, options.may_be("-m", min=1, help="How many columns to a kind of unusual; 4 if left out.")
    ] = None,
    reference: options.Reference = None,
    from_last: Annotated[
        bool,
        typer.Option("--from-last", help="With a new export: take the last one, less what was not fine, as reference."),
    ] = False,
    time_column: options.TimeColumn = None,
    date_format: options.DateFormat = None,
    reference_until: Annotated[
        str | None,
        options.may_be(metavar="TIME|SHARE%", help="Split POOL in time: rows up to then are the reference."),
    ] = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    features: options.Features = None,
    exclude: options.Exclude = None,
    show: options.Show = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    decimal: options.Decimal = None,
    thousands: options.Thousands = None,
    na_values: options.NaValues = None,
    duplicates: options.Duplicates = "error",
    categories: options.Categories = None,
    numbers: options.Numbers = None,
    dates: options.Dates = None,
    kinds: options.Kinds = None,
    missing: Annotated[
        str | None,
        options.one_of("weigh", "median", "error", help="What to do with missing values; weigh if left out."),
    ] = None,
    seed: Annotated[int | None, options.may_be(min=0, help="Fixes every random draw; 0 if left out.")] = None,
    answers: Annotated[
        Path | None,
        options.a_table(help="Take the answers of this table: ids, a column 'answer' and, if there are any, 'note'."),
    ] = None,
    who: Annotated[str, options.may_be(help="Who answers, as they want to be called.")] = "",
    when: Annotated[str, options.may_be(help="When, in whatever words.")] = "",
    more: Annotated[bool, typer.Option("--next", help="Ask for the next round although rows are open.")] = False,
    check: Annotated[
        bool, typer.Option("--replay", help="Choose every round again from the tables, and say whether it is the same.")
    ] = False,
    out: Annotated[Path | None, options.a_folder(help="Folder for answers.csv, the pages and the proof.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Review rows in rounds: what was answered decides which rows come next.

    In a terminal rows are answered one by one; elsewhere next.csv in FOLDER is to be filled in and given to --answers.
    What was answered is kept at once; `biselect app FOLDER` shows the same session in the browser.
    """
    given = dict(locals())
    from biselect.core.files import private_files
    from biselect.reviews.rounds import export, offer_rows, rounds_summary, take_answers

    with private_files():
        steps = Steps(quiet)
        session = _opened(given, steps)
        if answers is not None:
            steps.say(f"took {take_answers(session, answers, who=who, when=when)} answers from {answers}")
        if check:
            _replay(session, steps)
        rows = _present(session, k, more, steps)
        if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
            while rows and _by_hand(session, who, when):
                rows = _present(session, k, False, steps)
        place = offer_rows(session)
        if session.open_rows:
            steps.say(f"wrote {place}: fill in its column 'answer' and give it to --answers")
        else:
            steps.say("All rows of the table were asked for.")
        if out is not None:
            for place in export(session, out, k=k, progress=steps.step):
                steps.say(f"wrote {place}")
        summary = rounds_summary(session.file)
        if as_json:
            show_json(summary)
        else:
            _show(summary["tables"][session.choice])


def _opened(given: dict[str, Any], steps: Steps) -> ReviewSession:
    from biselect.report.review_rounds import learnt
    from biselect.reviews.new_export import go_on

    columns = (
        *("time_column", "date_format", "id_column", "label_column", "features", "exclude", "show", "encoding"),
        *("delimiter", "decimal", "thousands", "na_values", "categories", "numbers", "dates"),
    )
    roles = {name: given[name] for name in columns if given[name]}
    if given["duplicates"] != "error":
        roles["duplicates"] = given["duplicates"]

    def tell_drift(drift: Mapping[str, Any]) -> None:
        style = "yellow" if drift["crossed"] else "dim"
        steps.say(f"Against the reference in use. {drift['verdict']}", style=style)

    session = go_on(
        given["folder"],
        given["pool"],
        options={"m": given["m"], "kinds": given["kinds"], "missing": given["missing"], "seed": given["seed"]},
        tell_drift=tell_drift,
        progress=steps.step,
        **{name: given[name] for name in ("reference", "from_last", "reference_until", "who", "when")},
        **roles,
    )
    if told := learnt(session.record.get("taught", {})):
        steps.say(told)
    return session


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
    from biselect.report.words import words_of

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
