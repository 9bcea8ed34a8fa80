"""What was found, by hand on small sessions, and by the labels."""

import numpy as np
import pandas as pd

import biselect as bs
from biselect.options import Kinds
from biselect.sessions._tally import found_so_far
from biselect.sessions.queue import OVERALL


def tables():
    rng = np.random.default_rng(0)
    pool = pd.DataFrame(rng.normal(size=(100, 6)), columns=[*"abcdef"])
    pool.loc[:9, ["b", "c", "d"]] += 4
    pool["bad"] = [int(i < 10) for i in range(100)]
    return pool, pd.DataFrame(rng.normal(size=(300, 6)), columns=[*"abcdef"])


def test_each_round_is_told_with_all_before_it():
    pool, reference = tables()
    session = bs.ReviewSession(pool.drop(columns="bad"), reference, k=8, m=3, kinds=Kinds(kinds=2))
    for _ in range(2):
        rows = session.next_rows(5)
        session.answer({row.row: row.row < 10 for row in rows[:4]})
        session.answer({rows[4].row: "unsure"})
    first, second = found_so_far(session.standing, session.record)
    assert (first.asked, first.answered, first.unsure, first.all_answered) == (5, 5, 1, 5)
    assert second.all_answered == 10 and second.all_hits == first.hits + second.hits == session.hits
    assert second.by_chance == 10 * session.hits / 100 and not second.from_labels
    top = np.argsort(-session.lists[-1].scores, kind="stable")[:10].tolist()  # the slow twin of `plain_rank`
    reviewed = {row.row for round_ in session.standing.rounds for row in round_.rows}
    hits = {answer.row for answer in session.history if answer.hit}
    assert session.lists[-1].name == OVERALL
    assert second.plain_open == len(set(top) - reviewed) and second.plain_hits == len(set(top) & hits)


def test_known_labels_say_it_exactly():
    pool, reference = tables()
    session = bs.ReviewSession(bs.table(pool, label="bad"), reference, k=8, m=3, kinds=Kinds(kinds=2))
    session.answer({row.row: row.row < 10 for row in session.next_rows(12)})
    [found] = found_so_far(session.standing, session.record)
    top = np.argsort(-session.lists[-1].scores, kind="stable")[:12]
    assert found.from_labels and found.by_chance == 1.2
    assert (found.plain_hits, found.plain_open) == (int((top < 10).sum()), 0)


def test_a_row_asked_for_again_counts_where_it_was_answered():
    pool, reference = tables()
    session = bs.ReviewSession(pool.drop(columns="bad"), reference, k=8, m=3, kinds=Kinds(kinds=2))
    first = session.next_rows(3)
    session.answer({first[0].row: False})
    second = session.next_rows(3)
    assert {row.row for row in first[1:]} & {row.row for row in second}
    session.answer({row.row: True for row in second})
    found = found_so_far(session.standing, session.record)
    assert sum(one.answered for one in found) == found[-1].all_answered == 4
