"""Tables as they come from elsewhere, and reviewers' rules: what `select` takes, and what it says about them."""

import csv
import json
import re
from itertools import combinations

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.core.rules import groups_by

HOSTILE = '<script>alert("x")</script>'
FORMAT = "%d/%m/%Y %H:%M"
COLUMNS = ["id", "when", "machine", "heat", "noise", "flow", "firmware", "flat", "remark"]


def event(i, rng):
    """An event every two hours; from number 60 on events 64, 69, 74 and 79, all of machine M4, are far out."""
    heat, noise, flow = rng.normal(size=3).round(3)
    if i in (64, 69, 74, 79):
        heat, noise = 9.0 + i / 100, -9.0
    if i in (5, 69):
        noise = "off" if i == 5 else "tbd"
    when = f"{1 + i // 12:02d}/03/2026 {2 * (i % 12):02d}:00"
    return [f"e{i}", when, f"M{i % 5}", heat, noise, flow, 4 if i in (70, 71) else 3, 7, HOSTILE]


@pytest.fixture
def messy(tmp_path):
    """80 events in a semicolon file with words for missing values and dates of its own kind."""
    rng = np.random.default_rng(1)
    lines = [";".join(map(str, line)) for line in [COLUMNS, *(event(i, rng) for i in range(80))]]
    (tmp_path / "events.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def command(folder, *more, without=()):
    options = {
        "--delimiter": ";",
        "--na-values": "off,tbd",
        "--missing": "median",
        "--time-column": "when",
        "--date-format": FORMAT,
        "--reference-until": "05/03/2026 22:00",
        "--id-column": "id",
        "--show": "when,machine,remark",
        "-k": "3",
        "-m": "2",
    }
    kept = [part for name, value in options.items() if name not in without for part in (name, value)]
    return ("select", folder / "events.csv", *kept, *more)


@pytest.mark.parametrize(
    ("without", "message"),
    [
        (["--na-values"], "column 'noise' is not numeric (line 7 holds 'off'; others 'tbd', 2 entries in all"),
        (["--na-values"], "if they mean missing: --na-values off,tbd"),
        (["--na-values"], "--show only shows them beside the rows"),
    ],
)
def test_each_obstacle_is_named_with_its_line_and_its_option(run, messy, without, message):
    outcome = run(*command(messy, "--na-values", "none", without=without))
    assert outcome.code == 2 and message in outcome.err
    assert outcome.err.count("events.csv:") <= 1  # said once


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--at-most", "1"], "--at-most and --per go together"),
        (["--per", "machine"], "--at-most and --per go together"),
        (["--at-most", "1", "--per", "place"], "the pool has no column 'place'"),
        (["--must", "e3"], "--must e3: there is no such row of the pool; there are e60, e61"),
        (["--never", "nobody"], "--never nobody: there is no such row"),
        (["--must-column", "machine"], "--must-column machine: there is no such column in use; there are heat"),
        (["--features", "heat,machine"], "'machine' of --show or --per is never a feature"),
        (["--delimiter", "ab"], "--delimiter must be one plain character"),
        (["--date-format", "%Y"], "line 2 holds '01/03/2026 00:00', which is not --date-format %Y"),
        (["--show", "colour"], "the pool has no column 'colour'"),
    ],
)
def test_wrong_rules_are_refused_in_one_line(run, messy, more, message):
    outcome = run(*command(messy, *more))
    assert outcome.code == 2 and message in outcome.err and outcome.out == ""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--must", "e64", "--never", "e64"], "both name 'e64'"),
        (["--must", "e64,e69", "--at-most", "1", "--per", "machine"], "2 rows with machine 'M4', but --at-most is 1"),
        (["-k", "6", "--at-most", "1", "--per", "machine"], "the rules leave room for 5 samples, but 6 must be chosen"),
    ],
)
def test_rules_that_leave_no_choice_are_told_by_name(run, messy, more, message):
    outcome = run(*command(messy, *more))
    assert outcome.code == 3 and message in outcome.err


def test_rules_are_kept_proven_and_listed(run, messy):
    free = json.loads(run(*command(messy, "--json")).out)
    assert free["samples"] == ["e64", "e74", "e79"]
    wishes = ["--at-most", "1", "--per", "machine", "--never", "e79", "--must", "e61", "--must-column", "flow"]
    outcome = run(*command(messy, *wishes, "--out", messy / "out"))
    rules = "The choice keeps these rules: rows that must be chosen: e61; rows that must not be chosen: e79; "
    rules += "at most 1 row per machine; columns that must be chosen: flow."
    assert rules in " ".join(outcome.out.split()) and "Proven: no other choice scores higher than" in outcome.out
    answer = json.loads((messy / "out" / "selection.json").read_text())
    assert answer["samples"][0] == "e61" and "flow" in answer["features"] and "e79" not in answer["samples"]
    assert len(set(answer["shown"]["machine"])) == 3

    problem = SelectionProblem.load(messy / "out" / "problem.npz")
    machines = [f"M{i % 5}" for i in range(60, 80)]
    assert problem.sample_rules.groups == groups_by(machines, at_most=1)
    every = [
        problem.score(rows, columns)
        for rows in combinations(range(20), 3)
        for columns in combinations(range(problem.n_features), 2)
        if problem.obeys(rows, columns)
    ]
    assert answer["score"] == pytest.approx(max(every))

    page = (messy / "out" / "report.html").read_text()
    assert rules in page
    report = json.loads((messy / "out" / "report.json").read_text())
    assert {budget["k"] for budget in report["neighbours"]} == {1, 2, 3, 4, 5}


def test_a_group_column_of_numbers_is_no_feature_and_rows_without_a_value_are_free(run, messy):
    text = (messy / "events.csv").read_text()
    text = re.sub(r"(?m)^(e6[49];[^;]*);M4;", r"\1;;", text)
    (messy / "events.csv").write_text(re.sub(r";M(\d);", r";\1;", text))
    outcome = run(*command(messy, "--at-most", "1", "--per", "machine", "--json"))
    answer = json.loads(outcome.out)
    assert "machine" not in answer["features"]
    machine = dict(zip(answer["samples"], answer["shown"]["machine"], strict=True))
    assert machine["e64"] == ""
    assert len({"e74", "e79"} & set(machine)) == 1  # these two share a machine


def test_a_limit_that_nothing_can_exceed_is_told(run, messy):
    outcome = run(*command(messy, "--at-most", "4", "--per", "machine"))
    assert "No value of machine stands in more than 4 pool rows" in outcome.err
    assert "Proven: no other choice scores higher than" in outcome.out and "rules" not in outcome.out


def test_shown_columns_stand_everywhere_escaped_and_change_nothing(run, messy):
    assert run(*command(messy, "--out", messy / "out")).code == 0
    answer = json.loads((messy / "out" / "selection.json").read_text())
    assert answer["shown"] == {
        "when": ["06/03/2026 08:00", "07/03/2026 04:00", "07/03/2026 14:00"],
        "machine": ["M4"] * 3,
        "remark": [HOSTILE] * 3,
    }
    other = run(*command(messy, "--exclude", "machine,remark", "--json", without=["--show"]))
    assert json.loads(other.out)["problem_hash"] == answer["problem_hash"]
    with (messy / "out" / "explanation.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert {line["machine"] for line in lines if line["kind"] == "1"} == {"M4"} and lines[0]["remark"] == HOSTILE
    page = (messy / "out" / "report.html").read_text()
    assert HOSTILE not in page and ">machine M4</small>" in page and ">remark &lt;script&gt;" in page
    assert "compared with 60 normal rows" in page
    assert "when: 2026-03-06 00:00:00 to 2026-03-07 14:00:00." in page
    left_out = run(*command(messy, "--exclude", "flow,flat", "--out", messy / "less"))
    assert left_out.code == 0 and '<th scope="row">flow</th>' not in (messy / "less" / "report.html").read_text()


def test_a_column_that_never_changed_before_is_warned_about(run, messy):
    outcome = run(*command(messy, "--out", messy / "out"))
    warning = "firmware: constant (3) in the reference, differs in 2 pool rows"
    assert warning in " ".join(outcome.err.split())
    assert "Left out, the same in every row of reference and pool: flat." in outcome.err
    assert warning in (messy / "out" / "report.html").read_text()
    chosen = json.loads(run(*command(messy, "--features", "firmware,flow", "-k", "2", "-m", "1", "--json")).out)
    assert chosen["samples"] == ["e70", "e71"] and chosen["features"] == ["firmware"]


def test_filled_values_do_not_look_measured(run, messy):
    outcome = run(*command(messy, "--must", "e69", "--features", "heat,noise", "--out", messy / "out"))
    said = "1 of the 6 chosen cells is missing in the pool: the reference median stands in"
    assert said in " ".join(outcome.err.split())
    page = (messy / "out" / "report.html").read_text()
    assert said in page and ">missing</td>" in page
    with (messy / "out" / "explanation.csv").open() as file:
        filled = [line for line in csv.DictReader(file) if line["sample"] == "e69" and line["feature"] == "noise"]
    assert filled[0]["value"] == "" and filled[0]["reason"] == ""
    block = json.loads((messy / "out" / "report.json").read_text())["block"]
    at = [row["name"] for row in block["rows"]].index("e69"), [one["name"] for one in block["columns"]].index("noise")
    assert block["values"][at[0]][at[1]] == "missing" and sum(row.count("missing") for row in block["values"]) == 1


def test_rules_of_a_problem_file_are_listed_too(run, tmp_path):
    content = {
        "coupling": np.random.default_rng(0).random((6, 4)).tolist(),
        "k": 2,
        "m": 2,
        "sample_rules": {"forced_out": [1], "groups": [{"members": [2, 3, 4], "at_most": 1}]},
        "feature_rules": {"forced_in": [0, 1], "groups": []},
    }
    (tmp_path / "p.json").write_text(json.dumps(content))
    outcome = run("solve", tmp_path / "p.json", "--out", tmp_path / "out")
    assert (
        "rows that must not be chosen: 1; at most 1 of the rows 2, 3, 4; columns that must be chosen: 0, 1"
        in " ".join(outcome.out.split())
    )
    page = (tmp_path / "out" / "report.html").read_text()
    assert "at most 1 of the rows 2, 3, 4" in page
    assert "Columns left out, nearest first" not in page and "Rows left out, nearest first" in page  # both must stay
    again = run("report", tmp_path / "out")
    assert again.code == 0 and "The choice keeps these rules" in again.out


def test_an_unproven_ruled_answer_counts_nothing(run, tmp_path):
    weights = np.random.default_rng(0).random((6, 4)).tolist()
    content = {
        "coupling": weights,
        "k": 2,
        "m": 2,
        "sample_rules": {"groups": [{"members": [2, 3]}, {"members": [0, 1]}]},
    }
    (tmp_path / "p.json").write_text(json.dumps(content))
    outcome = run("solve", tmp_path / "p.json", "--solver", "coordinate-ascent", "--out", tmp_path / "out")
    assert outcome.code == 0 and "at most 1 of each of 2 groups of rows" in outcome.out
    assert "ways to choose" not in (tmp_path / "out" / "report.html").read_text()


def test_delimiters_are_for_csv_only(run, tables):
    base = ("select", tables / "pool.parquet", "--reference", tables / "reference.parquet", "--id-column", "id")
    outcome = run(*base, "-k", 2, "-m", 2, "--delimiter", ";")
    assert outcome.code == 2 and "--delimiter: such options are for CSV files" in outcome.err
