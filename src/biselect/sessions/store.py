"""A review session as one SQLite file: what rows were chosen from, which were asked for, and every answer given.

An answer that is changed or taken back is a further line, so that two processes never undo each other's, and what a
round was asked after can be told for ever. Each line is a transaction of its own, synced to the disk: a kill loses at
most the answer under way. A session without a folder lives in memory, by the same code.
"""

from __future__ import annotations

import json
import os
import sqlite3
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biselect._version import __version__
from biselect.core.files import check_folder
from biselect.core.untrusted import json_of, refused_as
from biselect.errors import BiselectError, InputError
from biselect.sessions.queue import RowList

FILE = "review.sqlite"
FORMAT = "biselect review session 4"
FINE, NOT_FINE, UNSURE = "fine", "not fine", "unsure"
VERDICTS = (FINE, NOT_FINE, UNSURE)
OPEN = ""  # of a row whose answer was taken back
CONNECTED: dict[str, Any] = {"timeout": 30.0, "isolation_level": None, "check_same_thread": False}  # waits for a writer
MOST_TEXT = 10_000  # characters of a note
TROUBLE = {  # what the file system does to a file that is as it should be, by SQLite's codes
    sqlite3.SQLITE_BUSY: "another process holds it; try again when it is done",
    sqlite3.SQLITE_FULL: "the disk is full; nothing of this was kept, what was kept before is; make room and try again",
    sqlite3.SQLITE_IOERR: "the disk failed to read or write it; nothing of this was kept, what was kept before is",
    sqlite3.SQLITE_READONLY: "cannot be written; is it, or its folder, write-protected?",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; may you read and write it and its folder, and is there room?",
}
SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE choices (number INTEGER PRIMARY KEY, record TEXT NOT NULL);
CREATE TABLE lists (choice INTEGER NOT NULL, place INTEGER NOT NULL, record TEXT NOT NULL, scores BLOB NOT NULL,
    PRIMARY KEY (choice, place));
CREATE TABLE rounds (number INTEGER PRIMARY KEY, choice INTEGER NOT NULL, after INTEGER NOT NULL,
    count INTEGER NOT NULL);
CREATE TABLE asked (round INTEGER NOT NULL, place INTEGER NOT NULL, row INTEGER NOT NULL, name TEXT NOT NULL,
    source TEXT NOT NULL, brought INTEGER NOT NULL, plain_rank INTEGER NOT NULL, told TEXT NOT NULL,
    PRIMARY KEY (round, place));
CREATE TABLE answers (number INTEGER PRIMARY KEY AUTOINCREMENT, choice INTEGER NOT NULL, row INTEGER NOT NULL,
    verdict TEXT NOT NULL, note TEXT NOT NULL, who TEXT NOT NULL, at TEXT NOT NULL, undoes INTEGER);
CREATE INDEX asked_rows ON asked (row);
CREATE INDEX answered_rows ON answers (row)
"""


@dataclass(frozen=True, kw_only=True)
class AskedRow:
    """A row that was put before the reviewer.

    Attributes:
        row: its position in the pool.
        name: its id.
        source: the list that it comes from.
        brought: whether the reviewer came with it, unasked.
        plain_rank: its place in the overall ranking, from 1.
        told: what is shown of it, `reasons` and `shown`, and its `cells` as the table holds them; of earlier rounds
            only where these are asked for.
    """

    row: int
    name: str
    source: str
    brought: bool
    plain_rank: int
    told: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Round:
    """Rows that were asked for together.

    Attributes:
        number: counted through the whole session.
        choice: the tables that its rows come from.
        after: the last answer that was known when they were chosen.
        count: how many were wanted.
        rows: those asked for, then those that the reviewer brought.
    """

    number: int
    choice: int
    after: int
    count: int
    rows: tuple[AskedRow, ...]


@dataclass(frozen=True, kw_only=True)
class GivenAnswer:
    """What a reviewer said about a row.

    Attributes:
        number: counted through the whole session; a later one about the same row replaces it.
        row: position in the pool.
        verdict: `fine`, `not fine`, `unsure`, or nothing where the answer was taken back.
        note: free text.
        who: as it was typed, and so `when`.
        when: see `who`.
        undoes: the number of the answer that this one takes back.
    """

    number: int
    row: int
    verdict: str
    note: str = ""
    who: str = ""
    when: str = ""
    undoes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Withdrawal:
    """An answer that was taken back.

    Attributes:
        row: position in the pool.
        name: its id.
        round: the number of the round in which the row was asked for last, which need not be the present one.
        withdrawn: the verdict that was taken back.
        verdict: the earlier one, which holds again; nothing where the row is open again.
    """

    row: int
    name: str
    round: int
    withdrawn: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Standing:
    """All rounds and answers about one choice of tables, at one moment.

    Attributes:
        rounds: in order.
        answers: every one, in order.
        last: the number of the session's last answer, about whatever tables.
    """

    rounds: tuple[Round, ...]
    answers: tuple[GivenAnswer, ...]
    last: int

    def latest(self, until: int | None = None) -> dict[int, GivenAnswer]:
        """What holds for each row, as of the answer with this number; rows without an answer are left out."""
        found = {answer.row: answer for answer in self.answers if until is None or answer.number <= until}
        return {row: answer for row, answer in found.items() if answer.verdict != OPEN}

    def is_answered(self, round_: Round) -> bool:
        """Whether anything was ever said about its rows since they were asked for."""
        rows = {asked.row for asked in round_.rows}
        return any(answer.row in rows and answer.number > round_.after for answer in self.answers)


def is_begun(folder: str | Path) -> bool:
    """Whether a folder holds a session with a table."""
    return (Path(folder) / FILE).exists() and bool(SessionFile(folder).choices())


class SessionFile:
    """The stored part of a session; it knows no tables, so that a tick never waits for them.

    Args:
        folder: where the file lies or is made; None to keep everything in memory.
        must_exist: refuse a folder without a session.
    """

    def __init__(self, folder: str | Path | None, *, must_exist: bool = False) -> None:
        self.folder = None if folder is None else Path(folder)
        self.path = None if self.folder is None else self.folder / FILE
        self._held = None if self.folder is not None else sqlite3.connect(":memory:", **CONNECTED)
        if self._held is not None:
            weakref.finalize(self, self._held.close)
        if self.path is not None and self.folder is not None and not self.path.exists():
            if must_exist:
                raise InputError(f"{self.folder}: holds no review session ({FILE}); begin one with tables")
            check_folder(self.folder, [FILE])
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))  # what SQLite puts beside it is as private
        with self._reading() as database:  # which waits for no process that writes
            empty = not database.execute("SELECT 1 FROM sqlite_master").fetchone()
        if empty:
            self._make_tables()
        with self._reading() as database:
            [(found,)] = database.execute("SELECT value FROM facts WHERE name = 'format'").fetchall() or [("",)]
            if found != FORMAT:
                raise InputError(f"{self.path}: not a review session of this version ({FORMAT})")

    def _make_tables(self) -> None:
        with self._changing() as database:
            if database.execute("SELECT 1 FROM sqlite_master").fetchone():
                return  # another process was first
            for statement in SCHEMA.split(";"):
                database.execute(statement)
            facts = {"format": FORMAT, "version": __version__}
            database.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())

    def choices(self) -> list[dict[str, Any]]:
        """What rows were chosen from, oldest first: each record as `add_choice` took it."""
        with self._reading() as database:
            found = [json_of(text) for (text,) in database.execute("SELECT record FROM choices ORDER BY number")]
            if not all(isinstance(record, dict) for record in found):
                raise ValueError("a choice is no record")
            return found

    def present(self) -> int:
        """The choice that is reviewed now: the last one that somebody turned to."""
        with self._reading() as database:
            [(number,)] = database.execute("SELECT value FROM facts WHERE name = 'present'").fetchall() or [(-1,)]
            [(most,)] = database.execute("SELECT count(*) FROM choices")
            if not 0 <= int(number) < most:
                raise InputError(f"{self.path}: holds no tables yet; begin with some")
            return int(number)

    def last_answer(self) -> int:
        """The number of the session's last answer, about whatever tables; 0 where there is none."""
        with self._reading() as database:
            return _last_answer(database)

    def take_up(self, choice: int) -> None:
        """Turn to a choice that was made before."""
        with self._changing() as database:
            _turn_to(database, choice)

    def lists(self, choice: int) -> tuple[RowList, ...]:
        """The lists of a choice, as they were made."""
        with self._reading() as database:
            query = "SELECT record, scores FROM lists WHERE choice = ? ORDER BY place"
            return tuple(
                RowList(scores=np.frombuffer(scores, dtype=np.float64), **_list_facts(json_of(record)))
                for record, scores in database.execute(query, (choice,))
            )

    def add_choice(self, record: Mapping[str, Any], lists: Sequence[RowList]) -> int:
        """Keep what rows are chosen from, from now on; gives its number."""
        with self._changing() as database:
            [(number,)] = database.execute("SELECT count(*) FROM choices")
            database.execute("INSERT INTO choices VALUES (?, ?)", (number, _text(record)))
            for place, one in enumerate(lists):
                facts = {"name": one.name, "columns": one.columns, "proven": one.proven}
                scores = np.ascontiguousarray(one.scores, dtype=np.float64).tobytes()
                database.execute("INSERT INTO lists VALUES (?, ?, ?, ?)", (number, place, _text(facts), scores))
            _turn_to(database, number)
            return int(number)

    def standing(self, choice: int, *, whole: bool = False) -> Standing:
        """Rounds and answers of a choice, all of one moment; `whole` with what was shown in earlier rounds."""
        with self._reading() as database:
            return _standing(database, choice, whole=whole)

    def add_round(
        self, choice: int, rows: Sequence[AskedRow], *, count: int, after: int, known: Sequence[Round]
    ) -> bool:
        """Keep a round that was chosen after that answer and those rounds; False where others have come since.

        A round that nobody has answered is replaced.
        """
        with self._changing() as database:
            now = _standing(database, choice)
            if now.last != after or [round_.number for round_ in now.rounds] != [round_.number for round_ in known]:
                return False
            [(number,)] = database.execute("SELECT coalesce(max(number), 0) + 1 FROM rounds")
            if now.rounds and not now.is_answered(now.rounds[-1]):
                number = now.rounds[-1].number
                database.execute("DELETE FROM rounds WHERE number = ?", (number,))
                database.execute("DELETE FROM asked WHERE round = ?", (number,))
            database.execute("INSERT INTO rounds VALUES (?, ?, ?, ?)", (number, choice, after, count))
            for place, asked in enumerate(rows):
                _insert_asked(database, number, place, asked)
            return True

    def add_answers(
        self,
        choice: int,
        answers: Mapping[int, tuple[str, str | None]],
        *,
        who: str = "",
        when: str = "",
        brought: Mapping[int, AskedRow] | None = None,
    ) -> None:
        """Keep answers about rows: all of them, or none where one is refused.

        Args:
            choice: the tables that they are about.
            answers: by position in the pool, verdict and note; None to leave the note of an earlier answer as it is.
            who: as it was typed, and so `when`.
            when: see `who`.
            brought: rows that nobody asked for: they join the last round.
        """
        for text in (who, when, *(note or "" for _, note in answers.values())):
            if len(text) > MOST_TEXT:
                raise InputError(f"a note may have {MOST_TEXT:,} characters, this one has {len(text):,}")
        with self._changing() as database:
            for row, (verdict, note) in answers.items():
                if verdict not in VERDICTS:
                    raise InputError(f"an answer is one of {', '.join(VERDICTS)}, got {verdict!r}")
                if not _was_asked(database, choice, row):
                    if row not in (brought or {}):
                        raise InputError("this row was not asked for; load the page again")
                    _bring(database, choice, (brought or {})[row])
                before = _note(database, choice, row) if note is None else note
                _insert_answer(database, choice, row, verdict, before, who, when)

    def undo(self, choice: int, *, who: str = "", when: str = "") -> Withdrawal | None:
        """Take back the last answer that still stands; returns which one, None where there is none."""
        with self._changing() as database:
            standing = _standing(database, choice)
            gone = {answer.undoes for answer in standing.answers}
            left = [answer for answer in standing.answers if answer.undoes is None and answer.number not in gone]
            if not left:
                return None
            last = left.pop()
            before = [answer for answer in left if answer.row == last.row]
            verdict, note = (before[-1].verdict, before[-1].note) if before else (OPEN, "")
            _insert_answer(database, choice, last.row, verdict, note, who, when, last.number)
            asked = {row.row: (row.name, round_.number) for round_ in standing.rounds for row in round_.rows}
            name, number = asked[last.row]
            return Withdrawal(row=last.row, name=name, round=number, withdrawn=last.verdict, verdict=verdict)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._open() as database:
            database.execute("BEGIN")  # one moment for all that is read
            try:
                yield database
            finally:
                if database.in_transaction:
                    database.execute("ROLLBACK")

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction; nobody else writes until it ends, and it counts only as a whole."""
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:  # SQLite itself ends it where the disk is full
                    database.execute("ROLLBACK")
                raise

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with refused_as(f"{self.path}: is damaged, or no review session"):
                if self._held is not None:
                    yield self._held
                    return
                with closing(sqlite3.connect(str(self.path), **CONNECTED)) as database:
                    database.execute("PRAGMA synchronous = EXTRA")  # what was answered outlives a loss of power
                    database.execute("PRAGMA trusted_schema = OFF")
                    yield database
        except BiselectError as error:
            code = getattr(error.__cause__, "sqlite_errorcode", None)  # damaged text has none
            if code is not None and (trouble := TROUBLE.get(code & 0xFF)):  # the rest of a code are details
                raise BiselectError(f"{self.path}: {trouble}") from None
            raise


def _turn_to(database: sqlite3.Connection, choice: int) -> None:
    database.execute("INSERT OR REPLACE INTO facts VALUES ('present', ?)", (str(choice),))


def _standing(database: sqlite3.Connection, choice: int, *, whole: bool = False) -> Standing:
    asked: dict[int, list[AskedRow]] = {}
    query = (
        "SELECT round, row, name, source, brought, plain_rank, CASE WHEN round >= ? THEN told ELSE '{}' END FROM asked "
        "WHERE round IN (SELECT number FROM rounds WHERE choice = ?) ORDER BY round, place"
    )
    [(last,)] = database.execute("SELECT coalesce(max(number), 0) FROM rounds WHERE choice = ?", (choice,))
    for number, row, name, source, brought, rank, told in database.execute(query, (0 if whole else last, choice)):
        facts = json_of(told)
        if type(row) is not int or row < 0 or not isinstance(facts, dict):
            raise ValueError("a row that was asked for is none")
        named: dict[str, Any] = {"row": row, "name": str(name), "source": str(source)}
        asked.setdefault(number, []).append(AskedRow(**named, brought=bool(brought), plain_rank=int(rank), told=facts))
    query = "SELECT number, choice, after, count FROM rounds WHERE choice = ? ORDER BY number"
    rounds = tuple(
        Round(number=int(number), choice=int(of), after=int(after), count=int(count), rows=tuple(asked.get(number, ())))
        for number, of, after, count in database.execute(query, (choice,))
    )
    query = "SELECT number, row, verdict, note, who, at, undoes FROM answers WHERE choice = ? ORDER BY number"
    answers = tuple(
        GivenAnswer(
            number=int(number),
            row=int(row),
            verdict=str(verdict),
            note=str(note),
            who=str(who),
            when=str(at),
            undoes=undoes,
        )
        for number, row, verdict, note, who, at, undoes in database.execute(query, (choice,))
    )
    if unknown := {answer.verdict for answer in answers} - {*VERDICTS, OPEN}:
        raise ValueError(f"an answer is {min(unknown)[:40]!r}")
    return Standing(rounds=rounds, answers=answers, last=_last_answer(database))


def _last_answer(database: sqlite3.Connection) -> int:
    [(last,)] = database.execute("SELECT coalesce(max(number), 0) FROM answers")
    return int(last)


def _insert_asked(database: sqlite3.Connection, round_: int, place: int, asked: AskedRow) -> None:
    values = (round_, place, asked.row, asked.name, asked.source, asked.brought, asked.plain_rank, _text(asked.told))
    database.execute("INSERT INTO asked VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)


def _insert_answer(
    database: sqlite3.Connection,
    choice: int,
    row: int,
    verdict: str,
    note: str,
    who: str,
    when: str,
    undoes: int | None = None,
) -> None:
    values = (choice, row, verdict, *(_whole_text(text) for text in (note, who, when)), undoes)
    names = "choice, row, verdict, note, who, at, undoes"
    database.execute(f"INSERT INTO answers ({names}) VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def _was_asked(database: sqlite3.Connection, choice: int, row: int) -> bool:
    query = "SELECT 1 FROM asked JOIN rounds ON asked.round = rounds.number WHERE asked.row = ? AND rounds.choice = ?"
    return database.execute(f"{query} LIMIT 1", (row, choice)).fetchone() is not None


def _note(database: sqlite3.Connection, choice: int, row: int) -> str:
    """The note of a row's last answer."""
    query = "SELECT note FROM answers WHERE row = ? AND choice = ? ORDER BY number DESC LIMIT 1"
    found = database.execute(query, (row, choice)).fetchone()
    return str(found[0]) if found else ""


def _bring(database: sqlite3.Connection, choice: int, asked: AskedRow) -> None:
    """Let a row that nobody asked for join the last round; a round of its own where there is none."""
    [(number,)] = database.execute("SELECT max(number) FROM rounds WHERE choice = ?", (choice,))
    if number is None:
        [(number, last)] = database.execute(
            "SELECT (SELECT coalesce(max(number), 0) + 1 FROM rounds), (SELECT coalesce(max(number), 0) FROM answers)"
        )
        database.execute("INSERT INTO rounds VALUES (?, ?, ?, 0)", (number, choice, last))
    [(place,)] = database.execute("SELECT count(*) FROM asked WHERE round = ?", (number,))
    _insert_asked(database, number, place, asked)


def _list_facts(record: Any) -> dict[str, Any]:
    return {
        "name": str(record["name"]),
        "columns": tuple(map(str, record["columns"])),
        "proven": bool(record["proven"]),
    }


def _text(record: Any) -> str:
    return json.dumps(record, ensure_ascii=True, allow_nan=False, sort_keys=True)


def _whole_text(text: str) -> str:
    """Half of a surrogate pair is no text that can be stored."""
    return text.encode("utf-8", "backslashreplace").decode()
