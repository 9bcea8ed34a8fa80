import json

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import STRATEGIES, Ansatz, Training, train

OPTIONS = {"polish": {"start_from": [np.full(8, 0.3)]}}


def low(ansatz, rank=3):
    """An energy that a few choices reach."""
    return float(np.sort(ansatz.energies, axis=None)[rank])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"objective": "hit-rate"}, "needs a threshold"),
        ({"objective": "hit-rate", "threshold": np.nan}, "finite energy"),
        ({"objective": "luck"}, "made of shots, energy"),
        ({"objective": {}}, "made of shots, energy"),
        ({"objective": {"energy": -1.0}}, "positive"),
        ({"objective": {"hit-rate": 1.0, "optimum": 1.0}, "threshold": 0.0}, "one of them"),
        ({"objective": "cvar", "share": 0.0}, "share"),
        ({"strategy": "prayer"}, "no strategy"),
        ({"strategy": "polish"}, "start_from="),
        ({"strategy": "polish", "start_from": [np.zeros(8), np.zeros(3)]}, "has 8 angles"),
        ({"start_from": [np.full(8, np.nan)]}, "finite"),
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
        ({"objective": 3}, "a name, a mapping"),
        ({"objective": {"shots": 1.0, "energy": 1.0}}, "cannot be blended"),
        ({"seeds": 0}, "seeds"),
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


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_improves_keeps_its_budget_and_its_word(ansatz, strategy):
    trained = ansatz.train(strategy=strategy, objective="energy", evaluations=90, **OPTIONS.get(strategy, {}))
    assert trained.evaluations <= 90
    assert trained.energy == pytest.approx(trained.value) == pytest.approx(ansatz.expectation(trained.angles))
    assert trained.energy < ansatz.energies.mean() - 0.5
    assert trained.stages[-1].value == trained.value
    counts = [count for count, _ in trained.trace]
    assert counts == sorted(counts) and counts[-1] <= trained.evaluations
    assert min(value for _, value in trained.trace) == pytest.approx(trained.value)


def test_seeds_matter_and_repeat(ansatz):
    first, again, other = (
        ansatz.train(strategy="threshold", evaluations=40, seed=seed).to_dict() for seed in (1, 1, 2)
    )
    assert first == again
    assert first["trace"] != other["trace"]


@pytest.mark.filterwarnings("error")
def test_energies_whose_squares_are_no_numbers_are_refused(with_scores, problem):
    with pytest.raises(InputError, match="divide all scores"):
        Ansatz(with_scores(problem, 1e200), 1).train(evaluations=5)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("objective", ["energy", "cvar", "optimum", {"energy": 1.0, "cvar": 1.0}])
def test_equal_energies_everywhere_give_a_note(strategy, objective):
    ansatz = Ansatz(SelectionProblem(coupling=np.ones((4, 3)), k=2, m=1), 2)
    trained = ansatz.train(strategy=strategy, objective=objective, evaluations=40, **OPTIONS.get(strategy, {}))
    assert np.isfinite(trained.angles).all() and trained.energy == pytest.approx(-2.0)
    assert "the landscape is flat" in trained.notes[0]


def test_a_stationary_start_is_not_called_a_flat_landscape(problem, ansatz):
    trained = ansatz.train(strategy="polish", start_from=[np.zeros(8)], evaluations=40)
    assert "every start is a stationary point" in trained.notes[0] and "landscape" not in trained.notes[0]
    assert ansatz.train(strategy="polish", start_from=[np.full(8, 0.3)], evaluations=40).notes == ()


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
    trained = ansatz.train(objective="hit-rate", threshold=low(ansatz), start_from=[idle], evaluations=80)
    assert trained.hit_rate > 0.01 and trained.notes == ()
    stuck = ansatz.train(
        strategy="polish", objective="hit-rate", threshold=low(ansatz), start_from=[idle], evaluations=80
    )
    assert stuck.hit_rate == 0 and "no start gave any probability" in stuck.notes[0]


@pytest.mark.parametrize("size", [(1, 1, 1, 1), (3, 2, 3, 2), (2, 1, 1, 1)])
def test_the_smallest_problems(size):
    n, d, k, m = size
    coupling = np.arange(1.0, 1 + n * d).reshape(n, d)
    ansatz = Ansatz(SelectionProblem(coupling=coupling, k=k, m=m), 1)
    assert np.isfinite(ansatz.train(evaluations=20, objective="optimum").value)


def test_train_is_a_function_too(ansatz):
    assert train(ansatz, evaluations=20).to_json() == ansatz.train(evaluations=20).to_json()


def test_the_objective_follows_the_question(ansatz):
    def asked(**how):
        return ansatz.train(evaluations=20, **how).objective

    best = float(ansatz.energies.min())
    assert asked(objective="optimum") == {
        "name": "optimum",
        "weights": {"hit-rate": 1.0},
        "threshold": best,
        "share": 0.05,
    }
    assert asked()["name"] == "shots" and asked()["weights"] == {"hit-rate": 1.0} and asked()["threshold"] >= best
    assert asked(threshold=low(ansatz))["threshold"] == low(ansatz)
    assert asked(strategy="depth-frontier")["weights"] == {"energy": 1.0}  # the paper's protocol for expected energies


def test_fewer_hits_than_by_chance_are_told():
    problem = planted_problem((5, 4, 2, 2), 2.0, seed=3)
    ansatz = Ansatz(problem, 2, start="canonical")
    near_the_start = np.array([0.0, 0.0, 0.0, 0.05] * 2)
    stuck = ansatz.train(strategy="polish", objective="energy", start_from=near_the_start, evaluations=2)
    assert ansatz.optimum_mass(stuck.angles) < 1 / ansatz.energies.size
    assert "less often" in stuck.notes[0] and "uniform choice" in stuck.notes[0]
    assert ansatz.train(evaluations=80).notes == ()


def test_angles_that_change_nothing_are_named_and_zero():
    coupling = np.random.default_rng(0).random((5, 4))
    plain = SelectionProblem(coupling=coupling, k=2, m=2)
    scored = SelectionProblem(coupling=coupling, sample_scores=np.arange(5.0), feature_scores=np.ones(4), k=2, m=2)
    cases = [
        (Ansatz(plain, 2), ("γ_S,1", "γ_F,1", "γ_S,2", "γ_F,2")),
        (Ansatz(scored, 2), ("γ_F,1", "γ_F,2")),
        (Ansatz(scored, 2, start="canonical"), ("γ_S,1", "γ_F,1", "γ_SF,1", "γ_F,2")),
        (Ansatz(scored, 2, "layerwise", start="canonical"), ("γ_1",)),
        (Ansatz(scored, 2, "tied", start="canonical"), ()),
        (Ansatz(SelectionProblem(coupling=coupling, k=5, m=4), 1), ("γ_S,1", "γ_F,1", "γ_SF,1", "β_1")),
    ]
    for ansatz, names in cases:
        for strategy in ("multistart", "threshold"):
            trained = ansatz.train(strategy=strategy, evaluations=30)
            assert trained.inert == names and Training.from_json(trained.to_json()).inert == names
            idle = np.isin(ansatz.schedule.angle_names, names)
            assert not trained.angles[idle].any()
        for angles in np.random.default_rng(1).normal(size=(2, ansatz.size)):
            slope = ansatz.value_and_gradient(angles)[1]
            assert slope[idle] == pytest.approx(0, abs=1e-12)
            assert (np.abs(slope[~idle]) > 1e-9).all()


def test_single_precision_finds_what_double_finds():
    problem = planted_problem((6, 5, 2, 2), 2.0, seed=0)
    rates = [
        Ansatz(problem, 2, backend="compiled", dtype=dtype).train(objective="optimum", evaluations=300).hit_rate
        for dtype in (np.complex64, np.complex128)
    ]
    assert rates[0] == pytest.approx(rates[1], rel=0.05)


def test_several_seeds_give_the_best_and_its_spread(ansatz, tmp_path):
    alone = [ansatz.train(objective="energy", evaluations=60, seed=seed) for seed in (4, 5, 6)]
    found = ansatz.train(objective="energy", evaluations=60, seed=4, seeds=3, checkpoint=tmp_path / "kept.json")
    assert found.value == min(one.value for one in alone) and found.seed in (4, 5, 6)
    assert found.spread["value"] == pytest.approx(np.quantile([one.value for one in alone], (0.25, 0.5, 0.75)))
    assert set(found.spread) == {"value", "energy"} and Training.from_json(found.to_json()).spread == found.spread
    blind = ansatz.train(evaluations=100, seeds=2)
    assert blind.spread["hit_rate"][2] <= 1 and ansatz.train(evaluations=20).spread is None
