import json

import numpy as np
import pytest

import biselect as bs
from biselect.core import SelectionProblem
from biselect.reviews import _explorer as view_module
from biselect.reviews._explorer import explore
from biselect.solvers import neighbours


def test_every_budget_adds_up_from_the_shared_cells(explored):
    *_, selection, nearby, block, view = explored
    assert json.loads(json.dumps(view)) == view
    assert view["budgets"][view["answer"]]["score"] == selection.score
    adds, own = np.array(view["adds"]), np.array([row["own"] for row in view["rows"]])
    for budget, near in zip(view["budgets"], nearby, strict=True):
        assert (len(budget["rows"]), len(budget["columns"])) == (budget["k"], budget["m"])
        assert sorted(block.samples[budget["rows"]]) == near.samples.tolist()
        features = near.problem.feature_scores[block.features[budget["columns"]]].sum()
        held = adds[np.ix_(budget["rows"], budget["columns"])].sum() + own[budget["rows"]].sum() + features
        assert held == pytest.approx(budget["score"])
        assert budget["proven"] and budget["gap"] == 0


def test_many_rows_are_bounded(monkeypatch):
    monkeypatch.setattr(view_module, "MOST_CELLS", 30)
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((50, 4)), k=20, m=3)
    selection = bs.solve(problem)
    nearby = neighbours(selection, rows=1, columns=1)
    view = explore(selection, nearby)
    assert len(view["rows"]) * len(view["columns"]) <= 30
    assert all(max(budget["rows"]) < len(view["rows"]) for budget in view["budgets"])
