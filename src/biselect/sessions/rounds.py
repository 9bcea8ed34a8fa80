"""Rounds of review through files: a table of answers in; the rows to review next, all answers and the page out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from biselect._version import __version__
from biselect.columns.flag import NO, YES
from biselect.core.files import write_file, write_folder
from biselect.core.untrusted import csv_text, unguarded
from biselect.errors import InputError
from biselect.options import Search, Split, Weighing
from biselect.pages._monitor_view import ROUNDS_FORMAT, render_rounds
from biselect.progress import Steps, steps_of
from biselect.reviews.result import Review
from biselect.reviews.reviewing import review
from biselect.sessions.session import ReviewSession
from biselect.sessions.store import FINE, NOT_FINE, VERDICTS, SessionFile
from biselect.sessions.tally import found_so_far
from biselect.tables.readers import read_table

ANSWER, SAMPLE = "answer", "sample"
NEXT = "next.csv"
TO_FILL_IN = (SAMPLE, "list", ANSWER, "note", "shown", "reasons")
COLUMNS = ("table", "round", SAMPLE, "list", ANSWER, "note", "who", "when", "shown", "reasons")


def next_csv(rows: Iterable[dict[str, Any]]) -> str:
    """Rows of a round as a table to fill in."""
    return csv_text(map(_line, rows), TO_FILL_IN)


def _line(row: dict[str, Any]) -> dict[str, str]:
    """A row of a round with its answer and what is known of it, as text."""
    return {
        SAMPLE: row["name"],
        "list": row["source"],
        ANSWER: row["verdict"],
        **{name: row[name] for name in ("note", "who", "when")},
        "shown": "; ".join(f"{name}: {entry}" for name, entry in row["shown"].items()),
        "reasons": "; ".join(f"{one['column']} {one['value']}: {one['words']}" for one in row["reasons"]),
    }


def offer_rows(session: ReviewSession) -> Path:
    """Write the open rows of the present round to next.csv in the session's folder, to be filled in; gives its path."""
    if session.file.folder is None:
        raise InputError("rows are offered in the folder of a session, and this one is kept in memory; give it folder=")
    place = session.file.folder / NEXT
    rows = rounds_summary(session.file, whole=False)["tables"][session.choice]["rounds"][-1]["rows"]
    write_file(place, next_csv(row for row in rows if not row["verdict"]))
    return place


def take_answers(session: ReviewSession, path: str | Path, *, who: str = "", when: str = "") -> int:
    """Give a session the answers of a table; gives how many were new or changed.

    Args:
        session: they are about its rows.
        path: a table with the rows' ids, under the pool's own id column or `sample`, a column `answer` and, if there
            are any, a column `note`.
        who: gave them.
        when: in whatever words.
    """
    table = read_table(path)
    own = session.record["columns"].get("id")
    named = own if own in table.column_names else SAMPLE
    if absent := [name for name in (named, ANSWER) if name not in table.column_names]:
        raise InputError(f"{path}: the table of answers lacks the column {absent[0]!r}")
    names = [str(name) for name in table[named].to_pylist()]
    notes = table["note"].to_pylist() if "note" in table.column_names else [None] * len(names)
    given = read_answers(names, table[ANSWER].to_pylist())
    known, holds = set(session.sample_names), session.standing.latest()
    answers: dict[int, str] = {}
    said: dict[int, str | None] = {}
    for name, note in zip(names, notes, strict=True):
        if name not in given:
            continue
        row = session.row_of(name if name in known else unguarded(name))
        text, before = None if note is None else unguarded(str(note)), holds.get(row)
        if before is None or before.verdict != given[name] or text not in (None, before.note):
            answers[row], said[row] = given[name], text
    session.answer(answers, note=said, who=who, when=when)
    return len(answers)


def read_answers(names: Sequence[str], answers: Iterable[Any]) -> dict[str, str]:
    """Answers by row: fine, not fine and unsure; 1, yes and the like for what is looked for, 0 and no for what is not.

    Empty ones are rows not reviewed yet.
    """
    meaning = {**dict.fromkeys(YES, NOT_FINE), **dict.fromkeys(NO, FINE), **{one: one for one in VERDICTS}}
    taken = {}
    for name, answer in zip(names, answers, strict=True):
        text = str("" if answer is None else answer).strip().lower().removesuffix(".0")
        if text in ("", "nan"):
            continue
        if text not in meaning:
            words = f"{', '.join(VERDICTS)}, 0 or 1, yes or no"
            raise InputError(f"row {name!r}: the answer must be one of {words}; got {answer!r}")
        taken[name] = meaning[text]
    return taken


def rounds_summary(file: SessionFile, *, whole: bool = True) -> dict[str, Any]:
    """A session as plain data: its tables, rounds, answers and what was found; needs no table to be read.

    Without `whole` the last round of each table alone, which stays small however long a session gets.
    """
    tables = []
    for number, record in enumerate(file.choices()):
        standing = file.standing(number, whole=whole)
        latest = standing.latest()
        rounds = [
            {
                "number": at + 1,
                "stored_as": round_.number,
                "rows": [
                    {
                        "row": asked.row,
                        "name": asked.name,
                        "source": asked.source,
                        "brought": asked.brought,
                        "reasons": asked.told["reasons"],
                        "shown": asked.told["shown"],
                        **_given(latest.get(asked.row)),
                    }
                    for asked in round_.rows
                ],
            }
            for at, round_ in enumerate(standing.rounds)
            if whole or at + 1 == len(standing.rounds)
        ]
        found = [one.to_dict() for one in found_so_far(standing, record)]
        inputs = [one["name"] for one in record["inputs"]]
        names = {name: Path(record[name]).name if record.get(name) else "" for name in ("pool", "reference")}
        tables.append({**names, "inputs": inputs, "record": record, "rounds": rounds, "found": found})
    return {
        "format": ROUNDS_FORMAT,
        "version": __version__,
        "title": "Rounds of review",
        "tables": tables,
        "present": file.present(),
    }


def _given(answer: Any) -> dict[str, str]:
    if answer is None:
        return {"verdict": "", "note": "", "who": "", "when": ""}
    return {"verdict": answer.verdict, "note": answer.note, "who": answer.who, "when": answer.when}


def answers_csv(summary: dict[str, Any]) -> str:
    """All answers of a session, one line for each row, in the order in which rows were asked for."""
    lines = []
    for table in summary["tables"]:
        last = {row["row"]: round_["number"] for round_ in table["rounds"] for row in round_["rows"]}
        for round_ in table["rounds"]:
            for row in round_["rows"]:
                if row["verdict"] and last[row["row"]] == round_["number"]:
                    lines.append({"table": table["pool"], "round": round_["number"], **_line(row)})
    return csv_text(lines, COLUMNS)


def review_of(session: ReviewSession, k: int, *, m: int | None = None, progress: Steps | bool | None = None) -> Review:
    """The best block of a session's tables with its proof and page, as `biselect.review` finds it."""
    options = session.record["options"]
    return review(
        *session.sources,
        k=k,
        m=m or options["m"],
        split=Split(until=session.record["reference_until"]),
        weighing=Weighing(missing=options["missing"]),
        search=Search(seed=options["seed"]),
        progress=progress,
    )


def export(
    session: ReviewSession, folder: str | Path, *, k: int | None = None, progress: Steps | bool | None = None
) -> list[Path]:
    """Write answers.csv, rounds.html and choices.txt, and in `report` the best block with its page and proof.

    Args:
        session: of which tables.
        folder: where to.
        k: rows of that block; as many as the last round that had any unless given.
        progress: as for `biselect.review`.
    """
    step = steps_of(progress)
    sizes = [len(round_.rows) for round_ in session.standing.rounds if round_.rows]
    wanted = k or (sizes[-1] if sizes else session.record["options"]["k"])
    found = review_of(session, min(wanted, len(session.sample_names)), progress=step)
    summary = rounds_summary(session.file)
    contents = {
        "choices.txt": session.choices_text(),
        "rounds.html": render_rounds(summary),
        "answers.csv": answers_csv(summary),
    }
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)  # answers are as private as the session
    with step("Writing the files"):
        written = write_folder(folder, contents, shared=True)
        return [*written, *found.save(Path(folder) / "report", proof=True)]
