import numpy as np
import pytest
from hypothesis import given

from biselect.core.uniform import uniform_energy
from biselect.testing import all_selections
from biselect.testing.strategies import problems


@given(problems(max_samples=5, max_features=4))
def test_mean_and_spread_are_those_of_all_choices(problem):
    energies = [problem.energy(samples, features) for samples, features in all_selections(problem)]
    scale = 1e-9 * (1 + np.abs(energies).max())
    mean, spread = uniform_energy(problem)
    assert mean == pytest.approx(np.mean(energies), abs=scale)
    assert spread == pytest.approx(np.std(energies), abs=1e-4 * (1 + np.abs(energies).max()))
