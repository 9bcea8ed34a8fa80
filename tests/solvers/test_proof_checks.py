"""No answer is called proven that the independent checker refuses, whatever is wrong with the solver."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import biselect as bs
from biselect.core import Rules, SelectionProblem
from biselect.errors import InputError
from biselect.solvers import Answer, _enumeration, _exact, _incumbent, certified
from biselect.solvers import registry as registered
from biselect.solvers._incumbent import Grid
from biselect.testing.oracles import all_selections


def drawn(seed, decimals=1):
    rng = np.random.default_rng(seed)
    n, d = (int(size) for size in rng.integers(3, 7, size=2))
    k, m = int(rng.integers(1, n)), int(rng.integers(1, d))
    rules = {"feature_rules": Rules(forced_in=[0])} if m > 1 and seed % 2 else {}
    return SelectionProblem(
        coupling=np.round(rng.normal(size=(n, d)), decimals),
        sample_scores=np.round(rng.normal(size=n), decimals),
        k=k,
        m=m,
        **rules,
    )


def exact_score(problem, samples, features):
    cells = sum(Fraction(float(problem.coupling[i, j])) for i in samples for j in features)
    own = sum(Fraction(float(problem.sample_scores[i])) for i in samples)
    return Fraction(problem.coupling_weight) * cells + own


def optimum(problem):
    return max(exact_score(problem, *choice) for choice in all_selections(problem) if problem.obeys(*choice))


def test_equal_rows_are_told_by_the_numbers_as_given():
    rules = Rules(forced_in=[0])
    problem = SelectionProblem(
        coupling=[[1e16, -1e16, -3e16]] * 2, sample_scores=[0.5, 1.0], k=1, m=2, feature_rules=rules
    )
    best = bs.solve(problem)
    assert best.score == 1.0 and best.proven_optimal and best.proof_checked


@pytest.mark.parametrize("seed", range(80))
def test_no_bound_is_above_the_exact_optimum(seed):
    problem = drawn(seed)
    quick = bs.solve(problem, "coordinate-ascent", starts=1)
    answers = [bs.solve(problem), bs.solve(problem, "milp"), quick, certified(quick)]
    for answer in answers:
        assert not np.isfinite(answer.bound) or Fraction(-answer.bound) >= optimum(problem)
        assert not answer.proven_optimal or answer.gap == 0
    assert answers[0].proven_optimal


def wrong_answer(monkeypatch):
    """A solver that takes another choice for the best, with the proof of the best."""
    right = registered.SOLVERS.load("exact")

    def wrong(problem, run, **options):
        answer = right(problem, run, **options)
        return replace(answer, samples=np.arange(problem.n_samples - problem.k, problem.n_samples))

    monkeypatch.setitem(registered.SOLVERS._things, "exact", wrong)


def wrong_proof(monkeypatch):
    """A solver whose first choice is its answer, with a proof that closes everything at once."""
    right = registered.SOLVERS.load("exact")

    def wrong(problem, run, **options):
        proof = right(problem, run, **options).proof
        first = np.arange(problem.k), np.arange(problem.m)
        return Answer(samples=first[0], features=first[1], proven=True, proof=replace(proof, dives=[], closed=np.inf))

    monkeypatch.setitem(registered.SOLVERS._things, "exact", wrong)


FAULTS = {
    "another choice": wrong_answer,
    "a proof of nothing": wrong_proof,
    "a response to the wrong lines": lambda patch: patch.setattr(
        _incumbent, "exact_response", lambda task, reduced, subset: np.arange(task.keep)
    ),
    "a floor that is too high": lambda patch: patch.setattr(Grid, "floor", lambda self, units: 1e15),
    "subsets that are not seen": lambda patch: [
        patch.setattr(_enumeration, way, lambda tree, level: iter(()))
        for way in ("_screen_in_blocks", "_screen_in_loop")
    ],
    "an incumbent that never improves": lambda patch: patch.setattr(
        _incumbent.Incumbent, "offer", lambda self, subset, or_equal=False: False
    ),
}


@pytest.mark.parametrize("way", ["enumeration", "branch and bound"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_solver_gives_no_false_proof_and_no_false_bound(monkeypatch, fault, way):
    climb = "coordinate_ascent"  # would hide what is wrong
    monkeypatch.setattr(_exact, climb, lambda problem, run, starts: first_choice(problem))
    if way != "enumeration":
        monkeypatch.setattr(_exact, "INSTANT_CELLS", -1)
        monkeypatch.setattr(_exact, "LOOP_CELLS", -1)
        monkeypatch.setattr(_exact, "_walk", lambda *given: None)
    FAULTS[fault](monkeypatch)
    refused = 0
    for seed in range(40):
        problem = drawn(seed)
        answer, best = bs.solve(problem, "exact"), optimum(problem)
        if answer.proven_optimal:
            assert answer.proof_checked and exact_score(problem, answer.samples, answer.features) == best
            continue
        assert not answer.proof_checked and answer.proof is None
        assert Fraction(-answer.bound) >= best
        if "refused_proof" in answer.info:
            refused += 1
            with pytest.raises(InputError, match="only a proven answer"):
                answer.proof_json()
    assert refused or (fault, way) == ("subsets that are not seen", "branch and bound")


def first_choice(problem):
    """Some choice that obeys, as a climb would return it."""
    samples, features = next(choice for choice in all_selections(problem) if problem.obeys(*choice))
    return Answer(samples=np.array(samples), features=np.array(features))


def test_a_damaged_proof_and_one_that_is_missing_leave_no_claim(monkeypatch):
    right = registered.SOLVERS.load("exact")
    for change in ({"prices": []}, {"exponent": 10**9}, {"tau": "1"}, {"order": [99]}, None):

        def wrong(problem, run, *, change=change, **options):
            answer = right(problem, run, **options)
            return replace(answer, proof=None if change is None else replace(answer.proof, **change))

        monkeypatch.setitem(registered.SOLVERS._things, "exact", wrong)
        answer = bs.solve(drawn(0), "exact")
        assert not answer.proven_optimal and not answer.proof_checked and answer.bound == -np.inf
        assert ("refused_proof" in answer.info) == (change is not None)


def test_what_is_checked_is_counted_and_said():
    problem = SelectionProblem(coupling=-np.log10(np.random.default_rng(0).random((1000, 20))), k=20, m=4)
    assert not bs.solve(problem).proof_checked, "a check that takes longer than the search is left to who asks for it"
    best = bs.solve(problem, check_work=5_000_000)
    assert best.proof_checked and best.to_dict()["proof_checked"] is True
    for work in (0, 199_999, 210_000):  # not begun, and ended on the way
        left = bs.solve(problem, check_work=work)
        assert left.proven_optimal and not left.proof_checked and "refused_proof" not in left.info
        assert left.to_dict() == {**best.to_dict(), "proof_checked": False}
