import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.weights import Weigher
from biselect.weights.maps import smoothed_cdf
from biselect_quantum.conventions import rzz_angle
from biselect_studies.extensions.drift import (
    MODES,
    angle_bound,
    coupling_bound,
    ecdf_band,
    feature_first_margin_loss,
    joint_margin_loss,
    perturb,
    tail_band,
)


def super_uniform_excess(p_values):
    """Sup over α of share(p ≤ α) - α: not above 0 but for sampling noise where the p-values are valid."""
    p = np.sort(np.asarray(p_values, dtype=np.float64))
    return float((np.arange(1, p.size + 1) / p.size - p).max())


def super_uniform_noise(count, delta):
    """The excess that `count` independent valid p-values stay below with probability 1 - δ (one-sided DKW)."""
    return float(np.sqrt(np.log(1 / delta) / (2 * count)))


@pytest.mark.parametrize(("n", "delta"), [(20, 0.2), (200, 0.2), (200, 0.05)])
def test_the_band_covers_as_often_as_it_says(n, delta):
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 2001)
    distances = []
    for _ in range(1000):
        reference = np.sort(rng.random(n))
        smoothed = smoothed_cdf(np.searchsorted(reference, grid, side="right"), n)
        distances.append(np.abs(smoothed - grid).max())
    missed = np.mean(np.array(distances) > ecdf_band(n, delta))
    assert missed <= delta + 3 * np.sqrt(delta * (1 - delta) / 1000)
    assert np.mean(np.array(distances) > ecdf_band(n, delta) / 3) > 0.5, "the band is of the right size"


def test_smoothing_and_clipping_move_a_rank_by_at_most_one_in_n_plus_one():
    for n in (1, 2, 17, 500):
        ranks = np.arange(n + 1)
        assert np.abs(smoothed_cdf(ranks, n) - ranks / n).max() <= 1 / (n + 1) + 1e-15


def test_ecdf_tail_probabilities_are_uniform_within_the_band():
    rng = np.random.default_rng(1)
    calibrator = Weigher("ecdf", cap=100).fit(rng.standard_t(3, size=(400, 1)))  # ranks alone, nothing else is fit
    p = np.exp(-calibrator.weights(rng.standard_t(3, size=(200_000, 1)))[:, 0])
    grid = np.linspace(0, 1, 101)
    distance = np.abs(np.searchsorted(np.sort(p), grid, side="right") / p.size - grid).max()
    assert distance <= tail_band(400, 0.01)


def test_super_uniformity_is_measured_and_its_noise_bounded():
    rng = np.random.default_rng(2)
    noise = super_uniform_noise(500, 0.1)
    excesses = [super_uniform_excess(rng.random(500)) for _ in range(400)]
    assert np.mean(np.array(excesses) > noise) <= 0.1 + 3 * np.sqrt(0.09 / 400)
    assert super_uniform_excess(rng.random(500) ** 2) > noise, "anti-conservative p-values are caught"
    assert super_uniform_excess(np.sqrt(rng.random(500))) <= noise


def test_conformal_p_values_of_fresh_rows_have_no_excess_but_noise():
    rng = np.random.default_rng(3)
    p = []
    for seed in range(400):
        draw = rng.lognormal(size=(121, 1))
        p.append(np.exp(-Weigher(map="conformal", cap=50, seed=seed).fit(draw[:120]).weights(draw[120:])[0, 0]))
    assert super_uniform_excess(p) <= super_uniform_noise(400, 0.01)


def test_coefficients_and_angles_stay_within_their_bounds():
    cap, weight, gamma = 3.0, 0.7, -1.3
    W = np.array([[cap, 0.0], [1.0, cap]])
    ising = SelectionProblem(coupling=W, k=1, m=1, coupling_weight=weight).ising()
    couplings = np.abs(ising.couplings)
    assert couplings.max() == pytest.approx(coupling_bound(cap, weight)) == pytest.approx(weight * cap / 4)
    angles = np.abs(rzz_angle(gamma, ising.couplings))
    assert angles.max() == pytest.approx(angle_bound(gamma, cap, weight)) == pytest.approx(1.3 * weight * cap / 2)


def test_margin_losses_are_reached_by_the_worst_error():
    W = np.array([[4.0, 1.0], [2.0, 1.0], [3.0, 2.0]])
    eta = 0.5
    worst = W + np.array([-eta, eta])
    before, after = (np.diff(matrix.sum(axis=0))[0] for matrix in (W, worst))
    assert after - before == pytest.approx(feature_first_margin_loss(eta, 3))
    block = [0, 1]
    gain = np.diff(worst[block].mean(axis=0))[0] - np.diff(W[block].mean(axis=0))[0]
    assert gain == pytest.approx(joint_margin_loss(eta))


@pytest.mark.parametrize(("n", "delta", "message"), [(0, 0.1, "one reference row"), (5, 0.0, "between 0 and 1")])
def test_bands_that_cannot_be_are_refused(n, delta, message):
    with pytest.raises(InputError, match=message):
        ecdf_band(n, delta)


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
