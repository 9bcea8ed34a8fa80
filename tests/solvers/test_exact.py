import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers import Run, enumeration, score_bound
from biselect.testing import all_selections, brute_force
from biselect.testing.strategies import problems


@settings(max_examples=2000, deadline=None)
@given(problems(max_samples=5, max_features=5))
def test_exact_finds_what_brute_force_finds(problem):
    best = bs.solve(problem, "exact")
    optimum = brute_force(problem)
    assert best.proven_optimal
    assert best.energy == pytest.approx(optimum, rel=1e-12, abs=1e-12)
    assert best.bound <= best.energy


@settings(max_examples=300, deadline=None)
@given(problems(), st.integers(1, 7))
def test_the_compiled_kernel_is_its_slow_twin(problem, chunk):
    plain = bs.solve(problem, "exact")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(enumeration, "NUMPY_CELLS", -1)
        patch.setattr(enumeration, "CHUNK_CELLS", chunk)  # many chunks, many rounds
        compiled = bs.solve(problem, "exact", workers=2)
    assert compiled.proven_optimal
    assert compiled.energy == pytest.approx(plain.energy, rel=1e-12, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6))
def test_relabelling_relabels_the_answer(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 9, size=2)
    k, m = int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1))
    W, a, b = rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=d)
    rows, columns = rng.permutation(n), rng.permutation(d)
    first = bs.solve(SelectionProblem(coupling=W, sample_scores=a, feature_scores=b, k=k, m=m), "exact")
    second = bs.solve(
        SelectionProblem(coupling=W[np.ix_(rows, columns)], sample_scores=a[rows], feature_scores=b[columns], k=k, m=m),
        "exact",
    )
    assert sorted(rows[second.samples]) == first.samples.tolist()
    assert sorted(columns[second.features]) == first.features.tolist()


def test_ties_go_to_the_lowest_index():
    best = bs.solve(SelectionProblem(coupling=np.ones((6, 5)), k=2, m=3), "exact")
    assert (best.samples.tolist(), best.features.tolist()) == ([0, 1], [0, 1, 2])


def test_integer_ties_go_to_the_lexicographically_first_features():
    rng = np.random.default_rng(3)
    problem = SelectionProblem(
        coupling=rng.integers(0, 2, size=(7, 6)), sample_scores=rng.integers(0, 2, size=7), k=3, m=2
    )
    best = bs.solve(problem, "exact")
    winners = [
        (features, samples)
        for samples, features in all_selections(problem)
        if problem.energy(samples, features) == best.energy
    ]
    assert len(winners) > 1
    assert tuple(best.features) == min(winners)[0]


@pytest.mark.parametrize("shape", [(40, 12, 6, 4), (12, 40, 4, 6)])
@pytest.mark.parametrize("force_kernel", [False, True])
def test_the_answer_does_not_depend_on_the_number_of_workers(shape, force_kernel, monkeypatch):
    if force_kernel:
        monkeypatch.setattr(enumeration, "NUMPY_CELLS", -1)
        monkeypatch.setattr(enumeration, "CHUNK_CELLS", 500)
    n, d, k, m = shape
    problem = SelectionProblem(coupling=np.random.default_rng(0).integers(0, 9, size=(n, d)), k=k, m=m)
    answers = [bs.solve(problem, "exact", workers=workers).to_dict() for workers in (1, 2, 5)]
    assert answers[0] == answers[1] == answers[2]


def test_it_enumerates_the_cheaper_side():
    rng = np.random.default_rng(0)
    wide = bs.solve(SelectionProblem(coupling=rng.normal(size=(5, 30)), k=2, m=10), "exact")
    tall = bs.solve(SelectionProblem(coupling=rng.normal(size=(30, 5)), k=10, m=2), "exact")
    assert (wide.info["enumerated"], tall.info["enumerated"]) == ("samples", "features")


def test_a_struck_deadline_gives_an_answer_and_a_valid_bound(monkeypatch):
    monkeypatch.setattr(enumeration, "BLOCK_CELLS", 100)
    problem = SelectionProblem(coupling=np.random.default_rng(0).normal(size=(30, 16)), k=5, m=6)
    optimum = bs.solve(problem, "exact").energy
    stopped = bs.solve(problem, "exact", time_limit=1e-9)
    assert not stopped.proven_optimal
    assert stopped.info["visited"] < stopped.info["subsets"]
    assert stopped.bound <= optimum <= stopped.energy
    assert 0 < stopped.gap < np.inf


def test_a_hopeless_enumeration_wants_a_time_limit():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((300, 300)), k=40, m=40)
    with pytest.raises(InputError, match="time limit"):
        bs.solve(problem, "exact")
    assert bs.solve(problem, "exact", time_limit=0.2).gap < 1


@settings(max_examples=500, deadline=None)
@given(problems())
def test_the_bound_is_never_above_the_optimum(problem):
    optimum = brute_force(problem)
    bound = score_bound(problem, Run(), floor=-optimum)
    assert -bound.score <= optimum
    loose = score_bound(problem, Run(), floor=-optimum - 5, iterations=3)
    assert -loose.score <= optimum
