"""Tables of which one column drifts, and what is asked of them."""

from functools import partial

import pandas as pd
import pytest

from biselect import solve
from biselect_studies.extensions.drift import Question


@pytest.fixture(scope="session")
def table():
    """Normal columns, of which the last is shifted: a drift of one feature."""

    def make(rng, rows, shift=0.0):
        X = rng.normal(size=(rows, 4))
        X[:, 3] += shift
        return pd.DataFrame(X, columns=list("abcd"))

    return make


@pytest.fixture(scope="session")
def question():
    return lambda pool, **more: Question(pool=pool, k=3, m=2, select=partial(solve, solver="exact"), **more)
