from dataclasses import replace

import numpy as np
import pytest

from biselect.errors import InputError
from biselect_studies import load
from biselect_studies.experiments import aml, pools
from biselect_studies.experiments.aml import DETECTOR_ROWS, scene
from biselect_studies.experiments.baselines import DETECTORS, fitted
from biselect_studies.results import entry
from biselect_studies.runner import Records, collect, run
from biselect_studies.studies import stage1 as menu
from biselect_studies.studies.slices import AML
from biselect_studies.task import tasks_for


def test_aml_studies_are_marked_as_generated_and_never_judged(stand_in, tmp_path):
    study = load("stage1-turn-on")
    tasks = [task for task in study.tasks(True) if task.first == 0]
    tasks = tasks_for("aml_turn_on", dict(tasks[0].cell), 2, block=2)
    run(tasks, tmp_path, on="alone")
    found = study.summarise(collect(tasks, tmp_path), True)
    assert found.notes[0].startswith("GENERATED DATA") and "200,000" in found.notes[0]
    assert {one.verdict for one in found.cells} <= {"-", "not judged"}
    assert 0 < found.find("logistic: recall", "N = 500").ours <= found.find("logistic: recall", "N = 2000").ours <= 1


def test_a_file_of_the_published_name_with_other_counts_is_not_called_published(tmp_path, monkeypatch):
    from biselect_studies.data.aml_generator import Market

    table_ = Market(transactions=2_000, days=4).table(seed=0)
    table_.write_csv(tmp_path / "HI-Small_Trans.csv", datetime_format="%Y/%m/%d %H:%M")
    monkeypatch.setenv("BISELECT_DATA", str(tmp_path))
    assert aml.where_from(True).startswith("NOT THE PUBLISHED FILE: HI-Small_Trans.csv")
    assert "another file" in aml.beside(entry("r", "c", [1.0, 2.0])).aside
    aml._published.cache_clear()
    monkeypatch.setitem(aml.PUBLISHED, "HI-Small", (2_000, 2))
    assert aml.where_from(True).startswith("Computed from HI-Small_Trans.csv")
    aml._published.cache_clear()
    one = aml.origin(True)
    Market(transactions=2_000, days=4).table(seed=1).write_csv(tmp_path / "HI-Small_Trans.csv")
    other = aml.origin(True)
    assert one["source"] == other["source"] and one != other, "cells of the one must not be read for the other"


def test_a_test_window_that_the_file_does_not_reach_is_refused(stand_in):
    cell = dict(load("stage1-turn-on").tasks(True)[0].cell)
    with pytest.raises(InputError, match="holds 2 windows and window 5 was asked for"):
        pools.aml_turn_on(cell, [5])


def test_a_menu_that_keeps_no_test_window_has_no_pools_there(stand_in, monkeypatch):
    monkeypatch.setattr(pools, "retained", lambda past, now, menu: [])
    cell = menu.menu_cell("high", 20, True, "test")
    assert pools.aml_menu(cell, range(2)) == {"kept": [0, 0], "windows": [2, 2]}
    assert len(pools.aml_menu(menu.menu_cell("high", 20, True, "buffer"), [0])["feature-first:sum"]) == 1


def test_detectors_stand_on_the_pools_of_both_aml_studies_and_never_see_the_window(stand_in):

    cell = AML.main_cell(20, True)
    assert {f"detector:{name}" for name in DETECTORS} <= set(cell["methods"])
    asked = cell | {"methods": ("detector:isolation-forest", "detector:copod")}
    whole = pools.aml_slices(asked, range(3))
    assert pools.aml_slices(asked, [2])["detector:copod"] == whole["detector:copod"][2:]
    one = scene(cell["source"], cell["transactions"])
    end = one.split.reference.stop
    rows = end - 100_000 + np.sort(np.random.default_rng(0).permutation(100_000)[:DETECTOR_ROWS])
    pool = one.X[one.split.test][:30].astype(float)
    scores = fitted("isolation-forest", one.X[rows].astype(float))(pool)
    assert np.array_equal(one.detector("isolation-forest")(pool), scores)


def test_menus_that_keep_the_same_windows_are_one_family_member():
    def values(kept):
        if kept == 0:
            return {"kept": np.zeros(30, int), "windows": np.full(30, 9)}
        rng = np.random.default_rng(0)
        found = {name: rng.integers(0, 9, 30) for name in (*menu.WEIGHED, *menu.RANKED, "positives")}
        return found | {"place": np.arange(30) % kept, "kept": np.full(30, kept), "windows": np.full(30, 9)}

    def findings(high):
        records = Records()
        for name, k in menu.CONDITIONS:
            cells = [menu.menu_cell(name, k, True, w, scorer) for w in ("buffer", "test") for scorer in menu.MAPS]
            for cell in [menu.ranked_cell(name, k, True), *cells]:
                kept = high if (name, cell["window"]) == ("high", "test") else 7
                records[tuple(sorted(cell.items()))] = values(kept)
        return menu.summarise_menu(records, True)

    assert len(findings(7).extra["holm"]) == 6
    assert len(findings(6).extra["holm"]) == 12
    none = findings(0)
    assert len(none.extra["holm"]) == 6 and "high, k = 20: none of 9" in " ".join(none.notes)
    assert not [cell for cell in none.cells if cell.row.startswith("high") and "windows kept" not in cell.column]


def test_behind_a_trigger_chance_stands_beside_every_method_and_few_windows_say_that_they_are_few():
    rng = np.random.default_rng(0)

    def values(kept, quality):
        found = {name: rng.binomial(8, quality.get(name, 0.5), 200) for name in (*menu.WEIGHED, *menu.RANKED)}
        counts = {"positives": np.full(200, 10), "place": np.arange(200) % kept}
        return found | counts | {"kept": np.full(200, kept), "windows": np.full(200, 29)}

    records = Records()
    for name, k in menu.CONDITIONS:
        cells = [menu.menu_cell(name, k, True, w, scorer) for w in ("buffer", "test") for scorer in menu.MAPS]
        for cell in [menu.ranked_cell(name, k, True), *cells]:
            quality = {"exact": 0.9, "budgeted": 0.01}
            records[tuple(sorted(cell.items()))] = values(6 if name == "high" else 11, quality)
    found = menu.summarise_menu(records, True)
    assert found.find("medium, k = 20: chance", "TP@k").ours == pytest.approx(10 * 20 / 500)
    joint = found.find("medium, k = 20: exact joint optimum", "TP@k").ours
    assert found.find("medium, k = 20: exact joint optimum", "Δ chance").ours == pytest.approx(joint - 0.4)
    below = next(note for note in found.notes if note.startswith("Methods with a mean TP@k below chance"))
    assert below.count("budget-aware trigger") == 4 and "exact" not in below
    sureness = found.notes[-1]
    assert "medium, k = 20, Δ chance: +6" in sureness and sureness.count(", sure") == 6
    assert sureness.count("cannot be sure with 6 windows") == 6 and "Greedy" not in " ".join(found.extra["holm"])


@pytest.mark.slow
def test_aml_scorers_are_fit_before_the_buffer_and_never_again(stand_in):
    """Planted: rows of buffer and test, and their labels, are made anew; a scorer that saw them would change."""

    one = replace(scene("generated", 80_000))  # anew: a fit by another test may have had other BLAS threads
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

    def check(cells, chosen, best):
        zeros = {tuple(sorted(cell.items())): dict.fromkeys(cell["methods"], np.zeros(4)) for cell in cells}
        records = Records(zeros)
        for window, better in (("buffer", best), ("test", "pareto")):
            for cell in cells:
                if (cell["window"], cell["map"]) == (window, better):
                    values = {name: np.full(4, 0.5 + (name == "feature-first:median")) for name in cell["methods"]}
                    records[tuple(sorted(cell.items()))] = values
        assert chosen(records) == (best, "feature-first:median")

    windows = ("buffer", "test")
    for best in ("laplace", "mad-z"):
        cells = [AML.choice_cell(20, True, name, w) for name in AML.maps for w in windows]
        check(cells, lambda records: AML.choose(records, 20, True), best)
        cells = [menu.menu_cell("high", 20, False, w, name) for name in menu.MAPS for w in windows]
        check(cells, lambda records: menu.chosen(records, "high", 20, False), best)
