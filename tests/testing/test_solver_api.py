import numpy as np
import pytest

from biselect.solvers import registry
from biselect.testing import assert_solver_api


def test_a_solver_that_keeps_its_promises_passes():
    assert_solver_api("greedy")


def test_a_solver_that_claims_too_much_is_found_out(monkeypatch):
    """The worst choice, called optimal."""
    honest = registry.solve

    def boast(problem, name, **options):
        from dataclasses import replace

        answer = honest(problem, name, **options)
        samples, features = np.arange(problem.k), np.arange(problem.m)
        energy = problem.energy(samples, features)
        return replace(answer, samples=samples, features=features, energy=energy, bound=energy, proven_optimal=True)

    monkeypatch.setattr("biselect.testing.solver_api.solve", boast)
    with pytest.raises(AssertionError):
        assert_solver_api("greedy")
