"""What was found, answer by answer, and what the next rows are expected to hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.sessions._tally import found_so_far, hits_ahead, labels_down
from biselect.sessions.store import GivenAnswer, ShownRow, Standing


def standing(*verdicts):
    """Rows 0, 1, 2 … were answered in this order."""
    answers = tuple(GivenAnswer(number=n + 1, row=n, verdict=one) for n, one in enumerate(verdicts))
    return Standing(answers=answers, last=len(answers))


def shown(*ranks):
    return {row: ShownRow(row=row, name=str(row), plain_rank=rank, record={}) for row, rank in enumerate(ranks)}


def test_found_beside_chance_and_the_plain_ranking():
    found = found_so_far(standing("not fine", "fine", "unsure", "not fine"), shown(3, 1, 7, 2), {"sizes": {"pool": 20}})
    assert (found.answered, found.hits, found.unsure, found.curve) == (4, 2, 1, (1, 1, 1, 2))
    assert found.plain == (0, 1, 2, 2)  # of the rows ranked first, second and third, as far as they were reviewed
    assert found.chance == pytest.approx([0.1, 0.2, 0.3, 0.4]) and not found.from_labels


def test_known_labels_count_for_chance_and_ranking():
    labels = labels_down(np.array([True, False, True, False]), np.array([1.0, 4.0, 3.0, 2.0]))
    assert labels == {"positives": 2, "plain": [0, 1, 1, 2]} and labels_down(None, np.arange(3.0)) is None
    found = found_so_far(standing("fine", "not fine"), shown(1, 2), {"labels": labels, "sizes": {"pool": 4}})
    assert found.plain == (0, 1) and found.chance == (0.5, 1.0) and found.from_labels


def test_a_session_without_answers_found_nothing():
    found = found_so_far(standing(), {}, {"sizes": {"pool": 4}})
    assert (found.answered, found.curve, found.plain, found.chance) == (0, (), (), ())


@given(st.lists(st.booleans(), max_size=60), st.integers(0, 40))
def test_the_interval_holds_what_is_expected(hits, rows):
    ahead = hits_ahead(hits, rows)
    assert 0 <= ahead.low <= ahead.high <= rows and ahead.low - 1 <= ahead.hits <= ahead.high + 1
    more = hits_ahead([*hits, True], rows), hits_ahead([*hits, False], rows)
    assert more[0].hits >= more[1].hits  # a hit promises more than a miss


def test_advice_waits_for_answers_and_says_stop_after_many_that_were_fine():
    assert hits_ahead([False] * 5).advice == "early"
    assert hits_ahead([True] * 12).advice == "go_on"
    assert hits_ahead([True] + [False] * 19).advice == "go_on"
    ahead = hits_ahead([True] * 5 + [False] * 20)
    assert ahead.advice == "stop" and ahead.low == 0 and ahead.hits < 3
