import io
import json

import pytest

from biselect_studies import study_names


def test_list_names_every_study(run):
    lines = run("reproduce", "--list").out.splitlines()
    assert [line.split(":")[0] for line in lines] == study_names()


def test_a_quick_study_prints_the_papers_figures_beside_ours_and_resumes(run, tmp_path):
    first = run("reproduce", "solver-matched-compute", "--quick", "--out", tmp_path)
    assert first.code == 0
    assert "Solvers under equal wall-clock caps (10 seeds)" in first.out and "Held against the paper" not in first.out
    assert "index.html" in first.err
    page = (tmp_path / "index.html").read_text()
    assert 'id="solver-matched-compute"' in page and "data:image/png;base64," in page and "quick form" in page
    again = run("reproduce", "solver-matched-compute", "--quick", "--out", tmp_path, "--json", "-q")
    assert again.err == ""
    assert json.loads(again.out) == json.loads((tmp_path / "solver-matched-compute" / "results.json").read_text())


@pytest.mark.parametrize("width", [40, 80, 400])
def test_a_table_fits_its_terminal_and_loses_no_number(width):
    from rich.console import Console

    from biselect_studies.command import _tables
    from biselect_studies.results import Entry

    entries = [
        Entry(
            row=f"row {i}", column=f"column {j}", ours=i + j / 10, low=-0.25, high=10.5, paper=0.125, verdict="differs"
        )
        for i in range(3)
        for j in range(7)
    ]
    console = Console(width=width, record=True, file=io.StringIO())
    tables = _tables(entries, console)
    for table in tables:
        console.print(table)
    text = console.export_text()
    assert (len(tables) == 1) == (width == 400) and max(map(len, text.splitlines())) <= width
    for entry in entries:
        number = f"{entry.ours:.3f} [-0.250, 10.5] · 0.125 ≠" if width == 400 else f"{entry.ours:.3f} · 0.125 ≠"
        assert number in text
    assert text.count("[-0.250, 10.5]") == len(entries), "an interval is broken in two"


@pytest.mark.parametrize("width", [40, 80, 400])
def test_a_number_that_is_not_there_says_why_at_any_width(width):
    from math import nan

    from rich.console import Console

    from biselect_studies.command import _tables
    from biselect_studies.results import Entry

    lacking = {"ours": nan, "low": nan, "high": nan, "paper": None}
    entries = [
        Entry(row="row", column=f"column {j}", **lacking, verdict=("pending", "none", "no readout [yet]")[j % 3])
        for j in range(7)
    ]
    console = Console(width=width, record=True, file=io.StringIO())
    for table in _tables(
        [*entries, Entry(**lacking | {"ours": 1.5}, row="x", column="column 0", verdict="-")], console
    ):
        console.print(table)
    text = console.export_text()
    assert (text.count("pending"), text.count("none"), text.count("no readout [yet]")) == (3, 2, 2)
    assert "1.500" in text and text.count("[no interval]") == 1


def test_unusable_wishes_are_refused(run, tmp_path):
    assert "--list" in run("reproduce").err
    assert run("reproduce", "theory-gaussian", "--all").code == 2
    assert "there is no study 'theory'" in run("reproduce", "theory", "--out", tmp_path).err
    wrong = run("reproduce", "theory-gaussian", "--quick", "--on", "moon", "--out", tmp_path)
    assert wrong.code == 2 and "cannot run on" in wrong.err
    (tmp_path / "file").write_text("")
    assert run("reproduce", "theory-gaussian", "--quick", "--out", tmp_path / "file").code == 2
