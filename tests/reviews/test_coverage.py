"""What share of what is unusual the chosen columns show."""

import numpy as np
import pytest

import biselect as bs
from biselect.reviews._chance import coverage, row_shares


def test_shares_by_hand():
    problem = bs.SelectionProblem(coupling=[[6.0, 2.0, 2.0], [0.0, 1.0, 0.0]], k=1, m=1, feature_names=["a", "b", "c"])
    best = bs.solve(problem)
    assert row_shares(best) == pytest.approx([0.6])
    assert coverage(best) == {"share": pytest.approx(0.6), "next": {"name": "b", "share": pytest.approx(0.2)}}


def test_all_columns_show_all_and_leave_none_to_add():
    best = bs.solve(bs.SelectionProblem(coupling=np.ones((3, 2)), k=2, m=2))
    assert coverage(best) == {"share": 1.0, "next": None}


def test_rows_without_weight_show_nothing():
    best = bs.solve(bs.SelectionProblem(coupling=np.zeros((3, 2)), k=2, m=1))
    assert coverage(best) is None and row_shares(best).tolist() == [0, 0]
