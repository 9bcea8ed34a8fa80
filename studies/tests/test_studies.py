from dataclasses import replace

import numpy as np
import pytest
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.lines import Line2D
from matplotlib.text import Text

from biselect import __version__
from biselect.errors import InputError
from biselect_studies import Results, load, reproduce, study_names
from biselect_studies.ledger import read_ledger
from biselect_studies.render import markdown, write
from biselect_studies.results import entry
from biselect_studies.rule import Reading
from biselect_studies.runner import collect, run
from biselect_studies.studies import synthetic as robustness

LONG = {  # more than a few seconds even so: run with the slow part
    "cgxy-fixed-angle-condition-details",
    "cgxy-noiseless-evidence",
    "creditcard-bilinear-cg-best-known-replay",
    "creditcard-neighbouring-budgets",
    "cross-platform-compilation",
    "formulation-evidence-summary",
    "hardware-run-summary",
    "implementation-path-factorial",
    "joint-vs-sequential-param-sweep-heatmaps",
    "joint-vs-sequential-real-creditcard",
    "joint-vs-sequential-real-creditcard-protocol-stress",
    "joint-vs-sequential-real-ibm-aml-hi-small",
    "joint-vs-sequential-real-ibm-aml-hi-small-trigger-menu-stage1-baseline",
    "open-settings",
    "penalty-x-vs-strict-feasible-qaoa",
    "qaoa-calibration-grouped-multiangle",
    "qaoa-parameterizations",
    "qaoa-sparse-exact-14-10-readout",
    "real-creditcard-calibration-data-quality",
    "real-creditcard-calibration-mechanism",
    "real-creditcard-improvement",
    "solver-matched-compute",
    "stage1-turn-on",
    "submitted-coupling-diagnostic",
    "synthetic-calibration-robustness",
}


class TestEveryStudy:
    @pytest.mark.usefixtures("shared_stand_in", "short_searches", "few_resamples", "no_gate_errs")
    @pytest.mark.parametrize(
        "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in study_names()]
    )
    def test_runs_summarises_and_draws(self, name, tmp_path):
        """All cells on two seeds: enough to see that nothing is missing, far too little for its numbers."""
        study = load(name)
        tasks = list(dict.fromkeys(replace(task, first=0, stop=2) for task in study.tasks(True)))
        run(tasks, tmp_path / "cells", on="alone")
        results = study.results(collect(tasks, tmp_path / "cells"), True)
        figures = []
        write(
            replace(study, draw=lambda found: figures.append(study.draw(found)) or figures[0]), results, tmp_path / name
        )
        assert_readable_in_grey(figures[0])
        stored = Results.from_json((tmp_path / name / "results.json").read_text())
        assert stored.to_json() == results.to_json() and stored.study == name and stored.quick
        assert stored.version == __version__ and stored.code == study.code(stored.made_from)
        assert not [note for note in results.notes for choice in study.choices if choice in note or note in choice]
        assert all(cell.paper is None for cell in results.cells)  # a quick form is not held against the paper
        assert len({(cell.row, cell.column) for cell in results.cells}) == len(results.cells)
        assert all(cell.low <= cell.ours <= cell.high or np.isnan(cell.low) for cell in results.cells)
        table = (tmp_path / name / "table.md").read_text()
        assert results.cells[0].row in table and all(note in table for note in results.notes)
        assert (tmp_path / name / "figure.png").stat().st_size > 8_000


def assert_readable_in_grey(figure):
    """What a legend names differs in more than colour, and no letter is smaller than 7 points."""
    for axes in figure.axes:
        looks = [_look(handle) for handle in axes.get_legend_handles_labels()[0]]
        assert len(set(looks)) == len(looks), (axes.get_title(), axes.get_legend_handles_labels()[1], looks)
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 7


def _look(handle):
    if isinstance(handle, ErrorbarContainer):
        handle = handle.lines[0]
    if isinstance(handle, BarContainer):
        return handle.patches[0].get_hatch()
    if isinstance(handle, Line2D):
        hollow = handle.get_markerfacecolor() == "white"
        return handle.get_marker(), handle.get_linestyle(), hollow, handle.get_linewidth()
    return type(handle).__name__, handle.get_linestyle(), handle.get_hatch()


@pytest.mark.parametrize("name", study_names())
def test_quick_work_is_part_of_the_full_work_or_smaller(name, stand_in):
    study = load(name)
    quick, full = (sum(t.stop - t.first for t in dict.fromkeys(study.tasks(q))) for q in (True, False))
    assert study.name == name and quick < full


@pytest.fixture(scope="module")
def full_sweep(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full")
    return {name: reproduce(name, folder) for name in ("joint-vs-sequential-practical", "joint-vs-sequential-ci")}


def test_exact_rows_equal_the_papers_and_the_rest_is_near(full_sweep):
    results = full_sweep["joint-vs-sequential-practical"]
    assert results.seeds == 200
    near = {"Feature-first sequential": 0.025, "Greedy+LS": 0.07, "Tabu": 0.05, "Ring-local Kawasaki": 0.03}
    for cell in results.cells:
        if cell.row in near:
            assert abs(cell.ours - cell.paper) <= near[cell.row], cell
        else:
            assert round(cell.ours, 3) == cell.paper and cell.verdict == "matches", cell


def test_paired_differences_overlap_the_papers(full_sweep):
    results = full_sweep["joint-vs-sequential-ci"]
    for (row, column), printed in read_ledger().of("joint-vs-sequential-ci").items():
        if column == "ΔF1":
            ours, (_, low, high) = results.find(row, column), printed.numbers
            assert ours.low <= high and low <= ours.high
            assert row == "0%" or ours.low > 0


def test_joint_figures_at_an_error_of_one_are_the_papers(tmp_path):
    cells = [c for c in robustness.error_cells() if (c["noise"], c["eta"], c["rule"]) == (0.5, 1.0, "best-clean")]
    wanted = {tuple(sorted(cell.items())) for cell in cells}
    tasks = [task for task in robustness.ERRORS.tasks(False) if task.cell in wanted]
    run(tasks, tmp_path)
    (values,) = collect(tasks, tmp_path).values()
    printed = read_ledger().of("synthetic-calibration-robustness")
    assert len(printed) == 6
    for (row, _), one in printed.items():
        name = row.rpartition(", ")[2]
        assert abs(values[name].mean() - one.value) <= (0.01 if name.startswith("joint") else 0.03), name


@pytest.mark.slow
def test_the_full_heatmaps_show_whose_failure_k_1_is(tmp_path):
    results = reproduce("joint-vs-sequential-param-sweep-heatmaps", tmp_path)
    assert all(c.ours == 0 for c in results.cells if "ν = 0%" in c.row)
    assert min(c.ours for c in results.cells if c.row.endswith("exact")) > -0.02
    assert min(c.ours for c in results.cells if c.row.endswith("k = 1, greedy")) < -0.5
    assert all(c.high >= 0 for c in results.cells if "k = 1" not in c.row)


UNCERTIFIED = ("feature-first at the joint one", "joint, not clipped", "joint, observed", "r = 0.9 at the r = 0")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["theory-gaussian", "theory-bernstein", "theory-clipped", "theory-covariance"])
def test_every_certified_point_recovers_as_often_as_promised(name, tmp_path):
    results = reproduce(name, tmp_path)
    certified = [cell for cell in results.cells if not cell.column.startswith(UNCERTIFIED)]
    assert len(certified) >= 12 and all(cell.high >= 0.9 for cell in certified)


def test_tables_mark_what_differs():
    cells = (
        replace(entry("row", "here", [0.5, 0.5]), paper=0.9, verdict="differs"),
        replace(entry("row", "there", [0.5, 0.5]), paper=0.5, verdict="matches"),
        replace(entry("row", "far", [0.5, 0.5]), paper=0.6, verdict="cannot tell"),
    )
    results = Results(study="s", title="T", label="tab:x", quick=False, seeds=2, cells=cells, notes=("Mind.",))
    reading = Reading(cause="chance", text="Luck.", tex=(1,), columns=("here",))
    study = replace(load("circuit"), choices=("Ours.",), readings=(reading,))
    lines = markdown(study, results).splitlines()
    row = next(line for line in lines if line.startswith("| row"))
    assert (
        row
        == "| row | 0.500 [0.500, 0.500] · 0.900 ≠ | 0.500 [0.500, 0.500] · 0.500 | 0.500 [0.500, 0.500] · 0.600 ? |"
    )
    assert {"- row, here: Luck. (chance)", "- Ours.", "- Mind."} <= set(lines)
    assert "- row, here: not explained yet" in markdown(replace(study, readings=()), results)


def test_numbers_without_an_interval_are_stored_and_shown_as_such():
    one = replace(entry("row", "here", [0.5, 0.5]), low=np.nan, high=np.nan)
    results = Results(study="s", title="T", label="tab:x", quick=False, seeds=2, cells=(one,))
    assert "| row | 0.500 [no interval] |" in markdown(load("circuit"), results)
    text = results.to_json()
    assert "NaN" not in text and Results.from_json(text).to_json() == text


def test_an_unknown_study_is_refused():
    with pytest.raises(InputError, match="theory-gaussian"):
        load("theory")
