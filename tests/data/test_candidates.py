import numpy as np
import pytest

from biselect.data.candidates import (
    LogisticTrigger,
    balanced,
    caught,
    enrichment,
    keep,
    ranked,
    reservoir,
    retained,
    risk,
    robust_z,
    unbalanced,
    windows,
)
from biselect.errors import InputError

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
    monkeypatch.setattr("biselect.data.candidates.BLOCK", 37)
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


def labelled(rows=4000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6))
    labels = rng.random(rows) < 0.02
    X[labels, 1] += 3
    X[labels, 4] -= 2
    return X, labels


def test_the_logistic_trigger_finds_what_it_was_shown_and_holds_it_later():
    X, labels = labelled()
    later, truth = labelled(seed=1)
    trigger = LogisticTrigger.fit(X, labels, seed=0)
    hits = caught(trigger.scores(later), truth, 200)
    assert hits > 0.9 * truth.sum() and enrichment(hits / truth.sum(), 200, 4000) > 15
    assert trigger.slopes[1] > 0 > trigger.slopes[4]


def test_the_budget_aware_trigger_uses_m_features():
    X, labels = labelled()
    trigger = LogisticTrigger.fit(X, labels, seed=0, m=2)
    assert np.flatnonzero(trigger.slopes).tolist() == [1, 4]


def test_robust_z_adds_the_four_largest_one_sided_scores_and_ignores_outliers_of_the_past():
    rng = np.random.default_rng(0)
    past = rng.normal(size=(5000, 6))
    past[:20] = 1e6
    row = np.array([[5.0, -9.0, 4.0, 3.0, 2.0, 1.0]])
    assert robust_z(row, past)[0] == pytest.approx(14.0, rel=0.05)
    flat = np.column_stack([np.zeros(100), np.arange(100) == 3])
    assert np.isfinite(robust_z(np.array([[1.0, 1.0]]), flat)).all()


def test_windows_do_not_overlap_and_leave_the_rest_out():
    assert windows(slice(10, 75), 20) == [slice(10, 30), slice(30, 50), slice(50, 70)]


def test_menus_keep_windows_as_risky_as_few_earlier_ones_were():
    past = list(range(100))
    assert retained(past, [10, 70, 90, 200], "medium") == [1, 2, 3]
    assert retained(past, [10, 70, 90, 200], "high") == [2, 3]
    assert retained(past, [10], "high") == []
    assert risk(np.arange(10.0), 2) == 8.5


def test_caught_breaks_ties_by_the_lowest_row():
    labels = np.array([0, 1, 0, 1], dtype=bool)
    assert caught(np.zeros(4), labels, 2) == 1


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: LogisticTrigger.fit(np.zeros((9, 2)), np.zeros(9, dtype=bool), seed=0), "one class only"),
        (lambda: robust_z(np.zeros((1, 2)), np.zeros((0, 2))), "the window before is empty"),
        (lambda: windows(slice(0, 5), 20), "no window of 20"),
        (lambda: caught(np.zeros(4), np.zeros(4, dtype=bool), 5), "first 5 of 4"),
        (lambda: retained([1.0], [2.0], "low"), "no menu 'low'"),
        (lambda: retained([], [2.0], "high"), "no earlier windows"),
        (lambda: retained([1.0], [np.nan], "high"), "risk is missing"),
        (lambda: LogisticTrigger.fit(*labelled(200), seed=0, m=0), "1 to 6 features, got m = 0"),
        (lambda: LogisticTrigger.fit(*labelled(200), seed=0, m=-1), "got m = -1"),
        (lambda: LogisticTrigger.fit(np.zeros((9, 2)), np.zeros(8, dtype=bool), seed=0), "9 rows and 8 labels"),
        (lambda: LogisticTrigger.fit(np.full((9, 2), np.nan), np.arange(9) < 3, seed=0), "row 0, feature 0"),
        (lambda: risk(np.zeros(4), 0), "0 largest of 4"),
        (lambda: risk(np.zeros(4), 5), "5 largest of 4"),
        (lambda: robust_z(np.array([[1.0, np.nan]]), np.zeros((20, 2))), "rows to score: row 0, feature 1"),
        (lambda: robust_z(np.zeros((1, 2)), np.full((20, 2), np.inf)), "past rows: row 0"),
        (lambda: caught(np.zeros(4), np.zeros(5, dtype=bool), 2), "5 labels and 4 scores"),
    ],
)
def test_unusable_questions_are_refused(ask, message):
    with pytest.raises(InputError, match=message):
        ask()
