import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.calibrate.decompose import decompose
from biselect.calibrate.perturb import MODES, perturb
from biselect.errors import InputError

WIDE = 1e9  # a cap that never binds
FIELDS = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(-10, 10, allow_subnormal=False)
)


@pytest.mark.parametrize("mode", MODES)
@given(seed=st.integers(0, 1000), eta=st.floats(0, 3), n=st.integers(1, 8), d=st.integers(1, 6))
def test_no_cell_moves_further_than_eta_nor_out_of_range(mode, seed, eta, n, d):
    W = np.random.default_rng(seed).uniform(0, 4, size=(n, d))
    moved = perturb(W, mode, eta, cap=4.0, seed=seed)
    assert np.abs(moved - W).max() <= eta + 1e-12
    assert moved.min() >= 0 and moved.max() <= 4
    np.testing.assert_array_equal(moved, perturb(W, mode, eta, cap=4.0, seed=seed))


def test_each_mode_has_its_structure():
    W = np.full((40, 12), 50.0)
    deltas = {mode: perturb(W, mode, 1.0, cap=WIDE, seed=7) - W for mode in MODES}
    sums = {mode: np.ptp(delta.sum(axis=0)) for mode, delta in deltas.items()}
    assert np.ptp(deltas["row"], axis=1).max() < 1e-12 and np.ptp(deltas["feature"], axis=0).max() < 1e-12
    assert np.linalg.matrix_rank(deltas["centred-rank-one"], tol=1e-9) == 1
    assert np.linalg.matrix_rank(deltas["shifted-rank-one"], tol=1e-9) == 1
    # what reaches the order of column sums: nothing of rows and centred drift, all of features and shifted drift
    assert sums["row"] < 1e-9 and sums["centred-rank-one"] < 1e-9
    assert min(sums["feature"], sums["shifted-rank-one"]) > sums["entrywise"] > 1


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


def test_unknown_modes_and_negative_radii_are_refused():
    with pytest.raises(InputError, match="no perturbation mode 'diagonal'; choose one of: entrywise, row"):
        perturb(np.ones((2, 2)), "diagonal", 1.0, cap=1.0, seed=0)
    with pytest.raises(InputError, match="eta must not be negative"):
        perturb(np.ones((2, 2)), "row", -1.0, cap=1.0, seed=0)
