"""The report in a real browser, opened from disk."""

import csv
import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from biselect.options import Columns, Kinds, RowRules, Search

pytestmark = pytest.mark.browser

HOSTILE = '"><script>document.title = "hit"</script><img src=x onerror="document.title=1"></script>\u2028=1+1'


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The report of the demo."""
    from typer.testing import CliRunner

    from biselect.cli import app

    folder = tmp_path_factory.mktemp("demo")
    outcome = CliRunner().invoke(app, ["demo", "--out", str(folder), "-q"])
    assert outcome.exit_code == 0, outcome.output
    return folder / "report.html"


def texts(tab, selector):
    return tab.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((found) => found.innerText)")


def first_column(tab):
    return [name.split()[0] for name in texts(tab, "#rows tbody th")]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_the_demo_report_fits_phone_and_desk(tab, demo, width, dark):
    tab.open(demo, width=width, dark=dark)
    assert tab.run("document.title").startswith("Ten card transactions")
    assert len(texts(tab, "table.chosen tr.row")) == 10 and len(texts(tab, "td.in")) == 40
    assert len(texts(tab, ".columns figure")) == 4
    scroll, shown = tab.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= shown <= width  # nothing sticks out to the side
    assert tab.requests() == [demo.as_uri()] and tab.complaints() == []


def test_without_script_the_page_says_all_that_matters(tab, demo):
    tab.open(demo, script=False)
    for domain in ("DOM", "CSS"):
        tab.call(f"{domain}.enable")
    body = tab.call("DOM.getDocument")["root"]["nodeId"]
    shown = tab.call("DOM.querySelectorAll", nodeId=body, selector="[data-budget]")["nodeIds"]
    assert len(shown) == 15
    live = tab.call("DOM.querySelectorAll", nodeId=body, selector=".live")["nodeIds"]
    assert live
    for node in live:
        assert "hidden" in tab.call("DOM.getAttributes", nodeId=node)["attributes"]
        styles = tab.call("CSS.getComputedStyleForNode", nodeId=node)["computedStyle"]
        assert {"name": "display", "value": "none"} in styles


def test_paper_shows_the_budgets_but_no_controls(tab, demo):
    tab.open(demo).media("print")
    hidden = tab.run(
        "[...document.querySelectorAll('.live')].every((part) => getComputedStyle(part).display === 'none')"
    )
    assert hidden and len(texts(tab, "[data-budget]")) == 15
    tab.media()


def test_budgets_move_the_selection_and_what_one_more_would_add(tab, demo):
    view = json.loads((demo.parent / "report.json").read_text())["view"]
    at = {(budget["k"], budget["m"]): budget for budget in view["budgets"]}
    tab.open(demo)
    assert "10 rows, 4 columns: score 439.3, proven optimal." in texts(tab, "#state")[0]
    assert len(first_column(tab)) == 10
    tab.click('[data-step="k"][data-by="1"]')
    state = texts(tab, "#state")[0]
    assert "11 rows, 4 columns: score 473.4, proven optimal." in state
    gain = at[12, 4]["score"] - at[11, 4]["score"]
    assert f"One more row would add {gain:.4g}." in state
    assert "rows in: " in state and len(first_column(tab)) == 11
    tab.click('[data-step="m"][data-by="1"]')
    assert {view["columns"][j]["name"] for j in at[11, 5]["columns"]} <= set(texts(tab, "#rows thead button"))
    assert tab.run('document.querySelector(\'[data-step="m"][data-by="1"]\').disabled')
    pressed = tab.run("document.querySelector('[data-budget] [aria-pressed=true]').innerText")
    assert pressed.split() == [f"{at[11, 5]['score']:.4g}", "proven"]


def test_the_keyboard_moves_between_budgets(tab, demo):
    tab.open(demo)
    tab.run("document.querySelector('[data-budget] [aria-pressed=true]').focus()")
    tab.press("ArrowUp")
    tab.press("ArrowLeft")
    assert "9 rows, 3 columns:" in texts(tab, "#state")[0]
    tab.press("ArrowLeft")  # the edge
    assert "9 rows, 3 columns:" in texts(tab, "#state")[0]
    assert tab.run("document.activeElement.getAttribute('aria-pressed')") == "true"


def test_rows_can_be_sorted_and_filtered(tab, demo):
    tab.open(demo)
    strongest_first = first_column(tab)
    tab.click('[data-sort="adds"]')
    added = [float(text) for text in texts(tab, "#rows tbody td:nth-child(2)")]
    assert added == sorted(added) and first_column(tab)[-1] == strongest_first[0]
    assert tab.run("document.querySelector('[aria-sort]').getAttribute('aria-sort')") == "ascending"
    tab.click('[data-sort="name"]')
    assert first_column(tab) == sorted(strongest_first)
    tab.run("document.getElementById('filter').focus()")
    tab.type("T2346")
    assert first_column(tab) == ["t234632", "t234633"]
    assert texts(tab, "#count") == ["2 rows shown."]
    tab.run("document.getElementById('show').focus()")
    tab.press("ArrowDown")
    tab.run("document.getElementById('filter').value = ''; document.getElementById('filter').oninput()")
    assert len(first_column(tab)) > 10
    assert set(texts(tab, "#rows tbody td:last-child")) == {"chosen", "left out"}


def test_a_cell_opens_its_reference_histogram(tab, demo):
    tab.open(demo)
    tab.run("document.querySelector('#rows td.cell button').focus()")
    tab.press("Enter")
    assert tab.run("document.getElementById('cell').open")
    assert texts(tab, "#cell-title") == ["t244004: V4 = 7.743"]
    assert texts(tab, "#cell-words")[0].startswith("higher than 99.97 % of 13,145 reference rows; adds 7.")
    assert len(tab.run("[...document.querySelectorAll('#cell .bin')].map((bar) => 1)")) == 30
    # in the upper end
    assert 400 - 56 < float(tab.run("document.querySelector('#cell line.mark').getAttribute('x1')")) <= 400
    tab.press("Escape")
    assert not tab.run("document.getElementById('cell').open")
    assert tab.run("document.activeElement.closest('td').className") == "n cell high"  # back where one was
    tab.click("#rows td.cell button")
    tab.click("#cell button")
    assert not tab.run("document.getElementById('cell').open") and tab.complaints() == []


def exported(tab):
    tab.run(
        """window.saved = new Promise((done) => {
            const original = URL.createObjectURL;
            URL.createObjectURL = (blob) => { blob.text().then(done); return original(blob); }; }); 0"""
    )
    tab.click("#export")
    return list(csv.DictReader(io.StringIO(tab.run("window.saved"), newline="")))


def test_the_export_holds_what_is_shown(tab, demo):
    summary = json.loads((demo.parent / "report.json").read_text())
    tab.open(demo)
    lines = exported(tab)
    assert [line["row"] for line in lines] == first_column(tab)
    assert {line["status"] for line in lines} == {"chosen"}
    for line, row in zip(lines, sorted(summary["rows"], key=lambda row: -row["value"]), strict=True):
        assert float(line["adds"]) == pytest.approx(row["value"])
        for cell in row["cells"]:
            assert float(line[cell["feature"]]) == cell["value"]
            assert float(line[f"{cell['feature']} adds"]) == pytest.approx(cell["adds"])


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
    assert tab.run("document.scripts.length") == 3 and tab.run("document.images.length") == 0
    assert tab.requests() == [(tmp_path / "out" / "report.html").as_uri()] and tab.complaints() == []
    assert tab.run("document.querySelector('#rows tbody th').textContent") == HOSTILE
    assert [line["row"] for line in exported(tab)] == [HOSTILE, "'=HYPERLINK(\"x\"),c;'=d\n'＝e"]


@pytest.mark.parametrize("width", [390, 1200])
def test_rules_shown_columns_and_filled_values_on_the_page(tab, run, tmp_path, width):
    rng = np.random.default_rng(0)
    lines = [[i, f"r{i}", f"M{i % 6}", HOSTILE, *rng.normal(size=3).round(3), 3] for i in range(60)]
    for i in (40, 46, 51):
        lines[i][4:6] = [9.5, -9.5]
    lines[51][5], lines[50][7] = "", 4
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["step", "id", "machine", "=note", "x", "y", "z", "firmware"], *lines])
    options = (
        "--id-column id -k 3 -m 2 --must r51 --must-column y --at-most 1 --per machine --show =note --missing median -q"
    )
    split = ["--time-column", "step", "--reference-until", "39"]
    assert run("select", tmp_path / "t.csv", *split, *options.split(), "--out", tmp_path / "out").code == 0
    tab.open(tmp_path / "out" / "report.html", width=width)
    scroll, shown = tab.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= shown <= width and tab.complaints() == []
    warnings = texts(tab, ".verdict.warn")
    assert warnings[0].startswith("1 of the 6 chosen cells is missing")
    rules = ["rows that must be chosen: r51", "at most 1 row per machine", "columns that must be chosen: y"]
    assert texts(tab, ".rules li") == rules
    filled = texts(tab, "#rows td.filled")
    assert len(filled) == 1 and filled[0].startswith("(")
    tab.click("#rows td.filled button")
    assert texts(tab, "#cell-words")[0].startswith("missing; the reference median stands in")
    assert "filled:" in texts(tab, "#cell-title")[0]
    tab.press("Escape")
    assert "machine: M3 · =note: " in " ".join(texts(tab, "#rows .beside"))
    line = next(line for line in exported(tab) if line["row"] == "r51")
    assert (line["machine"], line["y"], line["'=note"]) == ("M3", "", HOSTILE)
    tab.click("#filter")
    tab.type("m3")  # the machine of r51 alone
    assert first_column(tab) == ["r51"]


def test_the_policy_lets_no_other_script_run(tab, demo, tmp_path):
    page = demo.read_text().replace("</main>", "<script>document.title = 'hit'</script></main>")
    (tmp_path / "tampered.html").write_text(page)
    tab.open(tmp_path / "tampered.html")
    assert tab.run("document.title").startswith("Ten card")
    assert any("Content Security Policy" in complaint for complaint in tab.complaints())
    tab.run("fetch('https://example.invalid/').catch(() => 0)")
    assert tab.requests() == [(tmp_path / "tampered.html").as_uri()]


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
    bs.review(tables[1], tables[0], k=2, m=2, rules=RowRules(must_columns=["x", "land"])).save(tmp_path / "out")
    tab.open(tmp_path / "out" / "report.html", width=width)
    scroll, shown = tab.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= shown <= width and tab.run("document.title").startswith("What stands out")
    cells = [text.lstrip("▲▼◆○ ") for text in texts(tab, "#rows tbody tr:first-child td.cell")]
    assert sorted(cells, key=len)[0] == "missing"
    for at, words in ((cells.index("missing"), "missing, never so in 200 reference rows"), (None, "never seen in 200")):
        place = at if at is not None else 1 - cells.index("missing")
        tab.run(f"document.querySelectorAll('#rows tbody tr:first-child td.cell button')[{place}].click()")
        assert words in texts(tab, "#cell-words")[0]
        tab.run("document.getElementById('cell').close()")
    assert {"DE", "FR"} <= set(
        tab.run("[...document.querySelectorAll('#cell-picture text')].map((t) => t.textContent)")
    )
    tab.run("document.querySelector('[data-sort=\"0\"]').click()")
    assert tab.complaints() == []


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


def test_the_first_screen_says_what_was_found(tab, demo):
    tab.open(demo, width=1440, height=900)
    assert tab.run("document.querySelector('h1').innerText").startswith("9 of these 10 are unusual in the same way")
    seen = tab.run(
        """['h1', '.proof', '.known', '.ladder', '#rows-title', '#columns-title', 'table.chosen tr.row'].map(
            (what) => document.querySelector(what).getBoundingClientRect().bottom <= 900)"""
    )
    assert all(seen)
    assert texts(tab, ".known")[0].startswith("9 of the 10 chosen are known positives; at most 10 were attainable")
    assert len(texts(tab, "tr.band")) == 2
    order = texts(tab, "h2")
    wanted = ["The 10 rows, and why", "The 4 columns", "Kinds of unusual, side by side"]
    wanted += ["The chosen block in its surroundings", "What nearly made it in", "With more or fewer rows and columns"]
    assert order[: len(wanted)] == wanted and order[-1] == "To get this answer again"
    levels = tab.run("[...document.querySelectorAll('h1, h2, h3')].map((title) => Number(title.tagName[1]))")
    assert levels[0] == 1 and all(after <= before + 1 for before, after in itertools.pairwise(levels))


AXE = "axe.run().then((all) => all.violations.map(({impact, id, nodes}) => [impact, id, nodes[0].html]))"


@pytest.mark.parametrize(
    ("width", "dark"),
    [
        (1440, False),
        (390, True),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((1440, True), (390, False))),
    ],
)
def test_axe_finds_no_barrier(tab, demo, width, dark):
    axe = pytest.importorskip("axe_core_python.base")
    tab.open(demo, width=width, dark=dark)
    tab.run("for (const part of document.querySelectorAll('details')) part.open = true")
    tab.run((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8") + ";0")
    assert [found for found in tab.run(AXE) if found[0] in ("critical", "serious")] == []


@pytest.mark.slow
def test_axe_finds_no_barrier_among_many_rows_and_columns(tab, large):
    axe = pytest.importorskip("axe_core_python.base")
    tab.open(large, width=1440)
    tab.run((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8") + ";0")
    assert [found for found in tab.run(AXE) if found[0] in ("critical", "serious")] == []


def test_a_hundred_rows_and_twenty_columns_stay_readable(tab, large):
    tab.open(large, width=1440)
    assert tab.run("document.querySelectorAll('main > .compact').length") == 1
    assert len(texts(tab, "table.chosen tr.row")) == 100 and texts(tab, "details.more > summary") == ["75 more rows"]
    scroll, shown = tab.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= shown
    tab.click("#find")
    tab.type("P0059")
    assert [text.split()[0] for text in texts(tab, "table.chosen tr.row:not([hidden]) th")] == ["P0059"]
    assert tab.run("document.querySelector('details.more').open") and texts(tab, "#found") == ["1 row found"]
    assert (
        tab.run("[...document.querySelectorAll('table.chosen tr.row')].filter((row) => row.checkVisibility()).length")
        == 1
    )
    # names stay in sight where a table is scrolled
    left = tab.run(
        """(() => { const field = document.querySelector('.field'); field.scrollLeft = 400; field.scrollTop = 200;
            const box = field.getBoundingClientRect();
            return ['tbody th', 'thead th'].map((what) => field.querySelector(what).getBoundingClientRect()).map(
                (name, at) => at ? name.top - box.top : name.left - box.left); })()"""
    )
    assert all(abs(offset) < 2 for offset in left)


def test_paper_takes_two_pages_of_summary_and_few_more(tab, printed, demo, large):
    assert printed(demo) <= 4 and printed(large) <= 6
    tab.open(large, width=794, height=1123).media("print")
    start = tab.run("document.querySelector('.appendix').getBoundingClientRect().top + scrollY")
    tab.media()
    assert start <= 2 * 1123 * 0.92  # what lies before it fits two sheets and their margins


def test_direction_is_told_by_colour_and_by_sign(tab, large):
    tab.open(large)
    cells = tab.run(
        """Object.fromEntries(['high', 'rare'].map((side) => {
            const cell = document.querySelector(`table.heat td.in.${side}`);
            return [side, [cell.textContent, getComputedStyle(cell).backgroundColor]]; }))"""
    )
    assert cells["high"][0] == "▲" and cells["rare"][0] == "◆" and cells["high"][1] != cells["rare"][1]


def test_equal_weights_share_a_rank(tab, run, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"coupling": [[2, 2], [2, 2], [1, 1], [0, 0]], "k": 3, "m": 2}))
    assert run("solve", tmp_path / "p.json", "--out", tmp_path / "out", "-q").code == 0
    tab.open(tmp_path / "out" / "report.html")
    assert texts(tab, "table.chosen td.rank") == ["=1", "=1", "3"]
