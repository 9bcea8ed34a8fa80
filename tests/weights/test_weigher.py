import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.columns.column_type import Cells
from biselect.errors import InputError
from biselect.weights import Reference, Weigher


@given(st.integers(0, 1000))
@settings(max_examples=50)
def test_weights_do_not_change_under_increasing_affine_maps_of_a_feature(seed):
    rng = np.random.default_rng(seed)
    reference, pool = rng.normal(size=(50, 2)), rng.normal(size=(5, 2))
    scale, shift = rng.uniform(0.5, 4, size=2), rng.normal(size=2)
    before = Weigher().fit(reference).weights(pool)
    after = Weigher().fit(reference * scale + shift).weights(pool * scale + shift)
    np.testing.assert_allclose(after, before)


def test_weights_grow_with_extremeness():
    calibrator = Weigher("ecdf").fit(np.random.default_rng(0).normal(size=(500, 1)))
    outwards = calibrator.weights(np.linspace(0, 6, 50)[:, None])[:, 0]
    assert (np.diff(outwards)[1:] >= 0).all()
    assert outwards[-1] == calibrator.facts.largest_weight == pytest.approx(np.log(501 / 2))
    assert calibrator.weights([[-9.0]])[0, 0] == calibrator.facts.largest_weight, "both ends alike, to the last bit"


def test_absent_entries_are_remembered():
    reference = np.column_stack([np.arange(21.0), np.arange(21.0), np.ones(21)])
    calibrator = Weigher(missing="median").fit(reference)
    assert calibrator.absent([[np.nan, 3.0, np.nan]]).tolist() == [[True, False, True]]


def test_tied_shares_count_every_entry_that_equals_another():
    table = np.column_stack([np.repeat(np.arange(10.0), 2), np.arange(20.0)])
    facts = Weigher().fit(table).facts
    assert facts.tied == {"0": 1.0, "1": 0.0}


def test_reference_counts_are_strict():
    calibrator = Weigher().fit(np.repeat(np.arange(5.0), 4)[:, None])
    column = calibrator.columns[0]
    cells = column.type.describe(column, Cells(np.array([3.0, 9.0])), np.array([3.0, 9.0]))
    assert [cell.below for cell in cells] == [12, 20]
    assert [cell.above for cell in cells] == [4, 0]


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"map": "magic"}, "no map 'magic'; choose one of: reach"),
        ({"cap": 0}, "cap"),
        ({"cap": np.nan}, "cap"),
        ({"missing": "zero"}, "missing must be one of"),
    ],
)
def test_wrong_settings_are_refused(settings_, message):
    with pytest.raises(InputError, match=message):
        Weigher(**settings_)


def test_unusable_references_and_pools_are_refused():
    good = np.arange(40.0).reshape(20, 2)
    with pytest.raises(InputError, match="has 3 rows; calibration needs at least 10"):
        Weigher().fit(good[:3])
    with pytest.raises(InputError, match="no feature columns"):
        Weigher().fit(np.ones((20, 0)))
    with pytest.raises(InputError, match="holds no value at all"):
        Weigher(missing="median").fit(np.full((20, 1), np.nan))
    for fit in (Weigher().fit, lambda table: Weigher().fit(Reference.of([table] * 5, knots=8))):
        with pytest.raises(InputError, match="column '0' of the reference holds values too large to square"):
            fit(np.linspace(-1e300, 1e300, 400)[:, None])
    with pytest.raises(InputError, match="not been fit"):
        Weigher().weights(good)
    with pytest.raises(InputError, match="3 columns, the reference had 2"):
        Weigher().fit(good).weights(np.ones((1, 3)))
    with pytest.raises(InputError, match="no rows"):
        Weigher().fit(good).weights(np.ones((0, 2)))
    with pytest.raises(InputError, match="rows and columns"):
        Weigher().fit(np.ones(20))


def test_marginals_are_a_word_or_a_function_of_weights_and_residuals():
    table = np.arange(40.0).reshape(20, 2)
    calibrator = Weigher().fit(table)
    own = calibrator.problem(table, k=1, m=1, marginals=lambda W, Z: (W.sum(axis=1), Z.max(axis=0)))
    np.testing.assert_array_equal(own.sample_scores, calibrator.weights(table).sum(axis=1))
    np.testing.assert_array_equal(own.feature_scores, calibrator.residuals(table).max(axis=0))
    assert not calibrator.problem(table, k=1, m=1, marginals="none").sample_scores.any()
    with pytest.raises(InputError, match="marginals must be one of isolation, none"):
        calibrator.problem(table, k=1, m=1, marginals="magic")
