import numpy as np
import pytest

from biselect.errors import InputError
from biselect_studies.data.candidates import balanced, keep, ranked, reservoir, unbalanced

LABELS = np.arange(1000) % 100 == 7  # 10 positives


def test_balanced_pools_hold_exactly_k_positives_and_a_seed_fixes_them():
    pool = balanced(LABELS, 50, 5, seed=3)
    assert pool.rows.size == np.unique(pool.rows).size == 50
    assert LABELS[pool.rows].sum() == 5 == pool.positive.size and LABELS[pool.rows[pool.positive]].all()
    assert np.array_equal(pool.rows, balanced(LABELS, 50, 5, seed=3).rows)
    assert not np.array_equal(pool.rows, balanced(LABELS, 50, 5, seed=4).rows)


def test_positions_tell_nothing_about_the_label():
    places = np.concatenate([balanced(LABELS, 20, 4, seed=seed).positive for seed in range(300)])
    assert abs(places.mean() - 9.5) < 0.6


def test_unbalanced_pools_are_uniform_given_a_positive():
    counts = np.array([unbalanced(LABELS, 100, seed=seed).positive.size for seed in range(400)])
    rng = np.random.default_rng(0)
    plain = rng.hypergeometric(10, 990, 100, size=20_000)
    assert counts.min() == 1 and abs(counts.mean() - plain[plain > 0].mean()) < 0.12


def test_ranked_pools_come_from_the_first_rows_of_the_scorer():
    scores = np.linspace(0, 1, 1000)
    pool = ranked(LABELS, scores, 20, seed=0)
    assert pool.rows.min() >= 900 and np.array_equal(np.flatnonzero(LABELS[pool.rows]), pool.positive)
    assert sorted(ranked(LABELS, np.zeros(1000), 20, seed=0, widen=1).rows) == list(range(20))


def test_a_reservoir_keeps_every_row_of_a_stream_equally_often():
    held = np.concatenate([keep(iter(range(40)), 8, np.random.default_rng(seed)) for seed in range(1500)])
    assert np.abs(np.bincount(held, minlength=40) / 1500 - 0.2).max() < 0.05
    pool = reservoir(LABELS, 300, seed=1)
    assert np.unique(pool.rows).size == 300


def test_a_reservoir_does_not_depend_on_how_the_stream_is_cut(monkeypatch):
    whole = keep(range(500), 20, np.random.default_rng(0))
    monkeypatch.setattr("biselect_studies.data.candidates.BLOCK", 37)
    assert np.array_equal(whole, keep(range(500), 20, np.random.default_rng(0)))


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: balanced(LABELS, 50, 11, seed=0), "the window has 10 positive rows and the pool needs 11"),
        (lambda: balanced(LABELS, 3, 4, seed=0), "a pool of 3 rows cannot hold 4 positives"),
        (lambda: balanced(LABELS, 1500, 5, seed=0), "990 other rows and the pool needs 1495"),
        (lambda: unbalanced(np.zeros(50, dtype=bool), 5, seed=0), "no positive row"),
        (lambda: ranked(LABELS, np.zeros(1000), 300, seed=0), "5 × 300 rows of a window of 1000"),
        (lambda: reservoir(LABELS, 1001, seed=0), "1001 rows cannot be drawn from a window of 1000"),
        (lambda: unbalanced(LABELS[:50], 60, seed=0), "60 rows cannot be drawn from a window of 50"),
        (lambda: unbalanced(LABELS, 0, seed=0), "pool of 0 rows"),
        (lambda: balanced(LABELS, 0, 0, seed=0), "pool of 0 rows"),
        (lambda: reservoir(LABELS, 0, seed=0), "pool of 0 rows"),
        (lambda: ranked(LABELS[:50], np.zeros(40), 5, seed=0), "50 labels and 40 scores"),
        (lambda: ranked(LABELS, np.where(LABELS, np.nan, 0.0), 5, seed=0), "score of row 7 is missing"),
        (lambda: ranked(LABELS, np.zeros(1000), 0, seed=0), "pool of 0 rows"),
        (lambda: keep(range(3), 0, np.random.default_rng(0)), "1 item or more"),
        (lambda: keep(range(3), 4, np.random.default_rng(0)), "fewer than 4"),
    ],
)
def test_pools_that_cannot_be_are_refused(draw, message):
    with pytest.raises(InputError, match=message):
        draw()
