import numpy as np
import pandas as pd
import pytest

from biselect.errors import InputError
from biselect.weights import Reference, Weigher


def test_a_reference_of_one_row_is_refused_like_any_too_short_one():
    with pytest.raises(InputError, match="has 1 rows"):
        Weigher().fit([[1.0, 2.0]])


@pytest.mark.parametrize("known", [100, 101])
def test_filled_entries_are_ties_however_many_values_are_known(known):
    reference = np.full((1000, 2), np.nan)
    reference[:known] = np.random.default_rng(0).normal(size=(known, 2))
    weigher = Weigher(missing="median").fit(reference)
    assert weigher.weights([[np.nan, np.nan]]).tolist() == [[0.0, 0.0]]
    assert weigher.facts.tied["0"] >= 0.89


RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"x": RNG.standard_t(3, size=9000), "y": RNG.integers(0, 50, size=9000)})
POOL = TABLE.iloc[:300]


def blocks(table, rows):
    return (table.iloc[start : start + rows] for start in range(0, len(table), rows))


@pytest.mark.parametrize("name", ["reach", "ecdf", "ecdf-paper", "mad-z"])
def test_a_stream_that_fits_gives_the_weights_of_the_table(name):
    whole = Weigher(map=name).fit(TABLE)
    streamed = Weigher(map=name).fit(Reference.of(blocks(TABLE, 700)))
    assert streamed.facts == whole.facts and streamed.facts.rank_error == 0
    np.testing.assert_array_equal(streamed.weights(POOL), whole.weights(POOL))


@pytest.mark.parametrize("name", ["reach", "ecdf", "ecdf-paper", "mad-z"])
def test_a_sketched_stream_comes_close_and_says_how_close(name):
    whole = Weigher(map=name).fit(TABLE)
    streamed = Weigher(map=name).fit(Reference.of(blocks(TABLE, 700), knots=2500))
    assert 0 < streamed.facts.rank_error < 0.1
    assert np.abs(streamed.weights(POOL) - whole.weights(POOL)).mean() < 0.2


def test_sketched_ecdf_weights_are_within_what_the_rank_error_allows():
    streamed = Weigher().fit(Reference.of(blocks(TABLE, 700), knots=2500))
    error = streamed.facts.rank_error * 9000 / 9001
    exact = np.exp(-Weigher(cap=50).fit(TABLE).weights(POOL))
    assert (np.abs(np.exp(-streamed.weights(POOL)) - exact) <= 2 * error + 1e-12).all()


def test_missing_entries_are_filled_by_the_median_in_a_stream_too():
    table = TABLE.astype(float).copy()
    table.iloc[::7, 0] = np.nan
    whole = Weigher(missing="median").fit(table)
    streamed = Weigher(missing="median").fit(Reference.of(blocks(table, 700)))
    assert streamed.facts.filled == whole.facts.filled == 1286
    np.testing.assert_array_equal(streamed.weights(POOL), whole.weights(POOL))
    filled = table.fillna({"x": table["x"].median()})
    np.testing.assert_allclose(whole.weights(POOL), Weigher().fit(filled).weights(POOL))
    with pytest.raises(InputError, match="missing value in column 'x', row 700"):
        Reference.of(blocks(table.iloc[1:].assign(x=[1.0] * 700 + [np.nan] * 8299), 350), missing="error")


def test_streams_that_cannot_be_fit_are_refused():
    with pytest.raises(InputError, match="no blocks"):
        Weigher().fit(Reference.of([]))
    with pytest.raises(InputError, match="lacks columns of the reference: 'y'"):
        Weigher().fit(Reference.of([TABLE, TABLE[["x"]]]))
