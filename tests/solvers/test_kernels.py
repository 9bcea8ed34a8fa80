"""Every compiled kernel against a slow, obvious twin."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import Group, Rules, SelectionProblem, groups_by
from biselect.errors import InfeasibleError
from biselect.solvers import _lagrangian, _row_response, annealing, local_search
from biselect.solvers.annealing import anneal
from biselect.solvers.kernels import limited_top_sum, next_below, next_unit, top_sum
from biselect.solvers.registry import Run
from biselect.solvers.response import Limits, best_of_cases, best_response, by_features, limits_of
from biselect.testing.strategies import ruled_problems

NO_LIMITS = limits_of(Rules(), 1)


def some_problem(seed, **rules):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 12)), int(rng.integers(2, 9))
    return SelectionProblem(
        coupling=rng.normal(size=(n, d)).astype(rng.choice([np.float32, np.float64])),
        sample_scores=rng.normal(size=n),
        feature_scores=rng.normal(size=d),
        coupling_weight=0.7,
        k=int(rng.integers(1, n + 1)),
        m=int(rng.integers(1, d + 1)),
        **rules,
    )


values_with_ties = st.lists(st.integers(-3, 3).map(float) | st.floats(-5, 5), min_size=1, max_size=60)


@given(values_with_ties, st.data())
@settings(max_examples=500)
def test_top_sum_is_a_sort(values, data):
    k = data.draw(st.integers(1, len(values)))
    largest = sorted(values)[-k:]
    total, smallest = top_sum(np.array(values), len(values), k)
    assert total == pytest.approx(sum(largest), abs=1e-9)
    assert smallest == largest[0]


@given(values_with_ties, st.data())
@settings(max_examples=300)
def test_limited_top_sum_is_the_best_response(values, data):
    n = len(values)
    limits = Limits(
        of=np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))[:, None],
        room=np.array(data.draw(st.lists(st.integers(0, 4), min_size=3, max_size=3))),
    )
    k = data.draw(st.integers(1, n))
    chosen = best_response(np.array(values), k, limits)
    total, smallest, taken = limited_top_sum(np.array(values), n, k, limits.of[:, 0], limits.room)
    assert taken == chosen.size
    assert total == pytest.approx(np.array(values)[chosen].sum(), abs=1e-9)
    assert taken == 0 or smallest == np.array(values)[chosen].min()


@given(ruled_problems(max_features=7), st.randoms())
@settings(max_examples=300)
def test_the_best_of_all_cases_is_the_best_choice_that_obeys(problem, random):
    limits = limits_of(problem.feature_rules, problem.n_features)
    values = [random.randint(-5, 9) for _ in range(problem.n_features)]
    obeying = [c for c in combinations(range(problem.n_features), problem.m) if limits.allow(np.array(c))]
    most = max(sum(values[j] for j in choice) for choice in obeying)
    quick = best_response(np.array(values, dtype=float), problem.m, limits)
    assert tuple(quick) in obeying
    if limits.overlap:
        best = best_of_cases(values, problem.m, limits)
        assert tuple(best) in obeying and sum(values[j] for j in best) == most
    else:
        assert sum(values[j] for j in quick) == most


def test_no_choice_at_all_is_said():
    pairs = limits_of(Rules(overlapping=[Group(members=(0, 1)), Group(members=(1, 2)), Group(members=(0, 2))]), 3)
    with pytest.raises(InfeasibleError, match="no choice of 2"):
        best_response(np.zeros(3), 2, pairs)


@given(st.integers(0, 10**6))
@settings(max_examples=60)
def test_annealing_is_its_slow_twin(seed):
    labels = np.random.default_rng(seed).integers(0, 6, size=12).tolist()
    problem = some_problem(seed)
    groups = groups_by(labels[: problem.n_samples], at_most=max(1, problem.k // 2))
    try:
        problem = some_problem(seed, sample_rules=Rules(groups=groups))
    except Exception:  # the groups leave no room: go without
        pass
    task = by_features(problem)
    temperatures = np.full(200, 0.5)
    order = np.random.default_rng(seed).permutation(problem.n_features)
    limits = limits_of(problem.sample_rules, problem.n_samples)

    slow, slow_best, state = order.copy(), -np.inf, np.array([seed], dtype=np.uint64)

    def score(lines):
        values = task.values(np.sort(lines))
        return values[best_response(values, problem.k, limits)].sum() + task.line_scores[lines].sum()

    m, d = problem.m, problem.n_features
    current = score(slow[:m])
    for temperature in temperatures:
        slow_best = max(slow_best, current)
        if m == d:
            break
        leaving, entering = next_below(state, m), m + next_below(state, d - m)
        needed = current + temperature * np.log(next_unit(state))
        trial = slow.copy()
        trial[[leaving, entering]] = trial[[entering, leaving]]
        if score(trial[:m]) > needed:
            slow, current = trial, score(trial[:m])

    fast, best_lines, noted = order.copy(), np.zeros(m, dtype=np.int64), np.empty((500, 2))
    best, _ = anneal(
        task.lines, task.scale, task.line_scores, task.base, task.keep, task.choose,
        NO_LIMITS.of, NO_LIMITS.room, limits.of[:, 0], limits.room,
        fast, temperatures, np.array([seed], dtype=np.uint64), -np.inf, best_lines, noted,
    )  # fmt: skip
    assert set(fast[:m]) == set(slow[:m])
    assert best == pytest.approx(slow_best, abs=1e-9)
    assert best == pytest.approx(score(best_lines), abs=1e-9)


@given(st.integers(0, 10**6), st.sampled_from([np.float32, np.float64]), st.sampled_from([1.0, 1e-6, 0.0]))
@settings(max_examples=300)
def test_the_row_pass_is_exact_however_close_the_rows_are(seed, dtype, spread):
    """Rows that differ by less than float32 can tell apart when summed, around large common values."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 300)), int(rng.integers(1, 12))
    common = rng.choice([1.0, -1.0], size=d) * rng.choice([1e4, 1.0, 1e-3], size=d)
    problem = SelectionProblem(
        coupling=(common + spread * rng.normal(size=(n, d))).astype(dtype),
        sample_scores=rng.choice([0.0, 1.0, 1e5]) * rng.normal(size=n),
        coupling_weight=float(rng.choice([1.0, 0.3])),
        k=int(rng.integers(1, n + 1)),
        m=int(rng.integers(1, d + 1)),
    )
    task = by_features(problem)
    subset = np.sort(rng.permutation(d)[: problem.m])
    values = task.values(subset)
    chosen = _row_response.best_rows(task, subset)
    assert np.unique(chosen).size == problem.k
    slack = 1e-14 * problem.m * np.abs(values).max()
    assert values[chosen].min() >= np.sort(values)[-problem.k] - slack


def test_the_row_pass_spans_many_tiles_and_falls_back_on_ties():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(50_000, 6)).astype(np.float32)
    task = by_features(SelectionProblem(coupling=W, k=40, m=5))
    subset = np.arange(5)
    assert _row_response.best_rows(task, subset).tolist() == task.respond(subset).tolist()
    tied = by_features(SelectionProblem(coupling=np.ones((50_000, 6), dtype=np.float32), k=40, m=5))
    assert _row_response.best_rows(tied, subset).tolist() == list(range(40))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_climbing_one_after_the_other_equals_climbing_side_by_side(dtype, monkeypatch):
    rng = np.random.default_rng(0)
    problem = SelectionProblem(
        coupling=rng.normal(size=(300, 20)).astype(dtype), sample_scores=rng.normal(size=300), k=9, m=5
    )
    plain = local_search.coordinate_ascent(problem, Run(seed=1))
    monkeypatch.setattr(local_search, "SIDE_BY_SIDE_CELLS", 0)
    monkeypatch.setattr(_lagrangian, "NUMPY_CELLS", 0)
    large = local_search.coordinate_ascent(problem, Run(seed=1))
    assert (plain.samples.tolist(), plain.features.tolist()) == (large.samples.tolist(), large.features.tolist())


def test_annealing_slices_do_not_change_the_walk(monkeypatch):
    problem = some_problem(5)
    whole = annealing.annealing(problem, Run(seed=3), steps=300)
    monkeypatch.setattr(annealing, "SLICE_CELLS", 50)
    cut = annealing.annealing(problem, Run(seed=3), steps=300)
    assert (whole.samples.tolist(), whole.features.tolist()) == (cut.samples.tolist(), cut.features.tolist())
