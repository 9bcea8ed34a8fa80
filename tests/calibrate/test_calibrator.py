import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biselect.calibrate import Calibrator
from biselect.calibrate.column import exact_column
from biselect.calibrate.marginals import marginals
from biselect.calibrate.scale import fit_scale
from biselect.errors import InputError

VALUES = st.floats(-1e6, 1e6, allow_subnormal=False)
REFERENCES = arrays(np.float64, st.tuples(st.integers(10, 30), st.integers(1, 3)), elements=VALUES)


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
    calibrator = Calibrator().fit(reference)
    pool = np.concatenate([reference, np.linspace(-4, 4, 50)[:, None]])
    for x, weight in zip(pool[:, 0], calibrator.weights(pool)[:, 0], strict=True):
        cdf = np.clip((np.sum(reference <= x) + 0.5) / 41, 1 / 41, 40 / 41)
        assert weight == pytest.approx(max(0.0, -np.log(2 * min(cdf, 1 - cdf))), abs=1e-12)


@given(REFERENCES, st.data())
@settings(deadline=None)
def test_ecdf_weights_are_as_defined_row_by_row(reference, data):
    reference = varying(reference)
    pool = data.draw(arrays(np.float64, (4, reference.shape[1]), elements=VALUES))
    calibrator = Calibrator(cap=1.5).fit(reference)
    weights = calibrator.weights(pool)
    # ranks are taken on residuals; where two raw values share a residual, so do their ranks
    Z, ref = calibrator.residuals(pool), calibrator.scale.residuals(reference)
    expected = [[ecdf_weight_in_words(ref[:, j], Z[i, j], 1.5) for j in range(Z.shape[1])] for i in range(4)]
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    assert weights.min() >= 0 and weights.max() <= 1.5
    for i in range(4):
        np.testing.assert_array_equal(calibrator.weights(pool[i : i + 1])[0], weights[i])


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=50)
def test_weights_do_not_change_under_increasing_affine_maps_of_a_feature(seed):
    rng = np.random.default_rng(seed)
    reference, pool = rng.normal(size=(50, 2)), rng.normal(size=(5, 2))
    scale, shift = rng.uniform(0.5, 4, size=2), rng.normal(size=2)
    before = Calibrator().fit(reference).weights(pool)
    after = Calibrator().fit(reference * scale + shift).weights(pool * scale + shift)
    np.testing.assert_allclose(after, before)


def test_weights_grow_with_extremeness():
    calibrator = Calibrator().fit(np.random.default_rng(0).normal(size=(500, 1)))
    outwards = calibrator.weights(np.linspace(0, 6, 50)[:, None])[:, 0]
    assert (np.diff(outwards)[1:] >= 0).all()
    assert outwards[-1] == calibrator.facts.largest_weight == pytest.approx(np.log(501 / 2))
    assert calibrator.weights([[-9.0]])[0, 0] == calibrator.facts.largest_weight, "both ends alike, to the last bit"


def test_residuals_use_median_and_scaled_mad_or_mean_and_deviation():
    X = np.arange(11.0)[:, None] ** 2
    robust, plain = Calibrator().fit(X), Calibrator(center="mean").fit(X)
    median = 25.0
    mad = np.median(np.abs(X - median))
    np.testing.assert_allclose(robust.residuals(X), (X - median) / (1.4826 * mad))
    np.testing.assert_allclose(plain.residuals(X), (X - X.mean()) / X.std())


def test_zero_mad_falls_back_to_the_deviation_and_constants_are_dropped():
    reference = np.zeros((20, 3))
    reference[0, 0] = 5.0
    reference[:, 2] = np.arange(20)
    frame = pd.DataFrame(reference, columns=["spike", "flat", "ramp"])
    calibrator = Calibrator().fit(frame)
    assert calibrator.facts.zero_mad == ("spike",)
    assert calibrator.facts.constant == ("flat",)
    assert calibrator.feature_names == ("spike", "ramp")
    problem = calibrator.problem(frame, k=2, m=1)
    assert problem.feature_names == ("spike", "ramp")
    assert calibrator.facts.tied["spike"] > 0.8 and calibrator.facts.tied["ramp"] == 0


def test_marginals_by_hand():
    W, Z = np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([[-1.0, 4.0], [3.0, 4.0]])
    a, b = marginals(W, Z, "paper")
    np.testing.assert_allclose(a, [2, 3])
    np.testing.assert_allclose(b, [1.0, 0.0])  # variance of |Z|: (1, 3) and (4, 4)
    np.testing.assert_allclose(marginals(W, Z, "bounded")[1], [1.0, 0.0])
    assert not any(part.any() for part in marginals(W, Z, "none"))


@given(REFERENCES)
@settings(deadline=None)
def test_bounded_marginals_never_exceed_half_the_cap(reference):
    reference = varying(reference)
    problem = Calibrator(cap=2.0).fit(reference).problem(reference, k=1, m=1)
    assert problem.feature_scores.max() <= 1.0 + 1e-12
    assert problem.sample_scores.max() <= 2.0


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_matched_by_name_and_keep_their_names(make):
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=40), "count": rng.integers(0, 50, size=40), "flag": rng.random(40) > 0.5}
    calibrator = Calibrator().fit(make(data))
    pool = {"flag": [True], "extra": [1.0], "count": [3], "x": [0.5]}
    weights = calibrator.weights(make(pool))
    np.testing.assert_array_equal(weights, calibrator.weights(np.array([[0.5, 3.0, 1.0]])))
    assert calibrator.problem(make(data), k=1, m=1).feature_names == ("x", "count", "flag")
    with pytest.raises(InputError, match="lacks columns of the reference: 'count'"):
        calibrator.weights(make({"x": [1.0], "flag": [True]}))
    with pytest.raises(InputError, match="column 'x' holds String"):
        Calibrator().fit(make({"x": ["a"] * 40}))


def test_missing_values_are_refused_or_filled_by_the_reference_median():
    reference = np.column_stack([np.arange(21.0), np.arange(21.0)])
    pool = np.array([[np.nan, 3.0]])
    with pytest.raises(InputError, match=r"pool has a missing value in column '0', row 0.*missing='median'"):
        Calibrator().fit(reference).weights(pool)
    filled = Calibrator(missing="median").fit(reference)
    np.testing.assert_array_equal(filled.weights(pool), filled.weights([[10.0, 3.0]]))
    reference[3, 1] = np.nan
    assert Calibrator(missing="median").fit(reference).facts.filled == 1
    with pytest.raises(InputError, match="reference has a missing value in column '1', row 3"):
        Calibrator().fit(reference)
    with pytest.raises(InputError, match="an infinite value"):
        filled.weights([[np.inf, 1.0]])


def test_default_frames_and_repeated_columns():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)))  # columns named 0, 1, 2
    assert Calibrator().fit(frame).feature_names == ("0", "1", "2")
    with pytest.raises(InputError, match="several columns of one name"):
        Calibrator().fit(pd.concat([frame, frame], axis=1))


def test_absent_entries_are_remembered():
    reference = np.column_stack([np.arange(21.0), np.arange(21.0), np.ones(21)])
    calibrator = Calibrator(missing="median").fit(reference)
    assert calibrator.absent([[np.nan, 3.0, np.nan]]).tolist() == [[True, False]]


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
        ({"map": "magic"}, "no calibration map 'magic'; choose one of: ecdf"),
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
    with pytest.raises(InputError, match="every feature is constant"):
        Calibrator().fit(np.ones((20, 2)))
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


def test_a_tiny_but_real_spread_is_not_constant():
    X = np.column_stack([1e9 + np.arange(20) * 1e-6])
    assert not fit_scale([exact_column(X[:, 0])], "median").constant.any()


def test_a_split_reference_ranks_among_rows_that_nothing_was_fit_on():
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(60, 2)), rng.normal(size=(8, 2))
    split = Calibrator(split=0.25, seed=3).fit(reference)
    assert (split.facts.reference_rows, split.facts.calibration_rows) == (60, 15)
    aside = np.random.default_rng(3).permuted(np.tile(np.arange(20) < 5, (3, 1)), axis=1).ravel()
    explicit = Calibrator().fit(reference[~aside], calibration=reference[aside])
    np.testing.assert_array_equal(split.weights(pool), explicit.weights(pool))
    np.testing.assert_array_equal(split.residuals(pool), Calibrator().fit(reference[~aside]).residuals(pool))
    counts = split.reference_counts(split.residuals(pool))
    np.testing.assert_array_equal(counts[0][0], (reference < pool[0]).sum(axis=0))
    other = Calibrator(split=0.25, seed=4).fit(reference)
    assert (other.weights(pool) != split.weights(pool)).any(), "the seed decides the split"


def test_windows_that_cannot_be_are_refused():
    table = np.random.default_rng(0).normal(size=(24, 1))
    with pytest.raises(InputError, match="leaves 20 rows to fit on and 4 to rank among"):
        Calibrator(split=0.2).fit(table)
    with pytest.raises(InputError, match="either split or a calibration table"):
        Calibrator(split=0.5).fit(table, calibration=table)
    with pytest.raises(InputError, match="no use for a calibration table"):
        Calibrator(map="laplace").fit(table, calibration=table)
    with pytest.raises(InputError, match="calibration window has 2 columns"):
        Calibrator().fit(table, calibration=np.ones((20, 2)))


def test_integer_and_boolean_references_weigh_ties_as_documented():
    flags = np.array([False] * 30 + [True] * 10)[:, None]
    ecdf = Calibrator().fit(flags).weights(flags)
    # a tie counts in both tails, so the common value is free of weight and the rare one weighs as rare as it is
    assert ecdf[0, 0] == 0 and ecdf[-1, 0] == pytest.approx(-np.log(2 * 9.5 / 41))
    conformal = Calibrator(map="conformal").fit(flags).weights(flags)
    assert conformal[0, 0] == 0 and conformal[-1, 0] > 1


def test_a_reference_of_one_row_is_refused_like_any_too_short_one():
    with pytest.raises(InputError, match="has 1 rows"):
        Calibrator().fit([[1.0, 2.0]])


@pytest.mark.parametrize("known", [100, 101])
def test_filled_entries_are_ties_however_many_values_are_known(known):
    reference = np.full((1000, 2), np.nan)
    reference[:known] = np.random.default_rng(0).normal(size=(known, 2))
    calibrator = Calibrator(missing="median").fit(reference)
    assert calibrator.weights([[np.nan, np.nan]]).tolist() == [[0.0, 0.0]]
    assert calibrator.facts.tied["0"] >= 0.89
