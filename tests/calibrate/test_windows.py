import numpy as np
import pytest

from biselect.calibrate import Calibrator
from biselect.errors import InputError


def test_a_split_reference_ranks_among_rows_that_nothing_was_fit_on():
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(60, 2)), rng.normal(size=(8, 2))
    split = Calibrator(split=0.25, seed=3).fit(reference)
    assert (split.facts.reference_rows, split.facts.calibration_rows) == (60, 15)
    aside = np.random.default_rng(3).permuted(np.tile(np.arange(20) < 5, (3, 1)), axis=1).ravel()
    explicit = Calibrator().fit(reference[~aside], calibration=reference[aside])
    np.testing.assert_array_equal(split.weights(pool), explicit.weights(pool))
    np.testing.assert_array_equal(split.residuals(pool), Calibrator().fit(reference[~aside]).residuals(pool))
    counts = split.reference_counts(split.residuals(pool))
    np.testing.assert_array_equal(counts[0][0], (reference < pool[0]).sum(axis=0))
    other = Calibrator(split=0.25, seed=4).fit(reference)
    assert (other.weights(pool) != split.weights(pool)).any(), "the seed decides the split"


def test_windows_that_cannot_be_are_refused():
    table = np.random.default_rng(0).normal(size=(24, 1))
    with pytest.raises(InputError, match="leaves 20 rows to fit on and 4 to rank among"):
        Calibrator(split=0.2).fit(table)
    with pytest.raises(InputError, match="either split or a calibration table"):
        Calibrator(split=0.5).fit(table, calibration=table)
    with pytest.raises(InputError, match="no use for a calibration table"):
        Calibrator(map="laplace").fit(table, calibration=table)
    with pytest.raises(InputError, match="calibration window has 2 columns"):
        Calibrator().fit(table, calibration=np.ones((20, 2)))


def test_a_reference_of_one_row_is_refused_like_any_too_short_one():
    with pytest.raises(InputError, match="has 1 rows"):
        Calibrator().fit([[1.0, 2.0]])


@pytest.mark.parametrize("known", [100, 101])
def test_filled_entries_are_ties_however_many_values_are_known(known):
    reference = np.full((1000, 2), np.nan)
    reference[:known] = np.random.default_rng(0).normal(size=(known, 2))
    calibrator = Calibrator(missing="median").fit(reference)
    assert calibrator.weights([[np.nan, np.nan]]).tolist() == [[0.0, 0.0]]
    assert calibrator.facts.tied["0"] >= 0.89
