from dataclasses import replace
from itertools import combinations, pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect as bs
from biselect.core import SelectionProblem
from biselect.solvers import _enumeration
from biselect.solvers._branch_and_bound import eliminate
from biselect.solvers._enumeration import count_subsets, scan_subsets, subset_tree
from biselect.solvers._incumbent import Incumbent
from biselect.solvers._lagrangian import root_bound
from biselect.solvers._reduction import reduce_problem
from biselect.solvers.registry import Run
from biselect.solvers.response import by_features
from biselect.testing.strategies import problems, ruled_problems


def remaining(task, problem, start, units=None):
    """What is left beside a choice of lines, or beside a choice that scores `units`."""
    best = Incumbent(task, reduce_problem(problem), start, task.respond(start))
    if units is not None:
        best.units, best.floor = units, float(units)
    return eliminate(task, root_bound(task, best.units), best)


def every_subset(task):
    """The slow twin: all subsets in order, each with its best response."""
    best, winner = -np.inf, None
    for subset in combinations(range(task.lines.shape[0]), task.choose):
        lines = np.array(subset)
        score = task.score(lines, task.respond(lines))
        if score > best + 1e-12:
            best, winner = score, subset
    return best, winner


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("whole_numbers", [False, True])
def test_screened_enumeration_finds_what_a_plain_loop_finds(seed, whole_numbers):
    rng = np.random.default_rng(seed)

    def draw(*size):
        return rng.integers(-1, 3, size).astype(float) if whole_numbers else rng.normal(size=size)

    n, d = int(rng.integers(2, 40)), int(rng.integers(2, 8))
    problem = SelectionProblem(
        coupling=draw(n, d),
        sample_scores=draw(n),
        feature_scores=draw(d),
        coupling_weight=0.5,
        k=int(rng.integers(1, n + 1)),
        m=int(rng.integers(1, d + 1)),
    )
    task = by_features(problem)
    start = np.sort(rng.permutation(d)[: task.choose])  # any start gives a valid screen, a poor one a wide one
    units = problem.score_units(task.respond(start), start)
    rest = remaining(task, problem, start)
    seen = scan_subsets(task, Run(), rest, floor=rest.grid.floor(units), most=np.inf)
    score, subset = every_subset(task)
    assert seen.complete and seen.certain
    assert np.ldexp(seen.highest, rest.grid.exponent) == pytest.approx(score, abs=1e-7)
    assert subset in [tuple(candidate.tolist()) for candidate in seen.candidates]
    best = bs.solve(problem, "exact")
    assert problem.score_units(best.samples, best.features) == max(
        problem.score_units(task.respond(candidate), candidate) for candidate in seen.candidates
    )


def test_a_good_start_needs_few_rows():
    W = np.random.default_rng(0).random((500, 12))
    W[:6, :3] += 4
    problem = SelectionProblem(coupling=W, k=6, m=3)
    task = by_features(problem)
    assert remaining(task, problem, np.arange(3)).rows.size <= 6  # nothing but the block can rise above τ
    assert remaining(task, problem, np.arange(9, 12)).rows.size > 6


def test_subsets_hold_one_item_of_each_group_at_most():
    groups = np.array([0, 0, 0, 1, 2, 2, 3])
    rest = SimpleNamespace(ends=np.searchsorted(groups, groups, side="right"))
    for choose in range(5):
        apart = [one for one in combinations(groups, choose) if len(set(one)) == choose]
        assert count_subsets(rest, choose) == len(apart)


def test_enumeration_stops_at_the_deadline_between_blocks():
    problem = SelectionProblem(coupling=np.ones((400, 20)), k=3, m=5)
    task = by_features(problem)
    rest = remaining(task, problem, np.arange(5), units=0)
    seen = scan_subsets(task, Run(deadline=0.0), rest, floor=0.0, most=np.inf)
    assert not seen.complete and 0 <= seen.visited < task.subsets


def test_ties_that_pass_the_screen_are_left_to_the_search(monkeypatch):
    W = np.random.default_rng(0).integers(0, 2, size=(40, 10)).astype(float)
    problem = SelectionProblem(coupling=W, k=12, m=4)
    whole = bs.solve(problem, "exact")
    assert whole.info["steps"][-1] == "enumeration"
    monkeypatch.setattr("biselect.solvers._enumeration.MOST_CELLS", -1)
    searched = bs.solve(problem, "exact")
    assert "enumeration" not in searched.info["steps"]
    assert searched.proven_optimal and searched.score == whole.score
    bounded = bs.solve(problem, "exact", search=False)
    assert bounded.bound <= whole.energy and not bounded.proven_optimal


@settings(max_examples=60)
@given(ruled_problems(max_samples=8, max_features=7) | problems(max_samples=8, max_features=7), st.integers(0, 99))
def test_the_compiled_loop_lets_the_same_subsets_through_as_numpy(problem, seed):
    """Also with numbers of very different sizes, and from a start that is no good."""
    reduced = reduce_problem(problem)
    if reduced.rest is None:
        return
    rng = np.random.default_rng(seed)
    grown = replace(reduced.rest, coupling=reduced.rest.coupling * np.ldexp(1.0, rng.integers(-60, 60)))
    task = by_features(grown)
    start = task.best_lines(rng.permutation(task.base.size)[: task.keep])
    units = reduce_problem(grown).exact_score(task.respond(start), start)
    rest = remaining(task, grown, start)
    level = np.array([rest.grid.floor(units)])
    tree = subset_tree(task, rest)
    ways = [
        [tuple(subset) for passed, _, _ in way(tree, level) for subset in passed.tolist()]
        for way in (_enumeration._screen_in_blocks, _enumeration._screen_in_loop)
    ]
    assert ways[1] == sorted(ways[0])
    assert set(ways[0]) == {subset for subset in every_line_set(tree) if reaches(tree, subset, level[0])}


def every_line_set(tree):
    """The slow twin: all subsets inside the limits, at most one of each exclusive group."""
    for subset in combinations(range(tree.rest.columns.size), tree.choose):
        apart = all(tree.rest.ends[a] <= b for a, b in pairwise(subset))
        if apart and tree.rest.limits.allow(np.array(subset)):
            yield subset


def reaches(tree, subset, level):
    """Whether rows above τ and prices add up to so much."""
    lines = list(subset)
    above = np.maximum(tree.base + tree.rest.weights[lines].sum(axis=0), 0).sum()
    return above + tree.rest.prices[lines].sum() + tree.paid >= level


def test_what_the_loop_rounds_never_hides_a_subset(monkeypatch):
    """Many rows, each just above τ by less than single precision can hold."""
    rng = np.random.default_rng(1)
    W = 1.0 + rng.integers(0, 3, size=(3000, 9)) * 2.0**-30
    problem = SelectionProblem(coupling=W, feature_scores=1e9 * rng.random(9), k=1500, m=4)
    answers = []
    for loop in (False, True):
        monkeypatch.setattr(_enumeration, "loop_is_ready", lambda loop=loop: loop)
        answers.append(bs.solve(problem, "exact", check_work=0))
    assert answers[0].info["steps"][-1] == answers[1].info["steps"][-1] == "enumeration"
    assert answers[0].proven_optimal and answers[1].proven_optimal
    assert answers[0].features.tolist() == answers[1].features.tolist()
    assert answers[0].energy == answers[1].energy


def test_the_loop_stops_at_the_deadline_and_goes_on_where_it_stopped(monkeypatch):
    monkeypatch.setattr(_enumeration, "CELLS_PER_CALL", 1)
    monkeypatch.setattr(_enumeration, "FEW_PASSED", 1)
    W = np.random.default_rng(3).random((30, 9))
    problem = SelectionProblem(coupling=W, k=4, m=3)
    task = by_features(problem)
    rest = remaining(task, problem, np.arange(3), units=0)
    level, tree = np.array([0.0]), subset_tree(task, rest)
    seen = [
        tuple(sorted(rest.columns[list(subset)].tolist()))
        for passed, _, _ in _enumeration._screen_in_loop(tree, level)
        for subset in passed.tolist()
    ]
    assert sorted(seen) == list(combinations(range(9), 3))
    monkeypatch.setattr(_enumeration, "loop_is_ready", lambda: True)
    late = scan_subsets(task, Run(deadline=0.0), rest, floor=0.0, most=np.inf)
    assert not late.complete and late.visited < task.subsets


@pytest.mark.parametrize("seed", range(3))
def test_a_block_wider_than_it_may_be_is_settled_from_its_rows(seed):
    rng = np.random.default_rng(seed)
    W = np.abs(0.5 * rng.normal(size=(150, 80)))
    rows, columns = rng.choice(150, 12, replace=False), rng.choice(80, 30, replace=False)
    W[np.ix_(rows, columns)] = 3 + 0.3 * rng.normal(size=(12, 30))
    best = bs.solve(SelectionProblem(coupling=W, k=12, m=15), "exact", time_limit=20)
    assert best.proven_optimal and best.info["searched"] == "samples" and best.info["visited"] == 1
    assert set(best.samples) == set(rows)
