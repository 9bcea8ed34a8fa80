"""A review session as one SQLite file: the tables, the rows that were shown, who looks at which, and every answer.

An answer that is changed or taken back is a further line, so that nothing is ever lost. Each answer is a transaction of
its own, synced to the disk: a kill loses at most the answer under way. A session without a folder lives in memory, by
the same code.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biselect._version import __version__
from biselect.core.files import check_folder
from biselect.core.untrusted import json_of, refused_as
from biselect.errors import BiselectError, InputError

FILE = "review.sqlite"
FORMAT = "biselect review session 5"
FINE, NOT_FINE, UNSURE = "fine", "not fine", "unsure"
VERDICTS = (FINE, NOT_FINE, UNSURE)
OPEN = ""  # of a row whose answer was taken back
CONNECTED: dict[str, Any] = {"timeout": 30.0, "isolation_level": None, "check_same_thread": False}  # waits for a writer
ANSWER_FIELDS = "number, row, verdict, note, who, at, undoes"
MOST_TEXT = 10_000  # characters of a note
HELD_SECONDS = 600.0  # that a row stays with whoever opened it
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
CREATE TABLE shown (choice INTEGER NOT NULL, row INTEGER NOT NULL, name TEXT NOT NULL, plain_rank INTEGER NOT NULL,
    record TEXT NOT NULL, PRIMARY KEY (choice, row));
CREATE TABLE held (choice INTEGER NOT NULL, row INTEGER NOT NULL, holder TEXT NOT NULL, until REAL NOT NULL,
    PRIMARY KEY (choice, row));
CREATE TABLE answers (number INTEGER PRIMARY KEY AUTOINCREMENT, choice INTEGER NOT NULL, row INTEGER NOT NULL,
    verdict TEXT NOT NULL, note TEXT NOT NULL, who TEXT NOT NULL, at TEXT NOT NULL, undoes INTEGER);
CREATE INDEX answered_rows ON answers (row)
"""


class StaleAnswerError(BiselectError):
    """Somebody else answered the row meanwhile; nothing was kept of what was given now.

    Attributes:
        answer: what stands.
    """

    def __init__(self, name: str, answer: GivenAnswer) -> None:
        who = f" by {answer.who}" if answer.who else ""
        super().__init__(f"{name} was answered {answer.verdict!r}{who} meanwhile; look at it again")
        self.answer = answer


@dataclass(frozen=True, kw_only=True)
class ShownRow:
    """A row as it was put before a person.

    Attributes:
        row: its position in the pool.
        name: its id.
        plain_rank: its place in the order before any answer, from 1.
        record: what was shown of it, as plain data.
    """

    row: int
    name: str
    plain_rank: int
    record: Mapping[str, Any]


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
        withdrawn: the verdict that was taken back.
        verdict: the earlier one, which holds again; nothing where the row is open again.
    """

    row: int
    name: str
    withdrawn: str
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Standing:
    """All answers about one choice of tables, at one moment.

    Attributes:
        answers: every one, in order.
        last: the number of the session's last answer, about whatever tables.
    """

    answers: tuple[GivenAnswer, ...]
    last: int

    def latest(self, until: int | None = None) -> dict[int, GivenAnswer]:
        """What holds for each row, as of the answer with this number, in the order in which rows were first answered.

        Rows without an answer are left out.
        """
        found: dict[int, GivenAnswer] = {}
        for answer in self.answers:
            if until is not None and answer.number > until:
                break
            if answer.verdict == OPEN:
                found.pop(answer.row, None)
            else:
                found[answer.row] = answer
        return found


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

    def add_choice(self, record: Mapping[str, Any]) -> int:
        """Keep what rows are chosen from, from now on; gives its number."""
        with self._changing() as database:
            [(number,)] = database.execute("SELECT count(*) FROM choices")
            database.execute("INSERT INTO choices VALUES (?, ?)", (number, _text(record)))
            _turn_to(database, number)
            return int(number)

    def standing(self, choice: int) -> Standing:
        """All answers of a choice, all of one moment."""
        with self._reading() as database:
            return _standing(database, choice)

    def shown(self, choice: int, *, whole: bool = True) -> dict[int, ShownRow]:
        """The rows of a choice that were put before a person, by position; without their records unless `whole`."""
        with self._reading() as database:
            record = "record" if whole else "'{}'"
            query = f"SELECT row, name, plain_rank, {record} FROM shown WHERE choice = ?"
            found = [
                ShownRow(row=row, name=str(name), plain_rank=int(rank), record=json_of(record))
                for row, name, rank, record in database.execute(query, (choice,))
            ]
        if any(type(one.row) is not int or not isinstance(one.record, dict) for one in found):
            raise InputError(f"{self.path}: is damaged, or no review session: a row is none")
        return {one.row: one for one in found}

    def show(self, choice: int, rows: Sequence[ShownRow]) -> None:
        """Keep rows as they are shown; what was shown of an answered row stays."""
        if rows:
            with self._changing() as database:
                for one in rows:
                    _insert_shown(database, choice, one)

    def held(self, choice: int) -> dict[int, str]:
        """Who looks at which row now."""
        with self._reading() as database:
            query = "SELECT row, holder FROM held WHERE choice = ? AND until > ? ORDER BY row"
            return {int(row): str(holder) for row, holder in database.execute(query, (choice, time.time()))}

    def hold(self, choice: int, row: int, holder: str, after: int) -> bool:
        """Let somebody look at a row, alone, for ten minutes; whatever the same holder had before is free again.

        Args:
            choice: the tables.
            row: position in the pool.
            holder: tells people apart.
            after: the last answer that the choice of this row knew of.

        Returns:
            False if somebody else looks at it, or it was answered after that.
        """
        now = time.time()
        with self._changing() as database:
            database.execute("DELETE FROM held WHERE choice = ? AND (until <= ? OR holder = ?)", (choice, now, holder))
            last = _last_about(database, choice, row)
            query = "SELECT 1 FROM held WHERE choice = ? AND row = ?"
            if (last is not None and last.number > after) or database.execute(query, (choice, row)).fetchone():
                return False
            database.execute("INSERT INTO held VALUES (?, ?, ?, ?)", (choice, row, holder, now + HELD_SECONDS))
            return True

    def add_answers(
        self,
        choice: int,
        answers: Mapping[int, tuple[str, str | None]],
        *,
        who: str = "",
        when: str = "",
        rows: Sequence[ShownRow] = (),
        after: int | None = None,
    ) -> int:
        """Keep answers about rows: all of them, or none where one is refused.

        Args:
            choice: the tables that they are about.
            answers: by position in the pool, verdict and note; None to leave the note of an earlier answer as it is.
            who: as it was typed, and so `when`.
            when: see `who`.
            rows: among these, what was never shown before.
            after: the last answer that the person knew of; None to replace whatever stands.

        Returns:
            The number of the last answer.

        Raises:
            StaleAnswerError: a row was answered after that.
        """
        for text in (who, when, *(note or "" for _, note in answers.values())):
            if len(text) > MOST_TEXT:
                raise InputError(f"a note may have {MOST_TEXT:,} characters, this one has {len(text):,}")
        with self._changing() as database:
            for one in rows:
                _insert_shown(database, choice, one)
            for row, (verdict, note) in answers.items():
                if verdict not in VERDICTS:
                    raise InputError(f"an answer is one of {', '.join(VERDICTS)}, got {verdict!r}")
                query = "SELECT name FROM shown WHERE choice = ? AND row = ?"
                if (shown := database.execute(query, (choice, row)).fetchone()) is None:
                    raise InputError("this row was never shown; load the page again")
                last = _last_about(database, choice, row)
                if after is not None and last is not None and last.number > after and last.verdict != OPEN:
                    raise StaleAnswerError(str(shown[0]), last)
                before = ("" if last is None else last.note) if note is None else note
                _insert_answer(database, choice, row, verdict, before, who, when)
                database.execute("DELETE FROM held WHERE choice = ? AND row = ?", (choice, row))
            return _last_answer(database)

    def undo(self, choice: int, *, who: str = "", when: str = "") -> Withdrawal | None:
        """Take back the last answer that still stands; returns which one, None where there is none.

        Args:
            choice: the tables that it is about.
            who: takes back an answer of their own; the last of all if nobody is named.
            when: in whatever words.
        """
        with self._changing() as database:
            answers = _standing(database, choice).answers
            gone = {answer.undoes for answer in answers}
            left = [answer for answer in answers if answer.undoes is None and answer.number not in gone]
            standing = {answer.row: answer for answer in left}
            own = [answer for answer in standing.values() if not who or answer.who == who]
            if not own:
                return None
            last = max(own, key=lambda answer: answer.number)
            before = [answer for answer in left if answer.row == last.row and answer is not last]
            verdict, note = (before[-1].verdict, before[-1].note) if before else (OPEN, "")
            _insert_answer(database, choice, last.row, verdict, note, who, when, last.number)
            query = "SELECT name FROM shown WHERE choice = ? AND row = ?"
            [(name,)] = database.execute(query, (choice, last.row))
            return Withdrawal(row=last.row, name=str(name), withdrawn=last.verdict, verdict=verdict)

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


def _standing(database: sqlite3.Connection, choice: int) -> Standing:
    query = f"SELECT {ANSWER_FIELDS} FROM answers WHERE choice = ? ORDER BY number"
    answers = tuple(map(_answer, database.execute(query, (choice,))))
    return Standing(answers=answers, last=_last_answer(database))


def _answer(fields: Sequence[Any]) -> GivenAnswer:
    number, row, verdict, note, who, at, undoes = fields
    if type(row) is not int or row < 0 or verdict not in (*VERDICTS, OPEN):
        raise ValueError(f"an answer is {str(verdict)[:40]!r} about {str(row)[:40]!r}")
    texts = {"verdict": str(verdict), "note": str(note), "who": str(who), "when": str(at)}
    return GivenAnswer(number=int(number), row=row, **texts, undoes=undoes)


def _last_about(database: sqlite3.Connection, choice: int, row: int) -> GivenAnswer | None:
    """The last line about a row."""
    query = f"SELECT {ANSWER_FIELDS} FROM answers WHERE row = ? AND choice = ? ORDER BY number DESC LIMIT 1"
    found = database.execute(query, (row, choice)).fetchone()
    return None if found is None else _answer(found)


def _last_answer(database: sqlite3.Connection) -> int:
    [(last,)] = database.execute("SELECT coalesce(max(number), 0) FROM answers")
    return int(last)


def _insert_shown(database: sqlite3.Connection, choice: int, one: ShownRow) -> None:
    if _last_about(database, choice, one.row) is None:
        values = (choice, one.row, one.name, one.plain_rank, _text(one.record))
        database.execute("INSERT OR REPLACE INTO shown VALUES (?, ?, ?, ?, ?)", values)


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


def _text(record: Any) -> str:
    return json.dumps(record, ensure_ascii=True, allow_nan=False, sort_keys=True)


def _whole_text(text: str) -> str:
    """Half of a surrogate pair is no text that can be stored."""
    return text.encode("utf-8", "backslashreplace").decode()
