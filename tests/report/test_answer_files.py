import csv
import io
import json

import pytest

from biselect.core import SelectionProblem
from biselect.core.files import write_file
from biselect.errors import InputError
from biselect.report import render_html
from biselect.report.answer_files import explanation_csv, write_outputs


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
        "how_many",
        "kinds",
    ]
    assert [kind["features"] for kind in content["kinds"]] == [
        kind["selection"]["features"] for kind in summary["kinds"]["found"]
    ]


def test_the_explanation_lists_each_chosen_cell_and_quotes_names(calibrated):
    selection, summary = calibrated
    everything = list(csv.DictReader(io.StringIO(explanation_csv(summary))))
    lines = [line for line in everything if not line["kind"]]
    assert len(lines) == 4
    assert len(everything) == 4 + 4 * len(summary["kinds"]["found"])
    assert {line["sample"] for line in lines} == set(selection.sample_names) and any(
        "script" in name for name in selection.sample_names
    )
    assert sum(float(line["adds"]) for line in lines) == pytest.approx(summary["parts"]["coupling"]["score"])


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
