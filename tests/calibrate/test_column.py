import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.calibrate.column import exact_column

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False))
ENTRIES = arrays(np.float64, st.integers(1, 40), elements=NUMBERS)


@given(ENTRIES, st.floats(0, 1), NUMBERS)
def test_counts_and_quantiles_are_those_of_the_entries(entries, q, x):
    column = exact_column(entries)
    assert column.below(x) == (entries < x).sum() and column.at_most(x) == (entries <= x).sum()
    assert column.quantile(q) == pytest.approx(np.quantile(entries, q), rel=1e-9, abs=1e-6)
    folded = column.folded(x)
    np.testing.assert_allclose(folded.values, np.sort(np.abs(entries - x)))
    assert folded.mean == pytest.approx(np.abs(entries - x).mean())


@given(ENTRIES, NUMBERS, st.integers(0, 5))
def test_more_entries_of_one_value(entries, value, number):
    grown = exact_column(entries).with_entries(value, number)
    expected = exact_column(np.append(entries, np.full(number, value)))
    for x in (value, 0.0, entries[0]):
        assert grown.below(x) == expected.below(x) and grown.at_most(x) == expected.at_most(x)
    assert grown.mean == pytest.approx(expected.mean, abs=1e-6)
    assert grown.deviation == pytest.approx(expected.deviation, abs=1e-3, rel=1e-6)
