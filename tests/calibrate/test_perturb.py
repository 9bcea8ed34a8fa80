import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.calibrate.perturb import MODES, perturb
from biselect.errors import InputError

WIDE = 1e9  # a cap that never binds


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


def test_unknown_modes_and_negative_radii_are_refused():
    with pytest.raises(InputError, match="no perturbation mode 'diagonal'; choose one of: entrywise, row"):
        perturb(np.ones((2, 2)), "diagonal", 1.0, cap=1.0, seed=0)
    with pytest.raises(InputError, match="eta must not be negative"):
        perturb(np.ones((2, 2)), "row", -1.0, cap=1.0, seed=0)
