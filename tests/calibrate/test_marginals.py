import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.calibrate import Calibrator
from biselect.calibrate.marginals import marginals

VALUES = st.floats(-1e6, 1e6, allow_subnormal=False)
REFERENCES = arrays(np.float64, st.tuples(st.integers(10, 30), st.integers(1, 3)), elements=VALUES)


def varying(reference):
    """The same table with a first column that is never constant."""
    reference = reference.copy()
    reference[0, :] = 1 + np.abs(reference).max()
    return reference


def test_marginals_by_hand():
    W, Z = np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([[-1.0, 4.0], [3.0, 4.0]])
    a, b = marginals(W, Z, "paper")
    np.testing.assert_allclose(a, [2, 3])
    np.testing.assert_allclose(b, [1.0, 0.0])  # variance of |Z|: (1, 3) and (4, 4)
    np.testing.assert_allclose(marginals(W, Z, "bounded")[1], [1.0, 0.0])
    assert not any(part.any() for part in marginals(W, Z, "none"))


@given(REFERENCES)
@settings(deadline=None)
def test_bounded_marginals_never_exceed_half_the_cap(reference):
    reference = varying(reference)
    problem = Calibrator(cap=2.0).fit(reference).problem(reference, k=1, m=1)
    assert problem.feature_scores.max() <= 1.0 + 1e-12
    assert problem.sample_scores.max() <= 2.0
