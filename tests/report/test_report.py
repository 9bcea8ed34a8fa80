import csv
import io
import json
import re
from math import comb

import numpy as np
import pytest

import biselect as bs
from biselect.calibrate import Calibrator
from biselect.core import SelectionProblem
from biselect.core.files import write_file
from biselect.errors import InputError
from biselect.report import render_html, summarise, write_outputs
from biselect.report.evidence import Evidence, gather_evidence
from biselect.report.files import explanation_csv
from biselect.report.summary import _count_in_words

HOSTILE = '"><script>alert(1)</script>\n=1+1'
REPRODUCE = {"command": "biselect solve <p>", "seed": 0, "inputs": [{"name": HOSTILE, "sha256": "0" * 64}]}


@pytest.fixture
def calibrated():
    rng = np.random.default_rng(0)
    reference, pool = rng.normal(size=(200, 5)), rng.normal(size=(30, 5))
    pool[[4, 9], 2] = 9.0
    calibrator = Calibrator().fit(reference)
    names = [HOSTILE if i == 4 else f"row {i}" for i in range(30)]
    selection = bs.solve(calibrator.problem(pool, 2, 2, sample_names=names))
    labels = np.zeros(30, dtype=bool)
    labels[[4, 11]] = True
    summary = summarise(
        selection,
        title="Test",
        reproduce=REPRODUCE,
        evidence=gather_evidence(selection.samples, selection.features, calibrator, pool),
        calibration=calibrator.facts,
        cap=10.0,
        labels=labels,
        notes=["a note"],
    )
    return selection, summary


@pytest.fixture
def plain():
    problem = SelectionProblem(coupling=np.arange(12.0).reshape(4, 3) - 3, k=2, m=1)
    selection = bs.solve(problem)
    return selection, summarise(selection, title="Plain", reproduce=REPRODUCE)


def test_the_summary_is_plain_data_and_adds_up(calibrated):
    selection, summary = calibrated
    again = json.loads(json.dumps(summary))
    assert again == summary
    assert sum(part["score"] for part in summary["parts"].values()) == pytest.approx(selection.score)
    assert sum(part["share"] for part in summary["parts"].values()) == pytest.approx(1)
    assert sum(row["value"] for row in summary["rows"]) + summary["parts"]["features"]["score"] == pytest.approx(
        selection.score
    )
    assert summary["labels"] == {"positives": 2, "hits": 1, "chosen": 2, "f1": 0.5, "by_chance": 2 * 2 / 30}
    assert [row["value"] for row in summary["rows"]] == sorted((row["value"] for row in summary["rows"]), reverse=True)


def test_the_page_says_the_answer_and_escapes_every_name(calibrated):
    _, summary = calibrated
    page = render_html(summary)
    assert "Proven optimal." in page
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "higher than all 200 reference rows" in page
    assert "F1@k is <strong>0.500</strong>" in page
    assert not re.search(r"(src|href)\s*=|url\(|@import", page)  # self-contained: nothing to fetch


def test_a_problem_without_a_table_gets_a_page_too(plain):
    selection, summary = plain
    page = render_html(summary)
    assert "reference rows" not in page and "Calibration" not in page and "known labels" not in page
    assert str(selection.sample_names[0]) in page


@pytest.mark.parametrize(("solver", "words"), [("random", "gives no bound"), ("auto", "none scores higher than")])
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
    assert "No sample is left out" in page and "No feature is left out" in page


def test_an_objective_ruled_by_feature_scores_is_flagged():
    problem = SelectionProblem(coupling=np.ones((3, 3)), feature_scores=[100, 1, 1], k=1, m=1)
    assert "Beware" in render_html(summarise(bs.solve(problem), title="t", reproduce=REPRODUCE))


def test_files_are_written_whole(calibrated, tmp_path):
    selection, summary = calibrated
    written = write_outputs(tmp_path / "new" / "folder", selection, summary)
    assert sorted(path.name for path in written) == sorted(
        path.name for path in (tmp_path / "new" / "folder").iterdir()
    )
    first = (tmp_path / "new" / "folder" / "selection.json").read_bytes()
    write_outputs(tmp_path / "new" / "folder", selection, summary)
    assert (tmp_path / "new" / "folder" / "selection.json").read_bytes() == first
    assert SelectionProblem.load(tmp_path / "new" / "folder" / "problem.npz").digest == selection.problem.digest
    content = json.loads(first)
    assert list(content) == [
        "samples",
        "sample_indices",
        "features",
        "feature_indices",
        "score",
        "energy",
        "bound",
        "gap",
        "proven_optimal",
        "solver",
        "components",
        "problem_hash",
        "version",
    ]


def test_the_explanation_lists_each_chosen_cell_and_quotes_names(calibrated):
    selection, summary = calibrated
    lines = list(csv.DictReader(io.StringIO(explanation_csv(summary))))
    assert len(lines) == 4
    assert {line["sample"] for line in lines} == set(selection.sample_names) and HOSTILE in selection.sample_names
    assert sum(float(line["adds"]) for line in lines) == pytest.approx(summary["parts"]["coupling"]["score"])


def test_nothing_is_left_behind_where_writing_fails(calibrated, plain, tmp_path):
    selection, summary = calibrated
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(InputError, match="cannot write there"):
        write_outputs(blocked / "folder", selection, summary)
    with pytest.raises(InputError, match="cannot write there"):
        write_file(tmp_path / "absent" / "page.html", "x")
    with pytest.raises(InputError, match="not a summary of this version"):
        render_html({"format": "other"})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("below", "above", "words"),
    [
        (100, 0, "higher than all 100 reference rows"),
        (0, 100, "lower than all 100 reference rows"),
        (99, 1, "higher than 99.00 % of 100 reference rows"),
        (3, 90, "lower than 90.00 % of 100 reference rows, equal to 7.00 %"),
        (10, 89, "lower than 89.00 % of 100 reference rows"),
        (50, 50, "in the middle of 100 reference rows"),
    ],
)
def test_evidence_in_words(below, above, words):
    assert Evidence(value=1.0, below=below, above=above, rows=100).words == words


def test_missing_values_are_not_shown_as_seen():
    assert Evidence(value=1.0, below=9, above=90, rows=100, absent=True).words.startswith("missing")


def test_shares_are_never_rounded_up_to_all():
    assert "99.99 %" in Evidence(value=1.0, below=999_999, above=0, rows=1_000_000).words


def test_large_counts_in_words():
    assert _count_in_words(123_456) == "123,456"
    assert _count_in_words(36 * 10**24) == "about 3.6 × 10²⁵"
    assert _count_in_words(10**30) == "about 1.0 × 10³⁰"
    assert _count_in_words(comb(15_000, 7_500)).endswith("× 10⁴⁵¹³")


def test_an_answer_that_could_be_improved_says_so():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((9, 6)), k=3, m=2)
    summary = summarise(bs.solve(problem, "random", draws=1), title="t", reproduce=REPRODUCE)
    assert summary["near_samples"][0]["cost"] < 0
    assert re.search(r'<td class="n">-[0-9.]+</td><td class="n">-[0-9.]+ %</td>', render_html(summary))


def test_many_chosen_rows_leave_room_for_what_was_left_out():
    problem = SelectionProblem(coupling=np.random.default_rng(0).random((300, 5)), k=100, m=2)
    heatmap = summarise(bs.solve(problem), title="t", reproduce=REPRODUCE)["heatmap"]
    assert [row["chosen"] for row in heatmap["rows"]] == [True] * 48 + [False] * 12
    assert heatmap["not_drawn"] == {"chosen": 52, "rows": 188, "columns": 0}


def test_a_damaged_summary_is_refused(plain):
    damaged = {key: value for key, value in plain[1].items() if key != "rows"}
    with pytest.raises(InputError, match="damaged"):
        render_html(damaged)
