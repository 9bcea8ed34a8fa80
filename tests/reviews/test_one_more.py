import numpy as np
import pytest

import biselect as bs
from biselect.core import Rules, SelectionProblem
from biselect.options import Search
from biselect.pages import render_html
from biselect.reviews._explorer import explore
from biselect.reviews._view import summarise
from biselect.reviews.result import review_problem
from biselect.solvers import neighbours


def plain_view(problem, rows=1, columns=1):
    selection = bs.solve(problem)
    nearby = neighbours(selection, rows=rows, columns=columns)
    return explore(selection, nearby)


def test_one_more_is_exact_inside_and_a_floor_at_the_edge():
    problem = SelectionProblem(coupling=np.random.default_rng(3).normal(size=(9, 6)), k=3, m=2)
    kinds = set()
    for budget in plain_view(problem)["budgets"]:
        for side, larger in (
            ("one_more_row", {"k": budget["k"] + 1, "m": budget["m"]}),
            ("one_more_column", {"k": budget["k"], "m": budget["m"] + 1}),
        ):
            truth = bs.solve(SelectionProblem(coupling=problem.coupling, **larger)).score - budget["score"]
            kinds.add(budget[side]["kind"])
            if budget[side]["kind"] == "exactly":
                assert budget[side]["adds"] == pytest.approx(truth)
            else:
                assert budget[side]["adds"] <= truth + 1e-9
    assert kinds == {"exactly", "at least"}


def test_one_more_is_not_offered_where_nothing_is_left():
    problem = SelectionProblem(coupling=np.ones((3, 2)), k=3, m=2)
    view = plain_view(problem, rows=0, columns=0)
    assert view["budgets"][0]["one_more_row"] is None and view["budgets"][0]["one_more_column"] is None
    page = review_problem(problem, search=Search(neighbours=(0, 0))).report()
    assert "With more or fewer rows" not in page and "Explore the selection" in page


def test_one_more_obeys_the_rules():
    rules = Rules(forced_out=[0])
    problem = SelectionProblem(coupling=[[9.0], [2.0], [1.0]], k=1, m=1, sample_rules=rules)
    (budget,) = plain_view(problem, rows=0, columns=0)["budgets"]
    assert budget["one_more_row"] == {"adds": 1.0, "kind": "at least"}


def test_an_unproven_answer_is_not_called_exact():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((9, 6)), k=3, m=2)
    selection = bs.solve(problem, "greedy", local_search=False)
    nearby = neighbours(selection, rows=1, columns=0)
    view = explore(selection, nearby)
    middle = view["budgets"][view["answer"]]
    assert not middle["proven"] and middle["gap"] is None
    assert middle["one_more_row"]["kind"] == "about" == middle["one_more_column"]["kind"]
    page = render_html(summarise(selection, title="t", reproduce={"command": "", "seed": 0, "inputs": []}, view=view))
    assert ">not proven</span>" in page and page.count(">proven</span>") == 2
