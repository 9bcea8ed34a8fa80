"""Problems with marginals, small enough to write out."""

import numpy as np
import pytest

from biselect.core import SelectionProblem


@pytest.fixture(scope="session")
def problem_of():
    def make(seed=0, n=5, d=4, k=2, m=2):
        rng = np.random.default_rng(seed)
        parts = {
            "coupling": rng.random((n, d)),
            "sample_scores": rng.random(n),
            "feature_scores": rng.random(d),
        }
        return SelectionProblem(k=k, m=m, coupling_weight=0.7, **parts)

    return make
