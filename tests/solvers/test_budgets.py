import numpy as np
import pytest
from hypothesis import given, settings

import biselect as bs
from biselect.core import Group, Rules, SelectionProblem
from biselect.errors import InputError
from biselect.solvers import neighbours
from biselect.testing.oracles import brute_force
from biselect.testing.strategies import problems


@given(problems())
@settings(max_examples=30)
def test_each_neighbour_is_the_optimum_of_its_budget(problem):
    nearby = neighbours(bs.solve(problem), rows=1, columns=1)
    budgets = [(near.problem.k, near.problem.m) for near in nearby]
    assert budgets == [
        (k, m)
        for k in range(problem.k - 1, problem.k + 2)
        for m in range(problem.m - 1, problem.m + 2)
        if 1 <= k <= problem.n_samples and 1 <= m <= problem.n_features
    ]
    for near in nearby:
        assert near.proven_optimal
        assert near.energy == pytest.approx(brute_force(near.problem), rel=1e-9, abs=1e-9)


def test_the_selection_itself_stays_in_the_middle():
    found = bs.solve(SelectionProblem(coupling=np.eye(4), k=2, m=2), "greedy")
    nearby = neighbours(found)
    assert found in nearby and len(nearby) == 3 * 4  # k from 1 to 4, m from 1 to 3
    assert neighbours(found, rows=0, columns=0) == [found]


def test_a_solver_that_counts_its_steps_has_neighbours_too():
    found = bs.solve(SelectionProblem(coupling=np.eye(4), k=2, m=2), "annealing")
    assert isinstance(found.info["steps"], int)
    assert len(neighbours(found, rows=1, columns=0)) == 3


def test_budgets_that_the_rules_forbid_are_left_out():
    rules = Rules(forced_in=[0, 3], groups=[Group(members=(1, 2, 4), at_most=1)])
    problem = SelectionProblem(coupling=np.arange(15.0).reshape(5, 3), k=2, m=1, sample_rules=rules)
    nearby = neighbours(bs.solve(problem), rows=2, columns=0)
    assert [near.problem.k for near in nearby] == [2, 3]
    assert all(near.problem.obeys(near.samples, near.features) for near in nearby)


def test_no_time_leaves_the_selection_alone():
    found = bs.solve(SelectionProblem(coupling=np.eye(4), k=2, m=2))
    assert neighbours(found, time_limit=1e-12) == [found]


def test_a_light_answer_has_light_neighbours_with_a_bound():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((60, 60)), k=20, m=3)
    found = bs.solve(problem)
    assert found.info["steps"][-1] == "enumeration"
    nearby = {near.problem.m: near for near in neighbours(found, rows=0, columns=2)}
    assert nearby[4].proven_optimal
    assert nearby[5].info["steps"] == ["coordinate ascent", "Lagrangian bound"]
    assert not nearby[5].proven_optimal and 0 < nearby[5].gap < 1


def test_a_search_lets_its_neighbours_search(monkeypatch):
    for most in ("INSTANT_CELLS", "LOOP_CELLS"):
        monkeypatch.setattr(f"biselect.solvers._exact.{most}", -1)
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((12, 8)), k=3, m=2)
    found = bs.solve(problem, "exact")
    assert "branch and bound" in found.info["steps"]
    assert all(near.proven_optimal for near in neighbours(found, rows=1, columns=1))


def test_progress_is_told_and_nonsense_refused():
    found = bs.solve(SelectionProblem(coupling=np.eye(4), k=2, m=2))
    shares = []
    neighbours(found, rows=1, columns=0, progress=lambda done, energy: shares.append((done, energy)))
    assert shares == [(0.5, -2.0), (1.0, -2.0)]
    with pytest.raises(InputError, match="0 or more"):
        neighbours(found, rows=-1)
