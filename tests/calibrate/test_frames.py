import numpy as np
import pandas as pd
import polars as pl
import pytest

from biselect.calibrate import Calibrator
from biselect.errors import InputError


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_matched_by_name_and_keep_their_names(make):
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=40), "count": rng.integers(0, 50, size=40), "flag": rng.random(40) > 0.5}
    calibrator = Calibrator().fit(make(data))
    pool = {"flag": [True], "extra": [1.0], "count": [3], "x": [0.5]}
    weights = calibrator.weights(make(pool))
    np.testing.assert_array_equal(weights, calibrator.weights(np.array([[0.5, 3.0, 1.0]])))
    assert calibrator.problem(make(data), k=1, m=1).feature_names == ("x", "count", "flag")
    with pytest.raises(InputError, match="lacks columns of the reference: 'count'"):
        calibrator.weights(make({"x": [1.0], "flag": [True]}))
    with pytest.raises(InputError, match="column 'x' holds String"):
        Calibrator().fit(make({"x": ["a"] * 40}))


def test_missing_values_are_refused_or_filled_by_the_reference_median():
    reference = np.column_stack([np.arange(21.0), np.arange(21.0)])
    pool = np.array([[np.nan, 3.0]])
    with pytest.raises(InputError, match=r"pool has a missing value in column '0', row 0.*missing='median'"):
        Calibrator().fit(reference).weights(pool)
    filled = Calibrator(missing="median").fit(reference)
    np.testing.assert_array_equal(filled.weights(pool), filled.weights([[10.0, 3.0]]))
    reference[3, 1] = np.nan
    assert Calibrator(missing="median").fit(reference).facts.filled == 1
    with pytest.raises(InputError, match="reference has a missing value in column '1', row 3"):
        Calibrator().fit(reference)
    with pytest.raises(InputError, match="an infinite value"):
        filled.weights([[np.inf, 1.0]])


def test_default_frames_and_repeated_columns():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)))  # columns named 0, 1, 2
    assert Calibrator().fit(frame).feature_names == ("0", "1", "2")
    with pytest.raises(InputError, match="several columns of one name"):
        Calibrator().fit(pd.concat([frame, frame], axis=1))
