import numpy as np
import pytest

from biselect.data.planted import depth_problem, heaviest, panel_problem, planted_problem
from biselect.data.synthetic import planted_block
from biselect.errors import InputError


def test_the_depth_family_plants_its_block_first_and_keeps_signs():
    problem = depth_problem(2.0, "mixed", seed=3)
    block = planted_block(14, 10, 3, 3, 2.0, seed=3, mode="mixed", place="first")
    np.testing.assert_array_equal(problem.coupling, block.residuals)
    np.testing.assert_array_equal(problem.sample_scores, block.residuals.max(axis=1))
    np.testing.assert_allclose(problem.feature_scores, np.abs(block.residuals).var(axis=0))
    assert problem.coupling.min() < 0 and (problem.k, problem.m) == (3, 3)


def test_the_panel_keeps_ten_couplings_and_the_marginals_of_all():
    problem, dense = panel_problem(seed=1), planted_problem((12, 8, 3, 5), 3.0, seed=1, absolute=True)
    kept = problem.coupling > 0
    assert kept.sum() == 10 and kept.sum(axis=0).max() <= 2 and kept.sum(axis=1).max() <= 2
    np.testing.assert_array_equal(problem.coupling[kept], dense.coupling[kept])
    np.testing.assert_array_equal(problem.sample_scores, dense.sample_scores)
    assert dense.coupling.min() >= 0
    assert panel_problem(seed=1).digest == problem.digest != panel_problem(seed=2).digest


def test_heaviest_takes_as_many_as_asked_or_says_how_many_fit():
    weights = np.array([[5.0, 4.0], [3.0, 2.0]])
    np.testing.assert_array_equal(heaviest(weights, count=2, degree=1), [[5.0, 0.0], [0.0, 2.0]])
    with pytest.raises(InputError, match=r"9 couplings of degree 1 .* leave room for 2"):
        heaviest(weights, count=9, degree=1)
    with pytest.raises(InputError, match="at least 1"):
        heaviest(np.ones((2, 2)), count=0, degree=1)
