import numpy as np
import pytest
from scipy import stats

from biselect.calibrate import Calibrator
from biselect.calibrate.maps.parametric import DEGREES_OF_FREEDOM


def test_parametric_maps_are_the_tails_of_their_distribution():
    rng = np.random.default_rng(1)
    reference, pool = rng.standard_t(4, size=(400, 1)), np.linspace(-9, 9, 40)[:, None]

    def weights(name):
        return Calibrator(map=name, cap=1e3).fit(reference).weights(pool)

    mean, deviation, median = reference.mean(), reference.std(), np.median(reference)
    distance = np.abs(reference - median)
    np.testing.assert_allclose(weights("abs-z"), np.abs(pool - mean) / deviation)
    np.testing.assert_allclose(weights("mad-z"), np.abs(pool - median) / (1.4826 * np.median(distance)))
    gaussian = -np.log(2) - stats.norm.logsf(np.abs(pool - mean) / deviation)
    np.testing.assert_allclose(weights("gaussian"), gaussian, atol=1e-12)
    np.testing.assert_allclose(
        weights("laplace"), -np.log(2 * stats.laplace.sf(np.abs(pool - median), scale=distance.mean())), atol=1e-9
    )


@pytest.mark.parametrize("freedom", [1.5, 3.0, 8.0])
def test_student_t_finds_the_degrees_of_freedom(freedom):
    grid = stats.t.ppf((np.arange(20_000) + 0.5) / 20_000, freedom, loc=5, scale=3)[:, None]
    calibrator = Calibrator(map="student-t", cap=100).fit(grid)
    assert calibrator._map.freedom[0] == pytest.approx(freedom, rel=0.02)
    far = np.array([[5 + 3 * 40.0]])
    assert calibrator.weights(far)[0, 0] == pytest.approx(-np.log(2 * stats.t.sf(40.0, freedom)), rel=0.01)


def test_student_t_of_a_spike_is_the_heaviest_on_offer():
    spike = np.zeros((100, 1))
    spike[:3] = [[1.0], [-1.0], [4.0]]
    assert Calibrator(map="student-t").fit(spike)._map.freedom[0] == DEGREES_OF_FREEDOM[0]
