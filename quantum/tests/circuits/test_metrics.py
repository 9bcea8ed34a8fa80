import numpy as np
import pytest

from biselect.errors import InputError
from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.metrics import TimeToSolution, by_depth, runs_needed, time_to_solution


def test_so_many_runs_see_the_optimum_that_often():
    rng = np.random.default_rng(0)
    for success in (0.02, 0.3):
        runs = round(runs_needed(success, 0.9))
        seen = (rng.random((20_000, runs)) < success).any(axis=1).mean()
        assert seen == pytest.approx(0.9, abs=0.03)
    with pytest.raises(InputError, match="confidence"):
        runs_needed(0.5, 1.0)


def test_what_is_done_once_is_counted_once():
    found = TimeToSolution.of("x", 0.5, 2.0, 0.75, before=10.0)
    assert (found.runs, found.total, found.with_training) == pytest.approx((2.0, 4.0, 14.0))


def test_one_table_holds_all_ways_to_the_optimum():
    ansatz = Ansatz(planted_problem((6, 5, 2, 2), 2.0, seed=0), 2)
    trained = ansatz.train(strategy="ladder", objective="optimum", evaluations=80)
    rows = {row.method: row for row in time_to_solution(ansatz, trained, runs=3, shot_seconds=0.01)}
    assert list(rows) == [
        "circuit, simulated",
        "circuit, device",
        "looking at every choice",
        "random choice",
        "annealing, one walk",
        "exact, with proof",
    ]
    device = rows["circuit, device"]
    assert device.success == pytest.approx(ansatz.optimum_mass(trained.angles))
    assert device.total == pytest.approx(0.01 * runs_needed(device.success))
    assert device.with_training == pytest.approx(device.total + trained.seconds)
    assert rows["random choice"].success == pytest.approx(1 / 150) and rows["exact, with proof"].success == 1
    assert [one.depth for one in by_depth(ansatz, trained)] == [0, 1, 2]
