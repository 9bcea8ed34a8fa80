import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect_quantum.circuits import Ansatz, Schedule
from biselect_quantum.circuits.training.first_angles import extended, nearest, stretched, units


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


@pytest.mark.parametrize("objective", ["energy", "cvar"])
@pytest.mark.parametrize("how", [{"strategy": "ladder"}, {"evaluations": 100}])
def test_training_is_as_good_in_any_unit(with_scores, problem, objective, how):
    alphas = []
    for unit, shift in ((1.0, 0.0), (1e-9, 0.0), (1e9, 0.0), (1.0, 1e3)):
        ansatz = Ansatz(with_scores(problem, unit, shift), 2)
        value = ansatz.train(objective=objective, **how).value
        alphas.append((ansatz.energies.mean() - value) / np.ptp(ansatz.energies))
    np.testing.assert_allclose(alphas, alphas[0], rtol=1e-3)


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
