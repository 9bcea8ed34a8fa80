import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.columns.distribution import beyond, exact_distribution, outer_length, upper_surprise


@given(st.lists(st.integers(0, 9), min_size=30, max_size=50), st.floats(-5, 20))
def test_surprise_is_as_defined_and_never_falls(entries, x):
    column = exact_distribution(np.array([*entries, 10.0]))
    grid = np.append(np.linspace(-3, 30, 40), x)
    found = upper_surprise(column, np.sort(grid))
    assert (np.diff(found) >= -1e-12).all() and found[0] == 0


def test_an_end_of_ties_has_the_length_of_the_spread():
    column = exact_distribution(np.append(np.zeros(30), 1.0))
    assert outer_length(1e-9, column) == column.deviation > 0
    flat = exact_distribution(np.append(np.zeros(30), 1e-300))
    assert outer_length(1e-300, flat) == 1
    spread = exact_distribution(np.arange(40.0))
    assert outer_length(2.0, spread) == 2.0
    assert beyond(np.array([0.0, 2.0]), 2.0) == pytest.approx([0, np.log(2)])
