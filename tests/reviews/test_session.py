"""Review sessions: deterministic, resumable, never the same row twice, and labels reach nothing but what they may."""

import json

import numpy as np
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect.reviews.policy import LEARNER


def tables(seed=0, rows=150):
    rng = np.random.default_rng(seed)
    pool = rng.normal(size=(rows, 7))
    pool[:10, 1:4] += 3.5
    return pool, rng.normal(size=(300, 7))


@pytest.fixture
def session():
    return bs.ReviewSession(*tables(), k=8, m=3, kinds=2)


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
    one, other = (bs.ReviewSession(*tables(), k=8, m=3, kinds=2) for _ in range(2))
    assert run(one, 8, lambda row: row < 10) == run(other, 8, lambda row: row < 10)
    assert one.next_rows(5) == one.next_rows(5)


def test_a_saved_session_goes_on_where_it_was(session, tmp_path):
    run(session, 5, lambda row: row < 4)
    session.save(tmp_path / "session.json")
    again = bs.ReviewSession.resume(tmp_path / "session.json", *tables())
    assert again.history == session.history
    assert again.next_rows(6) == session.next_rows(6)


def test_a_session_belongs_to_its_tables(session, tmp_path):
    session.save(tmp_path / "session.json")
    with pytest.raises(InputError, match="other tables"):
        bs.ReviewSession.resume(tmp_path / "session.json", *tables(seed=1))
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(InputError, match="not a review session"):
        bs.ReviewSession.resume(tmp_path / "other.json", *tables())
    with pytest.raises(InputError, match="no such file"):
        bs.ReviewSession.resume(tmp_path / "absent.json", *tables())


def test_a_batch_holds_different_rows_and_ends_with_the_pool():
    session = bs.ReviewSession(*tables(rows=30), k=3, m=2, kinds=2)
    everyone = session.next_rows(100)
    assert sorted(row.row for row in everyone) == list(range(30))
    session.answer({row.row: False for row in everyone})
    assert session.next_rows() == []


def test_rows_by_name_and_rows_nobody_asked_for():
    import pandas as pd

    pool, reference = tables()
    columns = [f"c{j}" for j in range(7)]
    frame = pd.DataFrame(pool, columns=columns).assign(id=[f"r{i}" for i in range(150)])
    session = bs.ReviewSession(frame, pd.DataFrame(reference, columns=columns), id_column="id", k=8, m=3, kinds=2)
    session.answer({"r77": False, "r3": True})
    assert [answer.row for answer in session.history] == [77, 3]
    assert session.history[1].source == session.kinds[0].name  # where the row stands highest
    assert all(row.name not in ("r77", "r3") for row in session.next_rows(20))


def test_bad_answers_are_refused(session):
    session.answer({5: True})
    for bad, words in (({5: True}, "reviewed already"), ({999: True}, "no row"), ({6: "maybe"}, "true or false")):
        with pytest.raises(InputError, match=words):
            session.answer(bad)
    assert len(session.history) == 1
    with pytest.raises(InputError, match="count"):
        session.next_rows(0)


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
        session = bs.ReviewSession(frame, normal, label_column="bad", k=8, m=3, kinds=2)
        asked.append((run(session, 8, lambda row: row < 10), [kind.name for kind in session.kinds]))
        review = bs.review(frame, normal, label_column="bad", k=8, m=3, kinds=2, neighbours=(0, 0), null_draws=0)
        asked[-1] += (review.selection.to_dict(), [kind.selection.to_dict() for kind in review.kinds])
    assert asked[0] == asked[1]


def test_answers_change_the_learner_and_nothing_else():
    one, other = (bs.ReviewSession(*tables(), k=8, m=3, kinds=2) for _ in range(2))
    before = [kind.row_scores.tolist() for kind in one.kinds]
    rows = [row.row for row in one.next_rows(6)]
    one.answer({row: row < 10 for row in rows})
    other.answer({row: row >= 10 for row in rows})
    assert [kind.row_scores.tolist() for kind in one.kinds] == before
    assert one.next_rows(5) != other.next_rows(5)


def test_a_session_is_plain_json(session):
    run(session, 2, lambda row: True)
    content = json.loads(session.to_json())
    assert [entry["hit"] for entry in content["answers"]] == [True, True]
    assert content["options"]["k"] == 8
