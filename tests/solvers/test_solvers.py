from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import biselect as bs
from biselect.core import Rules, SelectionProblem, groups_by
from biselect.errors import InputError
from biselect.solvers import SOLVERS, Answer, _exact
from biselect.solvers.response import top
from biselect.testing import assert_solver_api, brute_force
from biselect.testing.strategies import problems, ruled_problems

OWN = ["auto", "exact", "milp", "annealing", "coordinate-ascent", "greedy"]


@pytest.fixture
def planted():
    """A block that stands out clearly."""
    rng = np.random.default_rng(0)
    W = rng.random((60, 20))
    W[np.ix_([3, 8, 40], [1, 7, 19])] += 3
    return SelectionProblem(coupling=W, k=3, m=3)


@pytest.mark.parametrize("name", OWN)
def test_every_solver_keeps_the_contract(name):
    assert_solver_api(name)


@pytest.mark.parametrize("name", ["auto", "exact", "coordinate-ascent"])
def test_a_clear_block_is_found(planted, name):
    best = bs.solve(planted, name)
    assert (best.samples.tolist(), best.features.tolist()) == ([3, 8, 40], [1, 7, 19])


def test_top_breaks_ties_by_lowest_index_in_every_row():
    values = np.array([[1.0, 5.0, 5.0, 5.0], [2.0, 2.0, 2.0, 9.0]])
    assert top(values, 2).tolist() == [[1, 2], [0, 3]]
    assert top(values, 4).tolist() == [[0, 1, 2, 3]] * 2


@given(problems())
@settings(max_examples=200)
def test_auto_is_always_right_on_small_problems(problem):
    best = bs.solve(problem)
    assert best.proven_optimal
    assert best.energy == pytest.approx(brute_force(problem), rel=1e-12, abs=1e-12)


def test_auto_is_honest_when_its_patience_ends(monkeypatch):
    monkeypatch.setattr(_exact, "PATIENCE", 1.5)
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=rng.random((400, 200)), k=40, m=30)
    answer = bs.solve(problem)
    assert not answer.proven_optimal
    assert 0 < answer.gap < 1
    assert answer.info["steps"][:2] == ["coordinate ascent", "Lagrangian bound"]  # then as time allows


def test_auto_proves_a_clear_block_beyond_enumeration():
    rng = np.random.default_rng(0)
    W = rng.random((3000, 200)) * 0.1
    W[:20, :10] += 3
    best = bs.solve(SelectionProblem(coupling=W, k=20, m=10))
    assert best.proven_optimal
    assert best.samples.tolist() == list(range(20))
    assert best.info["steps"] == ["coordinate ascent", "Lagrangian bound", "enumeration"]
    assert best.info["visited"] <= 1


def test_coordinate_ascent_ends_in_a_local_optimum():
    problem = SelectionProblem(coupling=np.random.default_rng(4).normal(size=(30, 20)), k=5, m=4)
    answer = bs.solve(problem, "coordinate-ascent", starts=10)
    why = answer.explain(nearest=100)
    assert min(swap.cost for swap in why.sample_swaps + why.feature_swaps) >= 0
    assert answer.info["starts"] == 10


def test_unknown_solvers_and_options_are_refused_by_name(planted):
    with pytest.raises(InputError, match=r"no solver 'magic'; choose one of: auto, exact"):
        bs.solve(planted, "magic")
    with pytest.raises(InputError, match="no option 'starts'; it takes: workers, search"):
        bs.solve(planted, "exact", starts=3)
    with pytest.raises(InputError, match="time_limit"):
        bs.solve(planted, time_limit=-1)
    with pytest.raises(InputError, match="at least 1"):
        bs.solve(planted, "coordinate-ascent", starts=0)


def test_a_solver_from_outside_joins_the_registry(planted, monkeypatch):
    monkeypatch.setattr(SOLVERS, "_things", {**SOLVERS._things})
    SOLVERS.register("mine", lambda problem, run: Answer(samples=np.array([2, 1, 0]), features=np.array([0, 1, 2])))
    assert bs.solve(planted, "mine").samples.tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="registered already"):
        SOLVERS.register("mine", lambda problem, run: None)


@pytest.mark.parametrize("name", ["annealing", "auto", "exact"])
def test_threads_do_not_change_the_answer(name):
    problem = SelectionProblem(coupling=np.random.default_rng(1).normal(size=(60, 30)), k=9, m=7)
    answers = [bs.solve(problem, name, seed=5, workers=workers, trajectory=True) for workers in (1, 3)]
    assert answers[0].to_dict() == answers[1].to_dict()
    assert answers[0].info == answers[1].info


def test_a_trajectory_counts_steps(planted):
    for name in ("annealing", "greedy", "coordinate-ascent"):
        answer = bs.solve(planted, name, trajectory=True)
        steps = [step for step, _ in answer.info["trajectory"]]
        assert steps == sorted(steps)
        assert answer.info["trajectory"][-1][1] == pytest.approx(answer.energy)
    assert "trajectory" not in bs.solve(planted, "greedy").info


def test_heuristics_meet_the_optimum_of_pure_noise():
    problem = SelectionProblem(coupling=np.abs(np.random.default_rng(7).normal(size=(80, 20))), k=8, m=4)
    optimum = bs.solve(problem, "exact").energy
    assert bs.solve(problem, "annealing").energy == pytest.approx(optimum)


def test_greedy_by_hand():
    W = np.array([[5.0, 0, 4], [5, 0, 0], [0, 6, 4]])
    problem = SelectionProblem(coupling=W, k=1, m=1)  # columns sum to 10, 6, 8: greedy takes column 0, then row 0
    plain = bs.solve(problem, "greedy", local_search=False)
    assert (plain.samples.tolist(), plain.features.tolist(), plain.score) == ([0], [0], 5.0)
    assert bs.solve(problem, "greedy").score == 5.0  # no single swap helps: (2, 1) is two swaps away


def test_greedy_ends_where_no_single_swap_helps():
    problem = SelectionProblem(coupling=np.random.default_rng(4).normal(size=(30, 20)), k=5, m=4)
    why = bs.solve(problem, "greedy").explain(nearest=100)
    assert min(swap.cost for swap in why.sample_swaps + why.feature_swaps) >= -1e-9


def test_useless_options_are_refused(planted):
    with pytest.raises(InputError, match="at least 1"):
        bs.solve(planted, "annealing", restarts=0)


def test_limits_per_group_are_refused_by_name_where_they_cannot_be_kept(planted):
    limited = replace(planted, sample_rules=Rules(groups=groups_by([0, 0, *range(1, 59)], at_most=1)))
    with pytest.raises(InputError, match="'greedy' cannot keep limits per group; use one of: auto, exact, milp"):
        bs.solve(limited, "greedy")


@given(ruled_problems())
@settings(max_examples=150)
def test_heuristics_obey_every_rule(problem):
    for name in ("annealing", "coordinate-ascent"):
        answer = bs.solve(problem, name, **({"restarts": 1, "steps": 30} if name == "annealing" else {"starts": 3}))
        assert problem.obeys(answer.samples, answer.features)
        assert answer.energy >= brute_force(problem) - 1e-9 * (1 + abs(answer.energy))
