import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.calibrate import Calibrator, map_names

VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False))
SAMPLES = arrays(np.float64, st.integers(24, 60), elements=VALUES)
EVERY_MAP = pytest.mark.parametrize("name", map_names())


def fitted(name, reference, **settings_):
    """A calibrator on one column that varies in any split; every third row is an anomaly to the supervised map."""
    reference = np.append(reference, [np.abs(reference).max() + 1] * 6)[:, None]
    return Calibrator(map=name, **settings_).fit(reference, labels=np.arange(len(reference)) % 3 == 0)


@EVERY_MAP
@given(reference=SAMPLES, pool=SAMPLES, cap=st.sampled_from([0.5, 3.0, 50.0]))
@settings(deadline=None, max_examples=60)
def test_weights_are_bounded_row_independent_and_grow_outwards(name, reference, pool, cap):
    calibrator = fitted(name, reference, cap=cap)
    pool = np.sort(np.concatenate([pool, [-1e300, 1e300]]))[:, None]
    weights = calibrator.weights(pool)[:, 0]
    assert np.isfinite(weights).all() and weights.min() >= 0 and weights.max() <= cap
    steps = np.diff(weights)
    lowest = int(np.argmin(weights))
    tolerance = 1e-12 * (1 + cap)
    assert (steps[:lowest] <= tolerance).all() and (steps[lowest:] >= -tolerance).all(), "falls, then rises"
    assert weights.max() <= calibrator.facts.largest_weight + tolerance
    np.testing.assert_array_equal(calibrator.weights(pool[3:4])[:, 0], weights[3:4])
    np.testing.assert_array_equal(calibrator.weights(pool[::-1])[::-1, 0], weights)


@EVERY_MAP
@given(seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=25)
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
