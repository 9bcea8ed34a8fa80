import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from biselect.errors import InputError
from biselect.pages.over_time import render_monitor

BUDGETS = ("-k", "3", "-m", "2", "--pool-rows", "30")
NAMES = ("a", "b", "c", "d<i>")


def write(path, rows, shift, seed=0, **more):
    rng = np.random.default_rng(seed)
    columns = {name: rng.normal(size=rows) for name in NAMES}
    columns["d<i>"] += shift
    pq.write_table(pa.table({**more, **columns}), path)
    return path


@pytest.fixture
def references(tmp_path):
    """An older reference, a newer one like it, and one in which column d has moved."""
    return {
        "older": write(tmp_path / "older.parquet", 400, 0.0),
        "same": write(tmp_path / "same.parquet", 400, 0.0, seed=1),
        "moved": write(tmp_path / "moved.parquet", 400, 3.0, seed=1),
    }


def test_a_steady_reference_passes_and_says_so(run, references):
    outcome = run("monitor", references["same"], "--older", references["older"], *BUDGETS)
    assert outcome.code == 0
    assert "No alarm: none of 4 columns has changed beyond chance" in outcome.out.replace("\n", " ")
    assert "The selection would" in outcome.out
    alone = run("monitor", references["same"], "--older", references["older"])
    assert alone.code == 0 and "Nearest to an alarm" in alone.out and "The selection" not in alone.out


def test_a_moved_feature_alarms_and_is_named(run, references, tmp_path):
    arguments = ("monitor", references["moved"], "--older", references["older"], *BUDGETS, "--json", "-q")
    outcome = run(*arguments, "--out", tmp_path / "out", "--map", "mad-z")
    assert outcome.code == 1
    answer = json.loads(outcome.out)
    assert answer["crossed"] and answer["map"] == "mad-z" and len(answer["points"]) == 1
    assert answer["changed_columns"] == ["d<i>"]
    replaced = answer["points"][0]["replaced"]
    assert replaced["columns_out"] == ["d<i>"] and len(replaced["columns_in"]) == 1
    assert len(replaced["rows_out"]) == len(replaced["rows_in"]) > 0
    assert (tmp_path / "out" / "monitor.json").read_text() == outcome.out
    page = (tmp_path / "out" / "monitor.html").read_text()
    assert "d&lt;i&gt;" in page and "d<i>" not in page and "Alarm: 1 of 4 columns" in page
    assert "http" not in page.replace("http-equiv", "") and "<script" not in page
    assert run(*arguments, "--min-effect", "0.99").code == 0, "the smallest effect that counts decides too"
    assert run(*arguments, "--false-alarms", "0").code in (0, 1)
    again = run(*arguments, "--out", tmp_path / "out", "--map", "mad-z")
    assert again.out == outcome.out
    table = run(*arguments[:-2])
    assert table.code == 1 and "d<i>" in table.out and "KS distance" in table.out


def test_a_changed_selection_can_count_as_an_alarm(run, references):
    base = ("monitor", references["moved"], "--older", references["older"], *BUDGETS, "--min-effect", ".99", "--json")
    answer = json.loads(run(*base).out)
    assert any(answer["points"][0]["replaced"].values()) and not answer["crossed"]
    failed = run(*base, "--fail-on-change")
    assert failed.code == 1 and json.loads(failed.out)["verdict"].startswith(
        "Alarm: the selection would change, though"
    )


def test_rolling_windows_of_one_file_show_when_it_broke(run, tmp_path):
    rng = np.random.default_rng(0)
    shift = np.repeat([3.0, 3.0, 0.0, 0.0, 0.0], 200)
    order = rng.permutation(1000)  # the file is not in the order of time; --time-column puts it there
    columns = {name: rng.normal(size=1000) for name in NAMES}
    columns["d<i>"] += shift
    table = pa.table({"t": np.arange(1000.0), "fraud": np.zeros(1000, dtype=int), **columns}).take(order)
    pa.csv.write_csv(table, tmp_path / "all.csv")
    outcome = run(
        *("monitor", tmp_path / "all.csv", "--window", "180", "--time-column", "t", "--label-column", "fraud"),
        *(*BUDGETS, "--json", "--out", tmp_path / "out"),
    )
    answer = json.loads(outcome.out)
    assert outcome.code == 1
    alarms = [[row["column"] for row in point["changes"] if row["alarm"]] for point in answer["points"]]
    assert alarms == [["d<i>"], ["d<i>"], [], []]
    # thirty of the newest 180 rows are the pool, so the newest window takes in as many older ones
    assert [point["when"] for point in answer["points"]] == ["249", "429", "609", "789"]
    assert [point["end"] for point in answer["points"]] == [250, 430, 610, 790]
    assert [any(point["replaced"].values()) for point in answer["points"]][:2] == [True, True]
    page = (tmp_path / "out" / "monitor.html").read_text()
    assert "reference up to" in page and "249" in page
    assert page.count('class="cell alarm"') == 2 and page.count('class="cell') == 4 * 4


def test_times_of_another_form_order_the_windows_too(run, tmp_path):
    rng = np.random.default_rng(0)
    days = [f"{1 + day % 28:02d}/{1 + day // 28:02d}/2026" for day in range(240)]
    table = pa.table({"t": days, **{name: rng.normal(size=240) for name in NAMES}})
    pa.csv.write_csv(table.take(rng.permutation(240)), tmp_path / "all.csv")
    split = ("monitor", tmp_path / "all.csv", "--window", "40", "--time-column", "t", *BUDGETS, "--pool-rows", "10")
    outcome = run(*split, "--json")
    assert "all.csv read as: dates 31/12/2025 in 't'" in outcome.err
    answer = json.loads(outcome.out)
    given = json.loads(run(*split, "--date-format", "%d/%m/%Y", "--json").out)
    assert given["points"] == answer["points"]
    when = [point["when"] for point in answer["points"]]
    assert len(when) > 1 and when == sorted(when) and when[0].startswith("2026-0")


def test_a_pool_of_its_own_is_used_as_it_is(run, references, tables):
    pool = write(tables / "own.parquet", 12, 0.0, seed=9)
    base = ("monitor", references["same"], "--older", references["older"], "-k", "2", "-m", "1")
    answer = json.loads(run(*base, "--pool", pool, "--json").out)
    assert answer["budgets"] == {"k": 2, "m": 1, "samples": 12}
    assert [entry["name"] for entry in answer["reproduce"]["inputs"]] == [
        "same.parquet",
        "older.parquet",
        "own.parquet",
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "either --older, or --window to compare"),
        (("--window", "500"), "no older window of 500 rows"),
        (("--window", "50", "--map", "magic"), "there is no map 'magic'; choose one of: reach"),
        (("--window", "50", "--false-alarms", "-1"), "--false-alarms must be a share from 0 to below 1"),
        (("--window", "50", "--features", "q"), "no column 'q'"),
        (("--window", "50", "--time-column", "t"), "same.parquet has no column 't'"),
        (("--window", "50", "--pool-rows", "400"), "cannot draw a pool of 400 rows"),
        (("--older", "nowhere.parquet"), "no such file"),
        (("--older", "nowhere.parquet", "--step", "9"), "--step goes with --window"),
    ],
)
def test_bad_input_is_told_from_an_alarm(run, references, more, message):
    outcome = run("monitor", references["same"], *BUDGETS, *more)
    assert outcome.code == 2 and message in outcome.err


def test_a_page_is_made_of_monitor_summaries_only():
    with pytest.raises(InputError, match="not a summary of this version"):
        render_monitor({"format": "other"})


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_fits_phone_and_desk(run, tmp_path, chromium, width):
    import html
    import subprocess

    write(tmp_path / "all.parquet", 1000, np.repeat([2.0, 0.0], 500))
    run("monitor", tmp_path / "all.parquet", "--window", "180", *BUDGETS, "--out", tmp_path, "-q")
    page = html.escape((tmp_path / "monitor.html").read_text())
    probe = tmp_path / "probe.html"
    probe.write_text(
        f'<iframe id="page" style="width: {width}px; height: 2000px; border: 0" srcdoc="{page}"></iframe>'
        '<pre id="found"></pre><script>document.getElementById("page").onload = () => {'
        'const root = document.getElementById("page").contentDocument.documentElement;'
        'document.getElementById("found").textContent = JSON.stringify('
        '[root.clientWidth, root.scrollWidth, root.querySelector("table.carpet").getBoundingClientRect().height]);'
        " };</script>"
    )
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000", "--dump-dom", probe.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    client, scroll, height = json.loads(re.search(r'<pre id="found">(.*?)</pre>', dom).group(1))
    assert scroll <= client <= width and height > 50
