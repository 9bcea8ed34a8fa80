import numpy as np
import pytest

from biselect.errors import InputError
from biselect_studies.data.synthetic import (
    MECHANISMS,
    RESIDUALS,
    Mechanism,
    benchmark,
    depth_problem,
    gaussian_qubo,
    heaviest,
    panel_problem,
    planted_block,
    planted_problem,
)


def test_the_benchmark_plants_what_it_says_and_repeats_for_a_seed():
    planted = benchmark(20, 10, 3, 0.4, seed=5)
    again = benchmark(20, 10, 3, 0.4, seed=5)
    assert planted.samples.size == 3 and planted.features.size == 6
    assert np.array_equal(planted.weights, again.weights) and np.array_equal(planted.samples, again.samples)
    assert np.allclose(planted.residuals.mean(axis=0), 0) and np.allclose(planted.residuals.std(axis=0), 1)
    assert np.array_equal(planted.weights, np.abs(planted.residuals))
    assert not np.array_equal(benchmark(20, 10, 3, 0.4, seed=6).weights, planted.weights)


def test_planted_cells_stand_out_more_where_nominal_rows_set_the_scale():
    pool = benchmark(20, 10, 3, 0.5, seed=1)
    nominal = benchmark(20, 10, 3, 0.5, seed=1, scale="nominal")
    block = np.ix_(pool.samples, pool.features)
    assert (nominal.weights[block] > pool.weights[block]).all()
    others = np.delete(nominal.residuals, nominal.samples, axis=0)
    assert np.allclose(others.mean(axis=0), 0) and np.allclose(others.std(axis=0), 1)


@pytest.mark.parametrize("residuals", RESIDUALS)
def test_every_kind_of_residual_is_centred_and_heavy_tails_are_heavy(residuals):
    noise = planted_block(400, 50, 1, 1, 0.0, seed=0, residuals=residuals).weights
    assert abs(np.median(noise)) < 0.05
    far = (np.abs(noise) > 5).mean()
    assert far < 1e-4 if residuals == "normal" else far > 1e-3
    assert np.isfinite(benchmark(20, 10, 3, 0.5, seed=0, residuals=residuals).weights).all()


def test_planted_blocks_have_the_signal_and_noise_asked_for():
    clean, raised = (planted_block(6, 5, 2, 3, signal, seed=3) for signal in (0.0, 7.0))
    difference = raised.weights - clean.weights
    assert np.allclose(difference[np.ix_(raised.samples, raised.features)], 7) and np.isclose(difference.sum(), 42)
    first = planted_block(6, 5, 2, 3, 1.0, seed=3, place="first")
    assert first.samples.tolist() == [0, 1] and first.features.tolist() == [0, 1, 2]
    clipped = planted_block(50, 20, 1, 1, 9.0, seed=0, residuals="cauchy", clip=1.5)
    assert np.abs(clipped.weights).max() > 7 and np.sort(np.abs(clipped.weights).ravel())[-2] <= 1.5
    mixed = planted_block(6, 5, 2, 3, 0.0, seed=3, mode="mixed").weights - clean.weights
    assert np.linalg.matrix_rank(mixed) == 1 and (mixed > 0).all()


def test_noise_is_correlated_within_features_alone():
    drawn = np.array([planted_block(2, 2, 1, 1, 0.0, seed=s, correlation=0.6).weights.ravel() for s in range(4000)])
    found = np.corrcoef(drawn, rowvar=False)  # entries (0,0), (0,1), (1,0), (1,1)
    expected = np.array([[1, 0, 0.6, 0], [0, 1, 0, 0.6], [0.6, 0, 1, 0], [0, 0.6, 0, 1]])
    assert np.abs(found - expected).max() < 0.06
    assert np.allclose(drawn.std(axis=0), 1, atol=0.05)


@pytest.mark.parametrize("size", [(9, 6, 2, 3), (6, 9, 2, 3), (3, 1, 1, 1)])
def test_the_qubo_generator_is_normalised_and_non_negative(size):
    problem = gaussian_qubo(*size, seed=4, coupling_weight=0.5)
    for scores in (problem.coupling, problem.sample_scores, problem.feature_scores):
        assert scores.min() >= -1e-12 and scores.max() == pytest.approx(1)
    assert problem.coupling_weight == 0.5 and problem.digest == gaussian_qubo(*size, seed=4, coupling_weight=0.5).digest


def test_qubo_anomalies_are_as_many_as_the_paper_says():
    problem = gaussian_qubo(30, 4, 2, 2, seed=0)
    assert (problem.sample_scores > 0.3 * problem.sample_scores.max()).sum() == 6  # min(3k, N // 3)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: benchmark(20, 10, 3, 1.0, seed=0),
        lambda: benchmark(20, 10, 30, 0.5, seed=0),
        lambda: benchmark(20, 10, 3, 0.5, seed=0, residuals="lognormal"),
        lambda: benchmark(20, 10, 3, 0.5, seed=0, scale="mad"),
        lambda: planted_block(5, 5, 2, 2, 1.0, seed=0, mode="both"),
        lambda: planted_block(5, 5, 2, 2, 1.0, seed=0, place="last"),
        lambda: Mechanism(name="luck"),
        lambda: Mechanism(name="proxy-burden", burden=2.0),
    ],
)
def test_unknown_kinds_are_refused(wrong):
    with pytest.raises(InputError):
        wrong()


def test_the_depth_family_plants_its_block_first_and_keeps_signs():
    problem = depth_problem(2.0, "mixed", seed=3)
    block = planted_block(14, 10, 3, 3, 2.0, seed=3, mode="mixed", place="first")
    np.testing.assert_array_equal(problem.coupling, block.residuals)
    np.testing.assert_array_equal(problem.sample_scores, block.residuals.max(axis=1))
    np.testing.assert_allclose(problem.feature_scores, np.abs(block.residuals).var(axis=0))
    assert problem.coupling.min() < 0 and (problem.k, problem.m) == (3, 3)


def test_the_panel_keeps_ten_couplings_and_the_marginals_of_all():
    problem, dense = panel_problem(seed=1), planted_problem((12, 8, 3, 5), 3.0, seed=1, absolute=True)
    kept = problem.coupling > 0
    assert kept.sum() == 10 and kept.sum(axis=0).max() <= 2 and kept.sum(axis=1).max() <= 2
    np.testing.assert_array_equal(problem.coupling[kept], dense.coupling[kept])
    np.testing.assert_array_equal(problem.sample_scores, dense.sample_scores)
    assert dense.coupling.min() >= 0
    assert panel_problem(seed=1).digest == problem.digest != panel_problem(seed=2).digest


def test_heaviest_takes_as_many_as_asked_or_says_how_many_fit():
    weights = np.array([[5.0, 4.0], [3.0, 2.0]])
    np.testing.assert_array_equal(heaviest(weights, count=2, degree=1), [[5.0, 0.0], [0.0, 2.0]])
    with pytest.raises(InputError, match=r"9 couplings of degree 1 .* leave room for 2"):
        heaviest(weights, count=9, degree=1)
    with pytest.raises(InputError, match="at least 1"):
        heaviest(np.ones((2, 2)), count=0, degree=1)


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_plant_their_anomalies(name):
    strong = Mechanism(name=name, shift=30.0).draw(seed=2, center="median")
    block = np.zeros(strong.weights.shape, dtype=bool)
    block[np.ix_(strong.samples, strong.features)] = True
    elsewhere = np.delete(strong.weights, strong.samples, axis=0)  # of the anomalies a proxy has its part too
    assert strong.weights[block].min() > elsewhere.max()
    if name != "proxy-burden":
        assert strong.weights[block].min() > strong.weights[~block].max()


def test_decoys_and_proxies_are_redundant():
    large = {"n_samples": 4000, "k": 1}
    decoys = Mechanism(name="redundant-decoys", **large).draw(seed=1, center="mean").residuals
    proxies = Mechanism(name="proxy-burden", **large).draw(seed=1, center="mean").residuals
    plain = Mechanism(name="shared-support", **large).draw(seed=1, center="mean").residuals

    def related(Z):
        return (np.abs(np.corrcoef(Z, rowvar=False)[np.triu_indices(15, 1)]) > 0.3).sum()

    assert related(plain) == 0 and related(decoys) == 1 and related(proxies) >= 6
