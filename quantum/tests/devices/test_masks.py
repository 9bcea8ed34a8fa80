from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.testing import all_selections
from biselect.testing.strategies import problems
from biselect_quantum.devices.masks import distortion_bound, hardware_mask, masked, retained_mass, top_mask
from biselect_quantum.devices.patches import Patch


def with_masks(source):
    """Problems, each with a mask."""
    return source.flatmap(lambda problem: st.tuples(st.just(problem), arrays(bool, problem.coupling.shape)))


@settings(max_examples=80)
@given(with_masks(problems()))
def test_no_choice_is_distorted_beyond_the_bounds(case):
    problem, mask = case
    sparse = masked(problem, mask)
    worst = max(abs(problem.energy(*c) - sparse.energy(*c)) for c in all_selections(problem))
    bound = distortion_bound(problem, mask)
    assert worst <= bound * (1 + 1e-9) + 1e-9


def test_masks_by_hand():
    problem = SelectionProblem(coupling=[[3.0, -1.0], [2.0, 2.0]], k=1, m=1)
    assert top_mask(problem, 2).tolist() == [[True, False], [True, False]]  # the tie goes to the lower index
    assert retained_mass(problem, top_mask(problem, 1)) == (3.0, 3 / 8)
    assert retained_mass(replace(problem, coupling=np.zeros((2, 2))), top_mask(problem, 0)) == (0.0, 1.0)
    patch = Patch(samples=(0, 1), features=(2, 3), sample_edges=(), feature_edges=(), cross_edges=((1, 0),))
    assert hardware_mask(patch).tolist() == [[False, False], [True, False]]
    for bad in (-1, 5):
        with pytest.raises(InputError, match="between 0 and 4"):
            top_mask(problem, bad)
    for mask in (np.ones((2, 3), dtype=bool), np.ones((2, 2))):
        with pytest.raises(InputError, match="2 × 2 truth values"):
            masked(problem, mask)
