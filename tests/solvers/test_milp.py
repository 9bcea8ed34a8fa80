from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings

import biselect as bs
from biselect.core import Rules, SelectionProblem
from biselect.solvers import _exact as proving
from biselect.testing import brute_force
from biselect.testing.strategies import problems, ruled_problems


def largest(problem):
    return max(np.abs(part).max() for part in (problem.coupling, problem.sample_scores, problem.feature_scores))


@settings(max_examples=120)
@given(problems(max_samples=5, max_features=4) | ruled_problems(max_samples=5, max_features=4))
def test_milp_finds_what_brute_force_finds(problem):
    answer = bs.solve(problem, "milp")
    optimum = brute_force(problem)
    size = max(
        np.abs(problem.coupling).max(), np.abs(problem.sample_scores).max(), np.abs(problem.feature_scores).max()
    )
    assert answer.proven_optimal
    assert problem.obeys(answer.samples, answer.features)
    assert answer.energy == pytest.approx(optimum, abs=1e-5 * (1 + size) * problem.k * problem.m)


@pytest.mark.slow
@settings(max_examples=5000)
@given(ruled_problems(max_samples=6, max_features=5))
def test_exact_and_milp_agree_on_thousands_of_cases(problem):
    size = max(
        np.abs(problem.coupling).max(), np.abs(problem.sample_scores).max(), np.abs(problem.feature_scores).max()
    )
    exact, witness = bs.solve(problem, "exact"), bs.solve(problem, "milp")
    assert exact.energy <= witness.energy + 1e-9 * (1 + size) * problem.k * problem.m
    assert exact.energy == pytest.approx(witness.energy, abs=1e-5 * (1 + size) * problem.k * problem.m)


def test_a_struck_deadline_gives_the_heuristic_and_a_valid_bound():
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=np.abs(rng.normal(size=(50, 38))), k=5, m=4)
    stopped = bs.solve(problem, "milp", time_limit=0.5)
    optimum = bs.solve(problem, "exact").energy
    assert not stopped.proven_optimal
    assert stopped.bound <= optimum <= stopped.energy


def test_a_penalty_does_not_drown_the_witness():
    scores = np.zeros(60)
    scores[0] = -1e8
    problem = SelectionProblem(coupling=np.random.default_rng(0).normal(size=(60, 12)), sample_scores=scores, k=6, m=3)
    witness, exact = bs.solve(problem, "milp"), bs.solve(problem, "exact")
    assert witness.energy == pytest.approx(exact.energy, abs=1e-4)
    assert witness.proven_optimal


def test_where_there_is_no_time_to_state_the_problem_highs_is_not_asked(monkeypatch):
    problem = SelectionProblem(coupling=np.random.default_rng(0).normal(size=(60, 12)), k=6, m=3)
    monkeypatch.setattr("biselect.solvers._milp.CELLS_A_SECOND", 1e-9)
    found, best = bs.solve(problem, "milp", time_limit=60), bs.solve(problem, "exact")
    assert "not asked" in found.info["status"] and not found.proven_optimal and found.proof is None
    assert found.bound <= best.energy <= found.energy
    assert bs.solve(problem, "milp").proven_optimal  # without a limit there is always time


def forced():
    """A problem whose numbers are rounded once its forced columns are folded into scores."""
    weights = np.round(np.random.default_rng(7).normal(size=(9, 7)), 1)
    rules = {"feature_rules": Rules(forced_in=[1, 4, 6]), "sample_rules": Rules(forced_in=[2], forced_out=[0])}
    return SelectionProblem(coupling=weights, sample_scores=np.round(weights[:, 0], 1), k=4, m=5, **rules)


def test_highs_sees_the_problem_as_asked(monkeypatch):
    problem, given, right = forced(), [], scipy.optimize.milp
    monkeypatch.setattr(scipy.optimize, "milp", lambda c, **rest: given.append((c, rest)) or right(c, **rest))
    answer = bs.solve(problem, "milp")
    assert answer.proven_optimal and answer.info["witness"] is True
    numbers = np.concatenate([problem.sample_scores, problem.feature_scores, problem.coupling.ravel()])
    objective, rest = given[0]
    scale = 2.0 ** np.frexp(np.abs(numbers).max())[1]
    assert (-objective[:16] * scale == numbers[:16]).all()
    columns = -rest["constraints"][0].A.toarray()[2 + 7 : 2 + 14, :9]
    assert (columns.T * scale == problem.coupling).all()
    assert np.flatnonzero(rest["bounds"].lb[:16]).tolist() == [2, 9 + 1, 9 + 4, 9 + 6]
    assert np.flatnonzero(rest["bounds"].ub[:16] == 0).tolist() == [0]


def test_highs_is_no_witness_where_its_choice_scores_less(monkeypatch):
    problem, right = forced(), scipy.optimize.milp

    def worse(c, **rest):
        found = right(-c, **{**rest, "constraints": rest["constraints"][:1]})
        return scipy.optimize.OptimizeResult({**found, "status": 0})

    monkeypatch.setattr(scipy.optimize, "milp", worse)
    answer = bs.solve(problem, "milp")
    assert answer.proven_optimal and answer.proof_checked and answer.info["witness"] is False
    assert answer.energy == bs.solve(problem, "exact").energy


def test_a_choice_of_highs_that_scores_more_than_the_proof_says_ends_the_proof(monkeypatch):
    problem, right = forced(), proving.exact
    best = bs.solve(problem, "exact")

    def wrong(asked, run, **options):
        return replace(right(asked, run, **options), samples=np.arange(asked.k))

    monkeypatch.setattr("biselect.solvers._milp.exact", wrong)
    answer = bs.solve(problem, "milp")
    assert not answer.proven_optimal and answer.proof is None and answer.info["witness"] is False
    assert answer.energy == best.energy and answer.bound == -np.inf
