"""A session and its files: a new export into it; rows to fill in and answers out and in; its page and report out."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from biselect._version import __version__
from biselect.columns.date import parts_of_dates
from biselect.columns.flag import NO, YES
from biselect.core.files import write_file, write_folder
from biselect.core.untrusted import csv_text, unguarded
from biselect.errors import InputError
from biselect.options import ANY, Columns, Kinds, Reviewing, Search, Split, Weighing, non_defaults, spell
from biselect.pages.over_time import REVIEW_FORMAT, render_answers
from biselect.pages.words import phrase
from biselect.progress import Steps, steps_of
from biselect.reviews import Review, monitor, review
from biselect.sessions._tally import AHEAD, found_so_far, hits_ahead
from biselect.sessions.session import QueuedRow, ReviewSession
from biselect.sessions.store import FINE, NOT_FINE, UNSURE, VERDICTS, SessionFile, is_begun
from biselect.tables import Table
from biselect.tables.readers import read_table

USUAL = "usual-rows-of-"  # begins the name of a reference made from an earlier export
ANSWER, SAMPLE = "answer", "sample"
NEXT = "next.csv"
TO_FILL_IN = (SAMPLE, ANSWER, "note", "why", "reasons", "shown")
COLUMNS = ("table", SAMPLE, ANSWER, "note", "who", "when", "score", "learnt", "why", "reasons", "shown")


def drift_from_reference(
    session: ReviewSession, export: Any, *, progress: Steps | bool | None = None
) -> dict[str, Any]:
    """Which columns of a new export have changed against the session's reference, as `biselect.monitor` tells it.

    Args:
        session: with the reference in use.
        export: a table or a path, as `biselect.review` takes a pool.
        progress: as for `biselect.review`.
    """
    reference, table = session.tables.pool.reference, session.sources[0]
    dates = parts_of_dates(session.tables.pool.dates)
    columns = Columns(features=[name for name in reference.column_names if name not in dates])
    csv = replace(table.csv, date_format=None)
    return monitor(Table(Table.of(export).source, columns, csv), reference, progress=progress)


def usual_rows(session: ReviewSession) -> Path:
    """Write the session's pool without the rows found not fine, or not surely fine, as a reference for the next one.

    It lies in the session's folder, a Parquet file with the columns that were weighed. Other answers make another file,
    so that tables that were compared with an earlier one can still be reviewed.
    """
    if session.file.folder is None:
        raise InputError("a session in memory has no folder to write a reference to; give it one with folder=")
    sizes = session.record["sizes"]
    if sizes["held"] < sizes["pool"]:
        raise InputError("of the last export only the rows that stand out most are held; name a file of normal rows")
    kept = np.ones(len(session.sample_names), dtype=bool)
    for row, answer in session.answers.items():
        kept[row] = answer.verdict not in (NOT_FINE, UNSURE)
    content = io.BytesIO()
    pq.write_table(session.tables.pool.candidates.filter(kept), content)
    table, _ = session.sources
    name = Path(str(table.source)).name if table.is_file else f"table {session.choice + 1}"
    digest = hashlib.sha256(content.getvalue()).hexdigest()[:8]
    place = session.file.folder / f"{USUAL}{name.removesuffix('.parquet')}-{digest}.parquet"
    write_file(place, content.getvalue())
    return place


def turn_to(
    session: ReviewSession,
    export: Any,
    reference: Any = None,
    *,
    from_last: bool = False,
    reviewing: Reviewing = Reviewing(),
    who: str = "",
    when: str = "",
    progress: Steps | bool | None = None,
) -> ReviewSession:
    """Go on in the same session with a new export, with the options and columns of the last one.

    Args:
        session: the last one.
        export: rows to review, as `biselect.review` takes a pool.
        reference: normal rows; None for those of the session, or where it splits its pool in time, to do so again.
        from_last: take the last export as reference, see `usual_rows`.
        reviewing: options instead of those of the last export.
        who: as they want to be called.
        when: in whatever words.
        progress: as for `biselect.review`.
    """
    if from_last:
        if reference is not None:
            both = f"{spell(reference=ANY)} and {spell(from_last=ANY)}"
            raise InputError(f"{both} both name the reference; give one of them")
        with steps_of(progress)(phrase("steps.new_reference")):
            reference = usual_rows(session)
    record, (table, before) = session.record, session.sources
    again = reference is None and record["reference_until"] is not None
    options = {**record["options"], "m": None, **record.get("wanted", {}), **non_defaults(reviewing)}
    weighing = Weighing(
        **{**record["weighing"], **({} if reviewing.missing is None else {"missing": reviewing.missing})}
    )
    return ReviewSession(
        replace(table, source=Table.of(export).source),
        None if again else before if reference is None else reference,
        folder=session.file.folder,
        k=options["k"],
        m=options["m"],
        split=Split(until=record["reference_until"] if again else None),
        weighing=weighing,
        kinds=Kinds(kinds=options["kinds"]),
        search=Search(seed=options["seed"]),
        who=who,
        when=when,
        progress=progress,
    )


def go_on(
    folder: str | Path,
    pool: Any = None,
    reference: Any = None,
    *,
    from_last: bool = False,
    split: Split = Split(),
    reviewing: Reviewing = Reviewing(),
    tell_drift: Callable[[Mapping[str, Any]], None] = lambda drift: None,
    tell_left_out: Callable[[int], None] = lambda rows: None,
    who: str = "",
    when: str = "",
    progress: Steps | bool | None = None,
) -> ReviewSession:
    """The session of a folder, whatever was done there before: open it, turn it to a new export, or begin it.

    A session is begun where there is none, and anew where anything is said about columns or a split in time. Otherwise
    a new export is taken as the last one was.

    Args:
        folder: of the session.
        pool: a new export; None for the one that was last reviewed.
        reference: normal rows; None for those in use.
        from_last: take the last export as reference, see `usual_rows`.
        split: see `biselect.review`.
        reviewing: what rows are chosen with; None among it for the last or the usual.
        tell_drift: called with how far a new export has moved from the reference in use, before rows are chosen.
        tell_left_out: called with how many rows of the last export the new reference does without.
        who: as they want to be called.
        when: in whatever words.
        progress: as for `biselect.review`.
    """
    signed: dict[str, Any] = {"who": who, "when": when, "progress": progress}
    table = Table.of(pool)
    anew = bool(non_defaults(table.columns) or non_defaults(table.csv) or non_defaults(split))
    if table.source is None:
        if anew or non_defaults(reviewing) or reference is not None or from_last:
            raise InputError("options about tables go with the table to review; give it after the folder")
        return ReviewSession.open(folder, progress=progress)
    if is_begun(folder) and not anew:
        last = ReviewSession.open(folder, progress=progress)
        tell_drift(drift_from_reference(last, table, progress=progress))
        if from_last:
            tell_left_out(sum(answer.verdict != FINE for answer in last.answers.values()))
        return turn_to(last, table, reference, from_last=from_last, reviewing=reviewing, **signed)
    if from_last:
        from_last_flag = spell(from_last=ANY)
        raise InputError(
            f"{from_last_flag} goes on with the roles of the last export; leave out what is said about columns"
        )
    return ReviewSession(
        *(table, reference),
        folder=folder,
        m=reviewing.m,
        split=split,
        weighing=Weighing(missing=reviewing.missing or "weigh"),
        kinds=Kinds(kinds=reviewing.kinds),
        search=Search(seed=reviewing.seed or 0),
        **signed,
    )


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as text: its answer, if there is one, and what is known of it."""
    reasons = [part["text"] for part in row["parts"] if part["is_reason"]]
    return {
        SAMPLE: row["name"],
        ANSWER: row.get("verdict", ""),
        **{name: row.get(name, "") for name in ("note", "who", "when")},
        "score": f"{row['score']:.2f}",
        "learnt": f"{row['learnt']:.2f}",
        "why": row["why"],
        "reasons": "; ".join(reasons),
        "shown": "; ".join(f"{name}: {text}" for name, text in row["record"].items()),
    }


def next_csv(rows: Iterable[QueuedRow]) -> str:
    """Rows to review as a table to fill in."""
    return csv_text((_line(row.to_dict()) for row in rows), TO_FILL_IN)


def offer_rows(session: ReviewSession, count: int = 20) -> int:
    """Write the next rows to next.csv in the session's folder, to be filled in; gives how many they are."""
    if session.file.folder is None:
        raise InputError("rows are offered in the folder of a session, and this one is kept in memory; give it folder=")
    rows = session.next_rows(count)
    write_file(session.file.folder / NEXT, next_csv(rows))
    return len(rows)


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
    known, holds = set(session.sample_names), session.answers
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


def summarise(file: SessionFile, *, whole: bool = True) -> dict[str, Any]:
    """A session as plain data: its tables, answers and what was found; needs no table to be read.

    Args:
        file: the session.
        whole: with what was shown of each row.
    """
    return {
        "format": REVIEW_FORMAT,
        "version": __version__,
        "title": phrase("review.title"),
        "tables": [summarise_table(file, number, whole=whole) for number in range(len(file.choices()))],
        "present": file.present(),
    }


def summarise_table(file: SessionFile, number: int, *, whole: bool = True) -> dict[str, Any]:
    """The same of one of its tables, by number."""
    record = file.choices()[number]
    standing, shown = file.standing(number), file.shown(number, whole=whole)
    rows = [
        {
            **{name: value for name, value in shown[row].record.items() if name != "cells"},
            **{"row": row, "name": shown[row].name, "plain_rank": shown[row].plain_rank},
            **{name: getattr(answer, name) for name in ("number", "verdict", "note", "who", "when")},
        }
        for row, answer in standing.latest().items()
    ]
    decided = [row["verdict"] == NOT_FINE for row in rows if row["verdict"] != UNSURE]
    left = record["sizes"]["held"] - len(rows) - record["taught"]["again"]
    names = {name: Path(record[name]).name if record.get(name) else "" for name in ("pool", "reference")}
    found = found_so_far(standing, shown, record).to_dict()
    ahead = hits_ahead(decided, max(0, min(AHEAD, left))).to_dict()
    return {**names, "record": record, "rows": rows, "found": found, "ahead": ahead}


def answers_csv(summary: dict[str, Any]) -> str:
    """All answers of a session, one line for each row, in the order in which rows were first answered."""
    lines = ({"table": table["pool"], **_line(row)} for table in summary["tables"] for row in table["rows"])
    return csv_text(lines, COLUMNS)


def review_of(session: ReviewSession, k: int, *, m: int | None = None, progress: Steps | bool | None = None) -> Review:
    """The best block of a session's tables with its proof and page, as `biselect.review` finds it."""
    options = session.record["options"]
    return review(
        *session.sources,
        k=k,
        m=m or options["m"],
        split=Split(until=session.record["reference_until"]),
        weighing=Weighing(**session.record["weighing"]),
        search=Search(seed=options["seed"]),
        progress=progress,
    )


def export(
    session: ReviewSession, folder: str | Path, *, k: int | None = None, progress: Steps | bool | None = None
) -> list[Path]:
    """Write answers.csv and answers.html, and in `report` the best block with its page and proof.

    Args:
        session: of which tables.
        folder: where to.
        k: rows of that block; as many as the session's unless given.
        progress: as for `biselect.review`.
    """
    step = steps_of(progress)
    rows = session.record["sizes"]["pool"]
    report = review_of(session, min(k or session.record["options"]["k"], rows), progress=step)
    summary = summarise(session.file)
    contents = {"answers.html": render_answers(summary), "answers.csv": answers_csv(summary)}
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)  # answers are as private as the session
    with step(phrase("steps.files")):
        written = write_folder(folder, contents, shared=True)
        return [*written, *report.save(Path(folder) / "report", proof=True)]
