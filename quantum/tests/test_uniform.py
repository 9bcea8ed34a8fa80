import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.testing import all_selections
from biselect.testing.strategies import blocked_problems, problems
from biselect_quantum.uniform import uniform_choices, uniform_energy


@given(st.one_of(problems(5, 4), blocked_problems(5, 4)))
def test_mean_and_spread_are_those_of_all_choices(problem):
    energies = [problem.energy(samples, features) for samples, features in all_selections(problem)]
    scale = 1e-9 * (1 + np.abs(energies).max())
    mean, spread = uniform_energy(problem)
    assert mean == pytest.approx(np.mean(energies), abs=scale)
    assert spread == pytest.approx(np.std(energies), abs=1e-4 * (1 + np.abs(energies).max()))


@settings(max_examples=25)
@given(blocked_problems(4, 3), st.integers(0, 10**6))
def test_draws_are_choices_that_obey_and_reach_all_of_them(problem, seed):
    samples, features = uniform_choices(problem, 2000, np.random.default_rng(seed))
    drawn = set(zip(map(tuple, samples.tolist()), map(tuple, features.tolist()), strict=True))
    assert drawn == set(all_selections(problem))  # 18 choices at most
