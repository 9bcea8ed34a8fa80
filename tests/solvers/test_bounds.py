"""Spectral and Lagrangian bounds against brute force."""

import numpy as np
import pytest

import biselect as bs
from biselect.core import SelectionProblem
from biselect.solvers._lagrangian import certified, root_bound, score_bound
from biselect.solvers._spectral import spectral_bound
from biselect.solvers.registry import Run
from biselect.solvers.response import by_features, by_samples


def drawn(seed, low=3, high=8):
    rng = np.random.default_rng(seed)
    n, d = (int(size) for size in rng.integers(low, high, size=2))
    k, m = int(rng.integers(1, n)), int(rng.integers(2, d))
    kinds = (rng.normal(size=(n, d)), rng.integers(0, 2, size=(n, d)) * 1.0, 10.0 ** rng.uniform(-9, 9, size=(n, d)))
    return SelectionProblem(
        coupling=kinds[seed % 3],
        sample_scores=rng.normal(size=n),
        feature_scores=rng.normal(size=d),
        coupling_weight=0.7,
        k=k,
        m=m,
    )


@pytest.mark.parametrize("seed", range(90))
def test_no_bound_is_below_the_optimum(seed):
    problem = drawn(seed)
    best = bs.solve(problem, "exact")
    assert score_bound(problem, Run(), floor=best.score) >= best.score
    for task in (by_features(problem), by_samples(problem)):
        assert spectral_bound(task, Run()) >= best.score
        units = problem.score_units(best.samples, best.features)
        assert root_bound(task, units).score >= best.score


@pytest.mark.slow
def test_square_budgets_get_a_far_smaller_gap_than_the_lagrangian_bound_gives():
    weights = (np.random.default_rng(0).random((40, 40)) < 0.5).astype(float)
    found = bs.solve(SelectionProblem(coupling=weights, k=20, m=20), "exact", time_limit=3)
    assert "spectral bound" in found.info["steps"] and found.gap < 0.12


def test_a_certificate_takes_the_time_that_it_is_given():
    weights = np.random.default_rng(2).normal(size=(80, 14))
    found = bs.solve(SelectionProblem(coupling=weights, k=12, m=4), "coordinate-ascent")
    assert found.energy >= certified(found, time_limit=30).bound > certified(found, time_limit=0).bound
