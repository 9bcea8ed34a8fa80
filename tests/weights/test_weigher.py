import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.weights.drawn_tables import pairs

from biselect.columns.column_type import Cells
from biselect.errors import InputError
from biselect.weights import Reference, Weigher
from biselect.weights.reference import FEWEST_ROWS


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
    weigher = Weigher("ecdf").fit(np.random.default_rng(0).normal(size=(500, 1)))
    outwards = weigher.weights(np.linspace(0, 6, 50)[:, None])[:, 0]
    assert (np.diff(outwards)[1:] >= 0).all()
    assert outwards[-1] == weigher.facts.largest_weight == pytest.approx(np.log(501 / 2))
    assert weigher.weights([[-9.0]])[0, 0] == weigher.facts.largest_weight, "both ends alike, to the last bit"


def test_absent_entries_are_remembered():
    reference = np.column_stack([np.arange(21.0), np.arange(21.0), np.ones(21)])
    weigher = Weigher(missing="median").fit(reference)
    assert weigher.absent([[np.nan, 3.0, np.nan]]).tolist() == [[True, False, True]]


def test_tied_shares_count_every_entry_that_equals_another():
    table = np.column_stack([np.repeat(np.arange(10.0), 2), np.arange(20.0)])
    facts = Weigher().fit(table).facts
    assert facts.tied == {"0": 1.0, "1": 0.0}


def test_reference_counts_are_strict():
    weigher = Weigher().fit(np.repeat(np.arange(5.0), 4)[:, None])
    column = weigher.columns[0]
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


def test_marginals_are_a_function_of_weights_and_residuals():
    table = np.arange(40.0).reshape(20, 2)
    weigher = Weigher().fit(table)
    own = weigher.plain_problem(table, k=1, m=1, marginals=lambda W, Z: (W.sum(axis=1), Z.max(axis=0)))
    np.testing.assert_array_equal(own.sample_scores, weigher.weights(table).sum(axis=1))
    np.testing.assert_array_equal(own.feature_scores, weigher.residuals(table).max(axis=0))
    plain = weigher.plain_problem(table, k=1, m=1, coupling_weight=2.0)
    assert not plain.sample_scores.any() and not plain.feature_scores.any() and plain.coupling_weight == 2
    np.testing.assert_array_equal(plain.coupling, weigher.weights(table))
    assert plain.directions is None and plain.feature_names is None
    named = Weigher().fit(pd.DataFrame(table, columns=["a", "b"]))
    one = named.plain_problem(pd.DataFrame(table, columns=["a", "b"]), k=1, m=1, features=["b"])
    assert one.feature_names == ("b",) and one.coupling.tolist() == named.weights(table)[:, 1:].tolist()


def others_weigh(frame, row, **options):
    """What a row weighs against the others, and which columns are weighed as they are among all rows."""
    others = Weigher(**options).fit(frame.drop(index=row).reset_index(drop=True))
    return others.weights(frame.loc[[row]])[0], [column.type.is_ranked for column in others.columns], others


@settings(max_examples=60)
@given(pairs(most_rows=25), st.sampled_from([{}, {"map": "ecdf"}, {"cap": 1.5}, {"missing": "median"}]))
def test_a_row_of_the_reference_weighs_what_it_does_against_the_others(pair, options):
    frame = pair.normal
    assume(len(frame) > FEWEST_ROWS and (options != {"missing": "median"} or frame.notna().any().all()))
    weigher = Weigher(**options).fit(frame)
    for row in range(0, len(frame), 4):
        try:
            alone, ranked, others = others_weigh(frame, row, **options)
        except InputError:  # without the row a column has no value whose median could fill it
            continue
        for j, column in enumerate(weigher.columns):
            if column.type.is_ranked != ranked[j]:  # without the row all values are equal
                continue
            found = weigher.sample.weights[row, j]
            value = frame.iloc[row, j]
            if options == {"missing": "median"} and (pd.isna(value) or frame.iloc[:, j].isna().any()):
                continue  # the median of the others is another one
            if column.type.is_ranked and not pd.isna(value):
                residuals = others.columns[j].distribution.values
                z = (value - others.columns[j].location) / others.columns[j].scale
                ends = residuals[[0, -1]] - np.quantile(residuals, [0.05, 0.95])
                beyond = (z < residuals[0], z > residuals[-1])
                if any(out and abs(end) <= 1e-5 * residuals.std() for out, end in zip(beyond, ends, strict=True)):
                    assert found >= Weigher("ecdf", cap=weigher.cap).fit(frame).sample.weights[row, j] - 1e-9
                    continue  # the outer five per cent are ties: their length is the spread, that of the row in it
            assert found == pytest.approx(alone[j], rel=1e-9, abs=1e-9), (row, j)


def test_the_outermost_row_of_a_reference_lies_beyond_the_next_one():
    """Found by comparison: in a reference of ten rows an outlier was worth a seventh of what a pool row is."""
    for rows in (11, 60):
        column = np.arange(float(rows))
        column[-1] = 1e6
        weigher = Weigher(cap=50).fit(column[:, None])
        alone = Weigher(cap=50).fit(column[:-1, None]).weights([[1e6]])[0, 0]
        assert weigher.sample.weights[-1, 0] == pytest.approx(alone) and alone > 12
        assert weigher.weights(column[-1:, None])[0, 0] < 4, "as any row that is as far out as another"


def test_rows_of_the_reference_are_weighed_wherever_they_stand():
    table = np.random.default_rng(0).normal(size=(50, 3))
    weigher = Weigher().fit(table)
    cells = weigher.cells(table, places=weigher.own_places)
    np.testing.assert_array_equal(cells.weights, weigher.sample.weights)
    some = weigher.cells(table[[7, 3]], places=np.array([7, 3]))
    np.testing.assert_array_equal(some.weights, cells.weights[[7, 3]])
    np.testing.assert_array_equal(weigher.cells(table).weights, weigher.weights(table))
    assert weigher.cells(table).places is None
    light = weigher.for_weights()
    np.testing.assert_array_equal(light.weights(table), weigher.weights(table))
    with pytest.raises(InputError, match="a summary holds none"):
        _ = light.sample


@pytest.mark.parametrize("missing", ["weigh", "median"])
def test_gaps_are_counted_in_categories_too(missing):
    rows = {"x": [1.0, None, 3.0, 4.0], "word": ["a", None, None, "b"], "flag": [True, False, None, True]}
    table = pa.table({name: 5 * values for name, values in rows.items()})
    facts = Weigher(missing=missing).fit(table).facts
    labelled = {"word": 10, "flag": 5}
    assert facts.absent == (labelled if missing == "median" else {"x": 5, **labelled})
    assert facts.filled == 5 * (missing == "median")
