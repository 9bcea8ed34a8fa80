from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.core import Group, Rules, SelectionProblem, groups_by
from biselect.solvers import _branch_and_bound, _exact, _lagrangian, certified
from biselect.solvers._lagrangian import score_bound
from biselect.solvers._spectral import spectral_bound
from biselect.solvers.registry import Run
from biselect.solvers.representatives import memory_in_words, most_memory
from biselect.solvers.response import by_features, largest, top
from biselect.testing import all_selections, brute_force
from biselect.testing.strategies import problems, ruled_problems


@contextmanager
def only_branching():
    """Small problems go the way of large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_exact, "INSTANT_CELLS", -1)
        patch.setattr(_exact, "LOOP_CELLS", -1)
        patch.setattr(_exact, "WALK_CELLS", 100)  # a poor start leaves more to the search
        patch.setattr(_exact, "WALK_PART", 1)
        yield patch


def is_optimal(problem, answer):
    """Whether no choice scores higher, with no sum rounded."""
    best = max(problem.score_units(*choice) for choice in all_selections(problem) if problem.obeys(*choice))
    return problem.score_units(answer.samples, answer.features) == best


@settings(max_examples=400)
@given(problems(max_samples=5, max_features=5) | ruled_problems(max_samples=6, max_features=5))
def test_exact_finds_what_brute_force_finds(problem):
    best = bs.solve(problem, "exact")
    assert best.proven_optimal
    assert problem.obeys(best.samples, best.features)
    assert is_optimal(problem, best)
    assert best.bound <= best.energy


@settings(max_examples=400)
@given(
    problems(max_samples=7, max_features=6) | ruled_problems(max_samples=7, max_features=6),
    st.integers(1, 200),
    st.sampled_from([1, 1000]),
)
def test_branch_and_bound_finds_what_brute_force_finds(problem, dive_cells, most_families):
    with only_branching() as patch:
        patch.setattr(_branch_and_bound, "DIVE_CELLS", dive_cells)  # single nodes and dives alike
        patch.setattr(_branch_and_bound, "MOST_FAMILIES", most_families)  # best bound first, and deepest first
        best = bs.solve(problem, "exact", workers=1)
    assert best.proven_optimal
    assert problem.obeys(best.samples, best.features)
    assert is_optimal(problem, best)


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.booleans())
def test_branch_and_bound_finds_what_enumeration_finds(seed, planted):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(20, 80), rng.integers(6, 16)
    k, m = int(rng.integers(1, n // 2)), int(rng.integers(1, d))
    W = rng.normal(size=(n, d))
    if planted:
        W[:k, : min(d, 2 * m)] += 2
    groups = groups_by(rng.integers(0, n // 2, size=n).tolist(), at_most=2) if n // 2 > k else ()
    problem = SelectionProblem(
        coupling=W, sample_scores=rng.normal(size=n), k=k, m=m, sample_rules=Rules(groups=groups)
    )
    plain = bs.solve(problem, "exact")
    with only_branching():
        searched = bs.solve(problem, "exact")
    assert plain.info["steps"][-1] == "enumeration"
    assert plain.proven_optimal and searched.proven_optimal
    assert searched.energy == plain.energy


@settings(max_examples=200)
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
def test_the_search_does_not_depend_on_the_number_of_workers(shape):
    n, d, k, m = shape
    problem = SelectionProblem(coupling=np.random.default_rng(0).integers(0, 9, size=(n, d)), k=k, m=m)
    with only_branching() as patch:
        patch.setattr(_branch_and_bound, "DIVE_CELLS", 1000)
        answers = [bs.solve(problem, "exact", workers=workers) for workers in (1, 2, 5)]
    assert answers[0].to_dict() == answers[1].to_dict() == answers[2].to_dict()
    assert answers[0].info == answers[1].info == answers[2].info
    assert answers[0].info["nodes"] > 10


@pytest.mark.parametrize("branching", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_directions_of_a_column_exclude_each_other_on_every_path(seed, branching):
    """Groups whose members stand apart, with a limit of an earlier kind across them in every second case."""
    rng = np.random.default_rng(seed)
    columns = rng.permutation(np.repeat(np.arange(5), 2))
    groups = [Group(members=np.flatnonzero(columns == column).tolist()) for column in range(5)]
    kinds = [Group(members=rng.choice(10, 4, replace=False).tolist(), at_most=1)] * (seed % 2)
    problem = SelectionProblem(
        coupling=rng.integers(-2, 9, size=(6, 10)) / 3,
        feature_scores=rng.normal(size=10) * (seed % 3),
        k=2,
        m=3,
        feature_rules=Rules(groups=groups, overlapping=kinds),
    )
    with only_branching() if branching else nullcontext():
        best = bs.solve(problem, "exact", check_work=10**9)
    assert best.proven_optimal and best.proof_checked and is_optimal(problem, best)


def test_it_enumerates_the_cheaper_side():
    rng = np.random.default_rng(0)
    wide = bs.solve(SelectionProblem(coupling=rng.normal(size=(5, 30)), k=2, m=10), "exact")
    tall = bs.solve(SelectionProblem(coupling=rng.normal(size=(30, 5)), k=10, m=2), "exact")
    assert (wide.info["searched"], tall.info["searched"]) == ("samples", "features")


def test_a_struck_deadline_gives_an_answer_and_a_valid_bound():
    problem = SelectionProblem(coupling=np.random.default_rng(0).normal(size=(30, 16)), k=5, m=6)
    optimum = bs.solve(problem, "exact").energy
    stopped = bs.solve(problem, "exact", time_limit=1e-9)
    assert not stopped.proven_optimal
    assert stopped.bound <= optimum <= stopped.energy
    assert 0 < stopped.gap < np.inf


@pytest.mark.parametrize("time_limit", [1e-6, 0.003, 0.01, 0.03, 0.1, 0.3])
def test_a_search_killed_at_any_time_gives_an_answer_and_a_valid_bound(time_limit):
    problem = SelectionProblem(coupling=np.abs(np.random.default_rng(0).normal(size=(500, 38))), k=50, m=4)
    optimum = bs.solve(problem, "exact").energy
    stopped = bs.solve(problem, "exact", time_limit=time_limit)
    assert stopped.bound <= optimum + 1e-9
    assert optimum <= stopped.energy + 1e-9
    assert stopped.gap < 2


def test_more_time_never_loosens_the_bound_of_an_open_search():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((300, 60)), k=40, m=12)
    spectral_bound(by_features(problem), Run())
    answers = [bs.solve(problem, "exact", time_limit=limit) for limit in (1, 3)]
    units = problem.score_units(answers[0].samples, answers[0].features)
    root = _lagrangian.root_bound(by_features(problem), units)
    assert -root.score <= answers[0].bound <= answers[1].bound


def test_a_problem_beyond_the_tables_still_gets_the_root_bound(monkeypatch):
    monkeypatch.setattr(_branch_and_bound, "TABLE_BYTES", 1000)
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((500, 40)), k=30, m=6)
    answer = bs.solve(problem, "exact")
    assert not answer.proven_optimal and 0 < answer.gap < 1


@settings(max_examples=250)
@given(problems() | ruled_problems())
def test_a_certified_bound_is_never_above_the_optimum(problem):
    answer = certified(bs.solve(problem, "coordinate-ascent", starts=1))
    optimum = brute_force(problem)
    assert np.isfinite(answer.bound)
    assert answer.bound <= optimum


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_the_bound_is_the_same_compiled_and_over_a_working_set(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(5, 60), rng.integers(2, 12)
    k, m = int(rng.integers(1, n + 1)), int(rng.integers(1, d + 1))
    dtype = rng.choice([np.float32, np.float64])
    problem = SelectionProblem(
        coupling=rng.normal(size=(n, d)).astype(dtype), sample_scores=rng.normal(size=n), k=k, m=m, coupling_weight=0.7
    )
    found = bs.solve(problem, "exact")
    plain = score_bound(problem, Run(), floor=found.score)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_lagrangian, "NUMPY_CELLS", -1)
        patch.setattr(_lagrangian, "BLOCK", 7)
        compiled = score_bound(problem, Run(), floor=found.score)
        patch.setattr(_lagrangian, "WORKING_ROWS", 3)
        partial = score_bound(problem, Run(), floor=found.score)
    assert compiled == pytest.approx(plain, rel=1e-3)
    assert min(plain, compiled, partial) >= found.score


@pytest.mark.parametrize("forbidden", [-1e9, -1e14, -1e200])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_forbidden_cell_does_not_drown_the_proof(forbidden, dtype):
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(300, 20)).astype(dtype)
    plain = bs.solve(SelectionProblem(coupling=weights, k=20, m=4), "exact")
    weights[0, 0] = max(forbidden, -1e30)
    scores = np.zeros(20)
    scores[7] = forbidden
    with_walls = SelectionProblem(coupling=weights, feature_scores=scores, k=20, m=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_exact, "INSTANT_CELLS", -1)
        found = bs.solve(with_walls, "exact")
    slow = bs.solve(with_walls, "exact")
    assert found.proven_optimal and 7 not in found.features
    assert found.energy == pytest.approx(slow.energy, rel=1e-9)
    assert found.score <= plain.score + 1e-9


def test_budgets_beyond_any_float_still_get_an_answer_and_a_bound():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((1200, 1200)), k=600, m=600)
    for name in ("auto", "exact"):
        found = bs.solve(problem, name, time_limit=0.5)
        assert np.isfinite(found.bound) and found.bound <= found.energy


@pytest.mark.parametrize("size", [1e13, 1e15])
def test_numbers_that_cancel_give_a_bound_but_no_false_proof(size):
    rng = np.random.default_rng(0)
    weights, scores = rng.normal(size=(400, 40)), np.zeros(400)
    weights[0] = size
    scores[0] = -6 * size - 1e6  # row 0 is never worth it, but only just in float64
    found = bs.solve(SelectionProblem(coupling=weights, sample_scores=scores, k=10, m=6), "exact")
    without = SelectionProblem(coupling=weights[1:], k=10, m=6)
    optimum = bs.solve(without, "exact")
    assert optimum.proven_optimal
    assert found.bound <= optimum.energy
    assert not found.proven_optimal or found.energy == pytest.approx(optimum.energy, rel=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_marginals_that_cancel_are_compared_exactly(seed):
    rng = np.random.default_rng(seed)
    problem = SelectionProblem(
        coupling=rng.normal(size=(4, 4)),
        sample_scores=1e16 * rng.choice([-1, 1], size=4),
        feature_scores=1e16 * rng.choice([-1, 1], size=4),
        k=2,
        m=2,
    )
    for solver in ("exact", "milp"):
        best = bs.solve(problem, solver)
        assert not best.proven_optimal or is_optimal(problem, best)
    with only_branching():
        best = bs.solve(problem, "exact")
        assert best.proven_optimal and is_optimal(problem, best)


def test_tiny_weights_beside_walls_are_as_optimal_as_the_same_table_in_large():
    rng = np.random.default_rng(0)
    weights = 1e-15 * rng.gamma(2, size=(300, 20))
    weights[rng.random(weights.shape) < 0.05] = -0.5
    small = bs.solve(SelectionProblem(coupling=weights, k=20, m=4), "exact")
    large = bs.solve(SelectionProblem(coupling=weights * 2.0**60, k=20, m=4), "exact")
    assert small.proven_optimal and large.proven_optimal
    assert small.score * 2.0**60 == large.score


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e290])
def test_scales_at_the_ends_of_float64_are_proven_too(scale):
    rng = np.random.default_rng(1)
    problem = SelectionProblem(coupling=scale * rng.normal(size=(6, 5)), sample_scores=[-0.0] * 6, k=2, m=2)
    with only_branching():
        searched = bs.solve(problem, "exact")
    for best in (bs.solve(problem, "exact"), searched):
        assert best.proven_optimal and is_optimal(problem, best)


def test_too_many_ties_for_exact_arithmetic_leave_a_bound_and_no_proof(monkeypatch):
    monkeypatch.setattr(_branch_and_bound, "MOST_LEAVES", 1)
    problem = SelectionProblem(coupling=np.full((30, 12), 0.1), k=7, m=5)
    with only_branching():
        best = bs.solve(problem, "exact")
    assert not best.proven_optimal and best.bound <= best.energy and best.gap < 1e-9


def test_much_memory_is_announced_before_it_is_taken():
    by_rows = SimpleNamespace(coupling=np.broadcast_to(np.float32(1), (10_000_000, 50)), k=100, m=8)  # holds one number
    assert 4e9 + 2.4e8 < most_memory(by_rows) < 6e9  # the columns are copied
    assert memory_in_words(by_rows, "exact") == f" in up to {most_memory(by_rows) / 2**30:.1f} GiB"
    small = SelectionProblem(coupling=np.ones((10, 5)), k=2, m=2)
    assert memory_in_words(small, "exact") == memory_in_words(by_rows, "greedy") == ""


def test_long_rows_are_answered_without_a_copy(monkeypatch):
    monkeypatch.setattr("biselect.solvers.response.AT_ONCE", 8)
    rng = np.random.default_rng(0)
    for count in (1, 5, 30):
        for values in (rng.normal(size=50), rng.integers(0, 4, 50) * 1.0, np.zeros(50)):
            assert np.sort(largest(values, count)).tolist() == np.sort(values)[50 - count :].tolist()
            assert top(values, count).tolist() == sorted(np.argsort(-values, kind="stable")[:count].tolist())
