"""The report in a real browser, opened from disk."""

import csv
import io
import json

import numpy as np
import pytest

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
    assert len(texts(tab, ".record")) == 10 and len(texts(tab, "td.in")) == 40
    scroll, shown = tab.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= shown <= width  # nothing sticks out to the side
    assert tab.requests() == [demo.as_uri()] and tab.complaints() == []


def test_without_script_the_page_says_all_that_matters(tab, demo):
    tab.open(demo, script=False)
    body = tab.call("DOM.getDocument")["root"]["nodeId"]
    shown = tab.call("DOM.querySelectorAll", nodeId=body, selector="[data-budget]")["nodeIds"]
    assert len(shown) == 15
    live = tab.call("DOM.querySelectorAll", nodeId=body, selector=".live")["nodeIds"]
    assert live
    for node in live:
        assert "hidden" in tab.call("DOM.getAttributes", nodeId=node)["attributes"]


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
    assert "k = 10, m = 4: score 439.3, proven optimal." in texts(tab, "#state")[0]
    assert len(first_column(tab)) == 10
    tab.click('[data-step="k"][data-by="1"]')
    state = texts(tab, "#state")[0]
    assert "k = 11, m = 4: score 473.4, proven optimal." in state
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
    assert "k = 9, m = 3:" in texts(tab, "#state")[0]
    tab.press("ArrowLeft")  # the edge
    assert "k = 9, m = 3:" in texts(tab, "#state")[0]
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
    assert tab.run("document.activeElement.closest('td').className") == "n cell"  # back where one was
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
            assert float(line[f"{cell['feature']} adds"]) == cell["adds"]


def test_hostile_names_stay_text(tab, run, tmp_path):
    problem = {
        "coupling": [[3, 0, 1], [0, 2, 0], [2, 0, 2]],
        "k": 2,
        "m": 2,
        "sample_names": [HOSTILE, "b", '=HYPERLINK("x"),c'],
        "feature_names": [HOSTILE, "g", "h"],
    }
    (tmp_path / "p.json").write_text(json.dumps(problem))
    assert run("solve", tmp_path / "p.json", "--out", tmp_path / "out", "-q").code == 0
    tab.open(tmp_path / "out" / "report.html")
    assert tab.run("document.title") == "Selection from p.json"
    assert tab.run("document.scripts.length") == 2 and tab.run("document.images.length") == 0
    assert tab.requests() == [(tmp_path / "out" / "report.html").as_uri()] and tab.complaints() == []
    assert tab.run("document.querySelector('#rows tbody th').textContent") == HOSTILE
    assert [line["row"] for line in exported(tab)] == [HOSTILE, '\'=HYPERLINK("x"),c']


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
    bs.review(tables[1], tables[0], k=2, m=2, must_columns=["x", "land"]).save(tmp_path / "out")
    tab.open(tmp_path / "out" / "report.html", width=width)
    scroll, shown = tab.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert scroll <= shown <= width and tab.run("document.title").startswith("What stands out")
    cells = texts(tab, "#rows tbody tr:first-child td.cell")
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
