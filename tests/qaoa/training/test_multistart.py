import numpy as np

from biselect.data.synthetic import planted_problem
from biselect.qaoa import Ansatz


def test_multistart_finds_what_a_dense_scan_finds():
    ansatz = Ansatz(planted_problem((4, 3, 2, 1), 2.0, seed=1), 1, "tied")
    grid = np.linspace(-np.pi, np.pi, 61)
    scan = min(ansatz.expectation([gamma, beta]) for gamma in grid for beta in grid[::2])
    assert ansatz.train(evaluations=400).value <= scan + 1e-6
