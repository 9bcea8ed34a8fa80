from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.testing import all_selections
from biselect.testing.strategies import problems, ruled_problems
from biselect_quantum.devices.masks import distortion_bound, masked, top_mask
from biselect_quantum.uniform import uniform_energy
from biselect_studies.quantum import mean_field as surrogates
from biselect_studies.quantum.mean_field import (
    agreement,
    choose_surrogate,
    diagonal_choice,
    filling,
    low_energy_overlap,
    mean_field,
    sparse_optimum,
    threshold_bound,
    threshold_mask,
)


def with_masks(source):
    """Problems, each with a mask."""
    return source.flatmap(lambda problem: st.tuples(st.just(problem), arrays(bool, problem.coupling.shape)))


@settings(max_examples=80)
@given(with_masks(problems()))
def test_the_papers_bound_is_no_tighter_than_ours(case):
    assert distortion_bound(*case) <= threshold_bound(*case) * (1 + 1e-12)


@settings(max_examples=80)
@given(with_masks(problems()), st.floats(0, 5))
def test_a_threshold_mask_obeys_the_papers_bound(case, tau):
    problem, _ = case
    mask = threshold_mask(problem, tau)
    assert np.abs(problem.coupling[~mask]).max(initial=0) < tau or mask.all()
    assert threshold_bound(problem, mask) <= problem.coupling_weight * problem.k * problem.m * tau + 1e-12


def test_a_threshold_mask_by_hand():
    problem = SelectionProblem(coupling=[[3.0, -1.0], [2.0, 2.0]], k=1, m=1)
    assert threshold_mask(problem, 2.0).sum() == 3
    with pytest.raises(InputError, match="0 or more"):
        threshold_mask(problem, float("nan"))


@settings(max_examples=60)
@given(with_masks(problems()))
def test_uniform_chances_keep_the_mean_energy_of_every_sample(case):
    """Averaged over the features, dropped couplings are as good as kept ones."""
    problem, mask = case
    sparse = mean_field(problem, mask)
    assert np.array_equal(sparse.coupling, masked(problem, mask).coupling)
    f = problem.m / problem.n_features
    weights = problem.coupling_weight
    wanted = problem.sample_scores + weights * problem.coupling.sum(axis=1) * f
    assert np.allclose(sparse.sample_scores + weights * sparse.coupling.sum(axis=1) * f, wanted)


@settings(max_examples=60)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=8), st.floats(0.05, 10), st.data())
def test_filling_meets_the_budget_and_the_order(scores, heat, data):
    budget = data.draw(st.integers(1, len(scores)))
    chances = filling(np.array(scores), budget, heat)
    assert chances.sum() == pytest.approx(budget, abs=1e-6)
    assert ((chances >= 0) & (chances <= 1)).all()
    assert (np.diff(chances[np.argsort(scores, kind="stable")]) >= -1e-12).all()


def test_a_full_mask_leaves_nothing_to_mend():
    problem = SelectionProblem(coupling=np.arange(6.0).reshape(3, 2), k=1, m=1)
    full = np.ones((3, 2), dtype=bool)
    assert mean_field(problem, full, 0.5).digest == problem.digest
    assert choose_surrogate(problem, full).temperature is None
    with pytest.raises(InputError, match="above 0"):
        mean_field(problem, full, 0.0)


def test_the_chosen_surrogate_is_the_best_judged_and_serves_planted_blocks_better():
    rng = np.random.default_rng(2)
    coupling = np.abs(rng.normal(size=(10, 8)))
    coupling[np.ix_([1, 4, 7], [0, 3, 6])] += 2.0
    problem = SelectionProblem(coupling=coupling, k=3, m=3)
    mask = top_mask(problem, 2)
    chosen = choose_surrogate(problem, mask, seed=1)
    plain, mended = (agreement(problem, each).dense_gain for each in (masked(problem, mask), chosen.problem))
    assert mended == pytest.approx(1) and plain < 0.9
    noise = np.random.default_rng(1).gumbel(size=(surrogates.DRAWS, 18))
    assert chosen.low_energy <= surrogates._low_energy(problem, masked(problem, mask), noise)
    assert choose_surrogate(problem, mask, seed=1).problem.digest == chosen.problem.digest


@settings(max_examples=80)
@given(st.one_of(with_masks(problems()), with_masks(ruled_problems())))
def test_the_sparse_optimum_is_the_optimum(case):
    problem, mask = case
    sparse = masked(problem, mask)
    found = sparse_optimum(sparse)
    best = min(sparse.energy(*c) for c in all_selections(problem) if problem.obeys(*c))
    assert problem.obeys(*found)
    assert sparse.energy(*found) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_many_ends_go_to_the_exact_solver():
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=rng.normal(size=(24, 22)), k=2, m=2)
    samples, features = sparse_optimum(problem)
    assert problem.energy(samples, features) <= min(problem.energies([[0, 1]], [[0, 1]]))


@settings(max_examples=50)
@given(problems())
def test_the_mean_and_the_diagonal_choice_are_what_they_say(problem):
    energies = [problem.energy(*choice) for choice in all_selections(problem)]
    assert uniform_energy(problem)[0] == pytest.approx(np.mean(energies), rel=1e-9, abs=1e-6)
    bare = replace(problem, coupling=np.zeros_like(problem.coupling))
    best = min(bare.energy(*c) for c in all_selections(problem))
    assert bare.energy(*diagonal_choice(problem)) == pytest.approx(best, rel=1e-12, abs=1e-9)


def test_agreement_by_hand():
    problem = SelectionProblem(
        coupling=[[0.0, 4.0], [3.0, 0.0]], sample_scores=[1.0, 0.0], feature_scores=[1.0, 0.0], k=1, m=1
    )
    whole = agreement(problem, problem)
    assert whole.dense_gain == 1 and whole.dense_energy == -5 and whole.gain_over_diagonal == 3
    nothing = agreement(problem, masked(problem, np.zeros((2, 2), dtype=bool)))
    assert nothing.dense_energy == -2 and nothing.gain_over_diagonal == 0
    mean = -(0.5 + 0.5 + 7 / 4)
    assert nothing.dense_gain == pytest.approx((mean + 2) / (mean + 5))
    flat = SelectionProblem(coupling=np.zeros((2, 2)), k=1, m=1)
    assert agreement(flat, flat).dense_gain == 1
    with pytest.raises(InputError, match="size and the budgets"):
        agreement(problem, replace(problem, k=2))


def test_low_energy_overlap_by_hand():
    problem = SelectionProblem(coupling=[[4.0, 3.0], [2.0, 1.0]], k=1, m=1)
    other = SelectionProblem(coupling=[[4.0, 1.0], [3.0, 2.0]], k=1, m=1)
    assert [low_energy_overlap(problem, other, states) for states in (1, 2, 3, 4)] == [1, 0.5, 2 / 3, 1]
    with pytest.raises(InputError, match=r"1\.\.4"):
        low_energy_overlap(problem, other, 5)
    large = SelectionProblem(coupling=np.ones((40, 30)), k=10, m=10)
    with pytest.raises(InputError, match="at most"):
        low_energy_overlap(large, large)
