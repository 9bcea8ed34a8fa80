"""Coordinate ascent where problems are too large to climb side by side."""

import importlib

import numpy as np
import pytest

from biselect import Rules, SelectionProblem, solve


def test_random_starts_of_a_large_problem_obey_groups_of_columns(monkeypatch):
    module = importlib.import_module("biselect.solvers.local_search")
    monkeypatch.setattr(module, "SIDE_BY_SIDE_CELLS", 10)  # as for a table of millions of cells
    rng = np.random.default_rng(0)
    pairs = [{"members": [j, j + 3], "at_most": 1} for j in range(3)]
    problem = SelectionProblem(coupling=rng.exponential(size=(40, 6)), k=3, m=2, feature_rules=Rules(groups=pairs))
    climbed = solve(problem, "coordinate-ascent", starts=8)
    assert problem.feature_rules.allow(climbed.features.tolist())
    assert climbed.score == pytest.approx(solve(problem, "exact").score)
