import numpy as np
import pytest

import biselect_quantum.circuits.ansatz
from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.training.objectives import Objective

PARTS = ["energy", "cvar", "hit-rate", "optimum", {"energy": 0.4, "cvar": 1.0, "hit-rate": 0.7}]


def low(ansatz, rank=3):
    """An energy that a few choices reach."""
    return float(np.sort(ansatz.energies, axis=None)[rank])


@pytest.mark.parametrize("parts", PARTS, ids=str)
@pytest.mark.parametrize("start", ["dicke", "canonical"])
def test_gradients_of_objectives(problem, parts, start):
    ansatz = Ansatz(problem, 2, start=start)
    objective = Objective.of(parts, ansatz, threshold=low(ansatz), share=0.2)
    batch = np.random.default_rng(2).normal(size=(2, 8))
    values, slopes = objective.values_and_gradients(ansatz, batch)
    for angles, value, slope in zip(batch, values, slopes, strict=True):
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
