import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.calibrate import Calibrator, marginal_scores
from biselect.errors import InputError


@given(st.integers(0, 1000))
@settings(max_examples=50)
def test_weights_do_not_change_under_increasing_affine_maps_of_a_feature(seed):
    rng = np.random.default_rng(seed)
    reference, pool = rng.normal(size=(50, 2)), rng.normal(size=(5, 2))
    scale, shift = rng.uniform(0.5, 4, size=2), rng.normal(size=2)
    before = Calibrator().fit(reference).weights(pool)
    after = Calibrator().fit(reference * scale + shift).weights(pool * scale + shift)
    np.testing.assert_allclose(after, before)


def test_weights_grow_with_extremeness():
    calibrator = Calibrator("ecdf").fit(np.random.default_rng(0).normal(size=(500, 1)))
    outwards = calibrator.weights(np.linspace(0, 6, 50)[:, None])[:, 0]
    assert (np.diff(outwards)[1:] >= 0).all()
    assert outwards[-1] == calibrator.facts.largest_weight == pytest.approx(np.log(501 / 2))
    assert calibrator.weights([[-9.0]])[0, 0] == calibrator.facts.largest_weight, "both ends alike, to the last bit"


def test_absent_entries_are_remembered():
    reference = np.column_stack([np.arange(21.0), np.arange(21.0), np.ones(21)])
    calibrator = Calibrator(missing="median").fit(reference)
    assert calibrator.absent([[np.nan, 3.0, np.nan]]).tolist() == [[True, False, True]]


def test_tied_shares_count_every_entry_that_equals_another():
    table = np.column_stack([np.repeat(np.arange(10.0), 2), np.arange(20.0)])
    facts = Calibrator().fit(table).facts
    assert facts.tied == {"0": 1.0, "1": 0.0}


def test_reference_counts_are_strict():
    calibrator = Calibrator().fit(np.repeat(np.arange(5.0), 4)[:, None])
    below, above = calibrator.reference_counts(calibrator.residuals([[3.0], [9.0]]))
    assert below[:, 0].tolist() == [12, 20]
    assert above[:, 0].tolist() == [4, 0]


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"map": "magic"}, "no calibration map 'magic'; choose one of: reach"),
        ({"center": "mode"}, "center must be one of"),
        ({"cap": 0}, "cap"),
        ({"cap": np.nan}, "cap"),
        ({"missing": "zero"}, "missing must be one of"),
        ({"split": 1.0}, "split must be 0 or a share"),
        ({"split": 0.01}, "split must be 0 or a share"),
        ({"split": 0.0, "map": "conformal"}, "valid on a split reference only"),
        ({"split": 0.5, "map": "gaussian"}, "takes no ranks, so there is nothing to split"),
    ],
)
def test_wrong_settings_are_refused(settings_, message):
    with pytest.raises(InputError, match=message):
        Calibrator(**settings_)


def test_unusable_references_and_pools_are_refused():
    good = np.arange(40.0).reshape(20, 2)
    with pytest.raises(InputError, match="has 3 rows; calibration needs at least 10"):
        Calibrator().fit(good[:3])
    with pytest.raises(InputError, match="no feature columns"):
        Calibrator().fit(np.ones((20, 0)))
    with pytest.raises(InputError, match="holds no value at all"):
        Calibrator(missing="median").fit(np.full((20, 1), np.nan))
    for fit in (Calibrator().fit, lambda table: Calibrator().fit_blocks([table] * 5, memory=8)):
        with pytest.raises(InputError, match="column '0' of the reference holds values too large to square"):
            fit(np.linspace(-1e300, 1e300, 400)[:, None])
    with pytest.raises(InputError, match="not been fit"):
        Calibrator().weights(good)
    with pytest.raises(InputError, match="3 columns, the reference had 2"):
        Calibrator().fit(good).weights(np.ones((1, 3)))
    with pytest.raises(InputError, match="no rows"):
        Calibrator().fit(good).weights(np.ones((0, 2)))
    with pytest.raises(InputError, match="rows and columns"):
        Calibrator().fit(np.ones(20))


VALUES = st.floats(-1e6, 1e6, allow_subnormal=False)
REFERENCES = arrays(np.float64, st.tuples(st.integers(10, 30), st.integers(1, 3)), elements=VALUES)


def varying(reference):
    """The same table with a first column that is never constant."""
    reference = reference.copy()
    reference[0, :] = 1 + np.abs(reference).max()
    return reference


def test_marginals_by_hand():
    W, Z = np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([[-1.0, 4.0], [3.0, 4.0]])
    a, b = marginal_scores(W, Z, "paper")
    np.testing.assert_allclose(a, [2, 3])
    np.testing.assert_allclose(b, [1.0, 0.0])  # variance of |Z|: (1, 3) and (4, 4)
    np.testing.assert_allclose(marginal_scores(W, Z, "bounded")[1], [1.0, 0.0])
    assert not any(part.any() for part in marginal_scores(W, Z, "none"))


@given(REFERENCES)
def test_bounded_marginals_never_exceed_half_the_cap(reference):
    reference = varying(reference)
    problem = Calibrator(cap=2.0).fit(reference).problem(reference, k=1, m=1, marginals="bounded")
    assert problem.feature_scores.max() <= 1.0 + 1e-12
    assert problem.sample_scores.max() <= 2.0
