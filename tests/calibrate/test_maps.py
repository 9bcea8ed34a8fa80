import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from biselect.calibrate import Calibrator, map_names
from biselect.calibrate import maps as maps_module
from biselect.calibrate.column import exact_column
from biselect.calibrate.maps import DEGREES_OF_FREEDOM, Steps, apply_steps, nth_nearest
from biselect.errors import InputError

VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False))
FLOATS = st.floats(-1e6, 1e6, allow_subnormal=False)
REFERENCES = arrays(np.float64, st.tuples(st.integers(10, 30), st.integers(1, 3)), elements=FLOATS)
SAMPLES = arrays(np.float64, st.integers(24, 60), elements=VALUES)
EVERY_MAP = pytest.mark.parametrize("name", map_names())


def fitted(name, reference, **settings_):
    """A calibrator on one column that varies in any split; every third row is an anomaly to the supervised map."""
    reference = np.append(reference, [np.abs(reference).max() + 1] * 6)[:, None]
    return Calibrator(map=name, **settings_).fit(reference, labels=np.arange(len(reference)) % 3 == 0)


@EVERY_MAP
@given(reference=SAMPLES, pool=SAMPLES, cap=st.sampled_from([0.5, 3.0, 50.0]))
@settings(max_examples=60)
def test_weights_are_bounded_row_independent_and_grow_outwards(name, reference, pool, cap):
    calibrator = fitted(name, reference, cap=cap)
    pool = np.sort(np.concatenate([pool, [-1e300, 1e300]]))[:, None]
    weights = calibrator.weights(pool)[:, 0]
    assert np.isfinite(weights).all() and weights.min() >= 0 and weights.max() <= cap
    np.testing.assert_array_equal(calibrator.weights(pool[3:4])[:, 0], weights[3:4])
    np.testing.assert_array_equal(calibrator.weights(pool[::-1])[::-1, 0], weights)
    if name == "density":  # it may rise again in a gap
        return
    steps = np.diff(weights)
    lowest = int(np.argmin(weights))
    tolerance = 1e-12 * (1 + cap)
    assert (steps[:lowest] <= tolerance).all() and (steps[lowest:] >= -tolerance).all(), "falls, then rises"
    assert weights.max() <= calibrator.facts.largest_weight + tolerance


@EVERY_MAP
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_weights_do_not_change_under_increasing_affine_maps_nor_with_the_center(name, seed):
    rng = np.random.default_rng(seed)
    reference, pool = rng.standard_t(3, size=(60, 2)), 2 * rng.standard_t(3, size=(9, 2))
    labels = rng.random(60) < 0.3
    scale, shift = rng.uniform(0.5, 4, size=2), rng.normal(size=2)
    before = Calibrator(map=name).fit(reference, labels=labels).weights(pool)
    for center in ("median", "mean"):
        moved = Calibrator(map=name, center=center).fit(reference * scale + shift, labels=labels)
        np.testing.assert_allclose(moved.weights(pool * scale + shift), before, rtol=1e-4, atol=1e-4)


def test_rank_maps_ignore_any_increasing_map_of_a_feature():
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(60, 2)), rng.normal(size=(9, 2))
    straight, bent = Calibrator().fit(reference), Calibrator().fit(np.exp(reference))
    np.testing.assert_array_equal(straight.weights(pool), bent.weights(np.exp(pool)))


def test_a_map_never_looks_at_labels_unless_it_is_supervised():
    table = np.random.default_rng(0).normal(size=(50, 2))
    for name in map_names(supervised=False):
        plain = Calibrator(map=name).fit(table).weights(table)
        np.testing.assert_array_equal(Calibrator(map=name).fit(table, labels=np.arange(50)).weights(table), plain)


def varying(reference):
    """The same table with a first column that is never constant."""
    reference = reference.copy()
    reference[0, :] = 1 + np.abs(reference).max()
    return reference


def ecdf_weight_in_words(reference, x, cap):
    """Eq. tail-calibration and Eq. weights for one entry, on raw values; ties but one count in the upper tail too."""
    n = len(reference)
    rank, ties = sum(r <= x for r in reference), sum(r == x for r in reference)

    def smoothed(count):
        return min(max((count + 0.5) / (n + 1), 1 / (n + 1)), n / (n + 1))

    return min(max(-np.log(2 * min(smoothed(rank), smoothed(n - rank + max(0, ties - 1)))), 0), cap)


def test_without_ties_the_weight_is_the_papers_to_the_letter():
    reference = np.random.default_rng(0).normal(size=(40, 1))
    calibrator = Calibrator("ecdf").fit(reference)
    pool = np.concatenate([reference, np.linspace(-4, 4, 50)[:, None]])
    for x, weight in zip(pool[:, 0], calibrator.weights(pool)[:, 0], strict=True):
        cdf = np.clip((np.sum(reference <= x) + 0.5) / 41, 1 / 41, 40 / 41)
        assert weight == pytest.approx(max(0.0, -np.log(2 * min(cdf, 1 - cdf))), abs=1e-12)


@given(REFERENCES, st.data())
def test_ecdf_weights_are_as_defined_row_by_row(reference, data):
    reference = varying(reference)
    pool = data.draw(arrays(np.float64, (4, reference.shape[1]), elements=FLOATS))
    calibrator = Calibrator(cap=1.5).fit(reference)
    weights = calibrator.weights(pool)
    # ranks are taken on residuals; where two raw values share a residual, so do their ranks
    Z, ref = calibrator.residuals(pool), calibrator.scale.residuals(reference)
    expected = [[ecdf_weight_in_words(ref[:, j], Z[i, j], 1.5) for j in range(Z.shape[1])] for i in range(4)]
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert weights.min() >= 0 and weights.max() <= 1.5
    for i in range(4):
        np.testing.assert_array_equal(calibrator.weights(pool[i : i + 1])[0], weights[i])


def test_integer_and_boolean_references_weigh_ties_as_documented():
    flags = np.array([False] * 30 + [True] * 10)[:, None]
    ecdf = Calibrator().fit(flags).weights(flags)
    # a tie counts in both tails, so the common value is free of weight and the rare one weighs as rare as it is
    assert ecdf[0, 0] == 0 and ecdf[-1, 0] == pytest.approx(-np.log(2 * 9.5 / 41))
    conformal = Calibrator(map="conformal").fit(flags).weights(flags)
    assert conformal[0, 0] == 0 and conformal[-1, 0] > 1


def test_conformal_in_words():
    rng = np.random.default_rng(2)
    reference, pool = rng.integers(0, 9, size=(41, 1)).astype(float), np.arange(-2.0, 14.0)[:, None]
    calibrator = Calibrator(map="conformal", seed=5).fit(reference)
    aside = np.random.default_rng(5).permuted(np.tile(np.arange(20) < 10, (3, 1)), axis=1)
    aside = aside.ravel()[:41]
    fit, ranked = reference[~aside, 0], reference[aside, 0]
    middle = np.median(fit)
    mad = 1.4826 * np.median(np.abs(fit - middle))
    scores = np.abs(ranked - middle) / mad
    p = [(1 + (scores >= abs(x - middle) / mad - 1e-12).sum()) / (aside.sum() + 1) for x in pool[:, 0]]
    np.testing.assert_allclose(calibrator.weights(pool)[:, 0], -np.log(p), atol=1e-12)
    assert calibrator.facts.calibration_rows == aside.sum() and calibrator.facts.reference_rows == 41


def test_conformal_p_values_are_super_uniform_with_and_without_ties():
    rng = np.random.default_rng(3)
    for round_to in (None, 0):
        p = []
        for repeat in range(30):
            draw = rng.standard_t(2, size=(41, 100)) * 3  # a hundred columns are a hundred tables of one
            draw = draw if round_to is None else draw.round(round_to)
            calibrator = Calibrator(map="conformal", cap=100, seed=repeat).fit(draw[:40])
            p.extend(np.exp(-calibrator.weights(draw[40:])[0]))
        for alpha in (0.05, 0.1, 0.2, 0.5, 0.9):
            tolerance = 3 * np.sqrt(alpha * (1 - alpha) / 3000)
            assert np.mean(np.array(p) <= alpha + 1e-12) <= alpha + tolerance


def test_pareto_keeps_the_body_and_reaches_beyond_the_reference():
    grid = stats.genpareto.ppf((np.arange(5000) + 0.5) / 5000, 0.4)[:, None]
    ecdf, pareto = Calibrator("ecdf", cap=100).fit(grid), Calibrator(map="pareto", cap=100).fit(grid)
    body = np.quantile(grid, [0.06, 0.5, 0.9])[:, None]
    np.testing.assert_array_equal(pareto.weights(body), ecdf.weights(body))
    beyond = grid.max() * np.array([[2.0], [20.0]])
    assert np.ptp(ecdf.weights(beyond)) == 0
    expected = -np.log(2 * stats.genpareto.sf(beyond, 0.4))
    np.testing.assert_allclose(pareto.weights(beyond), expected, rtol=0.1)


def test_pareto_of_a_tail_that_ends_is_exponential():
    pareto = Calibrator(map="pareto", cap=100).fit(np.linspace(0, 1, 400)[:, None])
    rising = np.diff(pareto.weights(np.linspace(0.96, 3, 30)[:, None])[:, 0])
    np.testing.assert_allclose(rising, rising[0], rtol=1e-6)


def test_distances_in_units_of_spread():
    column = np.r_[np.arange(-5.0, 6.0), 40.0]
    reference, pool = column[:, None], np.array([[7.0]])
    spread = 1.4826 * np.median(np.abs(column - np.median(column)))
    found = {name: float(Calibrator(name).fit(reference).weights(pool)[0, 0]) for name in ("abs-z", "mad-z")}
    np.testing.assert_allclose(found["abs-z"], (7 - column.mean()) / column.std())
    np.testing.assert_allclose(found["mad-z"], (7 - np.median(column)) / spread, rtol=1e-4)


def test_parametric_maps_are_the_tails_of_their_distribution():
    rng = np.random.default_rng(1)
    reference, pool = rng.standard_t(4, size=(400, 1)), np.linspace(-9, 9, 40)[:, None]

    def weights(name):
        return Calibrator(map=name, cap=1e3).fit(reference).weights(pool)

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
    calibrator = Calibrator(map="student-t", cap=100).fit(grid)
    assert calibrator._map.freedom[0] == pytest.approx(freedom, rel=0.02)
    far = np.array([[5 + 3 * 40.0]])
    assert calibrator.weights(far)[0, 0] == pytest.approx(-np.log(2 * stats.t.sf(40.0, freedom)), rel=0.01)


def test_student_t_of_a_spike_is_the_heaviest_on_offer():
    spike = np.zeros((100, 1))
    spike[:3] = [[1.0], [-1.0], [4.0]]
    assert Calibrator(map="student-t").fit(spike)._map.freedom[0] == DEGREES_OF_FREEDOM[0]


def test_logistic_follows_the_informative_side_only():
    rng = np.random.default_rng(4)
    labels = rng.random(4000) < 0.1
    informative = rng.normal(size=4000) + 3 * labels
    table = np.column_stack([informative, rng.normal(size=4000)])
    calibrator = Calibrator(map="logistic").fit(table, labels=labels)
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
            Calibrator(map="logistic").fit(table, labels=labels)
    with pytest.raises(InputError, match="whole reference at once"):
        Calibrator(map="logistic").fit_blocks([table])


@given(
    knots=arrays(np.float64, st.integers(1, 60), elements=VALUES),
    x=arrays(np.float64, st.integers(1, 40), elements=st.one_of(VALUES, st.just(np.inf), st.just(-np.inf))),
    inclusive=st.booleans(),
    outlier=st.sampled_from([0.0, 1e308]),
)
def test_the_kernel_gives_the_same_levels_as_searchsorted(knots, x, inclusive, outlier):
    from biselect.calibrate.steps_kernel import look_up

    values = np.sort(np.append(knots, outlier))
    steps = Steps(values=values, levels=np.arange(values.size + 1.0), inclusive=inclusive)
    x = np.concatenate([x, values])
    fast = np.empty(x.size)
    look_up(x, values, steps.levels, inclusive, fast)
    np.testing.assert_array_equal(fast, steps(x))


def test_large_pools_go_through_the_kernel_with_the_same_answer(monkeypatch):
    rng = np.random.default_rng(0)
    steps = [
        Steps(values=np.sort(rng.standard_cauchy(size=5000)), levels=rng.random(5001), inclusive=bool(j % 2))
        for j in range(3)
    ]
    Z = rng.standard_cauchy(size=(2000, 3))
    slow = apply_steps(steps, Z)
    monkeypatch.setattr(maps_module, "KERNEL_CELLS", 0)
    np.testing.assert_array_equal(apply_steps(steps, Z), slow)


@given(REFERENCES, st.data())
def test_reach_is_ecdf_inside_the_reference_and_tells_apart_what_lies_beyond(reference, data):
    reference = varying(reference)
    reach, ecdf = (Calibrator(name, cap=1e9).fit(reference) for name in ("reach", "ecdf"))
    np.testing.assert_array_equal(reach.weights(reference), ecdf.weights(reference))
    low, high = reference.min(axis=0), reference.max(axis=0)
    further = data.draw(st.floats(1.0, 1e6))
    for end, sign in ((high, 1), (low, -1)):
        near, far = (reach.weights([end + sign * step * (high - low)])[0] for step in (further, 2 * further))
        assert (far > near).all() and (near > ecdf.weights([end + sign * further * (high - low)])[0]).all()


def test_reach_in_words():
    reference = np.arange(101.0)[:, None]
    weights = Calibrator("reach", cap=1e9).fit(reference).weights([[100.0], [105.0], [-10.0]])[:, 0]
    last = np.log(102 / 2)  # the rank alone; the outer five per cent are five long
    np.testing.assert_allclose(weights, [last, last + np.log(1 + 5 / 5), last + np.log(1 + 10 / 5)])


def test_density_sees_a_gap_that_ranks_do_not():
    rng = np.random.default_rng(0)
    reference = np.concatenate([rng.normal(-5, 1, 500), rng.normal(5, 1, 500)])[:, None]
    gap, mode = Calibrator("density").fit(reference).weights([[0.0], [5.0]])[:, 0]
    assert gap > 5 and mode < 1
    assert Calibrator("reach").fit(reference).weights([[0.0]])[0, 0] < 0.1


@given(SAMPLES, arrays(np.float64, 7, elements=VALUES), st.integers(1, 24))
def test_the_radius_is_the_distance_to_the_nth_nearest_entry(entries, x, number):
    expected = np.sort(np.abs(x[:, None] - entries), axis=1)[:, number - 1]
    np.testing.assert_allclose(nth_nearest(exact_column(entries), x, number), expected)


def test_student_t_weighs_a_flag_by_its_share():
    half = np.repeat([0.0, 1.0], 500)[:, None]
    assert Calibrator("student-t").fit(half).weights(half).max() < 0.01
    for share in (0.01, 0.1, 0.4):
        flags = (np.arange(1000) < 1000 * share).astype(float)[:, None]
        weight = Calibrator("student-t").fit(flags).weights([[1.0]])[0, 0]
        assert weight <= -np.log(share) + 0.01 and weight > 0.8 * -np.log(share)


def test_conformal_keeps_a_rare_flag_whatever_the_seed():
    flag = np.append(np.zeros(999), 1.0)[:, None]
    assert all(Calibrator("conformal", seed=seed).fit(flag).weights([[1.0]])[0, 0] > 5 for seed in range(20))


def test_the_papers_rank_on_ties_and_its_gaussian_tail_are_there():
    flags = np.repeat([0.0, 1.0], 20)[:, None]
    assert Calibrator("ecdf-paper").fit(flags).weights([[1.0]])[0, 0] == pytest.approx(np.log(41 / 2))
    assert Calibrator("ecdf").fit(flags).weights([[1.0]])[0, 0] < 0.06
    table = np.random.default_rng(0).normal(size=(50, 1))
    robust = Calibrator("gaussian-robust").fit(table)
    expected = -np.log(2 * stats.norm.sf(np.abs(robust.residuals(table))))
    np.testing.assert_allclose(robust.weights(table), expected, atol=1e-12)
