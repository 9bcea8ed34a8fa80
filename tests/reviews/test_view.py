import json

import numpy as np
import pytest

import biselect as bs
from biselect.core import SelectionProblem
from biselect.reviews._view import summarise

REPRODUCE = {"command": "biselect solve", "seed": 0, "inputs": []}


def test_the_summary_is_plain_data_and_adds_up(calibrated):
    selection, summary = calibrated
    again = json.loads(json.dumps(summary))
    assert again == summary
    assert sum(part["score"] for part in summary["parts"].values()) == pytest.approx(selection.score)
    assert sum(part["share"] for part in summary["parts"].values()) == pytest.approx(1)
    assert sum(row["value"] for row in summary["rows"]) + summary["parts"]["features"]["score"] == pytest.approx(
        selection.score
    )
    told = {"positives": 2, "hits": 1, "chosen": 2, "attainable": 2, "rows": 30, "f1": 0.5, "by_chance": 2 * 2 / 30}
    assert summary["labels"] == told
    assert [row["value"] for row in summary["rows"]] == sorted((row["value"] for row in summary["rows"]), reverse=True)


def test_many_chosen_rows_leave_room_for_what_was_left_out():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((300, 5)), k=100, m=2)
    heatmap = summarise(bs.solve(problem), title="t", reproduce=REPRODUCE)["heatmap"]
    assert [row["chosen"] for row in heatmap["rows"]] == [True] * 48 + [False] * 12
    assert heatmap["not_drawn"] == {"chosen": 52, "rows": 188, "columns": 0}
