import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.calibrate import Calibrator

VALUES = st.floats(-1e6, 1e6, allow_subnormal=False)
REFERENCES = arrays(np.float64, st.tuples(st.integers(10, 30), st.integers(1, 3)), elements=VALUES)


def varying(reference):
    """The same table with a first column that is never constant."""
    reference = reference.copy()
    reference[0, :] = 1 + np.abs(reference).max()
    return reference


def ecdf_weight_in_words(reference, x, cap):
    """Eq. tail-calibration and Eq. weights for one entry, on raw values; ties but one count in the upper tail too."""
    n = len(reference)
    rank, ties = sum(r <= x for r in reference), sum(r == x for r in reference)

    def smoothed(count):
        return min(max((count + 0.5) / (n + 1), 1 / (n + 1)), n / (n + 1))

    return min(max(-np.log(2 * min(smoothed(rank), smoothed(n - rank + max(0, ties - 1)))), 0), cap)


def test_without_ties_the_weight_is_the_papers_to_the_letter():
    reference = np.random.default_rng(0).normal(size=(40, 1))
    calibrator = Calibrator().fit(reference)
    pool = np.concatenate([reference, np.linspace(-4, 4, 50)[:, None]])
    for x, weight in zip(pool[:, 0], calibrator.weights(pool)[:, 0], strict=True):
        cdf = np.clip((np.sum(reference <= x) + 0.5) / 41, 1 / 41, 40 / 41)
        assert weight == pytest.approx(max(0.0, -np.log(2 * min(cdf, 1 - cdf))), abs=1e-12)


@given(REFERENCES, st.data())
@settings(deadline=None)
def test_ecdf_weights_are_as_defined_row_by_row(reference, data):
    reference = varying(reference)
    pool = data.draw(arrays(np.float64, (4, reference.shape[1]), elements=VALUES))
    calibrator = Calibrator(cap=1.5).fit(reference)
    weights = calibrator.weights(pool)
    # ranks are taken on residuals; where two raw values share a residual, so do their ranks
    Z, ref = calibrator.residuals(pool), calibrator.scale.residuals(reference)
    expected = [[ecdf_weight_in_words(ref[:, j], Z[i, j], 1.5) for j in range(Z.shape[1])] for i in range(4)]
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert weights.min() >= 0 and weights.max() <= 1.5
    for i in range(4):
        np.testing.assert_array_equal(calibrator.weights(pool[i : i + 1])[0], weights[i])


def test_integer_and_boolean_references_weigh_ties_as_documented():
    flags = np.array([False] * 30 + [True] * 10)[:, None]
    ecdf = Calibrator().fit(flags).weights(flags)
    # a tie counts in both tails, so the common value is free of weight and the rare one weighs as rare as it is
    assert ecdf[0, 0] == 0 and ecdf[-1, 0] == pytest.approx(-np.log(2 * 9.5 / 41))
    conformal = Calibrator(map="conformal").fit(flags).weights(flags)
    assert conformal[0, 0] == 0 and conformal[-1, 0] > 1
