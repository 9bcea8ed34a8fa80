import numpy as np
import pytest

from biselect.testing import assert_map_api
from biselect.weights import WeightMap


@pytest.mark.parametrize("name", ["reach", "ecdf", "ecdf-paper", "mad-z"])
def test_our_maps_keep_the_contract(name):
    assert_map_api(name)


class Distance(WeightMap):
    """A user's map: the distance from the mean."""

    def fit(self, columns, rows=None):
        self.middle = np.array([column.mean for column in columns])

    def weigh(self, residuals):
        return np.abs(residuals - self.middle)


class Remembers(Distance):
    """It weighs a table, not a cell."""

    def weigh(self, residuals):
        return np.abs(residuals - residuals.mean(axis=0))


class Careless(Distance):
    """It names an interval that it does not keep."""

    def interval(self, weight):
        return np.stack([np.full(weight.shape, -1e9), np.full(weight.shape, 1e9)])


def test_a_users_own_map_keeps_it_and_broken_ones_do_not():
    assert_map_api(Distance)
    assert_map_api(Distance())
    with pytest.raises(AssertionError, match="a row weighs the same on its own"):
        assert_map_api(Remembers())
    with pytest.raises(AssertionError, match="within its interval nothing weighs more"):
        assert_map_api(Careless)
