import json

import numpy as np
import pytest

from biselect.errors import InputError, MissingDataError
from biselect.weights import Weigher
from biselect_studies import load, reproduce
from biselect_studies.experiments import creditcard, pools
from biselect_studies.experiments.creditcard import SIZES
from biselect_studies.experiments.pools import RULES, recommended_budgets
from biselect_studies.runner import Records, collect, run
from biselect_studies.studies import creditcard as budgets
from biselect_studies.studies import creditcard as improvement
from biselect_studies.studies import reference_sweeps as sweeps
from biselect_studies.studies.slices import CHOICE, paired
from biselect_studies.studies.slices import CREDIT_CARD as TABLE
from biselect_studies.task import tasks_for


@pytest.mark.parametrize("name", ["joint-vs-sequential-real-creditcard", "creditcard-neighbouring-budgets"])
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
    from biselect_studies.data.creditcard import load_credit_card

    X = load_credit_card().features
    for window, reference, rows in (("test", "first", slice(0, 9000)), ("test", "recent", slice(9000, 12000))):
        plain = Weigher("ecdf").fit(X[rows]).weights(X[12000:])
        assert np.array_equal(creditcard.weights((60, 20, 20), window, "ecdf", reference), plain)
    assert creditcard.reference_rows((60, 20, 20), "buffer", "recent") == slice(6000, 9000)
    with pytest.raises(InputError, match="first or recent"):
        creditcard.reference_rows((60, 20, 20), "test", "future")


def test_slices_count_what_they_say(stand_in):
    cell = {**TABLE.main_cell(20, True), "methods": ("exact", "feature-first:max", "rule:weight-sum")}
    values = pools.creditcard_slices(cell, range(6))
    for seed in range(6):
        pool = creditcard.draw("balanced", (60, 20, 20), "test", 20, 3, seed)
        assert values["frauds"][seed] == pool.rows[pool.positive].tolist()
        assert values["exact"][seed] == pytest.approx(np.mean(values["hits exact"][seed]))
    found = {name: np.array(entries) for name, entries in values.items()}
    by_slice, by_fraud = paired(found, "exact", "rule:weight-sum")
    assert by_slice.mean == pytest.approx(by_fraud.mean) and by_fraud.units == np.unique(found["frauds"]).size


def test_the_map_is_chosen_on_the_buffer_alone(stand_in, tmp_path):
    """Whatever happens in the test window, the choice stays; what happens in the buffer decides it."""
    cells = [TABLE.choice_cell(20, True, name, w) for name in TABLE.maps for w in ("buffer", "test")]
    tasks = [task for cell in cells for task in tasks_for("creditcard_slices", cell, 2, block=2)]
    run(tasks, tmp_path, on="alone")
    records = collect(tasks, tmp_path)
    chosen = TABLE.choose(records, 20, True)
    for name in TABLE.maps:
        worse = records.of(TABLE.choice_cell(20, True, name, "test"))
        for method in CHOICE:
            worse[method] = worse[method] * 0
    assert TABLE.choose(records, 20, True) == chosen
    for method in CHOICE:
        records.of(TABLE.choice_cell(20, True, "laplace", "buffer"))[method] = np.full(2, 2.0)
    assert TABLE.choose(records, 20, True)[0] == "laplace"


def test_the_improvement_is_chosen_on_the_buffer_alone():
    rng = np.random.default_rng(0)
    records = Records()

    def add(cell, better=False):
        values = {method: rng.random(4) + better for method in cell["methods"]}
        values |= {f"hits {m}": rng.integers(0, 2, (4, cell["k"])) for m in cell["methods"]}
        records[tuple(sorted(cell.items()))] = values | {"frauds": rng.integers(0, 20, (4, cell["k"]))}

    for size in SIZES:
        add(TABLE.main_cell(size, True))
        for place, form in enumerate(improvement.FORMS):
            add(improvement.form_cell(size, form, "buffer", improvement.JOINT), better=place == 7)
            add(improvement.form_cell(size, form, "test", improvement.JOINT), better=place == 9)
            for window in ("buffer", "test"):
                add(improvement.form_cell(size, form, window, improvement.RULE))
            cell = improvement.form_cell(size, form, "buffer", improvement.JOINT)
            records.of(cell)["feature-first:sum"] = np.full(4, 9.0 * (place == 3))
    found = improvement.summarise_forms(records, True)
    assert found.extra["chosen"] == improvement.FORMS[7]
    own = found.extra["own"]
    assert own["feature-first:sum"] == improvement.FORMS[3] and set(own) == set(improvement.OWN)
    later = records.of(improvement.form_cell(20, improvement.FORMS[3], "test", "feature-first:sum"))[
        "feature-first:sum"
    ]
    row = found.find("Feature-first, own form chosen on the buffer", "N = 20")
    assert row.ours == pytest.approx(float(np.mean(later)))
    rival = "feature-first, own form chosen on the buffer"
    assert found.find(f"Chosen − {rival}, frauds resampled", "N = 80")
    assert {f"{rival}, N = {size}" for size in SIZES} <= set(found.extra["holm"])
    assert any(f"beats {rival}. N = 20" in note for note in found.notes)


def test_sweeps_tell_which_frauds_were_chosen(stand_in):
    tasks = sweeps.tasks(True, ("ecdf-paper",))

    for task in (tasks[-1], [task for task in tasks if dict(task.cell)["kind"] == "shrink"][-1]):
        cell = dict(task.cell)
        values = pools.creditcard_reference(cell, range(3))
        for size in cell["sizes"]:
            assert np.shape(values[f"{size} frauds"]) == np.shape(values[f"{size} hits joint"]) == (3, SIZES[size])
            for selector in ("joint", "sequential", *sweeps.PLAIN):
                assert np.mean(values[f"{size} hits {selector}"], axis=1) == pytest.approx(values[f"{size} {selector}"])


def test_sweeps_say_where_a_plain_rule_is_ahead(stand_in, few_resamples):
    """Planted: the sum of weights finds every fraud, joint selection three in four, all others half."""

    rng = np.random.default_rng(0)
    found = {"weight-sum": 1.0, "joint": 0.75}

    def values(cell, seeds):
        kept = {}
        for size in cell["sizes"]:
            shape = (seeds, SIZES[size])
            for selector in ("joint", "sequential", *sweeps.PLAIN):
                hits = (rng.random(shape) < found.get(selector, 0.5)).astype(float)
                kept |= {f"{size} hits {selector}": hits, f"{size} {selector}": hits.mean(axis=1)}
            for name in (*(f"share {part}" for part in sweeps.COMPONENTS), "largest row", "largest feature", "spread"):
                kept[f"{size} {name}"] = np.ones(seeds)
            kept[f"{size} frauds"] = rng.integers(0, 75, shape)
        return kept

    records = Records({t.cell: values(dict(t.cell), t.stop - t.first) for t in sweeps.QUALITY.tasks(False)})
    results = sweeps.summarise_quality(records, False)
    assert "N = 50, block 4: sum of all weights by 0.2" in results.notes[0] and "m largest" not in results.notes[0]
    assert results.find("N = 50, joint − weight-sum", "block 4").high < 0
    claim = next(note for note in results.notes if "beats sum of all weights with the oldest reference" in note)
    assert claim.count("does not hold here") == 3
    records |= {task.cell: values(dict(task.cell), task.stop - task.first) for task in sweeps.MECHANISM.tasks(False)}
    results = sweeps.summarise_mechanism(records, False)
    assert results.find("ecdf-paper, stale weight-sum F1@k", "(50,12,5,4)").ours == 1
    assert any(
        "higher mean F1@k than the exact joint optimum: ecdf-paper, N = 20: sum of all weights 1.000" in n
        for n in results.notes
    )


def test_budget_rules_read_a_planted_block():
    rng = np.random.default_rng(0)
    W = rng.exponential(0.5, size=(40, 28))
    W[:5, :7] += 6
    ks, ms = np.arange(1, 17), np.array([2, 3, 5, 7, 10, 14, 20, 28])
    scores = np.array([[np.sort(W[:, :m].sum(1))[-k:].sum() for m in ms] for k in ks])
    found = recommended_budgets(scores, W, ks, ms)
    assert tuple(found) == RULES
    for name, (k, m) in found.items():
        if name != "densest":
            assert (ks[k], ms[m]) == (5, 7), name


def test_recommended_budgets_have_the_exact_optimum_and_plain_baselines_beside_them(stand_in):

    cell = budgets.cell("balanced", 20, "conformal") | {"methods": ("feature-first:max", "rule:weight-sum")}
    values = pools.creditcard_budgets(cell, range(2))
    for rule in RULES:
        assert values[f"{rule} proven"] == [True, True] and min(values[f"{rule} short"]) >= 0
        for method in ("f1", "exact", *cell["methods"]):
            assert len(values[f"{rule} {method}"]) == 2 and max(values[f"{rule} {method}"]) <= 1
    assert len(budgets.cells(False)) * budgets.GRID.full == 960
    assert set(budgets.BASELINES) == set(budgets.cell("ranked", 500, "ecdf-paper")["methods"])


@pytest.mark.slow
def test_the_papers_balanced_table_comes_out_on_the_real_table(credit_card, tmp_path):
    """The full form: a quick one is not held against what is printed."""
    results = reproduce("joint-vs-sequential-real-creditcard", tmp_path, quick=False)
    printed = [cell for cell in results.cells if cell.paper is not None]
    assert len(printed) == 18 and sum(cell.verdict == "differs" for cell in printed) <= 2


@pytest.mark.slow
@pytest.mark.usefixtures("credit_card")
def test_joint_beats_feature_first_on_the_largest_pools_and_not_the_plain_sum_where_the_reference_is_stale(tmp_path):
    results = reproduce("joint-vs-sequential-real-creditcard-protocol-stress", tmp_path, quick=True)
    for protocol in ("70/10/20", "60/20/20", "40/20/40"):
        largest = results.find(f"Balanced, {protocol}: joint − feature-first, 25 slices", "(80,12,8,4)")
        assert largest.low > 0
    assert results.find("Balanced, 40/20/40: joint − sum of all weights, 25 slices", "(50,12,5,4)").high < 0
