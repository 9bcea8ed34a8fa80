import numpy as np
import pytest

import biselect as bs
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz
from biselect_quantum.simulate.layers import energy_table


def test_with_zero_angles_the_state_is_the_start(problem_of):
    problem = problem_of()
    best = bs.solve(problem)
    warm = Ansatz(problem, 1, start=best)
    assert warm.expectation(np.zeros(4)) == pytest.approx(best.energy)
    pair = Ansatz(problem, 1, start=(best.samples[::-1], best.features))
    assert pair.spec.start == warm.spec.start
    canonical = Ansatz(problem, 1, start="canonical")
    assert canonical.expectation(np.zeros(4)) == pytest.approx(problem.energy([0, 1], [0, 1]))
    dicke = Ansatz(problem, 1)
    assert dicke.expectation(np.zeros(4)) == pytest.approx(energy_table(problem).mean())
    again = Ansatz(problem, 1, start=dicke.state(np.zeros(4)))
    assert again.expectation(np.ones(4)) == pytest.approx(dicke.expectation(np.ones(4)))


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("magic", "start must be"),
        (([0], [0, 1]), "k = 2 samples"),
        (([0, 9], [0, 1]), "within 0..4"),
        (np.ones((2, 2)), "shape"),
        (np.ones((10, 6)), "normalised"),
    ],
)
def test_wrong_starts_are_refused(problem_of, start, message):
    with pytest.raises(InputError, match=message):
        Ansatz(problem_of(), 1, start=start)
