"""The overall ranking and the learner."""

import numpy as np
import pytest

from biselect.reviews.row_lists import learned_scores, log_ranks, overall_scores


def test_log_ranks_are_of_ranks_alone():
    assert log_ranks(np.array([3.0, 1e9, -2.0])) == pytest.approx(-np.log(np.array([2, 1, 3]) / 4))


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
