"""A small problem and a circuit to train on."""

import pytest

from biselect.data.synthetic import planted_problem
from biselect.qaoa import Ansatz


@pytest.fixture(scope="module")
def problem():
    return planted_problem((5, 4, 2, 2), 2.0, seed=0)


@pytest.fixture(scope="module")
def ansatz(problem):
    return Ansatz(problem, 2)
