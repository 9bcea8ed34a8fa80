import base64
import hashlib
import json
import re

import numpy as np
import pytest

import biselect as bs
from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.pages import render_html
from biselect.reviews._view import summarise
from biselect.solvers import SOLVERS, Answer

REPRODUCE = {"command": "biselect solve", "seed": 0, "inputs": []}


@pytest.fixture
def plain():
    problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3) - 3, k=2, m=1)
    selection = bs.solve(problem)
    return selection, summarise(selection, title="Plain", reproduce=REPRODUCE)


def test_the_page_says_the_answer_and_escapes_every_name(calibrated):
    _, summary = calibrated
    page = render_html(summary)
    assert "No other 2 rows and 2 columns score higher, of all 4,350 choices." in page
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "above all" in page and "against 200 reference rows" in page
    assert "<strong>1 of the 2 chosen</strong> are known positives; at most 2 were attainable" in page
    assert not re.search(r"(src|href)\s*=|url\(|@import", page)  # self-contained: nothing to fetch


def test_a_problem_without_a_table_gets_a_page_too(plain):
    selection, summary = plain
    page = render_html(summary)
    page = page.split('<details class="glossary')[0]
    assert "reference rows" not in page and "became weights" not in page and "positives" not in page
    assert str(selection.sample_names[0]) in page and summary["finding"]["chance"] is None
    assert summary["finding"]["words"].startswith("These 2 of 4 rows weigh most, in 2; no clear step")


@pytest.mark.parametrize(
    ("solver", "words"), [("greedy", "gives no bound"), ("auto", "No other 3 rows and 2 columns score higher")]
)
def test_the_verdict_says_what_was_proven(solver, words):
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((9, 6)), k=3, m=2)
    assert words in render_html(summarise(bs.solve(problem, solver), title="t", reproduce=REPRODUCE))


def test_an_open_gap_is_shown():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((300, 200)), k=30, m=30)
    summary = summarise(bs.solve(problem, time_limit=1), title="t", reproduce=REPRODUCE)
    assert "could be missing" in render_html(summary)
    assert summary["heatmap"]["not_drawn"] == {"chosen": 0, "rows": 270 - 12, "columns": 170 - 30}


def test_everything_chosen_leaves_nothing_out():
    problem = SelectionProblem(coupling=np.ones((3, 2)), k=3, m=2)
    page = render_html(summarise(bs.solve(problem), title="t", reproduce=REPRODUCE))
    assert "No row is left out" in page and "No column is left out" in page


def test_an_objective_ruled_by_feature_scores_is_flagged():
    problem = SelectionProblem(coupling=np.ones((3, 3)), feature_scores=[100, 1, 1], k=1, m=1)
    assert "Beware" in render_html(summarise(bs.solve(problem), title="t", reproduce=REPRODUCE))


def test_an_answer_that_could_be_improved_says_so(monkeypatch):
    first = Answer(samples=np.arange(3), features=np.arange(2))
    monkeypatch.setitem(SOLVERS._things, "first", lambda problem, run: first)
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((9, 6)), k=3, m=2)
    summary = summarise(bs.solve(problem, "first"), title="t", reproduce=REPRODUCE)
    assert summary["near_samples"][0]["cost"] < 0
    assert re.search(r'<td class="n">-[0-9.]+</td><td class="n">-[0-9.]+ %</td>', render_html(summary))


def test_a_damaged_summary_is_refused(plain):
    damaged = {key: value for key, value in plain[1].items() if key != "rows"}
    with pytest.raises(InputError, match="damaged"):
        render_html(damaged)


def test_names_cannot_leave_the_data(explored):
    *_, selection, _, _, view = explored
    assert any("\u2028" in row["name"] for row in view["rows"])
    page = render_html(summarise(selection, title="t", reproduce=REPRODUCE, view=view))
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S)
    kinds = [attributes for attributes, _ in scripts]
    assert kinds == [' type="application/json" id="view"', ' type="application/json" id="words"', ""]
    assert json.loads(scripts[0][1]) == view
    assert not set(scripts[0][1]) & {"<", ">", "&", "\u2028", "\u2029"}
    digest = base64.b64encode(hashlib.sha256(scripts[2][1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page and "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=|url\(|@import", page)


def test_a_page_without_a_view_allows_no_script():
    selection = bs.solve(SelectionProblem(coupling=np.eye(3), k=1, m=1))
    page = render_html(summarise(selection, title="t", reproduce=REPRODUCE))
    assert "script-src 'none'" in page and "<script" not in page


def test_numbers_that_json_has_not_are_refused(explored):
    *_, selection, _, _, view = explored
    view["adds"][0][0] = float("nan")
    with pytest.raises(InputError, match="damaged"):
        render_html(summarise(selection, title="t", reproduce=REPRODUCE, view=view))


def test_the_report_computes_nothing():
    import ast
    from pathlib import Path

    from biselect import pages

    modules = {"answer_files", "html", "notebook", "over_time", "terminal", "words", "__init__"}
    for name in modules:
        tree = ast.parse((Path(pages.__file__).parent / f"{name}.py").read_text())
        imports = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert not [one for one in imports if re.match(r"biselect\.(weights|solvers|tables|large|review|session)", one)]
