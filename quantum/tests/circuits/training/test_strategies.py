import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biselect.errors import InputError
from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import SCHEDULES, Ansatz, Schedule, Training, split_terms
from biselect_quantum.circuits.training.strategies import CONTAINED


def test_small_budgets_keep_what_contained_schedules_found():
    for seed in range(6):
        ansatz = Ansatz(planted_problem((5, 4, 2, 2), 2.0, seed=seed), 2)
        for budget in (5, 12, 20):
            trained = ansatz.train(strategy="continuation", objective="energy", evaluations=budget)
            assert trained.value == pytest.approx(ansatz.expectation(trained.angles))
            value = {stage.schedule: stage.value for stage in trained.stages}
            for larger, inner in CONTAINED.items():
                assert all(value[larger] <= value[smaller] for smaller in inner)


def test_a_ladder_never_falls_and_contains_what_it_goes_through(problem):
    trained = Ansatz(problem, 3).train(strategy="ladder", objective="optimum", through=("layerwise",))
    value = {(stage.schedule, stage.depth): stage.value for stage in trained.stages}
    for depth in (1, 2, 3):
        assert value["fully-grouped", depth] <= value["layerwise", depth] + 1e-9
    for name in ("layerwise", "fully-grouped"):
        assert value[name, 1] >= value[name, 2] - 1e-9 >= value[name, 3] - 2e-9
    assert list(trained.ladder) == [1, 2, 3] and trained.ladder[3] == trained.value


@settings(max_examples=6)
@given(st.integers(0, 1000), st.sampled_from(["energy", "optimum"]), st.sampled_from([0.02, 1.0, 50.0]))
def test_continuation_makes_grouped_no_worse_than_any_other(seed, objective, lopsided):
    problem = planted_problem((4, 3, 2, 1), 1.0, seed=seed)
    ansatz = Ansatz(replace(problem, sample_scores=lopsided * problem.sample_scores), 2)
    trained = ansatz.train(strategy="continuation", objective=objective)
    assert [stage.schedule for stage in trained.stages] == list(SCHEDULES)
    value = {stage.schedule: stage.value for stage in trained.stages}
    for larger, inner in CONTAINED.items():
        assert all(value[larger] <= value[smaller] + 1e-9 for smaller in inner)


def test_continuation_for_groups_of_ones_own_leaves_out_bilinear(problem):
    terms = np.random.default_rng(0).integers(2, size=5 + 4 + 20)
    trained = Ansatz(problem, 1, groups=split_terms(problem, terms)).train(strategy="continuation", evaluations=40)
    assert [stage.schedule for stage in trained.stages] == ["tied", "layerwise", "fixed-transport", "fully-grouped"]


def test_a_schedule_of_ones_own_is_trained_or_refused_in_words(problem):
    own = Schedule(name="own", matrix=Schedule.named("tied", 2).matrix, angle_names=("γ", "β"))
    ansatz = Ansatz(problem, 2, own)
    assert ansatz.train(evaluations=30).schedule == "own"
    for strategy in ("ladder", "continuation", "depth-frontier"):
        with pytest.raises(InputError, match="schedule"):
            ansatz.train(strategy=strategy)


def test_a_rung_that_fails_is_written_down_as_such(ansatz, monkeypatch):
    original = Ansatz.value_and_gradient
    monkeypatch.setattr(
        Ansatz,
        "value_and_gradient",
        lambda self, *rest: (np.nan, np.zeros(self.size)) if self.schedule.depth == 1 else original(self, *rest),
    )
    trained = ansatz.train(strategy="ladder", objective="energy", evaluations=60)
    assert trained.stages[0].value == np.inf and np.isfinite(trained.value)
    assert json.loads(trained.to_json())["stages"][0]["value"] is None
    back = Training.from_json(trained.to_json())
    assert back.stages[0].value == np.inf and back.to_json() == trained.to_json()


def test_multistart_finds_what_a_dense_scan_finds():
    ansatz = Ansatz(planted_problem((4, 3, 2, 1), 2.0, seed=1), 1, "tied")
    grid = np.linspace(-np.pi, np.pi, 61)
    scan = min(ansatz.expectation([gamma, beta]) for gamma in grid for beta in grid[::2])
    assert ansatz.train(objective="energy", evaluations=400).value <= scan + 1e-6
