"""Review sessions: deterministic, kept in one file, never the same row twice, and labels reach nothing."""

import os
import signal
import threading
import time
from random import Random

import numpy as np
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.options import Kinds, Search
from biselect.sessions.queue import LEARNER


def tables(seed=0, rows=150):
    rng = np.random.default_rng(seed)
    pool = rng.normal(size=(rows, 7))
    pool[:10, 1:4] += 3.5
    return pool, rng.normal(size=(300, 7))


SMALL = {"k": 8, "m": 3, "kinds": Kinds(kinds=2)}


@pytest.fixture
def session():
    return bs.ReviewSession(*tables(), **SMALL)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A session that was begun in a folder, to be copied."""
    folder = tmp_path_factory.mktemp("begun")
    bs.ReviewSession(*tables(), folder=folder, **SMALL)
    return folder / "review.sqlite"


@pytest.fixture
def folder(begun, tmp_path):
    (tmp_path / "review.sqlite").write_bytes(begun.read_bytes())
    return tmp_path


def run(session, rounds, truth):
    asked = []
    for _ in range(rounds):
        [row] = session.next_rows()
        session.answer({row.row: truth(row.row)})
        asked.append(row)
    return asked


def test_rows_of_the_planted_kind_come_first_and_none_twice(session):
    asked = run(session, 12, lambda row: row < 10)
    assert len({row.row for row in asked}) == 12
    assert session.hits >= 9
    assert asked[-1].source == LEARNER or session.hits == 10


def test_equal_sessions_ask_equal_rows():
    one, other = (bs.ReviewSession(*tables(), **SMALL) for _ in range(2))
    assert run(one, 8, lambda row: row < 10) == run(other, 8, lambda row: row < 10)
    assert one.next_rows(5) == one.next_rows(5)


def test_a_session_in_a_folder_goes_on_where_it_was(folder):
    first = bs.ReviewSession.open(folder, *tables())
    run(first, 5, lambda row: row < 4)
    again = bs.ReviewSession.open(folder, *tables())
    assert again.history == first.history and again.next_rows(6) == first.next_rows(6)
    by_tables = bs.ReviewSession(*tables(), folder=folder, **SMALL)  # the same tables and options go on, too
    assert by_tables.choice == 0 and by_tables.history == first.history
    assert bs.ReviewSession(*tables(), folder=folder, **SMALL, search=Search(seed=1)).choice == 1
    assert bs.ReviewSession.open(folder, *tables()).choice == 1
    assert bs.ReviewSession(*tables(), folder=folder, **SMALL).choice == 0  # back to the first one
    assert bs.ReviewSession.open(folder, *tables()).history == first.history


def test_memory_and_file_choose_alike(folder, session):
    kept = bs.ReviewSession.open(folder, *tables())
    assert run(kept, 6, lambda row: row < 10) == run(session, 6, lambda row: row < 10)
    assert kept.choices_text() == session.choices_text()


def test_a_session_belongs_to_its_tables(folder, tmp_path):
    with pytest.raises(InputError, match="not as when rows were chosen"):
        bs.ReviewSession.open(folder, *tables(seed=1))
    with pytest.raises(InputError, match="give it again"):
        bs.ReviewSession.open(folder)
    with pytest.raises(InputError, match="holds no review session"):
        bs.ReviewSession.open(tmp_path / "absent", *tables())
    (folder / "review.sqlite").write_bytes(b"SQLite format 3\0 and nothing")
    with pytest.raises(InputError, match="damaged"):
        bs.ReviewSession.open(folder, *tables())


def test_a_batch_holds_different_rows_and_ends_with_the_pool():
    session = bs.ReviewSession(*tables(rows=30), k=3, m=2, kinds=Kinds(kinds=2))
    everyone = session.next_rows(100)
    assert sorted(row.row for row in everyone) == list(range(30))
    session.answer({row.row: False for row in everyone})
    assert session.next_rows() == []


def test_rows_by_name_and_rows_nobody_asked_for():
    import pandas as pd

    pool, reference = tables()
    columns = [f"c{j}" for j in range(7)]
    frame = pd.DataFrame(pool, columns=columns).assign(id=[f"r{i}" for i in range(150)])
    session = bs.ReviewSession(bs.table(frame, id="id"), pd.DataFrame(reference, columns=columns), **SMALL)
    session.answer({"r77": False, "r3": True})
    assert [answer.row for answer in session.history] == [77, 3]
    assert session.history[1].source == session.lists[0].name  # where the row stands highest
    assert all(row.name not in ("r77", "r3") for row in session.next_rows(20))
    assert session.replay().same  # rows that somebody brought are no choice of ours


def test_one_answer_is_said_by_row_and_verdict(session):
    first, second, third = session.next_rows(3)
    session.answer(first, "not fine")
    session.answer(second.row, False)
    session.answer(third.name, None)
    mapped = bs.ReviewSession(*tables(), **SMALL)
    mapped.next_rows(3)
    mapped.answer({first.row: True})
    mapped.answer({second.row: "fine"})
    mapped.answer({third.row: "unsure"})
    assert session.history == mapped.history and len(session.history) == 2  # whoever is unsure decides nothing
    assert session.next_rows(3) == mapped.next_rows(3)
    with pytest.raises(InputError, match="an answer is one of"):
        session.answer(first)


def test_bad_answers_are_refused(session):
    session.answer({5: True})
    for bad, words in (({999: True}, "no row"), ({6: "maybe"}, "fine, not fine, unsure"), ({6: 2}, "true or false")):
        with pytest.raises(InputError, match=words):
            session.answer(bad)
    with pytest.raises(InputError, match="characters"):
        session.answer({6: True}, note="x" * 20_000)
    assert len(session.history) == 1
    with pytest.raises(InputError, match="count"):
        session.next_rows(0)


def test_an_answer_can_be_changed_and_taken_back(session):
    rows = [row.row for row in session.next_rows(3)]
    session.answer({rows[0]: "fine"}, note="first")
    session.answer({rows[1]: "not fine"})
    session.answer({rows[0]: "not fine"})  # another verdict, the same note
    assert session.hits == 2 and session.standing.latest()[rows[0]].note == "first"
    assert session.undo().verdict == "fine" and session.hits == 1
    assert session.undo().verdict == "" and session.hits == 0
    assert session.undo().row == rows[0] and session.undo() is None
    assert session.history == () and len(session.standing.answers) == 6  # nothing is ever erased


def test_unsure_rows_never_come_again_and_decide_nothing(session):
    rows = session.next_rows(4)
    session.answer({row.row: None for row in rows})
    assert session.history == ()
    assert not {row.row for row in session.next_rows(20)} & {row.row for row in rows}


def test_the_order_of_ticks_within_a_round_plays_no_part():
    one, other = (bs.ReviewSession(*tables(), **SMALL) for _ in range(2))
    rows = [row.row for row in one.next_rows(6)]
    assert rows == [row.row for row in other.next_rows(6)]
    for row in rows:
        one.answer({row: row < 10})
    for row in reversed(rows):
        other.answer({row: row < 10})
    assert one.next_rows(6) == other.next_rows(6)


def test_labels_in_the_table_reach_nothing():
    """The leak test: other labels in the table leave kinds, lists and the rows asked for as they were."""
    import pandas as pd

    pool, reference = tables()
    columns = [f"c{j}" for j in range(7)]
    rng = np.random.default_rng(9)
    asked = []
    for labels in (np.arange(150) < 10, rng.random(150) < 0.5):
        frame = pd.DataFrame(pool, columns=columns).assign(bad=labels.astype(int))
        normal = pd.DataFrame(reference, columns=columns)
        session = bs.ReviewSession(bs.table(frame, label="bad"), normal, **SMALL)
        asked.append((run(session, 8, lambda row: row < 10), [one.name for one in session.lists]))
        options = {**SMALL, "kinds": Kinds(kinds=2, null_draws=0), "search": Search(neighbours=(0, 0))}
        review = bs.review(bs.table(frame, label="bad"), normal, **options)
        asked[-1] += (review.selection.to_dict(), [kind.selection.to_dict() for kind in review.kinds])
    assert asked[0] == asked[1]


def test_answers_change_the_learner_and_nothing_else():
    one, other = (bs.ReviewSession(*tables(), **SMALL) for _ in range(2))
    before = [listed.scores.tolist() for listed in one.lists]
    rows = [row.row for row in one.next_rows(6)]
    one.answer({row: row < 10 for row in rows})
    other.answer({row: row >= 10 for row in rows})
    assert [listed.scores.tolist() for listed in one.lists] == before
    assert one.next_rows(5) != other.next_rows(5)


def test_a_replay_gives_the_same_choices_byte_for_byte(folder):
    session = bs.ReviewSession.open(folder, *tables())
    for _ in range(3):
        rows = session.next_rows(4)
        session.answer({row.row: row.row < 10 for row in rows[:3]})
        session.answer({rows[0].row: "unsure"})  # changed after the fact: earlier rounds stay as they were
    session.undo()
    session.next_rows(4)
    replay = bs.ReviewSession.open(folder, *tables()).replay()
    assert replay.same and replay.choices == session.choices_text() and replay.taken == ()


def test_a_replay_notices_another_choice(folder):
    import sqlite3

    session = bs.ReviewSession.open(folder, *tables())
    session.next_rows(4)
    with sqlite3.connect(folder / "review.sqlite") as database:
        database.execute("UPDATE asked SET row = 140, name = '140' WHERE place = 2")
    database.close()
    assert session.replay().differing == (1,)


def test_two_sessions_on_one_folder_agree(folder):
    sessions = [bs.ReviewSession.open(folder, *tables()) for _ in range(2)]
    rounds = [session.next_rows(12) for session in sessions]
    assert rounds[0] == rounds[1]
    failed = []

    def tick(session, rows):
        try:
            for row in rows:
                session.answer({row.row: row.row < 10})
        except Exception as error:  # told in the test's own thread
            failed.append(error)

    parts = [rounds[0][:6], rounds[0][6:]]
    threads = [threading.Thread(target=tick, args=pair) for pair in zip(sessions, parts, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and len(sessions[0].history) == 12 and sessions[0].history == sessions[1].history
    assert sessions[1].next_rows(5) == sessions[0].next_rows(5) and len(sessions[0].standing.rounds) == 2


def killed_session(folder, kills, rounds, seed):
    """Go through a session while its process is killed at random moments; gives what was acknowledged."""
    rng = Random(seed)
    acknowledged: list[bytes] = []
    done = killed = 0
    longest = 0.02
    while not done:
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(here)
            session = bs.ReviewSession.open(folder, *tables())
            while len(session.standing.rounds) <= rounds:
                for row in session.open_rows or session.next_rows(4):
                    session.answer({row.row: row.row < 10}, note=f"seen {row.name}")
                    os.write(there, f"{row.row}\n".encode())
            os.write(there, b"done\n")
            os._exit(0)
        os.close(there)
        if killed < kills:
            time.sleep(rng.uniform(0, longest))
            os.kill(child, signal.SIGKILL)
        with os.fdopen(here, "rb") as pipe:
            said = pipe.read().split()
        os.waitpid(child, 0)
        killed += 1
        done = b"done" in said
        acknowledged += [word for word in said if word != b"done"]
        longest = min(0.5, longest * 1.2) if not said else longest  # else no child would ever get anywhere
    return {int(word) for word in acknowledged}


# the child opens a stored session, which waits for no thread of the parent
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.slow)])
def test_a_kill_loses_no_answer_and_changes_no_choice(folder, kills):
    rounds = 4 if kills == 6 else 30
    acknowledged = killed_session(folder, kills, rounds, seed=kills)
    session = bs.ReviewSession.open(folder, *tables())
    latest = session.standing.latest()
    assert acknowledged <= {*latest} and len(latest) >= 4 * rounds
    assert all(answer.note == f"seen {row}" for row, answer in latest.items())
    whole = bs.ReviewSession(*tables(), **SMALL)
    while len(whole.standing.rounds) <= rounds:
        for row in whole.next_rows(4):
            whole.answer({row.row: row.row < 10})
    assert session.choices_text() == whole.choices_text()
