import json
import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biselect.qaoa.ansatz
from biselect.core import SelectionProblem
from biselect.data.planted import planted_problem
from biselect.errors import BiselectError, InputError
from biselect.qaoa import SCHEDULES, STRATEGIES, Ansatz, Schedule, Training, split_terms, train
from biselect.qaoa.training.batched_lbfgs import batched_lbfgs
from biselect.qaoa.training.initial_angles import extended, nearest, stretched, units
from biselect.qaoa.training.objectives import Objective
from biselect.qaoa.training.search import Search
from biselect.qaoa.training.warm_start import CONTAINED

PARTS = ["energy", "cvar", "hit-rate", "optimum", {"energy": 0.4, "cvar": 1.0, "hit-rate": 0.7}]
OPTIONS = {"polish": {"starts": [np.full(8, 0.3)]}}


@pytest.fixture(scope="module")
def problem():
    return planted_problem((5, 4, 2, 2), 2.0, seed=0)


@pytest.fixture(scope="module")
def ansatz(problem):
    return Ansatz(problem, 2)


def low(ansatz, rank=3):
    """An energy that a few choices reach."""
    return float(np.sort(ansatz.energies, axis=None)[rank])


# Objectives


@pytest.mark.parametrize("parts", PARTS, ids=str)
@pytest.mark.parametrize("start", ["dicke", "canonical"])
def test_gradients_of_objectives(problem, parts, start):
    ansatz = Ansatz(problem, 2, start=start)
    objective = Objective.of(parts, ansatz, threshold=low(ansatz), share=0.2)
    angles = np.random.default_rng(2).normal(size=8)
    value, slope = objective.value_and_gradient(ansatz, angles)
    assert value == pytest.approx(objective.value(ansatz, angles))
    for position in range(8):
        step = np.zeros(8)
        step[position] = 1e-6
        difference = objective.value(ansatz, angles + step) - objective.value(ansatz, angles - step)
        assert slope[position] == pytest.approx(difference / 2e-6, abs=1e-4)


def test_objectives_are_what_they_are_called(ansatz):
    angles, threshold = np.full(8, 0.4), low(ansatz)
    probabilities, energies = ansatz.probabilities(angles), ansatz.energies

    def value(parts):
        return Objective.of(parts, ansatz, threshold=threshold, share=0.1).value(ansatz, angles)

    assert value("energy") == pytest.approx((probabilities * energies).sum())
    assert value("hit-rate") == pytest.approx(-np.log(probabilities[energies <= threshold].sum()))
    assert value("optimum") == pytest.approx(-np.log(probabilities[energies == energies.min()].sum()))
    blend = value({"energy": 2.0, "hit-rate": 0.5})
    assert blend == pytest.approx(-2 * ansatz.approximation(angles) + 0.5 * value("hit-rate"))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"objective": "hit-rate"}, "needs a threshold"),
        ({"objective": "hit-rate", "threshold": np.nan}, "finite energy"),
        ({"objective": "luck"}, "made of energy"),
        ({"objective": {}}, "made of energy"),
        ({"objective": {"energy": -1.0}}, "positive"),
        ({"objective": {"hit-rate": 1.0, "optimum": 1.0}, "threshold": 0.0}, "one of them"),
        ({"objective": "cvar", "share": 0.0}, "share"),
        ({"strategy": "prayer"}, "no strategy"),
        ({"strategy": "polish"}, "starts="),
        ({"strategy": "polish", "starts": [np.zeros(8), np.zeros(3)]}, "has 8 angles"),
        ({"starts": [np.full(8, np.nan)]}, "finite"),
        ({"evaluations": 0}, "evaluations"),
        ({"seconds": -1.0}, "seconds"),
        ({"workers": 0}, "workers"),
        ({"seed": -1}, "seed"),
        ({"colour": "red"}, "no option 'colour'"),
        ({"strategy": "ladder", "first": 5}, "first"),
        ({"strategy": "ladder", "first": "2"}, "first"),
        ({"strategy": "ladder", "fresh": -1}, "fresh"),
        ({"seconds": "3"}, "seconds"),
        ({"evaluations": 2.5}, "evaluations"),
        ({"objective": {"energy": "a"}}, "weight of energy"),
        ({"objective": 3}, "a name or a mapping"),
        ({"objective": "hit-rate", "threshold": "low"}, "finite energy"),
        ({"objective": "cvar", "share": "half"}, "share"),
        ({"strategy": "ladder", "through": ("sideways",)}, "does not contain"),
    ],
)
def test_bad_requests_are_refused_in_words(ansatz, wrong, words):
    with pytest.raises(InputError, match=words):
        ansatz.train(**wrong)


def test_numpy_numbers_are_numbers(ansatz, tmp_path):
    trained = ansatz.train(
        objective={"cvar": np.float32(1), "hit-rate": np.float64(0.5)},
        threshold=np.float32(-7.5),
        share=np.float32(0.25),
        evaluations=np.int64(20),
        seconds=np.float32(60),
        workers=np.int64(1),
        checkpoint=tmp_path / "kept.json",
    )
    assert json.loads(trained.to_json())["objective"]["threshold"] == -7.5


@pytest.mark.parametrize("depth", ["3", 2.5, 0, True])
def test_a_depth_is_a_whole_number(problem, depth):
    with pytest.raises(InputError, match="depth must be a whole number"):
        Ansatz(problem, depth)


def test_hit_rates_are_probabilities():
    problem = planted_problem((8, 6, 3, 3), 1.0, seed=0)
    rates = [Ansatz(problem, 2).hit_rate(np.full(8, angle), 1e9) for angle in np.linspace(0.1, 3, 20)]
    assert max(rates) <= 1 == pytest.approx(min(rates))


def test_tables_of_the_sector_are_made_once(problem, monkeypatch):
    made = []
    original = biselect.qaoa.ansatz.energy_table
    monkeypatch.setattr("biselect.qaoa.ansatz.energy_table", lambda given: made.append(1) or original(given))
    Ansatz(problem, 2).train(objective="cvar", evaluations=120)
    assert len(made) == 1


# Strategies


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_improves_keeps_its_budget_and_its_word(ansatz, strategy):
    trained = ansatz.train(strategy=strategy, evaluations=90, **OPTIONS.get(strategy, {}))
    assert trained.evaluations <= 90
    assert trained.energy == pytest.approx(trained.value) == pytest.approx(ansatz.expectation(trained.angles))
    assert trained.energy < ansatz.energies.mean() - 0.5
    assert trained.stages[-1].value == trained.value
    counts = [count for count, _ in trained.trace]
    assert counts == sorted(counts) and counts[-1] <= trained.evaluations
    assert min(value for _, value in trained.trace) == pytest.approx(trained.value)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_workers_change_nothing(ansatz, strategy):
    options = OPTIONS.get(strategy, {})
    alone = ansatz.train(strategy=strategy, objective="cvar", evaluations=60, seed=5, **options)
    crew = ansatz.train(strategy=strategy, objective="cvar", evaluations=60, seed=5, workers=3, **options)
    assert alone.to_json() == crew.to_json()


def test_seeds_matter_and_repeat(ansatz):
    first, again, other = (
        ansatz.train(strategy="threshold", evaluations=40, seed=seed).to_dict() for seed in (1, 1, 2)
    )
    assert first == again
    assert first["trace"] != other["trace"]


def test_seconds_end_a_training(ansatz):
    trained = ansatz.train(seconds=0.3, workers=2)
    assert trained.seconds < 5 and trained.evaluations >= 1
    short = ansatz.train(strategy="ladder", seconds=1e-6)
    assert short.depth == 2 and len(short.angles) == 8


def test_a_crew_that_runs_out_of_time_brings_what_it_has(ansatz, monkeypatch):
    """A descent that ran ahead is followed again with less room; by then the time may be up."""
    original, cut = Search._room, []

    def room(self, share):
        left = original(self, share)
        if self.spent and not self._over and left > 5:  # as if the elders had spent almost everything, and all the time
            self.seconds = 1e-9
            cut.append(left)
            return 5
        return left

    monkeypatch.setattr(Search, "_room", room)
    trained = ansatz.train(evaluations=200, seconds=60, workers=3)
    assert cut and np.isfinite(trained.value)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_progress_goes_on_without_a_budget(problem, strategy):
    told = []
    options = {"polish": {"starts": [np.full(4, 0.3)] * 2}}.get(strategy, {})
    Ansatz(problem, 1).train(strategy=strategy, progress=lambda done, _: told.append(done), **options)
    assert told == sorted(told) and 0 < told[0] < told[-1] <= 1
    if strategy != "multistart":  # which sets itself a budget and may stop below
        assert told[-1] == pytest.approx(1)


def test_small_budgets_keep_what_contained_schedules_found():
    for seed in range(6):
        ansatz = Ansatz(planted_problem((5, 4, 2, 2), 2.0, seed=seed), 2)
        for budget in (5, 12, 20):
            trained = ansatz.train(strategy="continuation", evaluations=budget)
            assert trained.value == pytest.approx(ansatz.expectation(trained.angles))
            value = {stage.schedule: stage.value for stage in trained.stages}
            for larger, inner in CONTAINED.items():
                assert all(value[larger] <= value[smaller] for smaller in inner)


def test_a_ladder_never_falls_and_contains_what_it_goes_through(problem):
    trained = Ansatz(problem, 3).train(strategy="ladder", through=("layerwise",))
    value = {(stage.schedule, stage.depth): stage.value for stage in trained.stages}
    for depth in (1, 2, 3):
        assert value["fully-grouped", depth] <= value["layerwise", depth] + 1e-9
    for name in ("layerwise", "fully-grouped"):
        assert value[name, 1] >= value[name, 2] - 1e-9 >= value[name, 3] - 2e-9
    assert list(trained.ladder) == [1, 2, 3] and trained.ladder[3] == trained.value


@settings(max_examples=6, deadline=None)
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


def test_multistart_finds_what_a_dense_scan_finds():
    ansatz = Ansatz(planted_problem((4, 3, 2, 1), 2.0, seed=1), 1, "tied")
    grid = np.linspace(-np.pi, np.pi, 61)
    scan = min(ansatz.expectation([gamma, beta]) for gamma in grid for beta in grid[::2])
    assert ansatz.train(evaluations=400).value <= scan + 1e-6


def test_training_does_not_depend_on_the_unit_of_energy(problem):
    tenfold = SelectionProblem(
        coupling=10 * problem.coupling,
        sample_scores=10 * problem.sample_scores,
        feature_scores=10 * problem.feature_scores,
        k=2,
        m=2,
    )
    small, large = (Ansatz(given, 1) for given in (problem, tenfold))
    np.testing.assert_allclose(units(large)[:3], units(small)[:3] / 10)
    found = [ansatz.train(objective="optimum", evaluations=100).hit_rate for ansatz in (small, large)]
    assert found[1] == pytest.approx(found[0], rel=1e-3)


def with_scores(problem, unit, shift=0.0):
    return SelectionProblem(
        coupling=unit * problem.coupling,
        sample_scores=unit * problem.sample_scores + shift,
        feature_scores=unit * problem.feature_scores,
        k=problem.k,
        m=problem.m,
    )


@pytest.mark.parametrize("objective", ["energy", "cvar"])
@pytest.mark.parametrize("how", [{"strategy": "ladder"}, {"evaluations": 100}, {"evaluations": 200, "lockstep": True}])
def test_training_is_as_good_in_any_unit(problem, objective, how):
    alphas = []
    for unit, shift in ((1.0, 0.0), (1e-9, 0.0), (1e9, 0.0), (1.0, 1e3)):
        ansatz = Ansatz(with_scores(problem, unit, shift), 2)
        value = ansatz.train(objective=objective, **how).value
        alphas.append((ansatz.energies.mean() - value) / np.ptp(ansatz.energies))
    np.testing.assert_allclose(alphas, alphas[0], rtol=1e-3)


@pytest.mark.filterwarnings("error")
def test_energies_whose_squares_are_no_numbers_are_refused(problem):
    with pytest.raises(InputError, match="divide all scores"):
        Ansatz(with_scores(problem, 1e200), 1).train(evaluations=5)


def test_constant_scores_have_no_spread():
    coupling = np.random.default_rng(0).random((7, 4))
    assert np.std(np.full(7, 0.1)) > 0  # rounding, which must not count
    problem = SelectionProblem(coupling=coupling, sample_scores=np.full(7, 0.1), feature_scores=np.zeros(4), k=3, m=2)
    plain = SelectionProblem(coupling=coupling, k=3, m=2)
    given, without = (Ansatz(each, 1) for each in (problem, plain))
    np.testing.assert_array_equal(units(given), units(without))
    assert given.approximation(given.train(evaluations=60).angles) > 0.3


def test_longer_circuits_from_shorter_ones():
    in_layers = np.arange(8.0).reshape(2, 4)
    np.testing.assert_allclose(stretched(in_layers, 2), in_layers)
    assert stretched(in_layers, 4)[[0, -1]].tolist() == in_layers[[0, -1]].tolist()
    assert extended(in_layers, 3)[2].tolist() == [0, 0, 0, 0]
    tied = Schedule.named("tied", 2)
    np.testing.assert_allclose(nearest(tied, np.array([[1, 2, 3, 4], [1, 2, 3, 6]])), [2, 5])


# Lock-step


def test_lockstep_goes_down_as_far_as_one_by_one(ansatz):
    starts = np.random.default_rng(0).uniform(-1, 1, size=(5, 8))
    together = batched_lbfgs(
        ansatz.many_with_gradients,
        starts,
        units=np.ones(8),
        reach=np.full(8, np.pi),
        evaluations=150,
        expired=lambda: False,
    )
    for start, descent in zip(starts, together, strict=True):
        slope = ansatz.value_and_gradient(descent.angles)[1]
        inside = np.abs(descent.angles) < np.pi - 1e-9
        assert np.abs(slope[inside]).max() < 0.02 * np.abs(ansatz.value_and_gradient(start)[1]).max()
        assert descent.value == pytest.approx(ansatz.expectation(descent.angles))
        assert descent.value < ansatz.expectation(start)
        assert [value for _, value in descent.trace] == sorted((value for _, value in descent.trace), reverse=True)
    trained = ansatz.train(lockstep=True, evaluations=300)
    assert trained.evaluations <= 300
    assert trained.value == pytest.approx(ansatz.train(evaluations=300).value, rel=0.1)


def test_lockstep_bears_starts_that_give_no_number():
    def broken(vectors):
        values = (vectors**2).sum(axis=1)
        return np.where(vectors[:, 0] > 1, np.nan, values), 2 * vectors

    good, bad = batched_lbfgs(
        broken,
        np.array([[0.5, 0.5], [2.0, 0.5]]),
        units=np.ones(2),
        reach=np.full(2, 3.0),
        evaluations=20,
        expired=lambda: False,
    )
    assert good.value < 1e-6 and not good.failed
    assert bad.failed and bad.value == np.inf


# Resuming


class KilledError(Exception):
    pass


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_and_resumed_ends_at_the_same_angles(ansatz, tmp_path, strategy, workers, monkeypatch):
    monkeypatch.setattr("biselect.qaoa.training.checkpoint.PAUSE", 0.0)
    how = {"strategy": strategy, "evaluations": 80, "seed": 3, "workers": workers, **OPTIONS.get(strategy, {})}
    whole = ansatz.train(**how)
    path = tmp_path / "training.json"
    calls, lock = [0], threading.Lock()
    original = Ansatz.value_and_gradient if strategy != "threshold" else Ansatz.expectation
    name = original.__name__

    def mortal(self, *arguments):
        with lock:
            calls[0] += 1
            if calls[0] == 50:
                raise KilledError
        return original(self, *arguments)

    if strategy != "polish":  # one descent only: nothing of it could have been kept
        with monkeypatch.context() as patch, pytest.raises(KilledError):
            patch.setattr(Ansatz, name, mortal)
            ansatz.train(checkpoint=path, **how)
        kept = json.loads(path.read_text())["done"]
        assert 1 <= len(kept)
    resumed = ansatz.train(checkpoint=path, **how)
    assert resumed.to_json() == whole.to_json()
    assert ansatz.train(checkpoint=path, **how).to_json() == whole.to_json()


def test_a_checkpoint_of_another_training_is_refused(ansatz, problem, tmp_path):
    path = tmp_path / "training.json"
    ansatz.train(checkpoint=path, evaluations=20)
    with pytest.raises(InputError, match=r"another training \(it differs in seed\)"):
        ansatz.train(checkpoint=path, evaluations=20, seed=1)
    with pytest.raises(InputError, match="in circuit"):
        Ansatz(problem, 2, mixer="path").train(checkpoint=path, evaluations=20)
    with pytest.raises(InputError, match="in precision"):
        Ansatz(problem, 2, dtype=np.complex64).train(checkpoint=path, evaluations=20)
    with pytest.raises(InputError, match="lockstep"):
        ansatz.train(checkpoint=path, evaluations=20, lockstep=True)
    path.write_text('{"format": "other"}')
    with pytest.raises(InputError, match="not the checkpoint"):
        ansatz.train(checkpoint=path, evaluations=20)
    with pytest.raises(InputError, match="no folder"):
        ansatz.train(checkpoint=tmp_path / "nowhere" / "x.json")


# Odd landscapes


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("objective", ["energy", "cvar", "optimum", {"energy": 1.0, "cvar": 1.0}])
def test_equal_energies_everywhere_give_a_note(strategy, objective):
    ansatz = Ansatz(SelectionProblem(coupling=np.ones((4, 3)), k=2, m=1), 2)
    trained = ansatz.train(strategy=strategy, objective=objective, evaluations=40, **OPTIONS.get(strategy, {}))
    assert np.isfinite(trained.angles).all() and trained.energy == pytest.approx(-2.0)
    assert "the landscape is flat" in trained.notes[0]


def test_a_stationary_start_is_not_called_a_flat_landscape(problem, ansatz):
    trained = ansatz.train(strategy="polish", starts=[np.zeros(8)], evaluations=40)
    assert "every start is a stationary point" in trained.notes[0] and "landscape" not in trained.notes[0]
    assert ansatz.train(strategy="polish", starts=[np.full(8, 0.3)], evaluations=40).notes == ()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_empty_threshold_set_gives_a_note(ansatz, strategy):
    trained = ansatz.train(
        strategy=strategy, objective="hit-rate", threshold=-1e6, evaluations=40, **OPTIONS.get(strategy, {})
    )
    assert trained.hit_rate == 0 and np.isfinite(trained.value)
    assert "the lowest energy of all choices" in trained.notes[0]


def test_a_start_without_any_hit_does_not_stop_the_others(problem):
    ansatz = Ansatz(problem, 1, start="canonical")
    energies = ansatz.energies
    assert energies[0, 0] > low(ansatz)
    idle = np.zeros(4)  # the start state itself: p = 0 exactly
    trained = ansatz.train(objective="hit-rate", threshold=low(ansatz), starts=[idle], evaluations=80)
    assert trained.hit_rate > 0.01 and trained.notes == ()
    stuck = ansatz.train(strategy="polish", objective="hit-rate", threshold=low(ansatz), starts=[idle], evaluations=80)
    assert stuck.hit_rate == 0 and "no start gave any probability" in stuck.notes[0]


def test_values_that_are_no_numbers_end_a_descent_not_the_training(ansatz, monkeypatch):
    original = Ansatz.value_and_gradient
    calls = [0]

    def sometimes(self, *arguments):
        calls[0] += 1
        value, slope = original(self, *arguments)
        return (np.nan if calls[0] % 7 == 0 else value), slope

    monkeypatch.setattr(Ansatz, "value_and_gradient", sometimes)
    trained = ansatz.train(evaluations=60)
    assert trained.value < ansatz.energies.mean() and "no finite number" in trained.notes[0]
    monkeypatch.setattr(Ansatz, "value_and_gradient", lambda self, *_: (np.nan, np.zeros(self.size)))
    with pytest.raises(BiselectError, match="no evaluation gave a finite number"):
        ansatz.train(evaluations=60)


def test_a_rung_that_fails_is_written_down_as_such(ansatz, monkeypatch):
    original = Ansatz.value_and_gradient
    monkeypatch.setattr(
        Ansatz,
        "value_and_gradient",
        lambda self, *rest: (np.nan, np.zeros(self.size)) if self.schedule.depth == 1 else original(self, *rest),
    )
    trained = ansatz.train(strategy="ladder", evaluations=60)
    assert trained.stages[0].value == np.inf and np.isfinite(trained.value)
    assert json.loads(trained.to_json())["stages"][0]["value"] is None
    back = Training.from_json(trained.to_json())
    assert back.stages[0].value == np.inf and back.to_json() == trained.to_json()


@pytest.mark.parametrize("size", [(1, 1, 1, 1), (3, 2, 3, 2), (2, 1, 1, 1)])
def test_the_smallest_problems(size):
    n, d, k, m = size
    coupling = np.arange(1.0, 1 + n * d).reshape(n, d)
    ansatz = Ansatz(SelectionProblem(coupling=coupling, k=k, m=m), 1)
    assert np.isfinite(ansatz.train(evaluations=20, objective="optimum").value)


# The stored form


def test_angles_survive_json(ansatz, tmp_path):
    trained = ansatz.train(strategy="ladder", objective="cvar", evaluations=60)
    text = trained.to_json(tmp_path / "angles.json")
    back = Training.from_json(tmp_path / "angles.json")
    assert back.to_json() == text == Training.from_json(text).to_json()
    assert Training.from_json(str(tmp_path / "angles.json")).to_json() == text
    assert (back.angles == trained.angles).all() and back.ladder == trained.ladder
    assert "seconds" not in json.loads(text)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "biselect-angles-1"}', '{"format": "x", "stages": []}'])
def test_what_is_not_angles_is_refused(text, tmp_path):
    with pytest.raises(InputError, match="not angles"):
        Training.from_json(text)
    for place in (tmp_path / "none.json", str(tmp_path / "none.json")):
        with pytest.raises(InputError, match="no such file"):
            Training.from_json(place)


def test_train_is_a_function_too(ansatz):
    assert train(ansatz, evaluations=20).to_json() == ansatz.train(evaluations=20).to_json()
