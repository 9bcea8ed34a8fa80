"""A small problem and a circuit to train on."""

import pytest

from biselect.core import SelectionProblem
from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import Ansatz


@pytest.fixture(scope="module")
def problem():
    return planted_problem((5, 4, 2, 2), 2.0, seed=0)


@pytest.fixture(scope="module")
def ansatz(problem):
    return Ansatz(problem, 2)


@pytest.fixture(scope="session")
def with_scores():
    """A problem in another unit of energy, its sample scores shifted."""

    def make(problem, unit, shift=0.0):
        return SelectionProblem(
            coupling=unit * problem.coupling,
            sample_scores=unit * problem.sample_scores + shift,
            feature_scores=unit * problem.feature_scores,
            k=problem.k,
            m=problem.m,
        )

    return make
