from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.hardware import surrogates
from biselect.hardware.agreement import (
    agreement,
)
from biselect.hardware.patches import Patch
from biselect.hardware.surrogates import (
    choose_surrogate,
    distortion_bound,
    filling,
    hardware_mask,
    masked,
    mean_field,
    retained_mass,
    threshold_bound,
    threshold_mask,
    top_mask,
)
from biselect.testing.strategies import problems


def every_choice(problem):
    for samples in combinations(range(problem.n_samples), problem.k):
        for features in combinations(range(problem.n_features), problem.m):
            yield samples, features


@st.composite
def masked_problems(draw, source=None):
    problem = draw(problems() if source is None else source)
    cells = problem.coupling.size
    mask = np.array(draw(st.lists(st.booleans(), min_size=cells, max_size=cells))).reshape(problem.coupling.shape)
    return problem, mask


@settings(max_examples=80, deadline=None)
@given(masked_problems())
def test_no_choice_is_distorted_beyond_the_bounds(case):
    problem, mask = case
    sparse = masked(problem, mask)
    worst = max(abs(problem.energy(*c) - sparse.energy(*c)) for c in every_choice(problem))
    bound = distortion_bound(problem, mask)
    assert worst <= bound * (1 + 1e-9) + 1e-9
    assert bound <= threshold_bound(problem, mask) * (1 + 1e-12)


@settings(max_examples=80, deadline=None)
@given(masked_problems(), st.floats(0, 5))
def test_a_threshold_mask_obeys_the_papers_bound(case, tau):
    problem, _ = case
    mask = threshold_mask(problem, tau)
    assert np.abs(problem.coupling[~mask]).max(initial=0) < tau or mask.all()
    assert threshold_bound(problem, mask) <= problem.coupling_weight * problem.k * problem.m * tau + 1e-12


def test_masks_by_hand():
    problem = SelectionProblem(coupling=[[3.0, -1.0], [2.0, 2.0]], k=1, m=1)
    assert top_mask(problem, 2).tolist() == [[True, False], [True, False]]  # the tie goes to the lower index
    assert threshold_mask(problem, 2.0).sum() == 3
    assert retained_mass(problem, top_mask(problem, 1)) == (3.0, 3 / 8)
    assert retained_mass(replace(problem, coupling=np.zeros((2, 2))), top_mask(problem, 0)) == (0.0, 1.0)
    patch = Patch(samples=(0, 1), features=(2, 3), sample_edges=(), feature_edges=(), cross_edges=((1, 0),))
    assert hardware_mask(patch).tolist() == [[False, False], [True, False]]
    for bad in (-1, 5):
        with pytest.raises(InputError, match="between 0 and 4"):
            top_mask(problem, bad)
    with pytest.raises(InputError, match="0 or more"):
        threshold_mask(problem, float("nan"))
    for mask in (np.ones((2, 3), dtype=bool), np.ones((2, 2))):
        with pytest.raises(InputError, match="2 × 2 truth values"):
            masked(problem, mask)


@settings(max_examples=60, deadline=None)
@given(masked_problems())
def test_uniform_chances_keep_the_mean_energy_of_every_sample(case):
    """Averaged over the features, dropped couplings are as good as kept ones."""
    problem, mask = case
    sparse = mean_field(problem, mask)
    assert np.array_equal(sparse.coupling, masked(problem, mask).coupling)
    f = problem.m / problem.n_features
    weights = problem.coupling_weight
    wanted = problem.sample_scores + weights * problem.coupling.sum(axis=1) * f
    assert np.allclose(sparse.sample_scores + weights * sparse.coupling.sum(axis=1) * f, wanted)


@settings(max_examples=60, deadline=None)
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
