"""The report in a real browser, opened from disk."""

import csv
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from tests.pages.four_cases import CASES, HOSTILE, review_of

from biselect.options import Columns, Kinds, Search

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """The report of each case."""
    folder = tmp_path_factory.mktemp("cases")
    for case in CASES:
        (folder / f"{case}.html").write_text(review_of(case).report(), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def more(cases):
    return cases / "more.html"


def texts(tab, selector):
    return tab.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((found) => found.innerText)")


def assert_fits(tab, width):
    """Nothing sticks out to the side of the page."""
    scroll, shown = tab.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= shown <= width


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1200, False)])
def test_each_case_fits_phone_and_desk(tab, cases, case, width, dark):
    file = cases / f"{case}.html"
    tab.open(file, width=width, dark=dark)
    assert tab.run("document.title") == "Orders" and tab.run("document.scripts.length") == 0
    assert_fits(tab, width)
    tab.run("for (const part of document.querySelectorAll('details')) part.open = true")
    assert_fits(tab, width)
    assert len(texts(tab, "details.row")) == 12 and len(texts(tab, "td.in.last")) >= 12
    assert tab.requests() == [file.as_uri()] and tab.complaints() == []


@pytest.mark.parametrize("case", CASES)
def test_the_first_screen_says_what_was_found(tab, cases, case):
    tab.open(cases / f"{case}.html", width=1440, height=900)
    what = ["h1", ".lead", ".next", ".counts", ".anyway summary" if case == "nothing" else "table.block thead"]
    bottoms = tab.run(f"{what}.map((part) => document.querySelector(part).getBoundingClientRect().bottom)")
    assert max(bottoms) <= 900
    lines = tab.run(
        """(() => { const title = document.querySelector('h1');
            return title.getBoundingClientRect().height / parseFloat(getComputedStyle(title).lineHeight); })()"""
    )
    assert lines <= 2.1
    assert tab.run("document.querySelector('table.block').checkVisibility()") == (case != "nothing")
    tab.run("for (const part of document.querySelectorAll('details')) part.open = true")
    levels = tab.run("[...document.querySelectorAll('h1, h2, h3')].map((title) => Number(title.tagName[1]))")
    assert levels[0] == 1 and all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_without_script_every_row_opens(tab, more):
    """With the mouse and with the keyboard; what opens is the whole record and what its score is made of."""
    tab.open(more)
    assert not tab.run("document.querySelector('.opened').checkVisibility()")
    tab.click("details.row summary")
    assert tab.run("document.querySelector('table.record').checkVisibility()")
    assert texts(tab, "details.row[open] caption") == [
        "The record as it stands in the table",
        f"What the score of {texts(tab, '.score')[0]} is made of",
    ]
    assert len(texts(tab, "details.row[open] table.record tr")) == 8
    tab.run("document.querySelectorAll('details.row summary')[1].focus()")
    tab.press("Enter")
    assert len(texts(tab, "details.row[open]")) == 2


def test_stronger_cells_add_more_and_chosen_ones_show_their_values(tab, more):
    block = review_of("more").summary["block"]
    tab.open(more)
    steps = tab.run("[...document.querySelectorAll('table.block tbody td')].map((cell) => Number(cell.className[1]))")
    weights = np.ravel(block["weights"])
    assert steps == [int(np.floor(5 * weight / block["highest"] + 0.5)) if weight > 0 else 0 for weight in weights]
    looks = "[...document.querySelectorAll('.legend .ramp i')].map((step) => getComputedStyle(step).backgroundColor)"
    assert len(set(tab.run(looks))) == 6
    values = [text for row in block["values"] for text in row[: block["chosen"]]]
    assert texts(tab, "table.block tbody tr:not(.gap) td:nth-child(-n+3)") == values
    assert texts(tab, "tr.gap") == ["left out, next in score"]


def test_hostile_names_stay_text(tab, run, tmp_path):
    problem = {
        "coupling": [[3, 0, 1], [0, 2, 0], [2, 0, 2]],
        "k": 2,
        "m": 2,
        "sample_names": [HOSTILE, "b", '=HYPERLINK("x"),c;=d\n＝e'],
        "feature_names": [HOSTILE, "g", "h"],
    }
    (tmp_path / "p.json").write_text(json.dumps(problem))
    assert run("solve", tmp_path / "p.json", "--out", tmp_path / "out", "-q").code == 0
    tab.open(tmp_path / "out" / "report.html")
    assert tab.run("document.title") == "Selection from p.json"
    assert tab.run("document.scripts.length") == 0 and tab.run("document.images.length") == 0
    assert tab.requests() == [(tmp_path / "out" / "report.html").as_uri()] and tab.complaints() == []
    assert tab.run("document.querySelector('.who b').textContent") == HOSTILE
    assert tab.run("document.querySelector('table.block tbody th').title") == HOSTILE


@pytest.mark.parametrize("width", [390, 1200])
def test_rules_shown_columns_and_gaps_on_the_page(tab, run, tmp_path, width):
    rng = np.random.default_rng(0)
    lines = [[i, f"r{i}", f"M{i % 6}", HOSTILE, *rng.normal(size=3).round(3), 3] for i in range(60)]
    for i in (40, 46, 51):
        lines[i][4:6] = [9.5, -9.5]
    lines[51][5], lines[50][7] = "", 4
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["step", "id", "machine", "=note", "x", "y", "z", "firmware"], *lines])
    options = "--id-column id -k 3 -m 2 --must r51 --must-column y --at-most 1 --per machine --show =note -q"
    split = ["--time-column", "step", "--reference-until", "39"]
    assert run("select", tmp_path / "t.csv", *split, *options.split(), "--out", tmp_path / "out").code == 0
    tab.open(tmp_path / "out" / "report.html", width=width)
    assert_fits(tab, width)
    assert tab.complaints() == [] and tab.run("document.images.length") == 0
    rules = "The choice keeps these rules: rows that must be chosen: r51; at most 1 row per machine; columns that must "
    assert any(f"{rules}be chosen: y." in text for text in texts(tab, ".sure p"))
    shown = " ".join(texts(tab, ".who small"))
    assert "machine M3" in shown and f"=note {HOSTILE[:20]}" in shown
    tab.run("for (const part of document.querySelectorAll('details')) part.open = true")
    assert any("missing" in text for text in texts(tab, ".parts td"))


@pytest.mark.parametrize("width", [390, 1200])
def test_categories_and_gaps_on_the_page(tab, tmp_path, width):
    import pandas as pd

    import biselect as bs

    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({"x": rng.normal(size=rows), "y": rng.normal(size=rows), "land": rng.choice(["DE", "FR"], rows)})
        for rows in (200, 30)
    ]
    tables[1].loc[3, ["x", "land"]] = [np.nan, HOSTILE]
    bs.review(tables[1], tables[0], k=1, m=2, progress=False).save(tmp_path / "out")
    tab.open(tmp_path / "out" / "report.html", width=width)
    assert_fits(tab, width)
    tab.run("for (const part of document.querySelectorAll('details')) part.open = true")
    (first, *_) = texts(tab, ".why")
    assert "x missing (normal " in first and "(normal " in first.split("land ")[1]
    assert tab.complaints() == [] and tab.run("document.images.length") == 0


def test_the_policy_lets_no_script_run(tab, more, tmp_path):
    page = more.read_text(encoding="utf-8").replace("</main>", "<script>document.title = 'hit'</script></main>")
    (tmp_path / "tampered.html").write_text(page, encoding="utf-8")
    tab.open(tmp_path / "tampered.html")
    assert tab.run("document.title") == "Orders"
    assert any("Content Security Policy" in complaint for complaint in tab.complaints())
    tab.run("fetch('https://example.invalid/').catch(() => 0)")
    assert tab.requests() == [(tmp_path / "tampered.html").as_uri()]


def answer(folder, *, rows, columns, k, m, unusual, labels=True):
    """The report of a table in which some rows are unusual in a third of the columns."""
    import pandas as pd

    import biselect as bs

    rng = np.random.default_rng(0)
    names = ["amount", "hour", *(f"signal {j}" for j in range(columns - 3)), "country"]
    tables = []
    for size in (2000, rows):
        table = pd.DataFrame(rng.normal(size=(size, columns)).round(3), columns=names)
        tables.append(table.assign(country=rng.choice(["DE", "FR", "NL"], size, p=[0.7, 0.2, 0.1])))
    reference, pool = tables
    pool.loc[: unusual - 1, names[: columns // 3]] += 6.0
    pool.loc[: unusual - 1, "country"] = "BT"
    pool.insert(0, "payment", [f"P{i:04d}" for i in range(rows)])
    pool["fraud"] = [int(i < unusual) for i in range(rows)]
    columns = Columns(id="payment", label="fraud" if labels else None, exclude=() if labels else ["fraud"])
    quick = {"search": Search(solver="coordinate-ascent", neighbours=(0, 0)), "kinds": Kinds(kinds=1)}
    table = bs.table(pool, columns=columns)
    bs.review(table, reference, k=k, m=m, title="Card payments", **quick).save(folder)
    return folder / "report.html"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return answer(tmp_path_factory.mktemp("large") / "out", rows=400, columns=30, k=100, m=20, unusual=60)


AXE = "axe.run().then((all) => all.violations.map(({impact, id, nodes}) => [impact, id, nodes[0].html]))"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (1440, False),
        (390, True),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((1440, True), (390, False))),
    ],
)
def test_axe_finds_no_barrier(tab, cases, case, width, dark):
    axe = pytest.importorskip("axe_core_python.base")
    tab.open(cases / f"{case}.html", width=width, dark=dark)
    tab.run("for (const part of document.querySelectorAll('details')) part.open = true")
    tab.run((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8") + ";0")
    assert [found for found in tab.run(AXE) if found[0] in ("critical", "serious")] == []


@pytest.mark.slow
def test_axe_finds_no_barrier_among_many_rows_and_columns(tab, large):
    axe = pytest.importorskip("axe_core_python.base")
    tab.open(large, width=1440)
    tab.run((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8") + ";0")
    assert [found for found in tab.run(AXE) if found[0] in ("critical", "serious")] == []


@pytest.mark.parametrize("width", [390, 1440])
def test_a_hundred_rows_and_twenty_columns_stay_readable(tab, large, width):
    tab.open(large, width=width)
    assert texts(tab, "details.more > summary") == ["60 more rows"]
    shown = "[...document.querySelectorAll('details.row')].filter((row) => row.checkVisibility()).length"
    assert tab.run(shown) == 40
    tab.click("details.more > summary")
    assert tab.run(shown) == 100
    assert_fits(tab, width)
    ranks = [int(text) for text in texts(tab, ".rank")]
    assert ranks == [*range(1, 101)]


def test_paper_shows_the_answer_and_no_folded_parts(tab, printed, cases, large):
    assert printed(cases / "more.html") <= 3 and printed(cases / "nothing.html") == 1 and printed(large) <= 5
    tab.open(cases / "more.html", width=794, height=1123).media("print")
    folded = tab.run("[...document.querySelectorAll('details.fold')].some((part) => part.checkVisibility())")
    rows = tab.run("[...document.querySelectorAll('details.row')].filter((row) => row.checkVisibility()).length")
    tab.media()
    assert not folded and rows == 12
