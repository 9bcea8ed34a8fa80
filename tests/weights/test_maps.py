import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import biselect as bs
from biselect.errors import InputError
from biselect.options import Kinds, Search, Weighing
from biselect.weights import Weigher
from biselect.weights import maps as maps_module
from biselect.weights.maps import EcdfMap, Steps, apply_steps, stored_name

VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False))
SAMPLES = arrays(np.float64, st.integers(24, 60), elements=VALUES)
FLOATS = st.floats(-1e6, 1e6, allow_subnormal=False)
REFERENCES = arrays(np.float64, st.tuples(st.integers(10, 30), st.integers(1, 3)), elements=FLOATS)
EVERY_MAP = pytest.mark.parametrize("name", ["reach", "ecdf", "ecdf-paper", "mad-z"])


def fitted(name, reference, **settings_):
    """A weigher on one column that varies."""
    reference = np.append(reference, [np.abs(reference).max() + 1] * 6)[:, None]
    return Weigher(map=name, **settings_).fit(reference)


@EVERY_MAP
@given(reference=SAMPLES, pool=SAMPLES, cap=st.sampled_from([0.5, 3.0, 50.0]))
@settings(max_examples=60)
def test_weights_are_bounded_row_independent_and_grow_outwards(assert_sound_weights, name, reference, pool, cap):
    assert_sound_weights(fitted(name, reference, cap=cap), pool, cap)


@EVERY_MAP
@given(seed=st.integers(0, 10_000))
@settings(max_examples=25)
def test_weights_do_not_change_under_increasing_affine_maps(name, seed):
    rng = np.random.default_rng(seed)
    reference, pool = rng.standard_t(3, size=(60, 2)), 2 * rng.standard_t(3, size=(9, 2))
    scale, shift = rng.uniform(0.5, 4, size=2), rng.normal(size=2)
    before = Weigher(map=name).fit(reference).weights(pool)
    moved = Weigher(map=name).fit(reference * scale + shift)
    np.testing.assert_allclose(moved.weights(pool * scale + shift), before, rtol=1e-4, atol=1e-4)


def test_rank_maps_ignore_any_increasing_map_of_a_feature():
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(60, 2)), rng.normal(size=(9, 2))
    straight, bent = Weigher().fit(reference), Weigher().fit(np.exp(reference))
    np.testing.assert_array_equal(straight.weights(pool), bent.weights(np.exp(pool)))


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
    weigher = Weigher("ecdf").fit(reference)
    pool = np.concatenate([reference, np.linspace(-4, 4, 50)[:, None]])
    for x, weight in zip(pool[:, 0], weigher.weights(pool)[:, 0], strict=True):
        cdf = np.clip((np.sum(reference <= x) + 0.5) / 41, 1 / 41, 40 / 41)
        assert weight == pytest.approx(max(0.0, -np.log(2 * min(cdf, 1 - cdf))), abs=1e-12)


@given(REFERENCES, st.data())
def test_ecdf_weights_are_as_defined_row_by_row(reference, data):
    reference = varying(reference)
    pool = data.draw(arrays(np.float64, (4, reference.shape[1]), elements=FLOATS))
    weigher = Weigher(cap=1.5).fit(reference)
    weights = weigher.weights(pool)
    # ranks are taken on residuals; where two raw values share a residual, so do their ranks
    Z, ref = weigher.residuals(pool), weigher.scale.residuals(reference)
    expected = [[ecdf_weight_in_words(ref[:, j], Z[i, j], 1.5) for j in range(Z.shape[1])] for i in range(4)]
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert weights.min() >= 0 and weights.max() <= 1.5
    for i in range(4):
        np.testing.assert_array_equal(weigher.weights(pool[i : i + 1])[0], weights[i])


@given(
    knots=arrays(np.float64, st.integers(1, 60), elements=VALUES),
    x=arrays(np.float64, st.integers(1, 40), elements=st.one_of(VALUES, st.just(np.inf), st.just(-np.inf))),
    inclusive=st.booleans(),
    outlier=st.sampled_from([0.0, 1e308]),
)
def test_the_kernel_gives_the_same_levels_as_searchsorted(knots, x, inclusive, outlier):
    from biselect.weights._steps_kernel import look_up

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
    reach, ecdf = (Weigher(name, cap=1e9).fit(reference) for name in ("reach", "ecdf"))
    np.testing.assert_array_equal(reach.weights(reference), ecdf.weights(reference))
    low, high = reference.min(axis=0), reference.max(axis=0)
    further = data.draw(st.floats(1.0, 1e6))
    for end, sign in ((high, 1), (low, -1)):
        near, far = (reach.weights([end + sign * step * (high - low)])[0] for step in (further, 2 * further))
        assert (far > near).all() and (near > ecdf.weights([end + sign * further * (high - low)])[0]).all()


def test_reach_in_words():
    reference = np.arange(101.0)[:, None]
    weights = Weigher("reach", cap=1e9).fit(reference).weights([[100.0], [105.0], [-10.0]])[:, 0]
    last = np.log(102 / 2)  # the rank alone; the outer five per cent are five long
    np.testing.assert_allclose(weights, [last, last + np.log(1 + 5 / 5), last + np.log(1 + 10 / 5)])


def test_integer_and_boolean_references_weigh_ties_as_documented():
    flags = np.array([False] * 30 + [True] * 10)[:, None]
    ecdf = Weigher().fit(flags).weights(flags)
    # a tie counts in both tails, so the common value is free of weight and the rare one weighs as rare as it is
    assert ecdf[0, 0] == 0 and ecdf[-1, 0] == pytest.approx(-np.log(2 * 9.5 / 41))


def test_mad_z_is_the_distance_in_units_of_spread():
    column = np.r_[np.arange(-5.0, 6.0), 40.0]
    spread = 1.4826 * np.median(np.abs(column - np.median(column)))
    weight = Weigher("mad-z").fit(column[:, None]).weights([[7.0]])[0, 0]
    np.testing.assert_allclose(weight, (7 - np.median(column)) / spread, rtol=1e-4)


class Doubled(EcdfMap):
    """A user's own map."""

    cap = 3.0

    def weigh(self, residuals):
        return 2 * super().weigh(residuals)


class Plain:
    """One that knows nothing of ours."""

    cap, needs_rows = 5.0, False

    def fit(self, columns, rows=None):
        self.spread = np.array([column.deviation for column in columns])

    def weigh(self, residuals):
        return np.abs(residuals) / self.spread

    def weigh_own(self, residuals, columns):
        return self.weigh(residuals)

    def interval(self, weight):
        return None


@pytest.mark.parametrize("own", [Doubled, Doubled(), Plain()])
def test_a_map_may_be_an_object_or_a_class(own):
    reference = np.random.default_rng(0).normal(size=(50, 2))
    weigher = Weigher(own).fit(reference)
    assert weigher.cap == own.cap and weigher.facts.map == type(own()).__name__ if isinstance(own, type) else True
    assert weigher.weights(np.full((1, 2), 1e9)).max() == own.cap
    assert not hasattr(own, "steps") and not hasattr(own, "spread"), "a copy is fit, never the object itself"
    if isinstance(own, Plain):
        np.testing.assert_array_equal(weigher.sample.weights, weigher.weights(reference))
    review = bs.review(
        reference[:9],
        reference,
        k=2,
        m=1,
        weighing=Weighing(map=own),
        kinds=Kinds(kinds=1),
        search=Search(neighbours=(0, 0)),
    )
    assert review.tables.weigher.map is own


def test_what_is_no_map_is_refused_and_names_are_listed():
    with pytest.raises(InputError, match="there is no map 'magic'; choose one of: reach, ecdf, ecdf-paper, mad-z"):
        Weigher("magic")
    with pytest.raises(InputError, match="or an object with the members of"):
        Weigher(3)
    with pytest.raises(InputError, match=r"Doubled has none: register it.*MAPS.register\('my-map', Doubled\)"):
        stored_name(Doubled())
