import numpy as np
import pytest

import biselect_quantum.circuits.ansatz
from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import Ansatz, Observable, Training
from biselect_quantum.circuits.training.objectives import Objective

PARTS = ["energy", "cvar", "hit-rate", "optimum", "shots", {"energy": 0.4, "cvar": 1.0, "hit-rate": 0.7}]


def low(ansatz, rank=3):
    """An energy that a few choices reach."""
    return float(np.sort(ansatz.energies, axis=None)[rank])


@pytest.mark.parametrize("parts", PARTS, ids=str)
@pytest.mark.parametrize("start", ["dicke", "canonical"])
def test_gradients_of_objectives(problem, parts, start):
    ansatz = Ansatz(problem, 2, start=start)
    objective = Objective.of(parts, ansatz, threshold=low(ansatz), share=0.2)
    batch = np.random.default_rng(2).normal(size=(2, 8))
    for angles in batch:
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


def test_hit_rates_are_probabilities():
    problem = planted_problem((8, 6, 3, 3), 1.0, seed=0)
    rates = [Ansatz(problem, 2).hit_rate(np.full(8, angle), 1e9) for angle in np.linspace(0.1, 3, 20)]
    assert max(rates) <= 1 == pytest.approx(min(rates))


def test_tables_of_the_sector_are_made_once(problem, monkeypatch):
    made = []
    original = biselect_quantum.circuits.ansatz.energy_table
    monkeypatch.setattr(
        "biselect_quantum.circuits.ansatz.energy_table", lambda *given: made.append(1) or original(*given)
    )
    Ansatz(problem, 2).train(objective="cvar", evaluations=120)
    assert len(made) == 1


def test_an_observable_is_an_objective(problem):
    """A projector on some choices, and the energy itself, whose training is that of the name."""
    ansatz = Ansatz(problem, 2)
    some = np.where(ansatz.energies < np.quantile(ansatz.energies, 0.1), -1.0, 0.0)
    trained = ansatz.train(objective=Observable(kind="values", values=some), evaluations=150)
    assert trained.value == pytest.approx((ansatz.probabilities(trained.angles) * some).sum())
    assert trained.value < some.mean() - 0.1 and trained.hit_rate is None and trained.knowledge == "trained blind"
    assert Training.from_json(trained.to_json()).objective["observable"]["values"] is not None
    by_name, by_observable = (ansatz.train(objective=how, evaluations=60) for how in ("energy", Observable()))
    assert (by_name.angles == by_observable.angles).all()


def test_training_that_is_told_nothing_finds_a_threshold_of_its_own(problem):
    ansatz = Ansatz(problem, 2)
    blind, told = ansatz.train(evaluations=200), ansatz.train(objective="optimum", evaluations=200)
    assert (blind.knowledge, told.knowledge) == ("trained blind", "trained for the known optimum")
    given = ansatz.train(threshold=low(ansatz), evaluations=50)
    assert given.knowledge == "threshold known beforehand" == Training.from_json(given.to_json()).knowledge
    samples, features = blind.best_choice
    assert problem.energy(samples, features) == pytest.approx(blind.objective["threshold"])
    assert blind.hit_rate == pytest.approx(ansatz.hit_rate(blind.angles, blind.objective["threshold"]))
    assert blind.evaluations <= 200 and blind.hit_rate > 0.5 * told.hit_rate
