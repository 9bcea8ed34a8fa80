import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.weights import Weigher
from biselect_studies.data.synthetic import MARGINALS

VALUES = st.floats(-1e6, 1e6, allow_subnormal=False)
REFERENCES = arrays(np.float64, st.tuples(st.integers(10, 30), st.integers(1, 3)), elements=VALUES)


def test_marginals_by_hand():
    W, Z = np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([[-1.0, 4.0], [3.0, 4.0]])
    a, b = MARGINALS["paper"](W, Z)
    np.testing.assert_allclose(a, [2, 3])
    np.testing.assert_allclose(b, [1.0, 0.0])  # variance of |Z|: (1, 3) and (4, 4)
    np.testing.assert_allclose(MARGINALS["bounded"](W, Z)[1], [1.0, 0.0])
    assert not any(part.any() for part in MARGINALS["none"](W, Z))


@given(REFERENCES)
def test_bounded_marginals_never_exceed_half_the_cap(reference):
    reference[0, :] = 1 + np.abs(reference).max()  # so that no column is constant
    problem = Weigher(cap=2.0).fit(reference).plain_problem(reference, k=1, m=1, marginals=MARGINALS["bounded"])
    assert problem.feature_scores.max() <= 1.0 + 1e-12
    assert problem.sample_scores.max() <= 2.0
