import numpy as np

from biselect_quantum.circuits.training._descent import DescentMonitor, lbfgs, powell, random_local

CENTRE = np.array([0.4, 2.0])
BOX = (0.0, 1.0)


def bowl(angles):
    return float(((angles - CENTRE) ** 2).sum())


def test_each_way_down_stays_in_the_box_and_within_its_evaluations():
    ways = {
        "lbfgs": lambda watch: lbfgs(
            lambda x: (bowl(x), 2 * (x - CENTRE)), np.full(2, 0.9), BOX, iterations=50, watch=watch
        ),
        "powell": lambda watch: powell(bowl, np.full(2, 0.9), BOX, tolerance=1e-3, watch=watch),
        "random": lambda watch: random_local(bowl, np.full(2, 0.9), BOX, step=0.25, seed=0, watch=watch),
    }
    for name, way in ways.items():
        found = way(DescentMonitor(most=80, expired=lambda: False))
        np.testing.assert_allclose(found.angles, [0.4, 1.0], atol=0.05, err_msg=name)
        assert found.evaluations <= 80 and not found.flat and found.value == bowl(found.angles)
        first = way(DescentMonitor(most=80, expired=lambda: True))
        assert first.evaluations == 1 and first.angles.tolist() == [0.9, 0.9]  # the start is always looked at
