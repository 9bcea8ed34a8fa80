import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import biselect as bs
from biselect.calibrate import Calibrator
from biselect.options import Kinds


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_answers_come_in_the_library_of_the_pool(make):
    rng = np.random.default_rng(0)
    reference, pool = ({name: rng.normal(size=rows) for name in ["x", "adds", "z"]} for rows in (80, 9))
    pool["x"][4], pool["adds"][4] = 9.0, 9.0
    calibrator = Calibrator().fit(make(reference))
    for found in (
        bs.solve(calibrator.problem(make(pool), k=2, m=2)),
        bs.JointSelector(k=2, m=2).fit(make(reference), pool=make(pool)).selection_,
        bs.review(make(pool), make(reference), k=2, m=2, kinds=Kinds(kinds=1)).selection,
    ):
        frame = found.to_frame()
        assert type(frame) is type(make({"a": [1]}))
        names = list(getattr(frame, "column_names", getattr(frame, "columns", ())))
        assert names[0] == "sample" and "adds*" in names and names[-2:] == ["alone", "adds"]
        whole = np.sum(np.array(frame["adds"])) + found.problem.feature_scores[found.features].sum()
        assert whole == pytest.approx(found.score)
        assert type(found.explain().to_frame()) is type(frame)


def test_an_explanation_has_one_line_a_cell():
    found = bs.solve(bs.SelectionProblem(coupling=[[3.0, 0.0, 1.0], [0, 2, 0], [2, 0, 2]], k=2, m=2))
    assert found.explain().to_frame().to_dict("list") == {
        "sample": ["0", "0", "2", "2"],
        "feature": ["0", "2", "0", "2"],
        "adds": [3.0, 1.0, 2.0, 2.0],
    }
