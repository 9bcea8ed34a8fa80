import numpy as np
from scipy import stats

from biselect.calibrate import Calibrator


def test_pareto_keeps_the_body_and_reaches_beyond_the_reference():
    grid = stats.genpareto.ppf((np.arange(5000) + 0.5) / 5000, 0.4)[:, None]
    ecdf, pareto = Calibrator(cap=100).fit(grid), Calibrator(map="pareto", cap=100).fit(grid)
    body = np.quantile(grid, [0.06, 0.5, 0.9])[:, None]
    np.testing.assert_array_equal(pareto.weights(body), ecdf.weights(body))
    beyond = grid.max() * np.array([[2.0], [20.0]])
    assert np.ptp(ecdf.weights(beyond)) == 0
    expected = -np.log(2 * stats.genpareto.sf(beyond, 0.4))
    np.testing.assert_allclose(pareto.weights(beyond), expected, rtol=0.1)


def test_pareto_of_a_tail_that_ends_is_exponential():
    pareto = Calibrator(map="pareto", cap=100).fit(np.linspace(0, 1, 400)[:, None])
    rising = np.diff(pareto.weights(np.linspace(0.96, 3, 30)[:, None])[:, 0])
    np.testing.assert_allclose(rising, rising[0], rtol=1e-6)
