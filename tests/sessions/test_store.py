"""The file of a session, without tables: what is read back, and what is refused."""

import gc
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import BiselectError, InputError
from biselect.sessions import store
from biselect.sessions.store import FILE, VERDICTS, SessionFile, ShownRow, StaleAnswerError


def shown(*rows):
    return [ShownRow(row=row, name=f"n{row}", plain_rank=1, record={"parts": []}) for row in rows]


def begun(folder=None):
    file = SessionFile(folder)
    file.add_choice({"a": [1, "ü"]})
    file.show(0, shown(2, 0))
    return file


def test_what_was_written_is_read_back(tmp_path):
    begun(tmp_path)
    file = SessionFile(tmp_path, must_exist=True)
    assert file.choices() == [{"a": [1, "ü"]}]
    assert [*file.shown(0).values()] == shown(0, 2) and file.shown(0, whole=False)[2].record == {}
    assert file.add_answers(0, {2: ("not fine", "\ud800 half")}, who="Ana", when="noon") == 1
    [answer] = file.standing(0).answers
    assert (answer.row, answer.verdict, answer.who, answer.when) == (2, "not fine", "Ana", "noon")
    assert answer.note.endswith(" half")
    assert [path.name for path in tmp_path.iterdir()] == [FILE]  # one file, nothing beside it


def test_only_rows_that_were_shown_get_answers():
    file = begun()
    with pytest.raises(InputError, match="never shown"):
        file.add_answers(0, {2: ("fine", None), 3: ("fine", None)})
    assert file.standing(0).answers == ()  # all or nothing
    file.add_answers(0, {3: ("fine", None)}, rows=shown(3))
    assert [*file.standing(0).latest()] == [3]


def test_what_was_shown_of_an_answered_row_stays():
    file, other = begun(), [ShownRow(row=row, name=f"n{row}", plain_rank=1, record={"new": 1}) for row in (0, 2)]
    file.add_answers(0, {2: ("fine", None)})
    file.show(0, other)
    assert file.shown(0)[2] == shown(2)[0] and file.shown(0)[0] == other[0]


def test_a_row_that_one_has_open_is_not_handed_to_another(monkeypatch):
    file, now = begun(), 1e9
    monkeypatch.setattr(store.time, "time", lambda: now)
    assert file.hold(0, 2, "Ana", 9) and not file.hold(0, 2, "Ben", 9) and file.hold(0, 0, "Ben", 9)
    assert file.held(0) == {0: "Ben", 2: "Ana"} and file.held(1) == {}
    assert file.hold(0, 2, "Ana", 9)  # again, which is no other row
    now += 599
    assert not file.hold(0, 2, "Ben", 9)
    now += 2  # ten minutes later it is free again
    assert file.held(0) == {} and file.hold(0, 2, "Ben", 9) and file.held(0) == {2: "Ben"}
    file.show(0, shown(5))
    assert file.hold(0, 5, "Ben", 9) and file.held(0) == {5: "Ben"}  # one row each
    file.add_answers(0, {5: ("fine", None)}, who="Ana")
    assert file.held(0) == {} and not file.hold(0, 5, "Ben", 0)  # answered since


def test_an_answer_to_what_was_answered_since_is_refused():
    file = begun()
    seen = file.standing(0).last
    file.add_answers(0, {2: ("fine", "mine")}, who="Ana", after=seen)
    with pytest.raises(StaleAnswerError, match="n2 was answered 'fine' by Ana meanwhile") as caught:
        file.add_answers(0, {0: ("fine", None), 2: ("not fine", None)}, who="Ben", after=seen)
    assert caught.value.answer.note == "mine" and [*file.standing(0).latest()] == [2]  # all or nothing
    assert file.add_answers(0, {2: ("not fine", None)}, who="Ben", after=caught.value.answer.number) == 2
    file.undo(0)
    file.undo(0)
    file.add_answers(0, {2: ("unsure", None)}, after=2)  # what was taken back stands in nobody's way


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["undo", *((row, verdict) for row in (2, 0, 3) for verdict in VERDICTS)]), max_size=12))
def test_undo_goes_back_step_by_step_and_names_what_it_takes_back(steps):
    """The slow twin: a stack of what was answered."""
    file, stack = begun(), []
    file.show(0, shown(3))
    for step in steps:
        if step == "undo":
            back = file.undo(0)
            assert (back is None) == (not stack)
            if back is not None:
                row, verdict = stack.pop()
                assert (back.row, back.name, back.withdrawn) == (row, f"n{row}", verdict)
                assert back.verdict == dict(stack).get(row, "")
        else:
            file.add_answers(0, {step[0]: (step[1], None)})
            stack.append(step)
        assert {row: answer.verdict for row, answer in file.standing(0).latest().items()} == dict(stack)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["Ana", "Ben"]), st.sampled_from(["undo", 0, 2, 3])), max_size=14))
def test_whoever_takes_back_takes_back_what_is_theirs_and_stands(steps):
    file = begun()
    file.show(0, shown(3))
    for who, step in steps:
        before = file.standing(0).latest()
        if step != "undo":
            file.add_answers(0, {step: ("fine" if who == "Ana" else "not fine", None)}, who=who)
            continue
        back, after = file.undo(0, who=who), file.standing(0).latest()
        others = {row: one.verdict for row, one in before.items() if back is None or row != back.row}
        assert {row: one.verdict for row, one in after.items() if back is None or row != back.row} == others
        if back is not None:
            assert before[back.row].verdict == back.withdrawn == ("fine" if who == "Ana" else "not fine")


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
            writer.execute("INSERT INTO shown VALUES (7, 7, '', 1, zeroblob(100000))")
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
        "UPDATE shown SET record = 'no json'",
        "UPDATE shown SET record = '[]'",
        "UPDATE shown SET row = 'x' WHERE row = 2",
        "UPDATE answers SET verdict = 'perhaps'",
        "UPDATE choices SET record = '[]'",
        "DROP TABLE shown",
    ],
)
def test_damage_is_told(tmp_path, damage):
    file = begun(tmp_path)
    file.add_answers(0, {2: ("fine", None)})
    with sqlite3.connect(file.path) as database:
        database.execute(damage)
    database.close()
    with pytest.raises(InputError, match="review session"):
        file.choices(), file.standing(0), file.shown(0)
