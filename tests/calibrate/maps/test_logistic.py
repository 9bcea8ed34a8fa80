import numpy as np
import pytest

from biselect.calibrate import Calibrator
from biselect.errors import InputError


def test_logistic_follows_the_informative_side_only():
    rng = np.random.default_rng(4)
    labels = rng.random(4000) < 0.1
    informative = rng.normal(size=4000) + 3 * labels
    table = np.column_stack([informative, rng.normal(size=4000)])
    calibrator = Calibrator(map="logistic").fit(table, labels=labels)
    weights = calibrator.weights([[4.0, 4.0], [-4.0, -4.0], [0.0, 0.0]])
    assert weights[0, 0] > 2 and weights[1, 0] == 0
    assert weights[2].max() < 0.1 and weights[:, 1].max() < 0.5


def test_logistic_needs_usable_labels():
    table = np.arange(40.0).reshape(20, 2)
    for labels, message in [
        (None, "supervised"),
        (np.zeros(20), "one class only"),
        (np.zeros(3), "one per reference row"),
        (np.arange(20), "0 .normal. or 1"),
    ]:
        with pytest.raises(InputError, match=message):
            Calibrator(map="logistic").fit(table, labels=labels)
    with pytest.raises(InputError, match="whole reference at once"):
        Calibrator(map="logistic").fit_blocks([table])
