"""The page of a reproduction: every study, every number of the paper, and nothing that a name could smuggle in."""

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from biselect_studies import Results, load, study_names
from biselect_studies.page import NO_RESULT, render_reproduction, standing, summarise_reproduction, write_reproduction
from biselect_studies.render import write
from biselect_studies.results import Findings, entry, stated

MATCHED, DIFFERING, PLAIN = "solver-matched-compute", "joint-vs-sequential-practical", "theory-gaussian"

LABELS = (
    "tab:qaoa_parameterizations",
    "alg:joint_qaoa",
    "fig:circuit",
    "tab:formulation_evidence_summary",
    "tab:cgxy_best_known_threshold_summary_p3",
    "fig:cgxy_noiseless_evidence",
    "fig:cross_platform_compilation",
    "fig:submitted_coupling_diagnostic",
    "fig:compiler_path_scaling_baseline",
    "tab:creditcard_bilinear_cg_best_known_replay",
    "tab:hardware_run_summary",
    "fig:synthetic_calibration_robustness",
    "fig:real_creditcard_calibration_data_quality",
    "fig:real_creditcard_calibration_mechanism",
    "tab:solver_matched_compute",
    "tab:penalty_x_vs_strict_feasible_qaoa",
    "alg:swap-sa",
    "tab:joint_vs_sequential_practical",
    "tab:joint_vs_sequential_ci",
    "fig:joint_vs_sequential_param_sweep_heatmaps",
    "tab:synthetic_mechanism_stable",
    "tab:joint_vs_sequential_real_creditcard",
    "tab:joint_vs_sequential_real_ibm_aml_hi_small",
    "tab:joint_vs_sequential_real_creditcard_protocol_stress",
    "tab:joint_vs_sequential_real_ibm_aml_hi_small_trigger_menu_stage1_baseline",
    "tab:qaoa_sparse_exact_14_10_readout",
    "tab:cgxy_grouping_randomization_control",
    "tab:qaoa_calibration_grouped_multiangle",
    "tab:cgxy_fully_grouped_qpu_replay_p3",
    "tab:implementation_path_factorial",
    "alg:layout_aware_decoding",
    "tab:cgxy_fixed_angle_condition_details",
)
"""Every labelled table, figure and algorithm of the paper, in its order, so that none is passed over in silence."""


def results(name, *cells, notes=(), quick=False):
    study = load(name)
    return Results(
        study=name, title=study.title, label=study.label, quick=quick, seeds=5, cells=tuple(cells), notes=tuple(notes)
    )


def tiny_picture(found: Findings):
    from biselect.report.style import panels

    return panels(1, 1)[0]


def put(folder, found):
    """Write results as a finished study does, with a picture of no content."""
    write(replace(load(found.study), draw=tiny_picture), found, folder / found.study)


@pytest.fixture
def folder(tmp_path):
    beside = replace(entry("row", "time", [3.0, 5.0], paper=7.0), verdict="not compared")
    cells = entry("row", "F1", [0.5, 0.5], paper=0.5), beside, entry("row", "own", [0.1])
    put(tmp_path, results(MATCHED, *cells, notes=["Mind."]))
    different = entry("row <b>", "20%", [0.25, 0.25], paper=0.75)
    put(tmp_path, results(DIFFERING, different, notes=["<script>alert(1)</script> & more"], quick=True))
    promised = [stated(f"row {place}", "joint", [1.0, 1.0], "≥", 0.9) for place in range(2)]
    put(tmp_path, results(PLAIN, *promised))
    return tmp_path


def by_name(summary):
    return {study["name"]: study for study in summary["studies"]}


def test_every_number_is_counted_once(folder):
    summary = summarise_reproduction(folder)
    expected = {"matches": 1, "differs": 1, "as stated": 2, "not compared": 1, "ours alone": 1}
    assert {name: count for name, count in summary["totals"].items() if count} == expected
    assert (summary["holding"], summary["statements"]) == (1, 1)  # of two numbers, but made once
    assert summary["states"] == {"done": 3, "not run": len(study_names()) - 3} and summary["quick"] == 1
    studies = by_name(summary)
    assert studies[MATCHED]["verdict"] == "the one printed number matches"
    assert studies[DIFFERING]["verdict"] == "1 of 1 differ"
    assert studies[PLAIN]["verdict"] == "the stated “≥ 0.9” holds (2 numbers)"
    (found,) = studies[DIFFERING]["differences"]
    assert found["cause"] == "not explained yet" and "see whether the full one" in found["text"]  # a quick form
    (difference,) = found["cells"]
    assert (difference["ours"], difference["paper"], difference["apart"]) == ("0.250", "0.750", "-0.500")
    assert json.loads(json.dumps(summary)) == summary


def test_a_difference_leads_to_its_reading_and_one_without_is_counted(tmp_path):
    """A study's own readings: one covers two cells and is shown once, a third cell has none."""
    name = "penalty-x-vs-strict-feasible-qaoa"
    cells = [
        entry("(4, 4, 2, 2), p = 1", "λ/c_Q", [0.5, 0.5], paper=0.9),
        entry("(4, 4, 2, 2), p = 2", "λ/c_Q", [0.5, 0.5], paper=0.9),
        entry("(4, 4, 2, 2), p = 1", "another <column>", [0.5, 0.5], paper=0.9),
        entry("(4, 4, 2, 2), p = 1", "same", [0.5, 0.5], paper=0.5),
    ]
    put(tmp_path, results(name, *cells, notes=["Mind."]))
    summary = summarise_reproduction(tmp_path)
    study = by_name(summary)[name]
    read, unread = study["differences"]
    assert [len(one["cells"]) for one in (read, unread)] == [2, 1]
    assert read["text"] == load(name).readings[0].text
    assert (unread["cause"], unread["text"]) == (summary["unexplained"], "")
    counts = {one["cause"]: one["count"] for one in summary["causes"]}
    assert counts["left open"] == 2 and counts["not explained yet"] == 1 and sum(counts.values()) == 3
    page = html.unescape(render_reproduction(summary))
    assert page.count(read["text"]) == 1 and page.count(f'href="#{name}-a"') == 2
    assert f'id="{name}-b"' in page and study["choices"][0] in page
    table = {cell["note"] for row in study["table"]["rows"] for cell in row["cells"] if cell}
    assert table == {"a", "b", None}


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (entry("r", "c", [0.5], paper=0.5), "matches"),
        (entry("r", "c", [0.5], paper=0.9), "differs"),
        (entry("r", "c", [0.5]), "ours alone"),
        (stated("r", "c", [1.0], "≥", 0.9), "as stated"),
        (stated("r", "c", [-1.0, 1.0], ">", 0), "not sure"),
        (stated("r", "c", [-1.0], ">", 0), "not as stated"),
        (stated("r", "c", [1.0], "≥", 0.9, by_paper=False), "ours alone"),
        (stated("r", "c", [0.0], "≥", 0.9, by_paper=False), "differs"),
        (replace(entry("r", "c", [0.5], paper=0.5), verdict="of another kind"), "not compared"),
        (replace(stated("r", "c", [1.0], ">", 0), verdict="of another kind"), "not compared"),
        (replace(entry("r", "c", [0.5], paper=0.5), verdict="not compared"), "not compared"),
    ],
)
def test_how_a_number_stands_to_the_paper(cell, expected):
    assert standing(cell) == expected


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", study_names())
def test_every_figure_stands_beside_its_command_and_its_seeds(name, quick, tmp_path):
    put(tmp_path, results(name, entry("row", "c", [0.5]), quick=quick))
    (study,) = (one for one in summarise_reproduction(tmp_path)["studies"] if one["state"] == "done")
    assert study["figure"] is not None and study["command"] == f"biselect reproduce {name}" + " --quick" * quick
    drawn = {(task.experiment, seed) for task in load(name).tasks(quick) for seed in range(task.first, task.stop)}
    said = {(one["experiment"], seed) for one in study["seeds"] for seed in range(one["first"], one["last"] + 1)}
    assert drawn and drawn == said  # no seed is left out, none is claimed that was not drawn


def test_each_study_names_its_command_and_its_seeds(folder):
    studies = by_name(summarise_reproduction(folder))
    assert studies[DIFFERING]["command"] == f"biselect reproduce {DIFFERING} --quick"
    assert studies[PLAIN]["command"] == f"biselect reproduce {PLAIN}"
    for name, quick in ((DIFFERING, True), (PLAIN, False)):
        tasks = load(name).tasks(quick)
        (seeds,) = studies[name]["seeds"]
        assert (seeds["first"], seeds["last"] + 1) == (min(t.first for t in tasks), max(t.stop for t in tasks))


def test_long_tables_fold_what_the_paper_does_not_print(tmp_path):
    own = [entry(f"own {place}", "c", [0.1]) for place in range(100)]
    put(tmp_path, results(PLAIN, entry("printed", "c", [0.5], paper=0.5), *own))
    study = by_name(summarise_reproduction(tmp_path))[PLAIN]
    assert [row["name"] for row in study["table"]["rows"]] == ["printed"] and study["folded"]["numbers"] == 100


def test_skipped_damaged_and_missing_studies_say_so(tmp_path):
    skipped = results(MATCHED, notes=["Skipped: the table is not at hand."])
    (tmp_path / MATCHED).mkdir()
    (tmp_path / MATCHED / "results.json").write_text(skipped.to_json())
    (tmp_path / PLAIN).mkdir()
    broken = skipped.to_json().replace("null", "7") + "x"
    deep = "[" * 100_000 + "]" * 100_000
    of_another = skipped.to_json()
    for damage in ("", "[]", "{}", '{"cells": [{"row": 1}]}', broken, deep, of_another):
        (tmp_path / PLAIN / "results.json").write_text(damage)
        studies = by_name(summarise_reproduction(tmp_path))
        assert studies[PLAIN]["state"] == "damaged" and "run it again" in studies[PLAIN]["verdict"]
    assert studies[MATCHED]["state"] == "skipped" and "not at hand" in studies[MATCHED]["verdict"]
    assert studies[DIFFERING]["state"] == "not run"
    page = render_reproduction(summarise_reproduction(tmp_path))
    assert "the table is not at hand" in page and "can't be run here" in html.unescape(page)


def test_a_statement_that_fails_for_one_number_does_not_hold(tmp_path):
    cells = stated("a", "c", [1.0, 1.0], ">", 0), stated("b", "c", [-1.0, 1.0], ">", 0)
    put(tmp_path, results(PLAIN, *cells))
    summary = summarise_reproduction(tmp_path)
    assert (summary["holding"], summary["statements"]) == (0, 1) and summary["totals"]["not sure"] == 1
    assert "does not surely hold" in by_name(summary)[PLAIN]["verdict"]
    assert "? > 0" in html.unescape(render_reproduction(summary))


def test_results_of_other_code_are_marked(tmp_path):
    code = load(PLAIN).code(False)
    for made, stale in ((code, False), ("0" * 64, True), ("", True)):
        put(tmp_path, replace(results(PLAIN, entry("row", "c", [0.5])), code=made))
        summary = summarise_reproduction(tmp_path)
        assert by_name(summary)[PLAIN]["stale"] is stale and summary["stale"] == stale
        assert ("run the command again" in render_reproduction(summary)) is stale


@pytest.mark.parametrize("change", [{"ours": 0.25}, {"ours": float("nan")}, {"verdict": "equal"}])
def test_results_that_were_changed_are_not_shown(tmp_path, change):
    put(tmp_path, results(PLAIN, entry("row", "c", [0.5])))
    kept = json.loads((tmp_path / PLAIN / "results.json").read_text())
    kept["cells"][0].update(change)
    (tmp_path / PLAIN / "results.json").write_text(json.dumps(kept))
    study = by_name(summarise_reproduction(tmp_path))[PLAIN]
    assert study["state"] == "damaged" and "was changed after it was written" in study["verdict"]


def test_no_label_of_the_paper_is_passed_over(tmp_path):
    summary = summarise_reproduction(tmp_path)
    shown = [study["label"] for study in summary["studies"]] + [one["label"] for one in summary["without"]]
    assert set(LABELS) <= set(shown) and len(shown) == len(set(shown))
    assert all(one["why"] for one in summary["without"])
    assert {one["label"] for one in summary["without"]} == set(NO_RESULT)
    order = [LABELS.index(study["label"]) for study in summary["studies"] if study["in_paper"]]
    assert order == sorted(order)


def test_studies_and_labels_of_the_paper_have_the_same_names():
    for name in study_names():
        label = load(name).label
        assert label not in NO_RESULT
        if label.startswith(("tab:", "fig:", "alg:")):
            assert label in LABELS and label.partition(":")[2].replace("_", "-") == name


class Parsed(HTMLParser):
    """Tags that are open, addresses, and whatever could run."""

    def __init__(self, page):
        super().__init__()
        self.addresses, self.ids, self.tags = [], set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on")
            if name in ("src", "href"):
                self.addresses.append(value)
            if name == "id":
                self.ids.add(value)


def test_the_page_is_self_contained_and_escaped(folder):
    page = write_reproduction(folder).read_text()
    parsed = Parsed(page)
    assert "script" not in parsed.tags and "<script" not in page and "row &lt;b&gt;" in page
    assert page.count("Content-Security-Policy") == 1  # a second one could only take away
    for part in ("default-src 'none'", "img-src data:", "style-src 'unsafe-inline'", "script-src 'none'"):
        assert part in page
    assert parsed.tags.count("img") == 3
    for address in parsed.addresses:
        assert address.startswith("data:image/png;base64,") or address[1:] in parsed.ids
    assert set(study_names()) <= parsed.ids
    assert "http://" not in page and "https://" not in page


def test_a_picture_that_is_none_is_left_out(folder):
    (folder / PLAIN / "figure.png").write_text("<svg onload=alert(1)>")
    (folder / MATCHED / "figure.png").unlink()
    studies = by_name(summarise_reproduction(folder))
    assert studies[PLAIN]["figure"] is None and studies[MATCHED]["figure"] is None
    assert studies[DIFFERING]["figure"]["width"] > 100


def test_the_same_results_give_the_same_page(folder):
    assert write_reproduction(folder).read_bytes() == write_reproduction(folder).read_bytes()


def brightness(colour):
    """Relative luminance, as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_coloured_words_stand_out_from_their_ground(folder):
    """In the light, dark and printed colours of every page, 4.5 to 1 at least."""
    themes = re.findall(r":root \{(.*?)\}", write_reproduction(folder).read_text(), re.DOTALL)
    assert len(themes) == 3
    for theme in themes:
        colours = dict(re.findall(r"--([\w-]+): (#\w{6});", theme))
        for name in ("accent", "good", "warn"):
            dark, light = sorted(brightness(colours[one]) for one in (name, f"{name}-soft"))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, colours[name])
