from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.solvers import solve
from biselect.testing import all_selections, brute_force
from biselect_studies.recovery.structure import biclique_problem, rank_one_check, sparsification_bound

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.sampled_from([0.0, 0.1, 3.0]))
def test_joint_selection_gains_no_more_than_the_rank_one_bound(seed, noise):
    rng = np.random.default_rng(seed)
    W = np.outer(rng.random(5), rng.random(4)) + noise * rng.random((5, 4))
    problem = SelectionProblem(coupling=W, k=2, m=2, coupling_weight=0.7)
    check = rank_one_check(problem)
    apart = problem.score(np.argsort(-check.row_factor)[:2], np.argsort(-check.column_factor)[:2])
    assert -brute_force(problem) - apart <= check.largest_gain + 1e-9
    if noise == 0:
        assert check.residual < 1e-9 and check.separable_share == pytest.approx(1)
        assert apart == pytest.approx(-brute_force(problem))


def test_the_rank_one_check_is_for_weights_that_are_not_negative():
    with pytest.raises(InputError, match="negative"):
        rank_one_check(SelectionProblem(coupling=[[1.0, -1.0]], k=1, m=1))


@given(seeds, st.floats(0, 1))
def test_sparsification_moves_no_energy_beyond_its_bounds(seed, share):
    rng = np.random.default_rng(seed)
    W, kept = rng.normal(size=(4, 3)), rng.random((4, 3)) < share
    dense = SelectionProblem(coupling=W, sample_scores=rng.normal(size=4), k=2, m=2, coupling_weight=0.6)
    sparse = SelectionProblem(coupling=W * kept, sample_scores=dense.sample_scores, k=2, m=2, coupling_weight=0.6)
    bound = sparsification_bound(dense, kept)
    moved = max(abs(dense.energy(*pair) - sparse.energy(*pair)) for pair in all_selections(dense))
    assert moved <= bound.tight + 1e-12 and bound.tight <= bound.paper + 1e-12
    found = solve(sparse, "exact")
    assert dense.energy(found.samples, found.features) - brute_force(dense) <= bound.optimality_gap + 1e-9
    assert bound.omitted == (~kept).sum() and 0 <= bound.retained_mass <= 1


def test_a_mask_must_fit():
    with pytest.raises(InputError, match="shape"):
        sparsification_bound(SelectionProblem(coupling=[[1.0, 2.0]], k=1, m=1), [[True]])


@given(seeds, st.floats(0.3, 1), st.integers(1, 4))
def test_a_complete_subgraph_is_there_exactly_where_the_score_is_the_square(seed, share, size):
    graph = np.random.default_rng(seed).random((5, 4)) < share
    listed = any(
        graph[np.ix_(left, right)].all()
        for left in combinations(range(5), size)
        for right in combinations(range(4), size)
    )
    best = solve(biclique_problem(graph, size), "exact")
    assert best.proven_optimal and (best.score == size**2) == listed


def test_a_graph_has_edges_or_none():
    with pytest.raises(InputError, match="zeros and ones"):
        biclique_problem([[1, 2]], 1)
