import numpy as np
import pytest

from biselect.weights import Weigher
from biselect.weights.paper import paper_marginals, paper_problem

RNG = np.random.default_rng(0)


def test_the_papers_rank_on_ties():
    flags = np.repeat([0.0, 1.0], 20)[:, None]
    assert Weigher("ecdf-paper").fit(flags).weights([[1.0]])[0, 0] == pytest.approx(np.log(41 / 2))
    assert Weigher("ecdf").fit(flags).weights([[1.0]])[0, 0] < 0.06


def test_the_papers_marginals():
    W, Z = np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([[1.0, -2.0], [-3.0, 2.0]])
    a, b = paper_marginals(W, Z)
    np.testing.assert_allclose(a, [1.0, 3.0])
    np.testing.assert_allclose(b, [1.0, 0.0])


def test_the_papers_problem_formula_by_formula():
    reference, pool = RNG.standard_t(3, size=(80, 3)), 3 * RNG.standard_t(3, size=(7, 3))
    problem = paper_problem(pool, reference, k=2, m=1, cap=2.5, coupling_weight=0.5)
    median = np.median(reference, axis=0)
    Z = (pool - median) / (1.4826 * np.median(np.abs(reference - median), axis=0))
    F = np.clip(((reference[None] <= pool[:, None]).sum(axis=1) + 0.5) / 81, 1 / 81, 80 / 81)
    W = np.clip(-np.log(2 * np.minimum(F, 1 - F)), 0, 2.5)
    np.testing.assert_allclose(problem.coupling, W)
    np.testing.assert_allclose(problem.sample_scores, W.max(axis=1))
    np.testing.assert_allclose(problem.feature_scores, np.abs(Z).var(axis=0))
    assert (problem.k, problem.m, problem.coupling_weight) == (2, 1, 0.5)
