import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.options import Columns, Kinds, RowRules, Split, Weighing
from biselect.reviews.result import review_problem


@pytest.fixture
def review():
    rng = np.random.default_rng(0)
    pool = pd.DataFrame(rng.normal(size=(15, 4)), columns=["a", "adds", "c", "d"], index=[f"r{i}" for i in range(15)])
    pool.loc["r4", ["a", "adds"]] = 9.0
    pool.loc["r9", "a"], pool.loc["r9", "adds"] = 8.0, np.nan
    pool["site"] = "north"
    reference = pd.DataFrame(rng.normal(size=(80, 4)), columns=["a", "adds", "c", "d"])
    return bs.review(
        bs.table(pool, columns=Columns(show=["site"])),
        reference,
        k=2,
        m=2,
        weighing=Weighing(missing="median"),
        rules=RowRules(must=["r9"], must_columns=["adds"]),
    )


def test_the_frame_holds_values_what_rows_add_and_why(review):
    frame = review.to_frame()
    parts = ["+ a", "+ adds", "+ d", "+ others"]
    assert list(frame.columns) == ["sample", "site", "a", "adds", "score", "reason", *parts]
    assert frame["sample"].tolist() == ["r4", "r9"] and frame["a"].tolist() == [9.0, 8.0]
    assert frame["adds"].iloc[0] == 9.0 and np.isnan(frame["adds"].iloc[1])  # never measured
    assert frame["score"].tolist() == [row["score"] for row in review.summary["kinds"]["list"][0]["rows"]]
    np.testing.assert_allclose(frame[parts].sum(axis=1), frame["score"])
    assert frame["reason"].iloc[1] == "a 8 (normal -1.42 to 1.42)"


def test_the_index_of_a_pandas_pool_survives(review):
    assert review.to_frame().index.tolist() == ["r4", "r9"]
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"t": range(40), "x": rng.normal(size=40), "y": rng.normal(size=40)})
    table.loc[35, "x"] = 9.0
    table.index = pd.MultiIndex.from_product([["a", "b"], range(20)], names=["site", "day"])
    asked = {"k": 2, "m": 1, "split": Split(until=29), "kinds": Kinds(kinds=1)}
    frame = bs.review(bs.table(table, time="t"), **asked).to_frame()
    assert frame.index.names == ["site", "day"] and frame.index[0] == ("b", 15)
    assert table.loc[frame.index[0], "x"] == 9.0
    counted = bs.review(bs.table(table.reset_index(drop=True), time="t"), **asked).to_frame()
    assert counted.index.tolist() == [0, 1] and counted["sample"][0] == "35"


def test_a_problem_of_weights_shows_what_cells_add():
    frame = review_problem(bs.SelectionProblem(coupling=[[1.0, 5.0], [0.0, 2.0]], k=1, m=1)).to_frame()
    assert frame.to_dict("list") == {"sample": ["0"], "score": [5.0], "reason": ["1"], "+ 1": [5.0], "+ others": [0.0]}


def test_a_review_is_written_whole_and_reads_as_one_line(review, tmp_path):
    names = {path.name for path in review.save(tmp_path / "out")}
    assert names == {"selection.json", "explanation.csv", "report.json", "report.html", "run.json", "problem.npz"}
    assert (tmp_path / "out" / "report.html").read_text() == review.report()
    assert repr(review).startswith("Review(2 of 15 rows, 2 of 4 columns, score=") and "\n" not in repr(review)
    assert [finding.kind for finding in review.warnings] == ["filled"]
