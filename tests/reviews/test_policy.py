"""The next list is a pure function of the answers."""

from hypothesis import given
from hypothesis import strategies as st

from biselect.reviews.row_lists import LEARNER, OVERALL, PATIENCE, Reviewed, next_source, turn

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
