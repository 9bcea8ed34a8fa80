import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import metrics
from biselect.core.metrics import (
    bootstrap_interval,
    expected_lowest,
    f1_at_k,
    paired_effect,
    row_geometric,
    row_medians,
)


def test_f1_is_the_hit_share_when_sizes_match():
    assert f1_at_k([0, 1, 2, 3], [2, 3, 4, 5]) == 0.5


def test_f1_counts_both_sizes():
    assert f1_at_k([0, 1], [0, 1, 2, 3, 4, 5]) == 0.5
    assert f1_at_k([0], []) == 0
    assert f1_at_k([], []) == 1
    assert f1_at_k(np.array([0, 1]), np.array([1, 0])) == 1


def test_bootstrap_intervals_cover_the_mean_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = 0
    for repeat in range(300):
        low, high = bootstrap_interval(rng.exponential(size=80), seed=repeat)
        covered += low <= 1.0 <= high
    assert 0.88 <= covered / 300 <= 0.98


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20))
def test_bootstrap_intervals_hold_the_sample_and_repeat_for_a_seed(values):
    low, high = bootstrap_interval(values, seed=1)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert bootstrap_interval(values, seed=1) == (low, high)


def test_bootstrap_intervals_do_not_depend_on_how_draws_are_batched(monkeypatch):
    values = np.random.default_rng(2).normal(size=50)
    whole = bootstrap_interval(values)
    monkeypatch.setattr(metrics, "BATCH_VALUES", 777)
    assert bootstrap_interval(values) == whole


def test_paired_effect_is_mean_over_spread_where_there_is_spread():
    assert paired_effect([1.0, 3.0]) == pytest.approx(2 / np.sqrt(2))
    assert paired_effect([0.5, 0.5]) is None
    assert paired_effect([0.5]) is None


def test_the_expected_lowest_draw_is_what_drawing_gives():
    rng = np.random.default_rng(0)
    values, mass = rng.normal(size=(3, 4)), rng.random((3, 4))
    mass /= mass.sum()
    drawn = rng.choice(values.ravel(), size=(200_000, 5), p=mass.ravel()).min(axis=1)
    assert expected_lowest(values, mass, shots=5) == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 447)
    assert expected_lowest(values, mass, shots=1) == pytest.approx((values * mass).sum())
    assert expected_lowest([2.0, 1.0, 1.0], [0.0, 0.5, 0.5], shots=9) == 1.0


def test_row_medians_are_medians():
    assert row_medians(np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 0.0]])).tolist() == [2.0, 5.0]


def test_row_geometric_is_the_root_of_the_product():
    np.testing.assert_allclose(row_geometric(np.array([[1.0, 4.0], [0.0, 3.0]])), [2.0, 0.0])
