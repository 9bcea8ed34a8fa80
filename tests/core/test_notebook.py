from html.parser import HTMLParser

import numpy as np
import pytest

import biselect as bs
from biselect.pages.notebook import MOST_ROWS

HOSTILE = '"><script>alert(1)</script>\n&amp;'


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.text = [], set(), []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture
def selection():
    names = [HOSTILE, *(f"row {i}" for i in range(39))]
    weights = np.random.default_rng(0).random((40, 12))
    return bs.solve(bs.SelectionProblem(coupling=weights, k=30, m=10, sample_names=names), "greedy")


@pytest.mark.parametrize("of", [lambda found: found, lambda found: found.explain(), lambda found: found.problem])
def test_a_notebook_shows_escaped_tables_without_scripts(selection, of):
    page = Tags(of(selection)._repr_html_())
    assert page.seen <= {"style", "div", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert "http" not in of(selection)._repr_html_()


def test_a_long_answer_is_cut_and_says_where_the_rest_is(selection):
    page = selection._repr_html_()
    assert page.count("<tr>") == 1 + MOST_ROWS and "10 more rows and 2 more columns: to_frame()" in page
    assert f"Score {selection.score:.4g}" in page and "which proves nothing" in page


def test_objects_read_as_one_line(selection):
    for shown in (selection, selection.explain(), selection.problem):
        assert len(repr(shown)) < 400 and "\n" not in repr(shown)
    assert repr(selection.problem) == "SelectionProblem(40 samples × 12 features, k=30, m=10)"
    ruled = bs.SelectionProblem(coupling=np.eye(3), k=1, m=1, sample_rules={"forced_in": [2]})
    assert repr(ruled).endswith("m=1, with rules)")


def test_how_good_a_choice_is_in_words():
    weights = np.random.default_rng(0).random((30, 8))
    problem = bs.SelectionProblem(coupling=weights, k=5, m=3)
    assert bs.solve(problem).standing == "no other choice scores higher: proven"
    weights = np.random.default_rng(0).random((80, 60))
    hurried = bs.solve(bs.SelectionProblem(coupling=weights, k=20, m=20), "exact", time_limit=1e-6)
    assert "could be missing" in hurried.standing
