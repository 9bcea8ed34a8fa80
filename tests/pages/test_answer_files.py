import csv
import io
import json

import pytest

from biselect.core import SelectionProblem
from biselect.core.files import write_file
from biselect.core.untrusted import unguarded
from biselect.errors import InputError
from biselect.pages import render_html
from biselect.pages.answer_files import explanation_csv, write_outputs
from biselect.reviews.result import review_problem


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
    first = {
        "samples",
        "sample_indices",
        "features",
        "directions",
        "feature_indices",
        "score",
        "energy",
        "bound",
        "gap",
    }
    first |= {"proven_optimal", "proof_checked", "solver", "components", "problem_hash"}
    assert {*content} == first | {"reference", "version", "finding", "kinds"}
    assert {*content["finding"]} == {"case", "chosen", "rows", "expected", "interval", "p", "text"}
    assert {*content["kinds"][0]} == first | {"name", "nearness", "p"}
    for kind, told in zip(content["kinds"], summary["kinds"]["list"], strict=True):
        assert kind == {key: told[key] for key in ("name", "nearness", "p")} | told["selection"]


def test_the_explanation_lists_each_part_and_quotes_names(calibrated):
    selection, summary = calibrated
    everything = list(csv.DictReader(io.StringIO(explanation_csv(summary))))
    for kind in summary["kinds"]["list"]:
        lines = [line for line in everything if line["kind"] == str(kind["number"])]
        assert len(lines) == 2 * 5  # a line for each row and column
        assert {unguarded(line["sample"]) for line in lines} == {row["name"] for row in kind["rows"]}
        assert sum(float(line["part"]) for line in lines) == pytest.approx(kind["selection"]["score"])
    assert any("script" in line["sample"] for line in everything) and everything[0]["kind"] == "1"
    assert {line["sample"] for line in everything if line["kind"] == "1"} == {
        line["sample"] for line in everything if unguarded(line["sample"]) in selection.sample_names
    }


def test_nothing_is_left_behind_where_writing_fails(calibrated, tmp_path):
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


def test_names_that_no_encoding_has_and_formulas_are_written_as_text(tmp_path):
    """Half of a surrogate pair, as Python gives for bytes that are no UTF-8, and what a spreadsheet would run."""
    names = {"sample_names": ["=HYPERLINK(1)", "r\udc80", "r2"], "feature_names": ["@b", "=a", "c"]}
    problem = SelectionProblem(coupling=[[3, 2, 0], [2, 3, 0], [0, 0, 1]], k=2, m=2, **names)
    review = review_problem(problem)
    review.save(tmp_path)
    stored = json.loads((tmp_path / "selection.json").read_bytes())
    assert stored["samples"] == review.selection.sample_names and "\udc80" in "".join(stored["samples"])
    text = (tmp_path / "explanation.csv").read_text()
    assert "'=HYPERLINK(1)" in text and ",=" not in text and ",@" not in text and "\\udc80" in text
    assert SelectionProblem.load(tmp_path / "problem.npz").digest == review.selection.problem.digest


def test_no_file_of_an_older_answer_stays(calibrated, tmp_path):
    selection, summary = calibrated
    write_outputs(tmp_path, selection, summary, proof=True)
    assert (tmp_path / "proof.json").exists()
    (tmp_path / "notes.txt").write_text("mine")
    write_outputs(tmp_path, selection, summary)
    assert not (tmp_path / "proof.json").exists() and (tmp_path / "notes.txt").read_text() == "mine"
