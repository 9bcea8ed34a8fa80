"""The overall ranking, the learner, and which list the next row comes from, a pure function of the answers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from biselect.sessions.queue import (
    LEARNER,
    OVERALL,
    PATIENCE,
    Reviewed,
    learned_scores,
    next_source,
    overall_scores,
    turn,
)

KINDS = ["one", "two", "three"]


def answers(*pairs):
    return [Reviewed(row=row, hit=hit, source=source) for row, (source, hit) in enumerate(pairs)]


def test_turns_go_from_the_first_kind_over_the_overall_ranking_to_the_others():
    assert [turn(number, KINDS) for number in range(10)] == [
        *("one", OVERALL, OVERALL, OVERALL, "two", OVERALL, "three", OVERALL, OVERALL, OVERALL)
    ]
    assert turn(0, []) == OVERALL


def test_a_hit_keeps_its_list_and_a_miss_passes_the_turn():
    assert next_source([], KINDS) == "one"
    assert next_source(answers(("one", True)), KINDS) == "one"
    assert next_source(answers(("one", False)), KINDS) == OVERALL
    assert next_source(answers(("one", False), (OVERALL, False)), KINDS) == OVERALL


def test_the_learner_joins_once_both_answers_were_given():
    assert next_source(answers(("one", True), ("one", False)), KINDS) == LEARNER
    assert next_source([], KINDS, [True, False]) == LEARNER and next_source([], KINDS, [True]) == "one"
    assert next_source(answers(("one", True), ("one", True)), KINDS) == "one"


def test_after_many_misses_the_learner_lets_another_list_try():
    missed = [("one", True), ("one", False), *[(LEARNER, False)] * PATIENCE]
    assert next_source(answers(*missed), KINDS) == OVERALL
    assert next_source(answers(*missed, (OVERALL, False)), KINDS) == LEARNER
    assert next_source(answers(*missed, (OVERALL, True)), KINDS) == OVERALL


@given(st.lists(st.tuples(st.sampled_from([*KINDS, OVERALL, LEARNER]), st.booleans()), max_size=30))
def test_there_is_always_a_list_and_the_learner_never_without_both_answers(pairs):
    history = answers(*pairs)
    source = next_source(history, KINDS)
    assert source in {*KINDS, OVERALL, LEARNER}
    if len({answer.hit for answer in history}) < 2 and not (history and history[-1].source == LEARNER):
        assert source != LEARNER


def test_every_plain_detector_sees_a_row_far_out():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(100, 4))
    pool[13] = 9
    for name, scores in overall_scores(rng.normal(size=(300, 4)), pool, seed=0).items():
        assert np.argmax(scores) == 13, name


def test_the_learner_ranks_rows_like_the_hits_above_rows_like_the_misses():
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(300, 4)), rng.normal(size=(100, 4))
    pool[:20, 0] += 6
    pool[20:40, 1] += 6
    answered = np.array([0, 1, 2, 20, 21, 22])
    flat = np.zeros(100)
    scores = learned_scores(pool[answered], answered < 20, reference, pool, [flat], flat, seed=0)
    assert scores[3:20].min() > scores[23:40].max()
    assert (scores == learned_scores(pool[answered], answered < 20, reference, pool, [flat], flat, seed=0)).all()
