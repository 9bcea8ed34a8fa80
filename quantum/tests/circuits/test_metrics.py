import numpy as np
import pytest

from biselect.testing.oracles import planted_problem
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.metrics import by_depth


def test_figures_of_every_depth_are_exact():
    ansatz = Ansatz(planted_problem((6, 5, 2, 2), 2.0, seed=0), 2)
    trained = ansatz.train(strategy="ladder", objective="optimum", evaluations=80)
    rows = by_depth(ansatz, trained)
    assert [row.depth for row in rows] == [0, 1, 2]
    assert rows[0].optimum_mass == pytest.approx(rows[0].uniform_mass) == pytest.approx(1 / 150)
    assert rows[0].approximation == pytest.approx(0, abs=1e-12)
    assert rows[2].optimum_mass == pytest.approx(ansatz.optimum_mass(trained.angles))
    assert rows[2].energy == pytest.approx((ansatz.probabilities(trained.angles) * ansatz.energies).sum())
    assert rows[2].approximation == pytest.approx(ansatz.approximation(trained.angles))
    assert np.all([row.uniform_mass == rows[0].uniform_mass for row in rows])
