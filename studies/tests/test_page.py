"""The page of a reproduction: every study, every number of the paper, and nothing that a name could smuggle in."""

import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from biselect_studies import Results, load, study_names
from biselect_studies.ledger import Claim, Ledger, Printed, read_ledger
from biselect_studies.page import (
    LEDGER,
    NO_RESULT,
    ledger_of,
    render_reproduction,
    summarise_reproduction,
    write_reproduction,
)
from biselect_studies.render import write
from biselect_studies.results import Entry, Findings

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


def printed(study, text, row="row", column="c", **more):
    return Printed(place="tab:x", section="S1", line=7, text=text, study=study, row=row, column=column, **more)


def claimed(study, says, **more):
    return Claim(place="fig:y", section="S2", line=8, words="It is <so>.", study=study, says=says, **more)


SMALL = Ledger(
    numbers=(
        printed(MATCHED, "0.500", column="F1"),
        printed(MATCHED, "7.0", column="time", why="Time of another machine."),
        printed(DIFFERING, "0.75 [0.70, 0.80]", row="row <b>", column="20%", units=200),
        printed(DIFFERING, "0.75", row="row <b>", column="20%", again=True),
    ),
    claims=(claimed(PLAIN, "≥ 0.9"), claimed(PLAIN, "< 0", rows=("row 0",))),
    settings={3: "20 30"},
    unprinted={4: "Gone"},
)


def exact(row, column, value, **more):
    return Entry(row, column, value, value, value, **more)


def results(name, *cells, notes=(), quick=False):
    study = load(name)
    return Results(
        study=name, title=study.title, label=study.label, quick=quick, seeds=5, cells=tuple(cells), notes=tuple(notes)
    )


def tiny_picture(found: Findings):
    from biselect.plot.style import panels

    return panels(1, 1)[0]


def put(folder, found):
    """Write results as a finished study does, with a picture of no content."""
    write(replace(load(found.study), draw=tiny_picture), found, folder / found.study)


@pytest.fixture
def folder(tmp_path):
    put(tmp_path, results(MATCHED, exact("row", "F1", 0.5), exact("row", "time", 4.0), notes=["Mind."]))
    put(
        tmp_path, results(DIFFERING, exact("row <b>", "20%", 0.25, units=2), notes=["<script>alert(1)</script> & more"])
    )
    put(tmp_path, results(PLAIN, exact("row 0", "joint", 1.0), exact("row 1", "joint", 1.0)))
    return tmp_path


def by_name(summary):
    return {study["name"]: study for study in summary["studies"]}


def test_every_printed_number_is_counted_once(folder):
    summary = summarise_reproduction(folder, SMALL)
    assert summary["counts"] == {"matches": 1, "differs": 3, "cannot tell": 0, "not judged": 1}  # a value, an interval
    assert summary["claim_counts"] == {"matches": 1, "differs": 1, "cannot tell": 0, "not judged": 0}
    assert (summary["again"], summary["settings"], summary["unprinted"]) == (1, 2, [{"line": 4, "names": ["Gone"]}])
    assert summary["states"] == {"done": 3, "not run": len(study_names()) - 3}
    studies = by_name(summary)
    assert studies[MATCHED]["verdict"] == "1 matches; 1 not judged here"
    assert studies[DIFFERING]["verdict"] == "3 differs"
    assert studies[PLAIN]["verdict"] == "1 claims hold; 1 claims do not hold"
    (number,) = studies[DIFFERING]["numbers"]
    assert number["again"] == [7] and [part["theirs"] for part in number["parts"]] == ["0.75", "[0.70, 0.80]"]
    assert (number["parts"][0]["ours"], number["parts"][0]["seen"]) == ("0.250", "0.055")
    assert json.loads(json.dumps(summary)) == summary


def test_a_change_of_the_ledger_changes_the_verdict(folder):
    other = replace(SMALL, numbers=(replace(SMALL.numbers[0], text="0.600"), *SMALL.numbers[1:]))
    assert by_name(summarise_reproduction(folder, SMALL))[MATCHED]["numbers"][0]["parts"][0]["verdict"] == "matches"
    assert by_name(summarise_reproduction(folder, other))[MATCHED]["numbers"][0]["parts"][0]["verdict"] == "differs"


def test_a_difference_leads_to_its_reading_and_one_without_is_counted(tmp_path):
    """A study's own readings: one covers two numbers and is shown once, a third number has none."""
    name = "penalty-x-vs-strict-feasible-qaoa"
    column = load(name).readings[0].columns[0]
    places = [("(4, 4, 2, 2), p = 1", column), ("(4, 4, 2, 2), p = 2", column), ("(4, 4, 2, 2), p = 1", "<column>")]
    put(tmp_path, results(name, *(exact(*place, 0.5) for place in places)))
    ledger = replace(SMALL, numbers=tuple(printed(name, "0.9", *place) for place in places), claims=())
    summary = summarise_reproduction(tmp_path, ledger)
    study = by_name(summary)[name]
    read, unread = study["readings"]
    assert [one["count"] for one in (read, unread)] == [2, 1]
    reading = load(name).readings[0]
    assert (read["text"], read["tex"], read["commands"]) == (reading.text, list(reading.tex), reading.commands)
    assert (unread["cause"], unread["text"]) == (summary["unexplained"], "")
    assert {one["cause"]: one["count"] for one in summary["causes"] if one["count"]} == {
        reading.cause: 2,
        "not explained yet": 1,
    }
    assert sum(summary["differences"].values()) == 3 and summary["differences"]["not explained yet"] == 1
    page = html.unescape(render_reproduction(summary))
    assert page.count(read["text"]) == 1 and page.count(f'href="#{name}-a"') == 2
    assert f'id="{name}-b"' in page and study["choices"][0] in page
    assert "of the tex file" in page and str(reading.tex[0]) in page


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", study_names())
def test_every_figure_stands_beside_its_command_and_its_seeds(name, quick, tmp_path):
    put(tmp_path, results(name, exact("row", "c", 0.5), quick=quick))
    (study,) = (one for one in summarise_reproduction(tmp_path, SMALL)["studies"] if one["state"] == "done")
    assert study["figure"] is not None and study["command"] == f"biselect reproduce {name}" + " --quick" * quick
    drawn = {(task.experiment, seed) for task in load(name).tasks(quick) for seed in range(task.first, task.stop)}
    said = {(one["experiment"], seed) for one in study["seeds"] for seed in range(one["first"], one["last"] + 1)}
    assert drawn and drawn == said  # no seed is left out, none is claimed that was not drawn


def test_a_number_that_cannot_be_had_here_says_why(tmp_path):
    put(tmp_path, replace(results(MATCHED, exact("row", "time", 1.0)), lacking="Another library is not installed."))
    part = by_name(summarise_reproduction(tmp_path, SMALL))[MATCHED]["numbers"][0]["parts"][0]
    assert (part["verdict"], part["why"]) == ("not judged", "Another library is not installed.")


def test_a_quick_form_is_not_held_against_the_paper(tmp_path):
    put(tmp_path, results(MATCHED, exact("row", "F1", 0.9), quick=True))
    summary = summarise_reproduction(tmp_path, SMALL)
    part = by_name(summary)[MATCHED]["numbers"][0]["parts"][0]
    assert part["verdict"] == "not judged" and "--quick" in part["why"] and summary["quick"] == 1
    assert "not held against the paper in the quick form" in render_reproduction(summary)


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
        studies = by_name(summarise_reproduction(tmp_path, SMALL))
        assert studies[PLAIN]["state"] == "damaged" and "run it again" in studies[PLAIN]["verdict"]
    assert studies[MATCHED]["state"] == "skipped" and "not at hand" in studies[MATCHED]["verdict"]
    assert studies[DIFFERING]["state"] == "not run"
    page = render_reproduction(summarise_reproduction(tmp_path, SMALL))
    assert "the table is not at hand" in page and "can't be run here" in html.unescape(page)


def test_results_of_other_code_are_marked(tmp_path):
    modules = tuple(sorted({task.module for task in load(PLAIN).tasks(False)}))
    code = load(PLAIN).code(modules)
    for made, stale in ((code, False), ("0" * 64, True), ("", True)):
        put(tmp_path, replace(results(PLAIN, exact("row", "c", 0.5)), made_from=modules, code=made))
        summary = summarise_reproduction(tmp_path, SMALL)
        assert by_name(summary)[PLAIN]["stale"] is stale and summary["stale"] == stale
        assert ("run the command again" in render_reproduction(summary)) is stale


def test_a_table_that_is_no_longer_at_hand_makes_no_other_code(tmp_path, monkeypatch):
    """Which experiments a study runs may depend on the tables at hand; what it was made from is what counts."""
    name = "formulation-evidence-summary"
    both = ("biselect_studies.experiments.pools", "biselect_studies.experiments.pools")
    made = replace(results(name, exact("row", "c", 0.5)), made_from=both, code=load(name).code(both))
    put(tmp_path, made)
    monkeypatch.delenv("BISELECT_DATA", raising=False)
    assert {task.module for task in load(name).tasks(False)} != set(both)
    assert by_name(summarise_reproduction(tmp_path, SMALL))[name]["stale"] is False


@pytest.mark.parametrize("change", [{"ours": 0.25}, {"ours": float("nan")}, {"aside": "not so"}])
def test_results_that_were_changed_are_not_shown(tmp_path, change):
    put(tmp_path, results(PLAIN, exact("row", "c", 0.5)))
    kept = json.loads((tmp_path / PLAIN / "results.json").read_text())
    kept["cells"][0].update(change)
    (tmp_path / PLAIN / "results.json").write_text(json.dumps(kept))
    study = by_name(summarise_reproduction(tmp_path, SMALL))[PLAIN]
    assert study["state"] == "damaged" and "was changed after it was written" in study["verdict"]


def test_no_label_of_the_paper_is_passed_over(tmp_path):
    summary = summarise_reproduction(tmp_path, SMALL)
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
    page = render_reproduction(summarise_reproduction(folder, SMALL))
    parsed = Parsed(page)
    assert "script" not in parsed.tags and "<script" not in page and "row &lt;b&gt;" in page and "&lt;so&gt;" in page
    assert page.count("Content-Security-Policy") == 1  # a second one could only take away
    for part in ("default-src 'none'", "img-src data:", "style-src 'unsafe-inline'", "script-src 'none'"):
        assert part in page
    assert parsed.tags.count("img") == 3
    for address in parsed.addresses:
        assert address.startswith("data:image/png;base64,") or address[1:] in parsed.ids
    assert set(study_names()) <= parsed.ids
    assert "http://" not in page and "https://" not in page


def test_the_page_says_the_rule_and_filters_by_verdict_and_section(folder):
    page = html.unescape(render_reproduction(summarise_reproduction(folder, SMALL)))
    assert "80 to 125 %" in page and "a median is never held against a range" in page
    for place, name in enumerate(("matches", "differs", "cannot tell", "not judged"), start=1):
        assert f'id="verdict-{place}"> {name}' in page and f"body:has(#verdict-{place}:checked)" in page
    for place, name in enumerate(("S1", "S2"), start=1):
        assert f'id="section-{place}"> {name}' in page
    assert 'class="row s1 v2 v2"' in page and 'class="row s2 v1"' in page


def test_every_number_of_the_ledger_is_on_the_page_and_in_its_json(tmp_path):
    """Nothing has run: still every number that the paper prints is there, with the reason."""
    write_reproduction(tmp_path)
    page = html.unescape((tmp_path / "index.html").read_text())
    told = json.loads((tmp_path / LEDGER).read_text())
    ledger = read_ledger()
    assert sum(told["counts"].values()) == sum(one["count"] for one in told["numbers"]) > 600
    shown = {(one["line"], one["row"], one["column"], one["theirs"]) for one in told["numbers"]}
    for one in ledger.numbers:
        if not one.again:
            assert all((one.line, one.row, one.column, text) in shown for _, _, text in one.parts)
    assert {one["words"] for one in told["claims"]} == {one.words for one in ledger.claims}
    assert all(one.words in page for one in ledger.claims)
    assert all(one["why"] for one in told["numbers"]) and told["counts"]["not judged"] == sum(told["counts"].values())
    lines = {int(line) for line in re.findall(r"(?<=again )[\d, ]+", page) for line in line.split(",")}
    assert {one.line for one in ledger.numbers if one.again} <= lines


def test_the_json_says_what_the_page_says(folder):
    summary = summarise_reproduction(folder, SMALL)
    told = ledger_of(summary)
    first = next(one for one in told["numbers"] if one["column"] == "20%")
    assert (first["verdict"], first["theirs"], first["line"], first["study"]) == ("differs", "0.75", 7, DIFFERING)
    assert told["counts"] == summary["counts"] and first["cause"] is not None


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
    themes = re.findall(r":root \{(.*?)\}", render_reproduction(summarise_reproduction(folder, SMALL)), re.DOTALL)
    assert len(themes) == 3
    colours: dict[str, str] = {}  # a theme changes those before it; print follows the light one
    for theme in themes[:2]:
        colours |= dict(re.findall(r"--([\w-]+): (#\w{6});", theme))
        for name in ("accent", "good", "warn"):
            dark, light = sorted(brightness(colours[one]) for one in (name, f"{name}-soft"))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, colours[name])
