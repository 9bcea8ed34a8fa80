import numpy as np

from biselect.calibrate import Calibrator


def test_distances_in_units_of_spread():
    column = np.r_[np.arange(-5.0, 6.0), 40.0]
    reference, pool = column[:, None], np.array([[7.0]])
    spread = 1.4826 * np.median(np.abs(column - np.median(column)))
    found = {name: float(Calibrator(name).fit(reference).weights(pool)[0, 0]) for name in ("abs-z", "mad-z")}
    np.testing.assert_allclose(found["abs-z"], (7 - column.mean()) / column.std())
    np.testing.assert_allclose(found["mad-z"], (7 - np.median(column)) / spread, rtol=1e-4)
