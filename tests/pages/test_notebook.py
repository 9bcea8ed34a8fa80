import numpy as np
import pandas as pd
import pytest

import biselect as bs
from biselect.options import Columns, Kinds
from biselect.reviews.result import review_problem


@pytest.fixture
def pool():
    pool = pd.DataFrame(np.random.default_rng(0).normal(size=(15, 4)), columns=list("abcd"))
    pool.loc[4, ["a", "b"]] = 9.0, -9.0
    pool["kind"] = ["new" if row == 4 else "usual" for row in range(15)]
    pool["label"] = [int(row == 4) for row in range(15)]
    pool["note"] = "<b>seen</b>"
    return pool


@pytest.fixture
def reference():
    return pd.DataFrame(np.random.default_rng(1).normal(size=(80, 4)), columns=list("abcd")).assign(kind="usual")


def test_rows_values_directions_and_reasons_are_on_screen(pool, reference):
    found = bs.review(
        bs.table(pool, label="label", columns=Columns(show=["note"])), reference, k=1, m=3, kinds=Kinds(kinds=1)
    )
    page = found._repr_html_()
    for text in ("9 ▲", "-9 ▼", "new</td>", "yes</td>", "kind new (normal usual)", "&lt;b&gt;seen", "proven"):
        assert text in page
    assert "<script" not in page and "<b>" not in page


def test_the_finding_comes_first_where_there_is_one(pool, reference):
    found = bs.review(pool[list("abcd")], reference[list("abcd")], k=1, m=2, kinds=Kinds(kinds=1))
    assert f'<p class="lead">{found.summary["finding"]["text"]}</p>' in found._repr_html_()
    found.summary["finding"] = {"text": "1 of these 1 stands out in a & b"}
    assert '<p class="lead">1 of these 1 stands out in a &amp; b</p>' in found._repr_html_()
    found.summary["finding"] = None
    assert '<p class="lead">What stands out</p>' in found._repr_html_()


def test_a_problem_of_weights_shows_what_cells_add():
    page = review_problem(bs.SelectionProblem(coupling=[[1.0, 5.0], [0.0, 2.0]], k=1, m=1))._repr_html_()
    assert '">5</td>' in page and "▲</td>" not in page
