"""Averaging, spectral and Lagrangian bounds against brute force, and the compiled averaging against its slow twin."""

from itertools import combinations

import numpy as np
import pytest

import biselect as bs
from biselect.core import SelectionProblem
from biselect.solvers import _averaging
from biselect.solvers._averaging import averaging_bound
from biselect.solvers._lagrangian import certified, score_bound
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
        floor = best.score - abs(best.score)
        assert averaging_bound(task, Run(), floor=floor, bound=np.inf, workers=1)[0] >= best.score


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("t", [2, 3, 4])
def test_the_averaging_bound_is_the_nested_mean_over_all_sets(seed, t):
    problem = drawn(3 * seed, low=6, high=9)
    problem = SelectionProblem(
        coupling=problem.coupling, feature_scores=problem.feature_scores, k=2, m=4, coupling_weight=0.7
    )
    task = by_features(problem)
    d, m, k = problem.n_features, problem.m, problem.k

    def value(lines):
        sums = m / t * 0.7 * problem.coupling[:, lines].sum(axis=1)
        return np.sort(sums)[-k:].sum() + m / t * problem.feature_scores[list(lines)].sum()

    values = {frozenset(lines): value(list(lines)) for lines in combinations(range(d), t)}

    def nested(chosen):
        if len(chosen) == t:
            return values[frozenset(chosen)]
        below = sorted((nested((*chosen, j)) for j in range(d) if j not in chosen), reverse=True)
        return float(np.mean(below[: m - len(chosen)]))

    slow = nested(())
    found = _averaging._at(task, t, Run(), -1e3, 1e3, 1)
    assert found == pytest.approx(slow, rel=1e-9, abs=1e-9)


@pytest.mark.slow
def test_square_budgets_get_a_far_smaller_gap_than_the_lagrangian_bound_gives():
    weights = (np.random.default_rng(0).random((40, 40)) < 0.5).astype(float)
    found = bs.solve(SelectionProblem(coupling=weights, k=20, m=20), "exact", time_limit=3)
    assert "spectral bound" in found.info["steps"] and found.gap < 0.12


def test_a_certificate_takes_the_time_that_it_is_given():
    weights = np.random.default_rng(2).normal(size=(80, 14))
    found = bs.solve(SelectionProblem(coupling=weights, k=12, m=4), "coordinate-ascent")
    assert found.energy >= certified(found, time_limit=30).bound > certified(found, time_limit=0).bound
