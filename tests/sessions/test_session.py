"""Review sessions: live, deterministic, kept in one file, shared by two, and labels reach nothing."""

import os
import signal
import sqlite3
import threading
import time
from contextlib import closing
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.errors import InputError
from biselect.options import Kinds, Search
from biselect.sessions import StaleAnswerError
from biselect.sessions.queue import POLICY
from biselect.sessions.store import VERDICTS


def tables(seed=0, rows=150):
    rng = np.random.default_rng(seed)
    pool = rng.normal(size=(rows, 7))
    pool[:10, 1:4] += 3.5
    return pool, rng.normal(size=(300, 7))


SMALL = {"k": 8, "m": 3, "kinds": Kinds(kinds=2)}


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


@pytest.fixture
def session(folder):
    return bs.ReviewSession.open(folder, *tables())


def run(session, rows, truth):
    asked = []
    for _ in range(rows):
        queued = session.next_row()
        session.answer(queued, truth(queued.row))
        asked.append(queued)
    return asked


def test_rows_of_the_planted_kind_come_first_and_none_twice(session):
    asked = run(session, 14, lambda row: row < 10)
    assert len({queued.row for queued in asked}) == 14 and session.hits == 10
    assert asked[0].why == "highest score left" and asked[5].why == "like 5 found not fine"
    assert asked[0].kind == session.record["kinds"][0]["name"] != "" and asked[0].plain_rank == 1


def test_the_first_list_is_the_one_of_select(session):
    review = bs.review(*tables(), k=8, m=3)
    assert {queued.row for queued in session.next_rows(8)} == {*review.selection.samples.tolist()}
    [first] = session.queue(1)
    assert first.score == pytest.approx(review.kinds[0].row_scores[first.row])


def test_parts_sum_to_the_score_and_addends_to_what_was_learnt(session):
    run(session, 6, lambda row: row in (0, 3))
    for queued in session.queue(150):
        assert sum(part.part for part in queued.parts) == pytest.approx(queued.score)
        assert {part.column for part in queued.reasons} <= {part.column for part in queued.parts}
    order = [queued.score + queued.learnt for queued in session.queue(150)]
    assert order == sorted(order, reverse=True) and any(queued.learnt for queued in session.queue(150))


def test_a_row_comes_as_it_stands_in_its_file(tmp_path):
    pool, reference = (pd.DataFrame(one, columns=[*"abcdefg"]).round(3) for one in tables())
    pool = pool.assign(code=[f"0{row:03}" for row in range(150)], said="=1", empty="")
    pool.to_csv(tmp_path / "pool.csv", index=False)
    reference.to_csv(tmp_path / "normal.csv", index=False)
    session = bs.ReviewSession(bs.table(tmp_path / "pool.csv", id="code"), tmp_path / "normal.csv", **SMALL)
    queued = session.next_row()
    assert queued.record["code"] == queued.name == f"0{queued.row:03}" and queued.record["said"] == "=1"
    assert float(queued.record["b"]) == pool["b"][queued.row]
    assert len(queued.similar) == 3 and {*queued.similar[0]} == {*"abcdefg"} and queued.answered == ()
    session.answer(queued, "not fine")
    other = session.next_row()
    assert other.answered[0]["name"] == queued.name and other.answered[0]["verdict"] == "not fine"


def test_the_row_that_is_looked_at_stays_until_it_is_answered(session):
    first = session.next_row("Ana")
    session.answer(session.queue(5)[-1].row, "not fine")  # makes the order anew
    assert session.next_row("Ana").row == first.row
    assert session.next_row("Ben").row != first.row
    other = session.next_row("Ana", unlike=True)
    assert other.row != first.row and session.next_row("Ana").row == other.row
    assert session.next_row("Cem").row == first.row  # which is free again


def test_two_who_review_at_once_never_get_the_same_row(folder):
    sessions = {who: bs.ReviewSession.open(folder, *tables()) for who in ("Ana", "Ben")}
    asked, failed = {who: [] for who in sessions}, []

    def review(who, session):
        try:
            for _ in range(15):
                queued = session.next_row(who)
                asked[who].append(queued.row)
                session.answer(queued, queued.row < 10, who=who, after=session.standing.last)
        except Exception as error:  # told in the test's own thread
            failed.append(error)

    threads = [threading.Thread(target=review, args=pair) for pair in sessions.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and len({*asked["Ana"], *asked["Ben"]}) == 30
    assert {row: answer.who for row, answer in sessions["Ana"].answers.items()} == {
        row: who for who, rows in asked.items() for row in rows
    }
    assert sessions["Ana"].next_row("x").row == sessions["Ben"].next_row("x").row  # both know what the other found


def test_a_stale_answer_is_refused_and_nothing_is_lost(session):
    queued, seen = session.next_row("Ana"), session.standing.last
    session.answer(queued, "fine", who="Ben", note="by phone")
    with pytest.raises(StaleAnswerError, match="'fine' by Ben meanwhile"):
        session.answer(queued, "not fine", who="Ana", after=seen)
    assert session.answers[queued.row].note == "by phone" and session.hits == 0
    session.answer(queued, "not fine", who="Ana", after=session.standing.last)
    assert session.hits == 1 and len(session.standing.answers) == 2


@settings(max_examples=20, deadline=None)
@given(
    steps=st.lists(st.one_of(st.just("undo"), st.tuples(st.integers(0, 29), st.sampled_from(VERDICTS))), max_size=10)
)
def test_equal_answers_give_equal_orders_however_they_came_about(shared, steps):
    begun, fresh = shared
    for session in shared:
        while session.undo():
            pass
    for step in steps:
        if step == "undo":
            begun.undo()
        else:
            begun.answer(*step)
    fresh.answer({row: begun.answers[row].verdict for row in sorted(begun.answers, reverse=True)})
    told = [[(one.row, one.learnt, one.why) for one in session.queue(30)] for session in shared]
    assert told[0] == told[1]
    assert all(answer.verdict in VERDICTS for answer in begun.answers.values())


@pytest.fixture(scope="module")
def shared():
    return [bs.ReviewSession(*tables(rows=30), **SMALL) for _ in range(2)]


def test_a_session_in_a_folder_goes_on_where_it_was(folder):
    first = bs.ReviewSession.open(folder, *tables())
    run(first, 5, lambda row: row < 4)
    again = bs.ReviewSession.open(folder, *tables())
    assert again.answers == first.answers and again.queue(6) == first.queue(6)
    by_tables = bs.ReviewSession(*tables(), folder=folder, **SMALL)  # the same tables and options go on, too
    assert by_tables.choice == 0 and by_tables.answers == first.answers
    assert bs.ReviewSession(*tables(), folder=folder, **SMALL, search=Search(seed=1)).choice == 1
    assert bs.ReviewSession.open(folder, *tables()).choice == 1
    assert bs.ReviewSession(*tables(), folder=folder, **SMALL).choice == 0  # back to the first one
    assert bs.ReviewSession.open(folder, *tables()).answers == first.answers


def test_memory_and_file_ask_alike(session):
    memory = bs.ReviewSession(*tables(), **SMALL)
    assert run(memory, 6, lambda row: row < 10) == run(session, 6, lambda row: row < 10)


def test_answers_of_an_older_policy_teach_and_the_present_one_orders(folder):
    session = bs.ReviewSession.open(folder, *tables())
    run(session, 3, lambda row: row < 10)
    assert session.record["policy"] == POLICY
    with closing(sqlite3.connect(folder / "review.sqlite")) as database, database:
        database.execute("UPDATE choices SET record = replace(record, ?, 'turns of lists')", (POLICY,))
    again = bs.ReviewSession.open(folder, *tables())
    assert again.record["policy"] == "turns of lists" and again.queue(9) == session.queue(9)


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


def test_files_of_rows_hold_different_rows_and_end_with_the_pool():
    session = bs.ReviewSession(*tables(rows=30), k=3, m=2, kinds=Kinds(kinds=2))
    everyone = session.next_rows(100)
    assert sorted(queued.row for queued in everyone) == list(range(30)) and session.next_rows(100) == everyone
    session.answer({queued.row: False for queued in everyone})
    assert session.next_rows() == [] and session.next_row() is None and session.ahead().rows == 0


def test_unsure_comes_back_last_and_teaches_nothing():
    session = bs.ReviewSession(*tables(rows=30), k=3, m=2, kinds=Kinds(kinds=2))
    before = {queued.row: queued.learnt for queued in session.queue(30)}
    first = session.next_row()
    session.answer(first, None)
    assert {queued.row: queued.learnt for queued in session.queue(30)} == before
    assert session.queue(30)[-1].row == first.row
    session.answer({queued.row: False for queued in session.queue(29)})
    assert session.next_row().row == first.row
    session.answer(first, "fine")
    assert session.next_row() is None


def test_rows_by_name_and_rows_nobody_asked_for():
    pool, reference = (pd.DataFrame(one, columns=[f"c{j}" for j in range(7)]) for one in tables())
    session = bs.ReviewSession(bs.table(pool.assign(id=[f"r{i}" for i in range(150)]), id="id"), reference, **SMALL)
    session.answer({"r77": False, "r3": True})
    assert {session.sample_names[row]: answer.verdict for row, answer in session.answers.items()} == {
        "r77": "fine",
        "r3": "not fine",
    }
    assert not {"r77", "r3"} & {queued.name for queued in session.next_rows(150)}
    assert session.look_at("r77").row == 77  # to change it
    assert session.look_at("r5", "Ana").row == 5
    with pytest.raises(InputError, match="somebody else is looking at r5"):
        session.look_at(5, "Ben")


def test_one_answer_is_said_by_row_and_verdict(session):
    first, second, third = session.next_rows(3)
    session.answer(first, "not fine")
    session.answer(second.row, False)
    session.answer(third.name, None)
    mapped = bs.ReviewSession(*tables(), **SMALL)
    mapped.answer({first.row: True})
    mapped.answer({second.row: "fine"})
    mapped.answer({third.row: "unsure"})
    assert session.queue(3) == mapped.queue(3)
    with pytest.raises(InputError, match="an answer is one of"):
        session.answer(first)


def test_bad_answers_are_refused(session):
    session.answer({5: True})
    for bad, words in (({999: True}, "no row"), ({6: "maybe"}, "fine, not fine, unsure"), ({6: 2}, "true or false")):
        with pytest.raises(InputError, match=words):
            session.answer(bad)
    with pytest.raises(InputError, match="characters"):
        session.answer({6: True}, note="x" * 20_000)
    assert len(session.answers) == 1
    for ask in (session.next_rows, session.queue):
        with pytest.raises(InputError, match="count"):
            ask(0)


def test_an_answer_can_be_changed_and_taken_back(session):
    rows = [queued.row for queued in session.next_rows(3)]
    before = session.queue(20)
    session.answer({rows[0]: "fine"}, note="first")
    session.answer({rows[1]: "not fine"})
    session.answer({rows[0]: "not fine"})  # another verdict, the same note
    assert session.hits == 2 and session.answers[rows[0]].note == "first"
    assert session.undo().verdict == "fine" and session.hits == 1
    assert session.undo().verdict == "" and session.hits == 0
    assert session.undo().row == rows[0] and session.undo() is None
    assert session.answers == {} and len(session.standing.answers) == 6  # nothing is ever erased
    assert session.queue(20) == before


def test_labels_in_the_table_reach_nothing():
    """The leak test: other labels in the table leave kinds, scores and the rows asked for as they were."""
    pool, reference = tables()
    columns = [f"c{j}" for j in range(7)]
    rng = np.random.default_rng(9)
    asked = []
    for labels in (np.arange(150) < 10, rng.random(150) < 0.5):
        frame = pd.DataFrame(pool, columns=columns).assign(bad=labels.astype(int))
        session = bs.ReviewSession(bs.table(frame, label="bad"), pd.DataFrame(reference, columns=columns), **SMALL)
        rows = run(session, 8, lambda row: row < 10)
        asked.append([(one.row, one.score, one.learnt, one.why, one.parts, one.record) for one in rows])
        asked[-1].append(session.record["kinds"])
    assert asked[0] == asked[1] and "bad" not in rows[0].record  # nobody who reviews is told


def test_a_table_alone_is_its_own_reference(tmp_path):
    pd.DataFrame(tables()[0]).to_csv(tmp_path / "pool.csv", index=False)
    bs.ReviewSession(tmp_path / "pool.csv", folder=tmp_path / "s", **SMALL)
    session = bs.ReviewSession.open(tmp_path / "s")
    run(session, 10, lambda row: row < 10)
    assert session.hits >= 8


def killed_session(folder, kills, rows, seed):
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
            while len(session.answers) < rows:
                queued = session.next_row()
                session.answer(queued, queued.row < 10, note=f"seen {queued.name}")
                os.write(there, f"{queued.row}\n".encode())
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
def test_a_kill_loses_no_answer_and_changes_no_order(folder, kills):
    rows = 16 if kills == 6 else 100
    acknowledged = killed_session(folder, kills, rows, seed=kills)
    session = bs.ReviewSession.open(folder, *tables())
    assert acknowledged <= {*session.answers} and len(session.answers) == rows
    assert all(answer.note == f"seen {row}" for row, answer in session.answers.items())
    whole = bs.ReviewSession(*tables(), **SMALL)
    assert [queued.row for queued in run(whole, rows, lambda row: row < 10)] == [*session.answers]
