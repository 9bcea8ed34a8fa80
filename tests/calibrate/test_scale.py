import numpy as np
import pandas as pd

from biselect.calibrate import Calibrator
from biselect.calibrate.column import exact_column
from biselect.calibrate.scale import fit_scale


def test_residuals_use_median_and_scaled_mad_or_mean_and_deviation():
    X = np.arange(11.0)[:, None] ** 2
    robust, plain = Calibrator().fit(X), Calibrator(center="mean").fit(X)
    median = 25.0
    mad = np.median(np.abs(X - median))
    np.testing.assert_allclose(robust.residuals(X), (X - median) / (1.4826 * mad))
    np.testing.assert_allclose(plain.residuals(X), (X - X.mean()) / X.std())


def test_zero_mad_falls_back_to_the_deviation_and_constants_are_dropped():
    reference = np.zeros((20, 3))
    reference[0, 0] = 5.0
    reference[:, 2] = np.arange(20)
    frame = pd.DataFrame(reference, columns=["spike", "flat", "ramp"])
    calibrator = Calibrator().fit(frame)
    assert calibrator.facts.zero_mad == ("spike",)
    assert calibrator.facts.constant == ("flat",)
    assert calibrator.feature_names == ("spike", "ramp")
    problem = calibrator.problem(frame, k=2, m=1)
    assert problem.feature_names == ("spike", "ramp")
    assert calibrator.facts.tied["spike"] > 0.8 and calibrator.facts.tied["ramp"] == 0


def test_a_tiny_but_real_spread_is_not_constant():
    X = np.column_stack([1e9 + np.arange(20) * 1e-6])
    assert not fit_scale([exact_column(X[:, 0])], "median").constant.any()
