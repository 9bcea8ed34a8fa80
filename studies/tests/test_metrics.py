import numpy as np
import pytest

from biselect_studies.metrics import expected_lowest, f1_at_k


def test_f1_is_the_hit_share_when_sizes_match():
    assert f1_at_k([0, 1, 2, 3], [2, 3, 4, 5]) == 0.5


def test_f1_counts_both_sizes():
    assert f1_at_k([0, 1], [0, 1, 2, 3, 4, 5]) == 0.5
    assert f1_at_k([0], []) == 0
    assert f1_at_k([], []) == 1
    assert f1_at_k(np.array([0, 1]), np.array([1, 0])) == 1


def test_the_expected_lowest_draw_is_what_drawing_gives():
    rng = np.random.default_rng(0)
    values, mass = rng.normal(size=(3, 4)), rng.random((3, 4))
    mass /= mass.sum()
    drawn = rng.choice(values.ravel(), size=(200_000, 5), p=mass.ravel()).min(axis=1)
    assert expected_lowest(values, mass, shots=5) == pytest.approx(drawn.mean(), abs=4 * drawn.std() / 447)
    assert expected_lowest(values, mass, shots=1) == pytest.approx((values * mass).sum())
    assert expected_lowest([2.0, 1.0, 1.0], [0.0, 0.5, 0.5], shots=9) == 1.0
