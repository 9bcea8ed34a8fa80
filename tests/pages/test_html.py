"""The page says what the view says, each case in its own words, and nothing on it can leave its place."""

import ast
import re
from html import unescape
from math import fsum
from pathlib import Path

import numpy as np
import pytest
from markupsafe import escape
from tests.pages.four_cases import CASES, HOSTILE, review_of

import biselect as bs
from biselect import pages
from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.options import Weighing
from biselect.pages import render_html
from biselect.pages.words import decimals_for
from biselect.reviews._view import report_data
from biselect.reviews.caveats import Caveats
from biselect.reviews.kinds import only
from biselect.reviews.result import review_problem
from biselect.solvers import SOLVERS, Answer

REPRODUCE = {"command": "biselect solve", "seed": 0, "inputs": []}


def page_of(selection):
    return render_html(report_data(only(selection), [selection], Caveats(), title="Plain", reproduce=REPRODUCE))


def texts(page, pattern):
    """What stands in the elements that a pattern finds, without their tags."""
    return [unescape(re.sub(r"<[^>]*>", "", text)) for text in re.findall(pattern, page, re.S)]


SAID = {  # above the headline, in it, below it, and what to do
    "more": ("More than in normal orders", "12 orders stand out and share: items 110–136 and discount 70.7–77.9."),
    "as-reference": ("As in normal orders too", "10 orders stand out and share: discount 71.6–80 and items 112–139."),
    "nothing": ("Nothing beyond chance", "Nothing in these 400 orders stands out beyond chance."),
    "described": ("Compared with itself", "12 orders stand out and share: items 110–136 and discount 70.7–77.9."),
}
LEADS = {
    "more": "Normal orders would give fewer than one such order.",
    "as-reference": "Normal orders would give about 14 such orders too, so this is nothing new.",
    "nothing": "The 12 orders with the highest scores are the far end of what is usual.",
    "described": "Whether that is new cannot be said: the table was compared with itself, "
    "and no normal orders were given.",
}
NEXT = {
    "more": "Look at these 12 orders first: below stands why each was chosen.",
    "as-reference": "If such orders are of interest in themselves, look at these 10. If not, there is nothing to do.",
    "nothing": "There is nothing to do.",
    "described": "Look at these 12 orders. To learn whether they are new, compare the table with one of normal orders.",
}


@pytest.mark.parametrize("case", CASES)
def test_the_page_begins_with_what_was_found(case):
    review = review_of(case)
    page, found = review.report(), review.summary["finding"]
    assert review.finding.case == found["case"] == case
    (sign,), (headline,) = texts(page, r'<p class="case.*?</p>'), texts(page, r"<h1.*?</h1>")
    assert (sign[2:], headline) == SAID[case] and found["headline"] == headline
    assert texts(page, r'<p class="lead">.*?</p>') == [LEADS[case]] and found["text"] == f"{headline} {LEADS[case]}"
    assert texts(page, r'<p class="next">.*?</p>') == [NEXT[case]]
    assert texts(page, "<u .*?</u>") == ([] if case == "nothing" else [trait["text"] for trait in found["shared"]])
    ((scope),) = texts(page, r'<p class="scope">.*?</p>')
    against = "each compared with the others" if case == "described" else "compared with 800 normal orders"
    assert "12 of 400 orders and 2 of 7 columns were chosen together" in scope and against in scope
    assert ("2 more were chosen because there was room." in scope) == (case == "as-reference")


def test_a_few_rows_beyond_all_normal_ones_are_not_called_usual():
    """One row far out is no more than chance can give, and still nobody says that it is ordinary."""
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(400, 6)), rng.normal(size=(100, 6))
    pool[0, :2] = 9
    for k in (1, 5):
        review = bs.review(pool, reference, k=k, m=2, progress=False)
        page, found = review.report(), review.summary["finding"]
        assert found["case"] == "nothing" and found["beyond"] >= 1 and review.selection.samples[0] == 0
        assert texts(page, "<h1.*?</h1>") == ["So few of these 100 rows stand out that chance could have given them."]
        (lead,) = texts(page, r'<p class="lead">.*?</p>')
        assert re.match(
            r"(1 row scores|\d rows score) higher than all normal rows, which happens by chance, too\.", lead
        )
        assert "if a single one would matter" in page or "if a few would matter" in page
    scoring, features = review.tables.scoring, review.selection.features
    assert found["beyond"] == (scoring.pool_scores(features) > scoring.reference_scores(features).max()).sum()


@pytest.mark.parametrize("case", CASES)
def test_rows_are_counted_beside_what_chance_gives(case):
    review = review_of(case)
    page, found = review.report(), review.finding
    card = re.search(r'<div class="card counts">(.*?)</div>', page, re.S)[1]
    counts, words = texts(card, "<b>.*?</b>"), " ".join(texts(card, "<p.*?</p>"))
    drawn = [squares.count("<i>") for squares in re.findall('<span class="squares .*?>((?:<i></i>)*)', card)]
    percent = f"{100 * found.p:g} %" if found.p is not None else ""
    if case == "nothing":
        assert counts == [percent] and f"at most {percent} differ as clearly" in words and drawn == []
    elif case == "described":
        assert counts == ["12"] and drawn == [12] and "nothing is said about chance" in words
    else:
        expected = round(found.expected)
        assert counts == [str(len(found.pool_rows)), f"about {expected}" if expected else "under 1"]
        assert drawn == [len(found.pool_rows), expected]
        assert f"{len(found.reference_rows)} of 800 normal orders are like them." in words
    if case == "as-reference":  # rows are numbered from 1, as in a spreadsheet without its head
        places = re.search(r"The normal orders most like them: (.*?)\.", words)[1]
        assert {int(place) for place in re.findall(r"\d+", places)} <= {i + 1 for i in found.reference_rows}


@pytest.mark.parametrize("case", CASES)
def test_a_page_is_one_file_without_script_in_which_names_are_text(case):
    page = review_of(case).report()
    assert "script-src 'none'" in page and "default-src 'none'" in page and "<script" not in page
    assert not re.search(r"(src|href)\s*=|url\(|@import|<[^>]*\son\w+=", page.replace(str(escape(HOSTILE)), ""))
    assert "<b>look</b>" not in page and (case == "nothing" or str(escape(HOSTILE)) in page)


@pytest.mark.parametrize("case", CASES)
def test_what_is_printed_adds_up_as_printed(case):
    """The parts of a row to its score, the scores to the sum; and every row shows its whole record."""
    review = review_of(case)
    page, rows = review.report(), review.summary["kinds"]["list"][0]["rows"]
    decimals = decimals_for(rows[0]["score"])
    scores = texts(page, r'<b class="score">.*?</b>')
    assert scores == [f"{float(score):.{decimals}f}" for score in scores] and len(scores) == 12
    total = re.search(r"The scores of these orders add up to ([\d.]+)\.", page)[1]
    assert fsum(map(float, scores)) == pytest.approx(float(total), abs=1e-9)
    assert float(total) == pytest.approx(review.selection.score, abs=10**-decimals)
    opened = re.findall(r'<details class="row.*?</details>', page, re.S)
    for row, score, text in zip(rows, scores, opened, strict=True):
        parts = re.search('<table class="parts">(.*?)<tr class="sum">', text, re.S)[1]
        assert fsum(map(float, texts(parts, r'<td class="n">.*?</td>'))) == pytest.approx(float(score), abs=1e-9)
        record = re.search('<table class="record">(.*?)</table>', text, re.S)[1]
        told = zip(texts(record, "<th.*?</th>"), texts(record, "<td.*?</td>"), strict=True)
        assert dict(told) == {name: value or "–" for name, value in row["record"].items()}
        assert set(row["record"]) == {"note", "payment", "discount", "items", *(f"signal {j}" for j in "abcd")}
        (why,) = re.findall(r'<span class="why">(.*?)</span><span class="open"', text, re.S)
        reasons = [row["parts"][at]["text"] for at in row["reasons"]]
        assert texts(why, "<span>.*?</span>") == (reasons or ["no single value is unusual; the row as a whole is"])
        assert ("chosen because there was room" in why) == (not row["shares"])


def test_a_value_that_was_moved_shows_where_it_came_from():
    review = review_of("as-reference")
    page, rows = review.report(), review.summary["kinds"]["list"][0]["rows"]
    moved = [part for row in rows for part in row["parts"] if part["is_reason"] and part["column"] == "signal c"]
    assert moved and all(part["moved_from"] == pytest.approx(part["value"] + 2, abs=0.3) for part in moved)
    assert all(f"signal c {part['shown']}</b> (moved from" in page for part in moved)
    assert "A column whose values moved as a whole was put back in place" in page
    assert "put back in place" not in review_of("described").report()


@pytest.mark.parametrize("case", CASES)
def test_further_kinds_say_whether_chance_gives_them(case):
    """Those beyond chance stand in the open; those that it could give stand folded, among everything else."""
    review = review_of(case)
    page, kinds = review.report(), review.summary["kinds"]["list"][1:]
    beyond = [kind for kind in kinds if case == "described" or (kind["p"] is not None and kind["p"] <= 0.05)]
    folded = re.search(r"<summary>(\d) further kinds?, which chance alone could give</summary>", page)
    assert (int(folded[1]) if folded else 0) == len(kinds) - len(beyond)
    assert ('id="kinds-title"' in page) == bool(beyond)
    cards = re.findall(r'<article class="card">(.*?)</article>', page, re.S)
    for kind, card in zip(beyond + [kind for kind in kinds if kind not in beyond], cards, strict=True):
        (title,) = texts(card, "<h3>.*?</h3>")
        assert all(trait["text"] in title for trait in kind["shared"]) and title.startswith(f"{kind['number']}. ")
        assert texts(card, "<li>.*?</li>") == [row["name"] for row in kind["rows"][:10]] + ["and 2 more"]
        assert f"{kind['hits']} of 12 known positives" in card and "proven, given the kinds before it" in card
        assert ("More than chance gives." in card) == (kind in beyond and kind["p"] is not None)


def test_a_kind_beyond_chance_stands_in_the_open():
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(800, 8)), rng.normal(size=(200, 8))
    pool[:6, :2] += 7
    pool[6:12, 3:5] -= 6
    review = bs.review(pool, reference, k=6, m=2, progress=False)
    page, kinds = review.report(), review.summary["kinds"]["list"]
    assert kinds[0]["p"] <= 0.05 and kinds[1]["p"] <= 0.05
    opened = page[page.index('id="kinds-title"') : page.index('id="sure-title"')]
    assert "More than chance gives." in opened and texts(opened, "<h3>.*?</h3>")[0].startswith(
        "2. 6 of its 6 rows share: "
    )
    assert {*texts(opened, "<li>.*?</li>")[:6]} == {str(i) for i in range(6, 12)}


def test_labels_are_shown_beside_the_answer():
    review = review_of("more")
    assert review.summary["labels"]["hits"] == 1
    text = "1 of the 12 chosen are known positives; at most 2 were attainable, and a blind choice would find 0.1."
    assert text in unescape(re.sub("<[^>]*>", "", review.report()))


@pytest.mark.parametrize("case", CASES)
def test_the_page_says_what_is_sure_and_what_is_not(case):
    review = review_of(case)
    page = review.report()
    assert "No other choice of 12 orders and 2 columns, each high, low or with one of its values, scores higher" in page
    titles = {"more": "Beyond chance", "described": "Chance was not asked"}
    assert texts(page[page.index('id="sure-title"') : page.index('id="rest-title"')], "<h3>.*?</h3>") == [
        *("Proven", "Checked" if review.selection.proof_checked else "Not checked yet"),
        *(titles.get(case, "Not beyond chance"), "What this does not say"),
    ]
    held = re.search(
        "One by one, (\\d+) orders stand out, of which 10 % may be ordinary; (\\d+) of the 12 chosen", page
    )
    assert (held is not None) == (case == "more")
    if held:
        assert 12 <= int(held[1]) <= 16 and held[2] == "12"


def test_a_problem_without_a_table_gets_a_page_too():
    problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3) - 3, k=2, m=1)
    review = review_problem(problem, title="Plain")
    page = review.report()
    assert texts(page, "<h1.*?</h1>") == ["2 of 4 rows and 1 of 3 columns hold the highest score together."]
    assert "normal" not in page.split("</style>")[1] and "chance" not in page and "positives" not in page
    assert all(name in page for name in review.selection.sample_names)
    assert texts(page, '<b class="score">.*?</b>') == ["8.00", "5.00"] and "add up to 13.00." in page


@pytest.mark.parametrize(
    ("solver", "words"),
    [("greedy", "gives no bound"), ("auto", "No other choice of 3 rows and 2 columns scores higher")],
)
def test_the_page_says_what_was_proven(solver, words):
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((9, 6)), k=3, m=2)
    assert words in page_of(bs.solve(problem, solver))


def test_an_open_gap_is_shown():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((300, 200)), k=30, m=30)
    selection = bs.solve(problem, time_limit=1)
    page = page_of(selection)
    bound = float(re.search(r"no choice scores more than ([\d.,]+[\d])", page)[1].replace(",", ""))
    assert "Not proven" in page and "could be missing" in page and -selection.bound <= bound <= -selection.bound + 0.1


def test_many_rows_fold_behind_the_first():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((300, 5)), k=100, m=2)
    page = page_of(bs.solve(problem))
    assert (
        page.count('<details class="row') == 100 and "60 more rows" in page and "60 chosen rows are not drawn." in page
    )


def test_everything_chosen_leaves_nothing_out():
    page = page_of(bs.solve(SelectionProblem(coupling=np.ones((3, 2)), k=3, m=2)))
    assert "What nearly made it in" not in page and "left out, next in score" not in page


def test_what_columns_are_worth_on_their_own_is_in_the_sum():
    problem = SelectionProblem(coupling=np.ones((3, 3)), feature_scores=[100, 1, 1], k=1, m=1)
    text = "With what the columns are worth on their own (0: 100.00) the scores add up to 101.00."
    assert text in page_of(bs.solve(problem))


def test_an_answer_that_could_be_improved_says_so(monkeypatch):
    first = Answer(samples=np.arange(3), features=np.arange(2))
    monkeypatch.setitem(SOLVERS._things, "first", lambda problem, run: first)
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((9, 6)), k=3, m=2)
    assert re.search(r'<td class="n">-[0-9.]+</td></tr>', page_of(bs.solve(problem, "first")))


def test_the_papers_form_has_a_page():
    rng = np.random.default_rng(0)
    options = {"weighing": Weighing(preset="paper"), "progress": False}
    review = bs.review(rng.normal(size=(30, 4)), rng.normal(size=(90, 4)), k=3, m=2, **options)
    assert "With what the columns are worth on their own" in review.report()


@pytest.mark.parametrize("key", ["kinds", "finding", "budgets", "reproduce"])
def test_a_damaged_report_is_refused(key):
    summary = review_of("more").summary
    with pytest.raises(InputError, match="damaged"):
        render_html({name: value for name, value in summary.items() if name != key})
    with pytest.raises(InputError, match="not a summary of this version"):
        render_html({**summary, "format": "other"})


def test_numbers_that_json_has_not_are_refused():
    summary = review_of("more").summary
    with pytest.raises(InputError, match="damaged"):
        render_html({**summary, "selection": {**summary["selection"], "score": float("nan")}})


def test_the_report_computes_nothing():
    for file in Path(pages.__file__).parent.glob("*.py"):
        imports = {node.module for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)}
        assert not [one for one in imports if re.match(r"biselect\.(weights|solvers|tables|large|review|session)", one)]
