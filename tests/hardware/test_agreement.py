from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.core.uniform import uniform_energy
from biselect.errors import InputError
from biselect.hardware.agreement import (
    agreement,
    diagonal_choice,
    low_energy_overlap,
    sparse_optimum,
)
from biselect.hardware.surrogates import (
    masked,
)
from biselect.testing.strategies import problems, ruled_problems


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
@given(st.one_of(masked_problems(), masked_problems(ruled_problems())))
def test_the_sparse_optimum_is_the_optimum(case):
    problem, mask = case
    sparse = masked(problem, mask)
    found = sparse_optimum(sparse)
    best = min(sparse.energy(*c) for c in every_choice(problem) if problem.obeys(*c))
    assert problem.obeys(*found)
    assert sparse.energy(*found) == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_many_ends_go_to_the_exact_solver():
    rng = np.random.default_rng(0)
    problem = SelectionProblem(coupling=rng.normal(size=(24, 22)), k=2, m=2)
    samples, features = sparse_optimum(problem)
    assert problem.energy(samples, features) <= min(problem.energies([[0, 1]], [[0, 1]]))


@settings(max_examples=50, deadline=None)
@given(problems())
def test_the_mean_and_the_diagonal_choice_are_what_they_say(problem):
    energies = [problem.energy(*choice) for choice in every_choice(problem)]
    assert uniform_energy(problem)[0] == pytest.approx(np.mean(energies), rel=1e-9, abs=1e-6)
    bare = replace(problem, coupling=np.zeros_like(problem.coupling))
    best = min(bare.energy(*c) for c in every_choice(problem))
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
