"""The file of a session, without tables: what is read back, and what is refused."""

import gc
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import BiselectError, InputError
from biselect.sessions.queue import RowList
from biselect.sessions.store import FILE, VERDICTS, AskedRow, SessionFile


def asked(*rows):
    same = {"source": "overall", "brought": False, "plain_rank": 1, "told": {"reasons": []}}
    return [AskedRow(row=row, name=f"n{row}", **same) for row in rows]


def begun(folder=None):
    file = SessionFile(folder)
    file.add_choice({"a": [1, "ü"]}, [RowList(name="overall", scores=np.arange(4.0))])
    file.add_round(0, asked(2, 0), count=2, after=0, known=())
    return file


def test_what_was_written_is_read_back(tmp_path):
    begun(tmp_path)
    file = SessionFile(tmp_path, must_exist=True)
    assert file.choices() == [{"a": [1, "ü"]}]
    [stored] = file.lists(0)
    assert stored.name == "overall" and stored.scores.tolist() == [0, 1, 2, 3]
    [round_] = file.standing(0).rounds
    assert round_.rows == tuple(asked(2, 0)) and (round_.number, round_.after, round_.count) == (1, 0, 2)
    file.add_answers(0, {2: ("not fine", "\ud800 half")}, who="Ana", when="noon")
    [answer] = file.standing(0).answers
    assert (answer.row, answer.verdict, answer.who, answer.when) == (2, "not fine", "Ana", "noon")
    assert answer.note.endswith(" half")
    assert [path.name for path in tmp_path.iterdir()] == [FILE]  # one file, nothing beside it


def test_a_round_chosen_from_old_answers_is_not_taken():
    file = begun()
    known = file.standing(0).rounds
    file.add_answers(0, {2: ("fine", None)})
    assert not file.add_round(0, asked(1), count=1, after=0, known=known)
    assert file.add_round(0, asked(1), count=1, after=1, known=known)
    assert not file.add_round(0, asked(3), count=1, after=1, known=known)  # another round came first
    assert [round_.number for round_ in file.standing(0).rounds] == [1, 2]


def test_a_round_that_nobody_answered_is_replaced():
    file = begun()
    assert file.add_round(0, asked(3), count=1, after=0, known=file.standing(0).rounds)
    [round_] = file.standing(0).rounds
    assert round_.number == 1 and round_.rows == tuple(asked(3))


def test_only_rows_that_were_asked_for_or_brought_get_answers():
    file = begun()
    with pytest.raises(InputError, match="not asked for"):
        file.add_answers(0, {2: ("fine", None), 3: ("fine", None)})
    assert file.standing(0).answers == ()  # all or nothing
    file.add_answers(0, {3: ("fine", None)}, brought={3: asked(3)[0]})
    assert [row.row for row in file.standing(0).rounds[0].rows] == [2, 0, 3]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["undo", *((row, verdict) for row in (2, 0, 3) for verdict in VERDICTS)]), max_size=12))
def test_undo_goes_back_step_by_step_and_names_what_it_takes_back(steps):
    """The slow twin: a stack of what was answered. Row 3 is asked for in a second round, once row 2 has an answer."""
    file, stack = begun(), [(2, "fine")]
    file.add_answers(0, {2: ("fine", None)})
    assert file.add_round(0, asked(3), count=1, after=1, known=file.standing(0).rounds)
    names = {row.row: row.name for round_ in file.standing(0).rounds for row in round_.rows}
    for step in steps:
        if step == "undo":
            back = file.undo(0)
            assert (back is None) == (not stack)
            if back is not None:
                row, verdict = stack.pop()
                assert (back.row, back.name, back.withdrawn) == (row, names[row], verdict)
                assert back.round == (2 if row == 3 else 1) and back.verdict == dict(stack).get(row, "")
        else:
            file.add_answers(0, {step[0]: (step[1], None)})
            stack.append(step)
        assert {row: answer.verdict for row, answer in file.standing(0).latest().items()} == dict(stack)


def test_reading_waits_for_no_writer(tmp_path):
    begun(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert SessionFile(tmp_path).choices()


def test_files_of_others_are_refused(tmp_path):
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("CREATE TABLE facts (name TEXT, value TEXT)")
    database.close()
    with pytest.raises(InputError, match="not a review session of this version"):
        SessionFile(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        SessionFile(tmp_path / "file")


@pytest.mark.skipif(sys.platform == "win32", reason="looks at rights")
@pytest.mark.parametrize(("mode", "endings"), [("DELETE", ["-journal"]), ("WAL", ["-shm", "-wal"])])
def test_the_file_and_what_sqlite_puts_beside_it_are_the_owner_s_alone(tmp_path, mode, endings):
    folder, before = tmp_path / "new", os.umask(0)  # a user who shares everything
    try:
        file = begun(folder)
        with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as writer:
            writer.execute(f"PRAGMA journal_mode = {mode}")
            writer.execute("PRAGMA cache_size = 1")  # so that the journal is written at once
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("INSERT INTO lists VALUES (7, 7, '', zeroblob(100000))")
            beside = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    finally:
        os.umask(before)
    assert beside == dict.fromkeys([FILE, *(FILE + ending for ending in endings)], 0o600)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and file.choices()


def fill(monkeypatch, name):
    """Let every write end as SQLite says that it ended; gives how many were tried."""
    code, tried = getattr(sqlite3, name), []

    class Failing(sqlite3.Connection):
        def execute(self, statement, *given):
            if statement.startswith(("INSERT", "COMMIT", "CREATE")):
                tried.append(statement)
                error = sqlite3.OperationalError("as SQLite says it")
                error.sqlite_errorcode = code
                raise error
            return super().execute(statement, *given)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **more: connect(*given, factory=Failing, **more))
    return tried


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("SQLITE_FULL", "the disk is full"),
        ("SQLITE_IOERR_FSYNC", "the disk failed"),
        ("SQLITE_READONLY_DIRECTORY", "write-protected"),
        ("SQLITE_CANTOPEN", "cannot be opened"),
        ("SQLITE_BUSY", "another process holds it"),
    ],
)
def test_trouble_with_the_disk_is_called_by_its_name(tmp_path, monkeypatch, name, said):
    file = begun(tmp_path)
    file.add_answers(0, {2: ("fine", "kept")})
    with monkeypatch.context() as patched:
        tried = fill(patched, name)
        with pytest.raises(BiselectError, match=said) as caught:
            file.add_answers(0, {0: ("not fine", "lost")})
        with pytest.raises(BiselectError, match=said):
            SessionFile(tmp_path / "other")
    assert tried and "damaged" not in str(caught.value) and FILE in str(caught.value)
    assert [answer.note for answer in SessionFile(tmp_path).standing(0).answers] == ["kept"]


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts a disk of 400 KB, which takes root")
@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_what_was_acknowledged_outlives_a_full_disk(tmp_path, mode):
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(tmp_path)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("may not mount")
    try:
        file, acknowledged = begun(tmp_path), []
        with closing(sqlite3.connect(file.path)) as database:
            database.execute(f"PRAGMA journal_mode = {mode}")
        with pytest.raises(BiselectError, match="the disk is full"):
            for number in range(1000):
                file.add_answers(0, {2: ("fine", f"{number} " + "x" * 9000)})
                acknowledged.append(number)
        assert len(acknowledged) > 5
        with pytest.raises(BiselectError, match="the disk is full"):
            file.add_answers(0, {2: ("unsure", "y" * 9000)})
        subprocess.run(["mount", "-o", "remount,size=4m", str(tmp_path)], check=True)  # somebody makes room
        kept = SessionFile(tmp_path).standing(0).answers
        assert [int(answer.note.split()[0]) for answer in kept] == acknowledged
        file.add_answers(0, {2: ("unsure", "goes on")})
        assert file.standing(0).answers[-1].note == "goes on"
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_no_connection_is_left_open(tmp_path, monkeypatch):
    """Nor after an error, whichever line it comes from; a session in memory closes its own when it goes."""
    opened, closed, connect = [], [], sqlite3.connect

    class Counted(sqlite3.Connection):
        def close(self):
            closed.append(id(self))
            super().close()

    def counting(*given, **more):
        opened.append(connect(*given, factory=Counted, **more))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", counting)
    begun(), begun(tmp_path).undo(0)
    for content in (b"no database at all, but long enough to be looked at" * 30, b"SQLite format 3\0" + b"\xff" * 5000):
        (tmp_path / "bad").mkdir(exist_ok=True)
        (tmp_path / "bad" / FILE).write_bytes(content)
        with pytest.raises(InputError, match="is damaged, or no review session"):
            SessionFile(tmp_path / "bad")
    with pytest.raises(InputError):
        begun().add_answers(0, {2: ("perhaps", None)})
    gc.collect()
    assert len(opened) > 8 and {*map(id, opened)} == {*closed}


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE asked SET told = 'no json'",
        "UPDATE asked SET row = 'x'",
        "UPDATE answers SET verdict = 'perhaps'",
        "UPDATE choices SET record = '[]'",
        "DROP TABLE rounds",
    ],
)
def test_damage_is_told(tmp_path, damage):
    file = begun(tmp_path)
    file.add_answers(0, {2: ("fine", None)})
    with sqlite3.connect(file.path) as database:
        database.execute(damage)
    database.close()
    with pytest.raises(InputError, match="review session"):
        file.choices(), file.standing(0)
