import numpy as np
import pytest

from biselect.data.leaks import refuse_label_copies
from biselect.errors import InputError


def test_a_copy_of_the_label_is_refused_and_a_good_feature_is_not():
    labels = np.array([0, 1, 0, 1, 0], dtype=bool)
    rng = np.random.default_rng(0)
    honest = np.column_stack([rng.normal(size=5), labels + 0.1 * rng.normal(size=5)])
    refuse_label_copies(honest, ["a", "b"], labels)
    for copy in (labels * 1.0, 7.0 - 3.0 * labels):
        with pytest.raises(InputError, match="feature 'leak' is a copy of the label"):
            refuse_label_copies(np.column_stack([honest, copy]), ["a", "b", "leak"], labels)


def test_a_feature_that_separates_the_classes_is_refused_from_enough_rows_on():
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 5 == 0
    leak = rng.random(200) + 2 * labels
    for column in (leak, -leak):
        with pytest.raises(InputError, match="feature 'leak' separates the label"):
            refuse_label_copies(column[:, None], ["leak"], labels)
    refuse_label_copies((rng.random(200) + 0.9 * labels)[:, None], ["good"], labels)
    refuse_label_copies(leak[:30, None], ["few"], labels[:30])
