import numpy as np
import pytest

from biselect.errors import InputError
from biselect_studies.experiments.baselines import (
    LogisticTrigger,
    caught,
    enrichment,
    retained,
    risk,
    robust_z,
    windows,
)


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
