import json

import numpy as np
import pytest

import biselect_quantum as bq
from biselect import SelectionProblem, solve
from biselect.core import Rules
from biselect.errors import InputError
from biselect_quantum.circuits.thresholds import threshold_for
from biselect_quantum.options import CircuitOptions, RunOptions, TrainingOptions
from biselect_quantum.pipelines import _pipeline, render_pipeline

QUICK = {
    "circuit": CircuitOptions(target="boston", depth=2),
    "training": TrainingOptions(evaluations=60),
    "run": RunOptions(shots=64),
}
STAGES = ("optimum.json", "angles.json", "nulls.json", "depths.json", "schedules.json", "circuit/manifest.json")


def problem_of(seed=0, **more):
    rng = np.random.default_rng(seed)
    return SelectionProblem(coupling=rng.exponential(size=(5, 4)), k=2, m=2, **more)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pipeline")
    return bq.pipeline(problem_of(), folder, **QUICK)


def test_a_problem_becomes_shots_beside_their_nulls_and_a_page(finished):
    best = solve(problem_of())
    assert finished.view["optimum"]["energy"] == pytest.approx(best.energy) and finished.view["optimum"]["proven"]
    assert {row["row"] for row in finished.outcome.nulls} == {
        *("start", "uniform", "tries", "mixer", "fields", "shuffled", "full")
    }
    assert all((finished.folder / name).exists() for name in STAGES)
    page = finished.page.read_text()
    assert finished.text in page and "mixer alone" in finished.text and "shuffled numbers" in finished.text
    assert page == render_pipeline(json.loads((finished.folder / "view.json").read_text()))


def test_the_page_asks_nobody_for_anything(finished):
    body = finished.page.read_text()
    assert "<script" not in body and 'src="http' not in body and "default-src 'none'" in body


def test_a_pipeline_is_taken_up_where_it_was(finished, monkeypatch):
    """What is there is read, not made again."""
    for stage in ("_proven", "compile_problem", "nulls"):
        monkeypatch.setattr(_pipeline, stage, lambda *_, **__: pytest.fail("made again"))
    again = bq.pipeline(problem_of(), finished.folder, **QUICK)
    assert again.view == finished.view


@pytest.mark.parametrize("lost", STAGES[1:])
def test_a_lost_stage_is_made_again_the_same(finished, lost, tmp_path):
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    before = (folder / lost).read_bytes()
    (folder / lost).unlink()
    again = bq.pipeline(problem_of(), folder, **QUICK)
    assert (folder / lost).read_bytes() == before and again.view == finished.view


@pytest.mark.parametrize("other", [{"run": RunOptions(shots=65)}, {"preset": "paper"}, {"on": "sector"}])
def test_a_folder_of_another_pipeline_is_refused(finished, other):
    with pytest.raises(InputError, match="another pipeline"):
        bq.pipeline(problem_of(), finished.folder, **{**QUICK, **other})
    with pytest.raises(InputError, match="differs in problem"):
        bq.pipeline(problem_of(1), finished.folder, **QUICK)


def test_the_paper_preset_says_that_its_threshold_was_known(tmp_path):
    found = bq.pipeline(problem_of(), tmp_path, preset="paper", on="sector", **QUICK)
    assert found.view["knowledge"] == "threshold known beforehand" in found.page.read_text()
    assert found.circuit.path.name.startswith("fractional")
    assert found.view["mass"]["share"] == 1.0  # no errors: every shot keeps its budgets


def test_couplings_that_are_not_there_change_nothing(tmp_path):
    flat = SelectionProblem(
        coupling=np.zeros((5, 4)), sample_scores=np.arange(5.0), feature_scores=np.arange(4.0), k=2, m=2
    )
    found = bq.pipeline(flat, tmp_path, on="sector", **QUICK)
    assert found.view["nulls"]["factors"]["couplings"] == [1.0, 1.0, 1.0]


def test_rules_are_kept(tmp_path):
    ruled = problem_of(sample_rules=Rules(forced_out=[4]), feature_rules=Rules(forced_in=[0]))
    found = bq.pipeline(ruled, tmp_path, on="sector", **QUICK)
    assert 0 in found.view["optimum"]["features"] and 4 not in found.view["optimum"]["samples"]


def test_more_choices_than_can_be_held_take_the_papers_way(tmp_path, monkeypatch):
    monkeypatch.setattr(_pipeline, "TRAINABLE", 10)
    said = []
    wide = {**QUICK, "training": TrainingOptions()}
    found = bq.pipeline(problem_of(), tmp_path / "selected", say=said.append, **wide)
    assert any("GiB at most" in text for text in said)
    assert found.view["knowledge"].startswith("angles selected") and found.view["schedule"] == "bilinear"
    assert {row["row"] for row in found.outcome.nulls} >= {"start", "uniform", "tries", "mixer", "shuffled", "full"}
    assert found.view["start_energy"] is not None and not (tmp_path / "selected" / "nulls.json").exists()
    fixed = bq.pipeline(problem_of(), tmp_path / "fixed", **{**wide, "training": TrainingOptions(strategy="fixed")})
    np.testing.assert_allclose(fixed.circuit.compiled.angles, np.pi / 4)
    assert fixed.view["knowledge"].startswith("fixed at π/4")
    with pytest.raises(InputError, match="leave evaluations out"):
        bq.pipeline(problem_of(), tmp_path / "other", **QUICK)


def test_its_threshold_is_one_that_training_takes(finished):
    threshold = threshold_for(finished.problem, finished.folder / "thresholds.json")
    assert threshold.value == finished.view["optimum"]["energy"]


def test_without_controls_no_hit_is_printed(tmp_path):
    found = bq.pipeline(problem_of(), tmp_path, on="sector", **{**QUICK, "run": RunOptions(shots=64, alone=True)})
    assert "says nothing" in found.text and "hit" not in found.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"training": TrainingOptions(strategy="fixed")},
        {"preset": "papers"},
        {"circuit": CircuitOptions(mixer="ring")},
        {"circuit": CircuitOptions(target="nowhere")},
        {"on": "moon"},
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, wrong):
    with pytest.raises(InputError):
        bq.pipeline(problem_of(), tmp_path, **{**QUICK, **wrong})


def test_directed_columns_become_the_undirected_problem(tmp_path):
    from biselect.weights import Weigher

    rng = np.random.default_rng(1)
    directed = Weigher().fit(rng.normal(size=(90, 4))).problem(rng.normal(size=(5, 4)), k=2, m=2)
    assert directed.directions is not None
    found = bq.pipeline(directed, tmp_path, on="sector", **QUICK)
    assert found.view["folded"] and found.problem.directions is None and "undirected problem" in found.page.read_text()
