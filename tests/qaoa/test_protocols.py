import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.qaoa import Schedule
from biselect.qaoa.protocols import fixed_angles, warm_starts


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return SelectionProblem(
        coupling=rng.gamma(1.0, 1.0, (7, 5)),
        sample_scores=rng.random(7),
        feature_scores=rng.random(5),
        k=3,
        m=2,
    )


def test_warm_starts_are_distinct_and_in_order(problem):
    starts = warm_starts(problem, 2)
    energies = [problem.energy(*start) for start in starts]
    assert energies == sorted(energies)
    assert len({tuple(map(tuple, start)) for start in starts}) == len(starts)
    assert all(len(s) == problem.k and len(f) == problem.m for s, f in starts)


def test_fixed_angles_do_not_know_the_problem():
    assert fixed_angles(Schedule.named("bilinear", 3)).tolist() == [np.pi / 4] * 5
