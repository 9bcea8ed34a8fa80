import numpy as np
import pytest
from hypothesis import given, settings

import biselect as bs
from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers import Answer, auto, register
from biselect.solvers.registry import _SOLVERS
from biselect.solvers.response import top
from biselect.testing import assert_solver_api, brute_force
from biselect.testing.strategies import problems


@pytest.fixture
def planted():
    """A block that stands out clearly."""
    rng = np.random.default_rng(0)
    W = rng.random((60, 20))
    W[np.ix_([3, 8, 40], [1, 7, 19])] += 3
    return SelectionProblem(coupling=W, k=3, m=3)


@pytest.mark.parametrize("name", bs.solver_names())
def test_every_solver_keeps_the_contract(name):
    assert_solver_api(name)


@pytest.mark.parametrize("name", ["auto", "exact", "coordinate-ascent", "feature-first"])
def test_a_clear_block_is_found(planted, name):
    best = bs.solve(planted, name)
    assert (best.samples.tolist(), best.features.tolist()) == ([3, 8, 40], [1, 7, 19])


def test_top_breaks_ties_by_lowest_index_in_every_row():
    values = np.array([[1.0, 5.0, 5.0, 5.0], [2.0, 2.0, 2.0, 9.0]])
    assert top(values, 2).tolist() == [[1, 2], [0, 3]]
    assert top(values, 4).tolist() == [[0, 1, 2, 3]] * 2


@given(problems())
@settings(max_examples=200, deadline=None)
def test_auto_is_always_right_on_small_problems(problem):
    best = bs.solve(problem)
    assert best.proven_optimal
    assert best.energy == pytest.approx(brute_force(problem), rel=1e-12, abs=1e-12)


def test_auto_is_honest_when_its_patience_ends(monkeypatch):
    monkeypatch.setattr(auto, "PATIENCE", 1.5)
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=rng.random((400, 200)), k=40, m=30)
    answer = bs.solve(problem)
    assert not answer.proven_optimal
    assert 0 < answer.gap < 1
    assert answer.info["steps"] == ["coordinate ascent", "Lagrangian bound", "annealing", "branch and bound"]


def test_auto_proves_a_clear_block_beyond_enumeration():
    rng = np.random.default_rng(0)
    W = rng.random((3000, 200)) * 0.1
    W[:20, :10] += 3
    best = bs.solve(SelectionProblem(coupling=W, k=20, m=10))
    assert best.proven_optimal
    assert best.samples.tolist() == list(range(20))
    assert best.info["steps"] == ["coordinate ascent", "Lagrangian bound"]


def test_coordinate_ascent_ends_in_a_local_optimum():
    problem = SelectionProblem(coupling=np.random.default_rng(4).normal(size=(30, 20)), k=5, m=4)
    answer = bs.solve(problem, "coordinate-ascent", starts=10)
    why = answer.explain(nearest=100)
    assert min(swap.cost for swap in why.sample_swaps + why.feature_swaps) >= 0
    assert answer.info["starts"] == 10


def test_feature_first_by_hand():
    W = np.array([[9.0, 0, 4], [0, 3, 4], [0, 3, 4], [0, 3, 0]])
    by = {
        name: bs.solve(SelectionProblem(coupling=W, k=1, m=1), "feature-first", aggregate=name).features.tolist()
        for name in ("max", "sum", "median", "best")
    }
    assert by == {"max": [0], "sum": [2], "median": [2], "best": [0]}


def test_random_is_uniform_over_the_sector():
    problem = SelectionProblem(coupling=np.zeros((3, 2)), k=1, m=1)
    seen = {
        (int(answer.samples[0]), int(answer.features[0]))
        for answer in (bs.solve(problem, "random", draws=1, seed=seed) for seed in range(60))
    }
    assert len(seen) == 6


def test_unknown_solvers_and_options_are_refused_by_name(planted):
    with pytest.raises(InputError, match=r"no solver 'magic'; choose one of: auto, exact"):
        bs.solve(planted, "magic")
    with pytest.raises(InputError, match="no option 'starts'; it takes: workers"):
        bs.solve(planted, "exact", starts=3)
    with pytest.raises(InputError, match="time_limit"):
        bs.solve(planted, time_limit=-1)
    for name, options in [("random", {"draws": 0}), ("coordinate-ascent", {"starts": 0})]:
        with pytest.raises(InputError, match="at least 1"):
            bs.solve(planted, name, **options)
    with pytest.raises(InputError, match="aggregate must be one of"):
        bs.solve(planted, "feature-first", aggregate="mean")


def test_a_solver_from_outside_joins_the_registry(planted, monkeypatch):
    monkeypatch.delitem(_SOLVERS, "mine", raising=False)
    register("mine", lambda problem, run: Answer(samples=np.array([2, 1, 0]), features=np.array([0, 1, 2])))
    try:
        assert bs.solve(planted, "mine").samples.tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match="registered already"):
            register("mine", lambda problem, run: None)
    finally:
        del _SOLVERS["mine"]
