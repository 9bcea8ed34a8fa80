import numpy as np
import pytest

from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz, CostGroup, components, split_terms


def test_any_grouping_of_cost_terms_works_and_standard_groups_are_one_of_them(problem_of):
    problem = problem_of()
    n, d = problem.n_samples, problem.n_features
    types = np.r_[np.zeros(n, int), np.ones(d, int), np.full(n * d, 2)]
    standard, same = Ansatz(problem, 2), Ansatz(problem, 2, groups=split_terms(problem, types))
    angles = np.random.default_rng(0).normal(size=8)
    np.testing.assert_allclose(same.state(angles), standard.state(angles))
    shuffled = split_terms(problem, np.random.default_rng(0).permutation(types))
    other = Ansatz(problem, 2, groups=shuffled)
    tied = np.tile([0.3, 0.3, 0.3, 0.7], 2)
    np.testing.assert_allclose(other.state(tied), standard.state(tied), atol=1e-12)
    assert not np.allclose(other.state(angles), standard.state(angles))
    assert other.value_and_gradient(angles)[1].shape == (8,)
    with pytest.raises(InputError, match="group number"):
        split_terms(problem, [0, 1])
    with pytest.raises(InputError, match="S, F and SF only"):
        Ansatz(problem, 2, "bilinear", groups=shuffled)


def test_groups_of_one_name_keep_angles_of_their_own(problem_of):
    problem = problem_of()
    same = [CostGroup(name="x", sample=g.sample, feature=g.feature, pair=g.pair) for g in components(problem)]
    assert Ansatz(problem, 1, groups=same).size == 4
