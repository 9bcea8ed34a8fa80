import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from biselect.errors import InputError
from biselect.tables._frames import as_matrix, library_of
from biselect.weights import Weigher


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_matched_by_name_and_keep_their_names(make):
    rng = np.random.default_rng(0)
    data = {"x": rng.normal(size=40), "count": rng.integers(0, 50, size=40), "flag": rng.random(40) > 0.5}
    weigher = Weigher().fit(make(data))
    pool = {"flag": [True], "extra": [1.0], "count": [3], "x": [0.5]}
    weights = weigher.weights(make(pool))
    np.testing.assert_array_equal(weights, weigher.weights(np.array([[0.5, 3.0, 1.0]])))
    assert weigher.problem(make(data), k=1, m=1).column_names == ("x", "count", "flag")
    assert weigher.plain_problem(make(data), k=1, m=1).feature_names == ("x", "count", "flag")
    with pytest.raises(InputError, match="lacks columns of the reference: 'count'"):
        weigher.weights(make({"x": [1.0], "flag": [True]}))
    with pytest.raises(InputError, match=r"column 'x' holds labels in the pool \('a'\), but numbers in the reference"):
        weigher.weights(make({"x": ["a"], "count": [1], "flag": [True]}))


def test_the_answer_comes_in_the_library_of_the_pool():
    assert (
        library_of(pd.DataFrame()) == "pandas" and library_of(pl.DataFrame()) == library_of(pl.LazyFrame()) == "polars"
    )
    assert library_of(pa.table({})) == "pyarrow" and library_of("file.csv") is None and library_of(np.eye(2)) is None


def test_a_problem_takes_the_names_of_a_pandas_index():
    table = pd.DataFrame({"x": np.arange(30.0)})
    weigher = Weigher().fit(table)
    assert weigher.problem(table, k=1, m=1).sample_names is None
    table.index = [f"id{row}" for row in range(30)]
    assert weigher.problem(table, k=1, m=1).sample_names[:2] == ("id0", "id1")


def test_missing_values_are_refused_or_filled_by_the_reference_median():
    reference = np.column_stack([np.arange(21.0), np.arange(21.0)])
    pool = np.array([[np.nan, 3.0]])
    with pytest.raises(
        InputError,
        match=r"pool has a missing value in column '0', row 0.*missing='weigh'.* .*missing='median'",
    ):
        Weigher(missing="error").fit(reference).weights(pool)
    filled = Weigher(missing="median").fit(reference)
    np.testing.assert_array_equal(filled.weights(pool), filled.weights([[10.0, 3.0]]))
    reference[3, 1] = np.nan
    assert Weigher(missing="median").fit(reference).facts.filled == 1
    with pytest.raises(InputError, match="reference has a missing value in column '1', row 3"):
        Weigher(missing="error").fit(reference)
    with pytest.raises(InputError, match="an infinite value"):
        filled.weights([[np.inf, 1.0]])


def test_default_frames_and_repeated_columns():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)))  # columns named 0, 1, 2
    assert Weigher().fit(frame).feature_names == ("0", "1", "2")
    with pytest.raises(InputError, match="several columns of one name"):
        Weigher().fit(pd.concat([frame, frame], axis=1))


FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("make", FRAMES, ids=["pandas", "polars", "arrow"])
def test_types_decide_what_is_a_category(make):
    frame = make({"text": ["a", None, "b"], "flag": [True, False, None], "code": [5411, 5812, 5411], "x": [1, 2, 3]})
    matrix = as_matrix(frame, categories=["code"])
    assert set(matrix.labels) == {0, 1, 2} and matrix.text == {0}
    assert matrix.coded(2)[1][int(matrix.values[1, 2])] == "5812"
    assert np.isnan(matrix.values[1, 0]) and np.isnan(matrix.values[2, 1])


@pytest.mark.parametrize(
    "column",
    [
        pd.DataFrame({"x": pd.Categorical([7, 8, 7])}),
        pl.DataFrame({"x": ["7", "8", "7"]}, schema={"x": pl.Categorical}),
        pl.DataFrame({"x": ["7", "8", "7"]}, schema={"x": pl.Enum(["8", "7"])}),
        pa.table({"x": pa.array(["7", "8", "7"]).dictionary_encode()}),
    ],
    ids=["pandas", "polars", "enum", "dictionary"],
)
def test_categoricals_are_categories_whatever_they_hold(column):
    matrix = as_matrix(column)
    assert [matrix.labels[0][int(code)] for code in matrix.values[:, 0]] == ["7", "8", "7"] and not matrix.text


def test_what_is_neither_a_number_nor_a_category_is_refused():
    with pytest.raises(InputError, match="column 'x' holds List"):
        as_matrix(pl.DataFrame({"x": [[1], [2]]}))
    with pytest.raises(InputError, match="values of several types"):
        as_matrix(pd.DataFrame({"x": pd.Series([1, "a", object()], dtype=object)}))
    with pytest.raises(InputError, match="an array must hold numbers only"):
        as_matrix([["a"]])


WAITS = [63.0, 0.5, None, -2.25, 86400.0, 0.001, 7.5, 12.125, 3.0, 4.0, 5.5, 6.0]


def as_pandas(unit):
    return pd.DataFrame({"wait": pd.to_timedelta(WAITS, unit="s").astype(f"timedelta64[{unit}]"), "x": range(12)})


def as_arrow(unit):
    counts = [None if wait is None else round(wait * {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]) for wait in WAITS]
    return pa.table({"wait": pa.array(counts, pa.duration(unit)), "x": range(12)})


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("make", [as_pandas, as_arrow, lambda unit: pl.from_arrow(as_arrow(unit))])
def test_durations_are_seconds_in_every_frame(make, unit):
    expected = np.array([[np.nan if wait is None else wait, row] for row, wait in enumerate(WAITS)])
    np.testing.assert_array_equal(as_matrix(make(unit)).values, expected)
    weighed = Weigher().fit(make(unit))
    np.testing.assert_array_equal(weighed.weights(make(unit)), Weigher().fit(expected).weights(expected))


def test_a_duration_has_no_parts_of_a_date():
    with pytest.raises(InputError, match="which has no hour"):
        as_matrix(as_arrow("us"), dates=["wait:hour"])
