import json
import sys

import numpy as np
import pytest

from biselect.calibrate import Calibrator
from biselect.errors import InputError, MissingDataError, MissingDependencyError
from biselect_studies import budget_rules, creditcard_fields, load, reproduce
from biselect_studies import creditcard_neighbouring_budgets as budgets
from biselect_studies import joint_vs_sequential_real_creditcard as table
from biselect_studies import (
    joint_vs_sequential_real_ibm_aml_hi_small_trigger_menu_stage1_baseline as menu,
)
from biselect_studies import real_creditcard_improvement as improvement
from biselect_studies.creditcard_table import SIZES, paired, read
from biselect_studies.detectors import DETECTORS, detector_scores
from biselect_studies.experiments import aml_menu, aml_slices, aml_turn_on, creditcard_slices
from biselect_studies.rankers import by_largest_weights, by_tall_columns, by_weight_sum
from biselect_studies.results import entry
from biselect_studies.runner import collect, run
from biselect_studies.task import tasks_for

CREDIT_CARD = [name for name in ("joint-vs-sequential-real-creditcard", "creditcard-neighbouring-budgets")]


@pytest.mark.parametrize("name", CREDIT_CARD)
def test_a_study_without_its_table_says_where_to_put_it(name, tmp_path, monkeypatch):
    monkeypatch.delenv("BISELECT_DATA", raising=False)
    with pytest.raises(MissingDataError, match="mlg-ulb/creditcardfraud"):
        reproduce(name, tmp_path, quick=True)
    assert load(name).absent() is not None


def test_all_studies_go_on_where_a_table_is_missing_and_their_results_say_so(run, tmp_path, monkeypatch):
    monkeypatch.delenv("BISELECT_DATA", raising=False)
    name = "joint-vs-sequential-real-creditcard"
    monkeypatch.setattr("biselect_studies.study.NAMES", (name,))
    (tmp_path / name).mkdir()
    (tmp_path / name / "figure.png").write_text("of an earlier run")
    everything = run("reproduce", "--all", "--quick", "--out", tmp_path)
    assert everything.code == 0 and "Skipped: the Credit Card table is not at hand" in " ".join(everything.out.split())
    stored = json.loads((tmp_path / name / "results.json").read_text())
    assert stored["cells"] == [] and stored["notes"][0].startswith("Skipped: the Credit Card table")
    assert "Skipped" in (tmp_path / name / "table.md").read_text() and not (tmp_path / name / "figure.png").exists()
    named = run("reproduce", name, "--quick", "--out", tmp_path)
    assert named.code == 1 and "not at hand" in named.err and "Traceback" not in named.err


def test_the_summary_keeps_its_other_rows_without_the_table(monkeypatch):
    monkeypatch.delenv("BISELECT_DATA", raising=False)
    experiments = {task.experiment for task in load("formulation-evidence-summary").tasks(True)}
    assert experiments == {"benchmark", "aml_slices"}


def test_window_weights_are_those_of_a_calibrator_that_never_saw_the_window(stand_in):
    from biselect.data.creditcard import load_credit_card

    X = load_credit_card().features
    for window, reference, rows in (("test", "first", slice(0, 9000)), ("test", "recent", slice(9000, 12000))):
        plain = Calibrator("ecdf").fit(X[rows]).weights(X[12000:])
        assert np.array_equal(creditcard_fields.weights((60, 20, 20), window, "ecdf", reference), plain)
    assert creditcard_fields.reference_rows((60, 20, 20), "buffer", "recent") == slice(6000, 9000)
    with pytest.raises(InputError, match="first or recent"):
        creditcard_fields.reference_rows((60, 20, 20), "test", "future")


def test_slices_count_what_they_say(stand_in):
    cell = {**table.main_cell(20), "methods": ("exact", "feature-first:max", "rule:weight-sum")}
    values = creditcard_slices.work(cell, range(6))
    for seed in range(6):
        pool = creditcard_fields.draw("balanced", (60, 20, 20), "test", 20, 3, seed)
        assert values["frauds"][seed] == pool.rows[pool.positive].tolist()
        assert values["exact"][seed] == pytest.approx(np.mean(values["hits exact"][seed]))
    found = {name: np.array(entries) for name, entries in values.items()}
    by_slice, by_fraud = paired(found, "exact", "rule:weight-sum")
    assert by_slice.mean == pytest.approx(by_fraud.mean) and by_fraud.units == np.unique(found["frauds"]).size


def test_the_map_is_chosen_on_the_buffer_alone(stand_in, tmp_path):
    """Whatever happens in the test window, the choice stays; what happens in the buffer decides it."""
    cells = [table.choice_cell(20, name, w) for name in table.MAPS for w in ("buffer", "test")]
    tasks = [task for cell in cells for task in tasks_for("creditcard_slices", cell, 2, block=2)]
    run(tasks, tmp_path, on="alone")
    records = collect(tasks, tmp_path)
    chosen = table._chosen(records, 20)
    for name in table.MAPS:
        worse = read(records, table.choice_cell(20, name, "test"))
        for method in table.CHOICE:
            worse[method] = worse[method] * 0
    assert table._chosen(records, 20) == chosen
    for method in table.CHOICE:
        read(records, table.choice_cell(20, "laplace", "buffer"))[method] = np.full(2, 2.0)
    assert table._chosen(records, 20)[0] == "laplace"


def test_the_improvement_is_chosen_on_the_buffer_alone():
    rng = np.random.default_rng(0)
    records = {}

    def add(cell, better=False):
        values = {method: rng.random(4) + better for method in cell["methods"]}
        values |= {f"hits {m}": rng.integers(0, 2, (4, cell["k"])) for m in cell["methods"]}
        records[tuple(sorted(cell.items()))] = values | {"frauds": rng.integers(0, 20, (4, cell["k"]))}

    for size in SIZES:
        add(table.main_cell(size))
        for place, form in enumerate(improvement.FORMS):
            add(improvement.form_cell(size, form, "buffer"), better=place == 7)
            add(improvement.form_cell(size, form, "test"), better=place == 9)
            for window in ("buffer", "test"):
                add(improvement.method_cell(size, form, window, improvement.RULE))
            cell = improvement.form_cell(size, form, "buffer")
            read(records, cell)["feature-first:sum"] = np.full(4, 9.0 * (place == 3))
    found = improvement.summarise(records, True)
    assert found.extra["chosen"] == improvement.FORMS[7]
    own = found.extra["own"]
    assert own["feature-first:sum"] == improvement.FORMS[3] and set(own) == set(improvement.OWN)
    later = read(records, improvement.form_cell(20, improvement.FORMS[3], "test"))["feature-first:sum"]
    row = found.find("Feature-first, own form chosen on the buffer", "N = 20")
    assert row.ours == pytest.approx(float(np.mean(later)))
    rival = "feature-first, own form chosen on the buffer"
    assert found.find(f"Chosen − {rival}, frauds resampled", "N = 80")
    assert {f"{rival}, N = {size}" for size in SIZES} <= set(found.extra["holm"])
    assert any(f"beats {rival}. N = 20" in note for note in found.notes)


def test_rankers_on_a_table_that_can_be_read():
    W = np.array([[5.0, 0, 0, 0], [2, 2, 2, 0], [0, 4, 4, 0], [1, 1, 1, 3.5]])
    assert by_weight_sum(W, 2, 2).tolist() == [2, 3]
    assert by_largest_weights(W, 1, 2).tolist() == [2]
    assert by_largest_weights(W, 1, 1).tolist() == [0]
    assert by_tall_columns(W, 1, 1).tolist() == [0]


@pytest.mark.parametrize("name", DETECTORS)
def test_detectors_put_an_outlier_first_and_a_seed_fixes_them(name):
    rng = np.random.default_rng(0)
    reference, rows = rng.normal(size=(400, 3)), rng.normal(size=(30, 3))
    rows[11] = 9.0
    scores = detector_scores(name, reference, rows)
    assert scores.argmax() == 11 and np.array_equal(scores, detector_scores(name, reference, rows))


def test_detectors_that_are_not_there_name_what_brings_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyod.models.ecod", None)
    with pytest.raises(MissingDependencyError, match=r"biselect\[baselines\]"):
        detector_scores("ecod", np.zeros((3, 1)), np.zeros((1, 1)))
    with pytest.raises(InputError, match="no detector 'svm'"):
        detector_scores("svm", np.zeros((3, 1)), np.zeros((1, 1)))


def test_aml_without_polars_names_what_brings_it(monkeypatch):
    from biselect.data.aml.schema import polars

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingDependencyError, match=r"biselect\[baselines\]"):
        polars()


def test_budget_rules_read_a_planted_block():
    rng = np.random.default_rng(0)
    W = rng.exponential(0.5, size=(40, 28))
    W[:5, :7] += 6
    ks, ms = np.arange(1, 17), np.array([2, 3, 5, 7, 10, 14, 20, 28])
    scores = np.array([[np.sort(W[:, :m].sum(1))[-k:].sum() for m in ms] for k in ks])
    for name, rule in budget_rules.RULES.items():
        k, m = rule(scores, W, ks, ms)
        if name != "densest":
            assert (ks[k], ms[m]) == (5, 7), name
    assert budgets.cells(False).__len__() * budgets.SEEDS == 960


def test_aml_studies_are_marked_as_generated_and_never_judged(stand_in, tmp_path):
    study = load("stage1-turn-on")
    tasks = [task for task in study.tasks(True) if task.first == 0]
    tasks = tasks_for("aml_turn_on", dict(tasks[0].cell), 2, block=2)
    run(tasks, tmp_path, on="alone")
    found = study.summarise(collect(tasks, tmp_path), True)
    assert found.notes[0].startswith("GENERATED DATA") and "200,000" in found.notes[0]
    assert {one.verdict for one in found.cells} == {"-", "not compared"}
    assert 0 < found.find("logistic: recall", "N = 500").ours <= found.find("logistic: recall", "N = 2000").ours <= 1


def test_a_file_of_the_published_name_with_other_counts_is_not_called_published(tmp_path, monkeypatch):
    from biselect.data.aml.generator import Market
    from biselect_studies import aml_table

    table_ = Market(transactions=2_000, days=4).table(seed=0)
    table_.write_csv(tmp_path / "HI-Small_Trans.csv", datetime_format="%Y/%m/%d %H:%M")
    monkeypatch.setenv("BISELECT_DATA", str(tmp_path))
    assert aml_table.where_from(True).startswith("NOT THE PUBLISHED FILE: HI-Small_Trans.csv")
    assert aml_table.beside(entry("r", "c", [1.0, 2.0], paper=1.5)).verdict == "not compared"
    aml_table._published.cache_clear()
    monkeypatch.setitem(aml_table.PUBLISHED, "HI-Small", (2_000, 2))
    assert aml_table.where_from(True).startswith("Computed from HI-Small_Trans.csv")
    aml_table._published.cache_clear()
    one = aml_table.origin(True)
    Market(transactions=2_000, days=4).table(seed=1).write_csv(tmp_path / "HI-Small_Trans.csv")
    other = aml_table.origin(True)
    assert one["source"] == other["source"] and one != other, "cells of the one must not be read for the other"


def test_a_test_window_that_the_file_does_not_reach_is_refused(stand_in):
    cell = dict(load("stage1-turn-on").tasks(True)[0].cell)
    with pytest.raises(InputError, match="holds 2 windows and window 5 was asked for"):
        aml_turn_on.work(cell, [5])


def test_a_menu_that_keeps_no_test_window_has_no_pools_there(stand_in, monkeypatch):
    monkeypatch.setattr(aml_menu, "retained", lambda past, now, menu: [])
    cell = menu.cell("high", 20, True, "test")
    assert aml_menu.work(cell, range(2)) == {"kept": [0, 0], "windows": [2, 2]}
    assert len(aml_menu.work(menu.cell("high", 20, True, "buffer"), [0])["feature-first:sum"]) == 1


def test_detectors_stand_on_the_pools_of_both_aml_studies_and_never_see_the_window(stand_in):
    from biselect_studies import joint_vs_sequential_real_ibm_aml_hi_small as balanced
    from biselect_studies.aml_fields import DETECTOR_ROWS, scene

    cell = balanced.main_cell(20, True)
    assert {f"detector:{name}" for name in DETECTORS} <= set(cell["methods"])
    asked = cell | {"methods": ("detector:isolation-forest", "detector:copod")}
    whole = aml_slices.work(asked, range(3))
    assert aml_slices.work(asked, [2])["detector:copod"] == whole["detector:copod"][2:]
    one = scene(cell["source"], cell["transactions"])
    end = one.split.reference.stop
    rows = end - 100_000 + np.sort(np.random.default_rng(0).permutation(100_000)[:DETECTOR_ROWS])
    pool = one.X[one.split.test][:30].astype(float)
    scores = detector_scores("isolation-forest", one.X[rows].astype(float), pool)
    assert np.array_equal(one.detector("isolation-forest")(pool), scores)


def test_menus_that_keep_the_same_windows_are_one_family_member():
    def values(kept):
        if kept == 0:
            return {"kept": np.zeros(30, int), "windows": np.full(30, 9)}
        rng = np.random.default_rng(0)
        found = {name: rng.integers(0, 9, 30) for name in (*menu.WEIGHED, *menu.RANKED, "positives")}
        return found | {"place": np.arange(30) % kept, "kept": np.full(30, kept), "windows": np.full(30, 9)}

    def findings(high):
        records = {}
        for name, k in menu.PAPER:
            cells = [menu.cell(name, k, True, w, scorer) for w in ("buffer", "test") for scorer in menu.MAPS]
            for cell in [menu.ranked_cell(name, k, True), *cells]:
                kept = high if (name, cell["window"]) == ("high", "test") else 7
                records[tuple(sorted(cell.items()))] = values(kept)
        return menu.summarise(records, True)

    assert len(findings(7).extra["holm"]) == 6
    assert len(findings(6).extra["holm"]) == 12
    none = findings(0)
    assert len(none.extra["holm"]) == 6 and "high, k = 20: none of 9" in " ".join(none.notes)
    assert not [cell for cell in none.cells if cell.row.startswith("high") and "windows kept" not in cell.row]


def test_behind_a_trigger_chance_stands_beside_every_method_and_few_windows_say_that_they_are_few():
    rng = np.random.default_rng(0)

    def values(kept, quality):
        found = {name: rng.binomial(8, quality.get(name, 0.5), 200) for name in (*menu.WEIGHED, *menu.RANKED)}
        counts = {"positives": np.full(200, 10), "place": np.arange(200) % kept}
        return found | counts | {"kept": np.full(200, kept), "windows": np.full(200, 29)}

    records = {}
    for name, k in menu.PAPER:
        cells = [menu.cell(name, k, True, w, scorer) for w in ("buffer", "test") for scorer in menu.MAPS]
        for cell in [menu.ranked_cell(name, k, True), *cells]:
            quality = {"exact": 0.9, "budgeted": 0.01}
            records[tuple(sorted(cell.items()))] = values(6 if name == "high" else 11, quality)
    found = menu.summarise(records, True)
    assert found.find("medium, k = 20: chance", "TP@k").ours == pytest.approx(10 * 20 / 500)
    joint = found.find("medium, k = 20: exact joint optimum", "TP@k").ours
    assert found.find("medium, k = 20: exact joint optimum", "Δ chance").ours == pytest.approx(joint - 0.4)
    below = next(note for note in found.notes if note.startswith("Methods with a mean TP@k below chance"))
    assert below.count("budget-aware trigger") == 4 and "exact" not in below
    sureness = found.notes[-1]
    assert "medium, k = 20, Δ chance: +6" in sureness and sureness.count(", sure") == 6
    assert sureness.count("cannot be sure with 6 windows") == 6 and "Greedy" not in " ".join(found.extra["holm"])


def test_aml_scorers_are_fit_before_the_buffer_and_never_again(stand_in):
    """Planted: rows of buffer and test, and their labels, are made anew; a scorer that saw them would change."""
    from dataclasses import replace

    from biselect_studies.aml_fields import scene

    one = scene("generated", 200_000)
    later = slice(one.split.reference.stop, None)
    X, labels = one.X.copy(), one.labels.copy()
    X[later], labels[later] = X[later] * 3 + 1, ~labels[later]
    planted, pool = replace(one, X=X, labels=labels), one.X[:40].astype(float)
    for name in ("logistic", "ecdf", "conformal", "gaussian"):
        assert np.array_equal(one.scorer(name).weights(pool), planted.scorer(name).weights(pool))
    for name in ("trigger", "budgeted"):
        assert np.array_equal(getattr(one, name).scores(pool), getattr(planted, name).scores(pool))
    assert np.array_equal(one.detector("copod")(pool), planted.detector("copod")(pool))
    X[: later.start] += 1.0  # the same change where scorers do look
    assert not np.array_equal(one.scorer("ecdf").weights(pool), replace(one, X=X).scorer("ecdf").weights(pool))


def test_aml_scorer_and_rule_are_chosen_on_the_buffer_alone():
    """Whatever the test window says, the choice stays; what happens in the buffer decides it."""
    from biselect_studies import joint_vs_sequential_real_ibm_aml_hi_small as balanced

    def check(cells, chosen, best):
        records = {tuple(sorted(cell.items())): dict.fromkeys(cell["methods"], np.zeros(4)) for cell in cells}
        for window, better in (("buffer", best), ("test", "pareto")):
            for cell in cells:
                if (cell["window"], cell["map"]) == (window, better):
                    values = {name: np.full(4, 0.5 + (name == "feature-first:median")) for name in cell["methods"]}
                    records[tuple(sorted(cell.items()))] = values
        assert chosen(records) == (best, "feature-first:median")

    windows = ("buffer", "test")
    for best in ("laplace", "mad-z"):
        cells = [balanced.choice_cell(20, True, name, w) for name in balanced.MAPS for w in windows]
        check(cells, lambda records: balanced.chosen(records, 20, True), best)
        cells = [menu.cell("high", 20, True, w, name) for name in menu.MAPS for w in windows]
        check(cells, lambda records: menu.chosen(records, "high", 20, True), best)


def test_sweeps_tell_which_frauds_were_chosen(stand_in):
    from biselect_studies import creditcard_sweeps as sweeps
    from biselect_studies.experiments import creditcard_reference

    for task in (sweeps.lag_tasks(True, ("ecdf",))[0], sweeps.shrink_tasks(True)[-1]):
        cell = dict(task.cell)
        values = creditcard_reference.work(cell, range(3))
        for size in cell["sizes"]:
            assert np.shape(values[f"{size} frauds"]) == np.shape(values[f"{size} hits joint"]) == (3, SIZES[size])
            for selector in ("joint", "sequential", *sweeps.PLAIN):
                assert np.mean(values[f"{size} hits {selector}"], axis=1) == pytest.approx(values[f"{size} {selector}"])


def test_sweeps_say_where_a_plain_rule_is_ahead(stand_in):
    """Planted: the sum of weights finds every fraud, joint selection three in four, all others half."""
    from biselect_studies import creditcard_sweeps as sweeps
    from biselect_studies import real_creditcard_calibration_data_quality as quality
    from biselect_studies import real_creditcard_calibration_mechanism as mechanism

    rng = np.random.default_rng(0)
    found = {"weight-sum": 1.0, "joint": 0.75}

    def values(cell, seeds):
        kept = {}
        for size in cell["sizes"]:
            shape = (seeds, SIZES[size])
            for selector in ("joint", "sequential", *sweeps.PLAIN):
                hits = (rng.random(shape) < found.get(selector, 0.5)).astype(float)
                kept |= {f"{size} hits {selector}": hits, f"{size} {selector}": hits.mean(axis=1)}
            for name in (*(f"share {part}" for part in mechanism.PARTS), "largest row", "largest feature", "spread"):
                kept[f"{size} {name}"] = np.ones(seeds)
            kept[f"{size} frauds"] = rng.integers(0, 75, shape)
        return kept

    records = {task.cell: values(dict(task.cell), task.stop - task.first) for task in quality.tasks(False)}
    results = quality.summarise(records, False)
    assert "N = 50, block 4: sum of all weights by 0.2" in results.notes[0] and "m largest" not in results.notes[0]
    assert results.find("N = 50, joint − weight-sum", "block 4").high < 0
    claim = next(note for note in results.notes if "beats sum of all weights with the oldest reference" in note)
    assert claim.count("does not hold here") == 3
    records |= {task.cell: values(dict(task.cell), task.stop - task.first) for task in mechanism.tasks(False)}
    results = mechanism.summarise(records, False)
    assert results.find("ecdf, stale weight-sum F1@k", "(50,12,5,4)").ours == 1
    assert any(
        "higher mean F1@k than the exact joint optimum: ecdf, N = 20: sum of all weights 1.000" in n
        for n in results.notes
    )


def test_recommended_budgets_have_the_exact_optimum_and_plain_baselines_beside_them(stand_in):
    from biselect_studies.experiments import creditcard_budgets

    cell = budgets.cell("balanced", 20, "conformal") | {"methods": ("feature-first:max", "rule:weight-sum")}
    values = creditcard_budgets.work(cell, range(2))
    for rule in budget_rules.RULES:
        assert values[f"{rule} proven"] == [True, True] and min(values[f"{rule} short"]) >= 0
        for method in ("f1", "exact", *cell["methods"]):
            assert len(values[f"{rule} {method}"]) == 2 and max(values[f"{rule} {method}"]) <= 1
    assert set(budgets.BASELINES) == set(budgets.cell("ranked", 500, "ecdf")["methods"])


@pytest.mark.slow
def test_the_papers_balanced_table_comes_out_on_the_real_table(credit_card, tmp_path):
    results = reproduce("joint-vs-sequential-real-creditcard", tmp_path, quick=True)
    printed = [cell for cell in results.cells if cell.paper is not None]
    assert len(printed) == 18 and sum(cell.verdict == "differs" for cell in printed) <= 2


@pytest.mark.slow
@pytest.mark.usefixtures("credit_card")
def test_joint_beats_feature_first_on_the_real_table_only_where_the_reference_is_stale(tmp_path):
    results = reproduce("joint-vs-sequential-real-creditcard-protocol-stress", tmp_path, quick=True)
    stale = results.find("Balanced, 40/20/40: joint − feature-first, 25 slices", "(50,12,5,4)")
    assert stale.low > 0
    assert results.find("Balanced, 40/20/40: joint − sum of all weights, 25 slices", "(50,12,5,4)").high < 0
