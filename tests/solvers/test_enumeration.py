from itertools import combinations

import numpy as np
import pytest

import biselect as bs
from biselect.core import SelectionProblem
from biselect.solvers._enumeration import scan_subsets, screen
from biselect.solvers._incumbent import grid_for
from biselect.solvers.registry import Run
from biselect.solvers.response import by_features


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
    sieve = screen(task, grid_for(task, units), start)
    seen = scan_subsets(task, Run(), sieve, floor=sieve.grid.floor(units))
    score, subset = every_subset(task)
    assert seen.complete and seen.certain
    assert np.ldexp(seen.highest, sieve.grid.exponent) == pytest.approx(score, abs=1e-7)
    assert subset in [tuple(candidate.tolist()) for candidate in seen.candidates]
    best = bs.solve(problem, "exact")
    assert problem.score_units(best.samples, best.features) == max(
        problem.score_units(task.respond(candidate), candidate) for candidate in seen.candidates
    )


def test_a_good_start_needs_few_rows():
    W = np.random.default_rng(0).random((500, 12))
    W[:6, :3] += 4
    task = by_features(SelectionProblem(coupling=W, k=6, m=3))
    grid = grid_for(task, 0)
    assert screen(task, grid, np.arange(3)).rows.size == 5  # the smallest of the six can't rise above itself
    assert screen(task, grid, np.arange(9, 12)).rows.size > 5


def test_enumeration_stops_at_the_deadline_between_blocks():
    task = by_features(SelectionProblem(coupling=np.ones((400, 20)), k=3, m=5))
    sieve = screen(task, grid_for(task, 0), np.arange(5))
    seen = scan_subsets(task, Run(deadline=0.0), sieve, floor=0.0)
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
