import numpy as np
import pytest
from hypothesis import given

import biselect as bs
from biselect.core import Selection, SelectionProblem
from biselect.testing.strategies import problems


def answer(problem, **changes):
    fields = dict(
        problem=problem,
        samples=np.array([0]),
        features=np.array([0]),
        energy=-2.0,
        bound=-3.0,
        proven_optimal=False,
        solver="test",
        seconds=0.0,
    )
    return Selection(**{**fields, **changes})


def test_gap_is_the_missing_share_and_zero_when_proven():
    problem = SelectionProblem(coupling=np.ones((2, 2)), k=1, m=1)
    assert answer(problem).gap == pytest.approx(0.5)
    assert answer(problem, proven_optimal=True).gap == 0
    assert answer(problem, bound=-np.inf).to_dict()["gap"] is None
    assert answer(problem, energy=0.0, bound=0.0).gap == 0


@given(problems())
def test_explanation_adds_up_and_swaps_are_exact(problem):
    best = bs.solve(problem, "exact")
    why = best.explain()
    scale = 1e-9 * (1 + abs(best.score))
    assert why.cells.sum() + why.sample_marginals.sum() + why.feature_marginals.sum() == pytest.approx(
        best.score, abs=scale
    )
    for swap in why.sample_swaps:
        swapped = [swap.enters if i == swap.leaves else i for i in best.samples]
        assert best.score - problem.score(swapped, best.features) == pytest.approx(swap.cost, abs=scale)
        assert swap.cost >= -scale  # nothing improves on the optimum
    for swap in why.feature_swaps:
        swapped = [swap.enters if j == swap.leaves else j for j in best.features]
        assert best.score - problem.score(best.samples, swapped) == pytest.approx(swap.cost, abs=scale)
        assert swap.cost >= -scale
    costs = [swap.cost for swap in why.sample_swaps]
    assert costs == sorted(costs)
    assert len(costs) == problem.n_samples - problem.k
