import numpy as np
import pytest

from biselect.errors import InputError
from biselect_studies.experiments.baselines import DETECTORS, fitted, rank_rows


def test_rankers_on_a_table_that_can_be_read():
    W = np.array([[5.0, 0, 0, 0], [2, 2, 2, 0], [0, 4, 4, 0], [1, 1, 1, 3.5]])
    assert rank_rows("weight-sum", W, 2, 2).tolist() == [2, 3]
    assert rank_rows("largest-weights", W, 1, 2).tolist() == [2]
    assert rank_rows("largest-weights", W, 1, 1).tolist() == [0]
    assert rank_rows("tall-columns", W, 1, 1).tolist() == [0]


@pytest.mark.parametrize("name", DETECTORS)
def test_detectors_put_an_outlier_first_and_a_seed_fixes_them(name):
    rng = np.random.default_rng(0)
    reference, rows = rng.normal(size=(400, 3)), rng.normal(size=(30, 3))
    rows[11] = 9.0
    scores = fitted(name, reference)(rows)
    assert scores.argmax() == 11 and np.array_equal(scores, fitted(name, reference)(rows))


def test_a_detector_that_nobody_knows_is_refused():
    with pytest.raises(InputError, match="no detector 'svm'"):
        fitted("svm", np.zeros((3, 1)))(np.zeros((1, 1)))
