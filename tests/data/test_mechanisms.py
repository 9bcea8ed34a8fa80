import numpy as np
import pytest

from biselect.data.mechanisms import MECHANISMS, Mechanism


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_plant_their_anomalies(name):
    strong = Mechanism(name=name, shift=30.0).draw(seed=2, center="median")
    block = np.zeros(strong.weights.shape, dtype=bool)
    block[np.ix_(strong.samples, strong.features)] = True
    assert strong.weights[block].min() > strong.weights[~block].max()


def test_decoys_and_proxies_are_redundant():
    large = {"n_samples": 4000, "k": 1}
    decoys = Mechanism(name="redundant-decoys", **large).draw(seed=1, center="mean").residuals
    proxies = Mechanism(name="proxy-burden", **large).draw(seed=1, center="mean").residuals
    plain = Mechanism(name="shared-support", **large).draw(seed=1, center="mean").residuals

    def related(Z):
        return (np.abs(np.corrcoef(Z, rowvar=False)[np.triu_indices(15, 1)]) > 0.3).sum()

    assert related(plain) == 0 and related(decoys) == 3 and related(proxies) >= 6
