"""Rows that stand for all others: bounds hold for the whole table, and an answer without them is its optimum."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.core import SelectionProblem
from biselect.solvers import representatives
from biselect.solvers.representatives import NAME, is_open, of_kept_rows, solve_for_whole, with_stand_ins


@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(6, 40),
    columns=st.integers(2, 6),
    kept=st.integers(4, 30),
    whole_numbers=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_the_bound_holds_for_the_whole_table(seed, rows, columns, kept, whole_numbers):
    rng = np.random.default_rng(seed)
    W = rng.exponential(size=(rows, columns))
    W = np.round(2 * W) if whole_numbers else W
    m, k = int(rng.integers(1, columns + 1)), int(rng.integers(1, 5))
    weight = float(rng.choice([0.5, 1.0, 3.0]))
    tops = np.sort(W, axis=1)[:, columns - m :].sum(axis=1)
    order = np.argsort(-tops, kind="stable")
    inside, outside = np.sort(order[:kept]), order[kept:]
    if inside.size < k:
        return
    most = weight * float(tops[outside].max()) * (1 + 1e-12) if outside.size else None
    problem = SelectionProblem(coupling=W[inside], k=k, m=m, coupling_weight=weight)
    best = bs.solve(SelectionProblem(coupling=W, k=k, m=m, coupling_weight=weight), "exact")
    found = solve_for_whole(problem, most, "exact")
    assert found.score <= best.score + 1e-9 and -found.bound >= best.score - 1e-9
    assert not any(name.startswith(NAME) for name in found.sample_names)
    if found.proven_optimal:
        assert found.score == pytest.approx(best.score, rel=1e-12)
    else:
        assert is_open(found) and found.proof is None


def test_a_solver_that_proves_nothing_claims_nothing():
    problem = SelectionProblem(coupling=[[3.0, 1.0], [0.0, 2.0]], k=1, m=1)
    found = solve_for_whole(problem, 1.5, "annealing")
    assert found.score == 3.0 and not found.proven_optimal and found.bound == -np.inf


def test_the_choice_is_the_same_without_the_stand_ins():
    problem = SelectionProblem(coupling=[[3.0, 1.0], [0.0, 2.0]], k=1, m=1, sample_names=["a", "b"])
    found = solve_for_whole(problem, 1.5, "exact")
    assert found.problem.n_samples == 3 and found.proven_optimal
    shown = of_kept_rows(found, problem)
    assert shown.sample_names == ["a"] and shown.score == found.score and shown.problem is problem
    assert with_stand_ins(problem, 1.5).sample_name(2) == "any other row (1)"


@pytest.mark.parametrize(("taken", "second"), [(0.3, ("exact", 0.7)), (0.8, ("coordinate-ascent", None))])
def test_a_time_limit_counts_for_both_searches(monkeypatch, taken, second):
    clock, asked = iter([0.0, taken]), []
    monkeypatch.setattr(representatives, "time", SimpleNamespace(perf_counter=lambda: next(clock)))

    def solve(problem, solver, time_limit=None, **options):
        asked.append((solver, time_limit))
        return bs.solve(problem, solver, **options)

    monkeypatch.setattr(representatives, "solve", solve)
    problem = SelectionProblem(coupling=[[3.0, 1.0], [0.0, 2.0]], k=1, m=1)
    found = solve_for_whole(problem, 9.0, "exact", time_limit=1.0)
    assert asked == [("exact", 1.0), second] and found.score == 3.0 and found.bound == -9.0
