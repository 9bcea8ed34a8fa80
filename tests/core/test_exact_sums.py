from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from biselect.core import SelectionProblem
from biselect.core import exact_sums as exact

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=300)
@given(arrays.arrays(np.float64, st.integers(1, 200), elements=NUMBERS))
def test_sums_are_those_of_fractions(values):
    assert Fraction(exact.sum_units(values), 2**exact.NUMBER_BITS) == sum(map(Fraction, values.tolist()))


@settings(max_examples=300)
@given(st.integers(-(2**3000), 2**3000))
def test_rounding_up_and_down_encloses_the_score(units):
    low, high = exact.at_most(units), exact.at_least(units)
    assert exact.in_score_units(low) <= units <= exact.in_score_units(high)
    assert high in (low, np.nextafter(low, np.inf))


def test_a_score_is_the_exact_sum_rounded_once():
    problem = SelectionProblem(coupling=[[1e16, 1.0], [-1e16, 1e-3]], k=2, m=2, coupling_weight=0.1)
    exactly = Fraction(0.1) * (Fraction(1e16) + 1 - Fraction(1e16) + Fraction(1e-3))
    assert problem.score([0, 1], [0, 1]) == float(exactly)
    assert Fraction(problem.score_units([0, 1], [0, 1]), 2**exact.SCORE_BITS) == exactly
