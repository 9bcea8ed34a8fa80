import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from biselect.columns.distribution import exact_distribution
from biselect.errors import InputError
from biselect.testing import assert_map_api
from biselect.weights import Reference, Weigher, map_names
from biselect_studies.experiments.baselines import STUDIED, studied_map
from biselect_studies.extensions.maps import DEGREES_OF_FREEDOM, ConformalMap, LogisticMap, nth_nearest

VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False))
SAMPLES = arrays(np.float64, st.integers(24, 60), elements=VALUES)
NAMES = ["abs-z", "conformal", "density", "gaussian", "gaussian-robust", "laplace", "logistic", "pareto", "student-t"]
EVERY_MAP = pytest.mark.parametrize("name", NAMES)


@EVERY_MAP
def test_every_map_keeps_the_contract(name):
    assert set(NAMES) | set(STUDIED) <= set(map_names())
    assert_map_api(studied_map(name, np.arange(60) % 3 == 0))


def fitted(name, reference, **settings_):
    """A calibrator on one column that varies in any split; every third row is an anomaly to the supervised map."""
    reference = np.append(reference, [np.abs(reference).max() + 1] * 6)[:, None]
    return Weigher(studied_map(name, np.arange(len(reference)) % 3 == 0), **settings_).fit(reference)


@EVERY_MAP
@given(reference=SAMPLES, pool=SAMPLES, cap=st.sampled_from([0.5, 3.0, 50.0]))
@settings(max_examples=60)
def test_weights_are_bounded_row_independent_and_grow_outwards(assert_sound_weights, name, reference, pool, cap):
    falls_once = name != "density"  # which may rise again in a gap
    assert_sound_weights(fitted(name, reference, cap=cap), pool, cap, one_valley=falls_once)


@EVERY_MAP
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_weights_do_not_change_under_increasing_affine_maps(name, seed):
    rng = np.random.default_rng(seed)
    reference, pool = rng.standard_t(3, size=(60, 2)), 2 * rng.standard_t(3, size=(9, 2))
    labels = rng.random(60) < 0.3
    scale, shift = rng.uniform(0.5, 4, size=2), rng.normal(size=2)
    before = Weigher(studied_map(name, labels)).fit(reference).weights(pool)
    moved = Weigher(studied_map(name, labels)).fit(reference * scale + shift)
    np.testing.assert_allclose(moved.weights(pool * scale + shift), before, rtol=1e-4, atol=1e-4)


def test_conformal_weighs_ties_against_the_anomaly():
    flags = np.array([False] * 30 + [True] * 10)[:, None]
    conformal = Weigher(map="conformal").fit(flags).weights(flags)
    assert conformal[0, 0] == 0 and conformal[-1, 0] > 1


def test_conformal_in_words():
    rng = np.random.default_rng(2)
    reference, pool = rng.integers(0, 9, size=(41, 1)).astype(float), np.arange(-2.0, 14.0)[:, None]
    calibrator = Weigher(ConformalMap(seed=5)).fit(reference)
    aside = np.random.default_rng(5).permuted(np.tile(np.arange(20) < 10, (3, 1)), axis=1)
    aside = aside.ravel()[:41]
    fit, ranked = reference[~aside, 0], reference[aside, 0]
    middle = np.median(fit)
    mad = 1.4826 * np.median(np.abs(fit - middle))
    scores = np.abs(ranked - middle) / mad
    p = [(1 + (scores >= abs(x - middle) / mad - 1e-12).sum()) / (aside.sum() + 1) for x in pool[:, 0]]
    np.testing.assert_allclose(calibrator.weights(pool)[:, 0], -np.log(p), atol=1e-12)
    np.testing.assert_array_equal(ConformalMap(seed=5).aside(41), aside)
    with pytest.raises(InputError, match="the split leaves 8 rows to fit on and 8 to rank among"):
        Weigher("conformal").fit(reference[:16])


def test_conformal_p_values_are_super_uniform_with_and_without_ties():
    rng = np.random.default_rng(3)
    for round_to in (None, 0):
        p = []
        for repeat in range(30):
            draw = rng.standard_t(2, size=(41, 100)) * 3  # a hundred columns are a hundred tables of one
            draw = draw if round_to is None else draw.round(round_to)
            calibrator = Weigher(ConformalMap(seed=repeat), cap=100).fit(draw[:40])
            p.extend(np.exp(-calibrator.weights(draw[40:])[0]))
        for alpha in (0.05, 0.1, 0.2, 0.5, 0.9):
            tolerance = 3 * np.sqrt(alpha * (1 - alpha) / 3000)
            assert np.mean(np.array(p) <= alpha + 1e-12) <= alpha + tolerance


def test_pareto_keeps_the_body_and_reaches_beyond_the_reference():
    grid = stats.genpareto.ppf((np.arange(5000) + 0.5) / 5000, 0.4)[:, None]
    ecdf, pareto = Weigher("ecdf", cap=100).fit(grid), Weigher(map="pareto", cap=100).fit(grid)
    body = np.quantile(grid, [0.06, 0.5, 0.9])[:, None]
    np.testing.assert_array_equal(pareto.weights(body), ecdf.weights(body))
    beyond = grid.max() * np.array([[2.0], [20.0]])
    assert np.ptp(ecdf.weights(beyond)) == 0
    expected = -np.log(2 * stats.genpareto.sf(beyond, 0.4))
    np.testing.assert_allclose(pareto.weights(beyond), expected, rtol=0.1)


def test_pareto_of_a_tail_that_ends_is_exponential():
    pareto = Weigher(map="pareto", cap=100).fit(np.linspace(0, 1, 400)[:, None])
    rising = np.diff(pareto.weights(np.linspace(0.96, 3, 30)[:, None])[:, 0])
    np.testing.assert_allclose(rising, rising[0], rtol=1e-6)


def test_distances_in_units_of_spread():
    column = np.r_[np.arange(-5.0, 6.0), 40.0]
    reference, pool = column[:, None], np.array([[7.0]])
    weight = float(Weigher("abs-z").fit(reference).weights(pool)[0, 0])
    np.testing.assert_allclose(weight, (7 - column.mean()) / column.std())


def test_parametric_maps_are_the_tails_of_their_distribution():
    rng = np.random.default_rng(1)
    reference, pool = rng.standard_t(4, size=(400, 1)), np.linspace(-9, 9, 40)[:, None]

    def weights(name):
        return Weigher(map=name, cap=1e3).fit(reference).weights(pool)

    mean, deviation, median = reference.mean(), reference.std(), np.median(reference)
    distance = np.abs(reference - median)
    np.testing.assert_allclose(weights("abs-z"), np.abs(pool - mean) / deviation)
    np.testing.assert_allclose(weights("mad-z"), np.abs(pool - median) / (1.4826 * np.median(distance)))
    gaussian = -np.log(2) - stats.norm.logsf(np.abs(pool - mean) / deviation)
    np.testing.assert_allclose(weights("gaussian"), gaussian, atol=1e-12)
    np.testing.assert_allclose(
        weights("laplace"), -np.log(2 * stats.laplace.sf(np.abs(pool - median), scale=distance.mean())), atol=1e-9
    )


@pytest.mark.parametrize("freedom", [1.5, 3.0, 8.0])
def test_student_t_finds_the_degrees_of_freedom(freedom):
    grid = stats.t.ppf((np.arange(20_000) + 0.5) / 20_000, freedom, loc=5, scale=3)[:, None]
    calibrator = Weigher(map="student-t", cap=100).fit(grid)
    assert calibrator._map.freedom[0] == pytest.approx(freedom, rel=0.02)
    far = np.array([[5 + 3 * 40.0]])
    assert calibrator.weights(far)[0, 0] == pytest.approx(-np.log(2 * stats.t.sf(40.0, freedom)), rel=0.01)


def test_student_t_of_a_spike_is_the_heaviest_on_offer():
    spike = np.zeros((100, 1))
    spike[:3] = [[1.0], [-1.0], [4.0]]
    assert Weigher(map="student-t").fit(spike)._map.freedom[0] == DEGREES_OF_FREEDOM[0]


def test_logistic_follows_the_informative_side_only():
    rng = np.random.default_rng(4)
    labels = rng.random(4000) < 0.1
    informative = rng.normal(size=4000) + 3 * labels
    table = np.column_stack([informative, rng.normal(size=4000)])
    calibrator = Weigher(LogisticMap(labels)).fit(table)
    weights = calibrator.weights([[4.0, 4.0], [-4.0, -4.0], [0.0, 0.0]])
    assert weights[0, 0] > 2 and weights[1, 0] == 0
    assert weights[2].max() < 0.1 and weights[:, 1].max() < 0.5


def test_logistic_needs_usable_labels():
    table = np.arange(40.0).reshape(20, 2)
    for labels, message in [
        (None, "supervised"),
        (np.zeros(20), "one class only"),
        (np.zeros(3), "one per reference row"),
        (np.arange(20), "0 .normal. or 1"),
    ]:
        with pytest.raises(InputError, match=message):
            Weigher(LogisticMap(labels)).fit(table)
    with pytest.raises(InputError, match="'logistic' needs all rows of the reference"):
        Weigher(map="logistic").fit(Reference.of([table]))


def test_density_sees_a_gap_that_ranks_do_not():
    rng = np.random.default_rng(0)
    reference = np.concatenate([rng.normal(-5, 1, 500), rng.normal(5, 1, 500)])[:, None]
    gap, mode = Weigher("density").fit(reference).weights([[0.0], [5.0]])[:, 0]
    assert gap > 5 and mode < 1
    assert Weigher("reach").fit(reference).weights([[0.0]])[0, 0] < 0.1


@given(SAMPLES, arrays(np.float64, 7, elements=VALUES), st.integers(1, 24))
def test_the_radius_is_the_distance_to_the_nth_nearest_entry(entries, x, number):
    expected = np.sort(np.abs(x[:, None] - entries), axis=1)[:, number - 1]
    np.testing.assert_allclose(nth_nearest(exact_distribution(entries), x, number), expected)


def test_student_t_weighs_a_flag_by_its_share():
    half = np.repeat([0.0, 1.0], 500)[:, None]
    assert Weigher("student-t").fit(half).weights(half).max() < 0.01
    for share in (0.01, 0.1, 0.4):
        flags = (np.arange(1000) < 1000 * share).astype(float)[:, None]
        weight = Weigher("student-t").fit(flags).weights([[1.0]])[0, 0]
        assert weight <= -np.log(share) + 0.01 and weight > 0.8 * -np.log(share)


def test_conformal_keeps_a_rare_flag_whatever_the_seed():
    flag = np.append(np.zeros(999), 1.0)[:, None]
    assert all(Weigher(ConformalMap(seed=seed)).fit(flag).weights([[1.0]])[0, 0] > 5 for seed in range(20))


def test_the_papers_gaussian_tail_is_there():
    table = np.random.default_rng(0).normal(size=(50, 1))
    robust = Weigher("gaussian-robust").fit(table)
    expected = -np.log(2 * stats.norm.sf(np.abs(robust.residuals(table))))
    np.testing.assert_allclose(robust.weights(table), expected, atol=1e-12)


def test_conformal_keeps_a_flag_of_one_row_in_a_thousand_beside_other_columns():
    table = np.column_stack([np.arange(1000.0), np.arange(1000) == 500])
    weights = [Weigher(ConformalMap(seed=seed)).fit(table).weights([[500.0, 1.0]])[0, 1] for seed in range(20)]
    assert min(weights) > 5


@pytest.mark.parametrize("name", ["gaussian", "pareto", "student-t", "conformal"])
def test_a_value_that_was_never_there_weighs_most_whatever_the_map(name):
    table = np.column_stack([np.arange(50.0), np.full(50, 3.0), np.full(50, np.nan)])
    weights = Weigher(name).fit(table).weights([[25.0, 3.0, np.nan], [25.0, 4.0, 1.0], [25.0, np.nan, np.nan]])
    assert weights[0, 1:].tolist() == [0, 0]
    assert weights[1, 1:].tolist() == pytest.approx([np.log(51)] * 2)
    assert weights[2, 1] == pytest.approx(np.log(51))
