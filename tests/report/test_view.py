import base64
import hashlib
import json
import re

import numpy as np
import pytest

import biselect as bs
from biselect.calibrate import Calibrator
from biselect.core import Rules, SelectionProblem
from biselect.errors import InputError
from biselect.report import explore, render_html, shared_block, summarise
from biselect.report.evidence import BINS, gather_evidence, histograms
from biselect.solvers import neighbours

HOSTILE = "</script><script>alert(1)</script>\u2028\u2029<!--&amp;"
REPRODUCE = {"command": "biselect solve", "seed": 0, "inputs": []}


@pytest.fixture
def table():
    """A calibrated pool with its selection, neighbours and view."""
    rng = np.random.default_rng(1)
    reference, pool = rng.normal(size=(300, 6)), rng.normal(size=(40, 6))
    reference[:, 5] = rng.random(300) < 0.002  # nearly constant
    reference[0, 5] = 1.0
    pool[[4, 9], 2] = 9.0
    calibrator = Calibrator().fit(reference)
    names = [HOSTILE if i == 4 else f"row {i}" for i in range(40)]
    selection = bs.solve(calibrator.problem(pool, 3, 2, sample_names=names))
    nearby = neighbours(selection, rows=1, columns=1)
    block = shared_block(selection, nearby)
    view = explore(
        selection,
        nearby,
        block,
        evidence=gather_evidence(block.samples, block.features, calibrator, pool),
        histograms=histograms(block.features, calibrator),
    )
    return reference, pool, calibrator, selection, nearby, block, view


def plain_view(problem, rows=1, columns=1):
    selection = bs.solve(problem)
    nearby = neighbours(selection, rows=rows, columns=columns)
    return explore(selection, nearby, shared_block(selection, nearby))


def test_every_budget_adds_up_from_the_shared_cells(table):
    *_, selection, nearby, block, view = table
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
    page = render_html(summarise(bs.solve(problem), title="t", reproduce=REPRODUCE, view=view))
    assert "Neighbouring budgets" not in page and "Explore the selection" in page


def test_one_more_obeys_the_rules():
    rules = Rules(forced_out=[0])
    problem = SelectionProblem(coupling=[[9.0], [2.0], [1.0]], k=1, m=1, sample_rules=rules)
    (budget,) = plain_view(problem, rows=0, columns=0)["budgets"]
    assert budget["one_more_row"] == {"adds": 1.0, "kind": "at least"}


def test_an_unproven_answer_is_not_called_exact():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((9, 6)), k=3, m=2)
    selection = bs.solve(problem, "random", draws=1)
    nearby = neighbours(selection, rows=1, columns=0)
    view = explore(selection, nearby, shared_block(selection, nearby))
    middle = view["budgets"][view["answer"]]
    assert not middle["proven"] and middle["gap"] is None
    assert middle["one_more_row"]["kind"] == "about" == middle["one_more_column"]["kind"]
    page = render_html(summarise(selection, title="t", reproduce=REPRODUCE, view=view))
    assert ">not proven</span>" in page and page.count(">proven</span>") == 2


def test_histograms_hold_the_whole_reference(table):
    reference, _, calibrator, *_ = table
    for j, histogram in enumerate(histograms(np.arange(6), calibrator)):
        column, edges = reference[:, j], np.linspace(histogram["first"], histogram["last"], BINS + 1)
        assert histogram["below"] + sum(histogram["counts"]) + histogram["above"] == 300
        assert (histogram["low"], histogram["high"]) == pytest.approx((column.min(), column.max()))
        assert histogram["counts"] == pytest.approx(np.histogram(column, edges)[0], abs=1)  # an entry on an edge
        assert histogram["below"] == pytest.approx((column < edges[0]).sum(), abs=1)


def test_a_split_reference_gives_whole_histograms_too():
    rng = np.random.default_rng(0)
    calibrator = Calibrator("conformal").fit(rng.normal(size=(400, 2)))
    for histogram in histograms(np.arange(2), calibrator):
        assert histogram["below"] + sum(histogram["counts"]) + histogram["above"] == 400
        assert min(histogram["counts"]) >= 0


def test_evidence_of_a_block_counts_the_reference(table):
    reference, pool, *_, block, view = table
    for row, i in enumerate(block.samples):
        for column, j in enumerate(block.features):
            assert view["values"][row][column] == pool[i, j]
            assert view["below"][row][column] == (reference[:, j] < pool[i, j]).sum()
            assert view["above"][row][column] == (reference[:, j] > pool[i, j]).sum()


def test_many_rows_are_bounded(monkeypatch):
    monkeypatch.setattr("biselect.report.view.MOST_CELLS", 30)
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((50, 4)), k=20, m=3)
    view = plain_view(problem)
    assert len(view["rows"]) * len(view["columns"]) <= 30
    assert all(max(budget["rows"]) < len(view["rows"]) for budget in view["budgets"])


def test_names_cannot_leave_the_data(table):
    *_, selection, _, _, view = table
    assert HOSTILE in [row["name"] for row in view["rows"]]
    page = render_html(summarise(selection, title="t", reproduce=REPRODUCE, view=view))
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S)
    assert [attributes for attributes, _ in scripts] == [' type="application/json" id="view"', ""]
    assert json.loads(scripts[0][1]) == view
    assert not set(scripts[0][1]) & {"<", ">", "&", "\u2028", "\u2029"}
    digest = base64.b64encode(hashlib.sha256(scripts[1][1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page and "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=|url\(|@import", page)


def test_a_page_without_a_view_allows_no_script():
    selection = bs.solve(SelectionProblem(coupling=np.eye(3), k=1, m=1))
    page = render_html(summarise(selection, title="t", reproduce=REPRODUCE))
    assert "script-src 'none'" in page and "<script" not in page


def test_numbers_that_json_has_not_are_refused(table):
    *_, selection, _, _, view = table
    view["adds"][0][0] = float("nan")
    with pytest.raises(InputError, match="damaged"):
        render_html(summarise(selection, title="t", reproduce=REPRODUCE, view=view))
