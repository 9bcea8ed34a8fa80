import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.calibrate.decompose import decompose
from biselect.calibrate.perturb import perturb

WIDE = 1e9  # a cap that never binds
FIELDS = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(-10, 10, allow_subnormal=False)
)


@given(FIELDS)
def test_the_parts_add_up_and_are_orthogonal(delta):
    parts = decompose(delta)
    rebuilt = parts.mean + parts.row[:, None] + parts.feature + parts.residual
    np.testing.assert_allclose(rebuilt, delta, atol=1e-9)
    shares = parts.shares
    assert sum(shares.values()) == pytest.approx(1.0 if (delta**2).any() else 0.0)
    assert min(shares.values()) >= 0
    norm = (delta**2).sum()
    assert shares["feature"] * norm == pytest.approx(delta.shape[0] * (parts.feature**2).sum(), abs=1e-9)
    assert abs(parts.row.sum()) < 1e-9 and abs(parts.feature.sum()) < 1e-9
    assert np.abs(parts.residual.sum(axis=0)).max() < 1e-9 and np.abs(parts.residual.sum(axis=1)).max() < 1e-9


@pytest.mark.parametrize(("mode", "part"), [("row", "row"), ("feature", "feature"), ("centred-rank-one", "residual")])
def test_a_mode_is_found_where_it_belongs(mode, part):
    W = np.full((200, 40), 50.0)
    shares = decompose(perturb(W, mode, 1.0, cap=WIDE, seed=1) - W).shares
    assert shares[part] > 0.9
    largest = decompose(perturb(W, mode, 1.0, cap=WIDE, seed=1) - W).largest
    assert max(largest, key=largest.__getitem__) == part
