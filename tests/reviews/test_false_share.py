"""Row p-values are super-uniform under exchangeability, and the false share is what it is said to be."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from biselect.errors import InputError
from biselect.reviews._chance import (
    benjamini_hochberg,
    conformal_p_values,
    false_share,
    sum_of_weights,
)
from biselect.weights import Weigher


def isolation(reference):
    from sklearn.ensemble import IsolationForest

    forest = IsolationForest(n_estimators=30, random_state=0).fit(reference)
    return lambda rows: -forest.score_samples(rows)


def weights_of(name):
    def fit(reference):
        calibrator = Weigher(map=name).fit(reference)
        return lambda rows: calibrator.weights(rows).sum(axis=1)

    return fit


def test_p_values_by_hand():
    assert conformal_p_values([1, 2, 3], [0, 2, 5]).tolist() == [1.0, 0.75, 0.25]


def test_benjamini_hochberg_by_hand():
    p = np.array([0.001, 0.04, 0.03, 0.5])
    assert benjamini_hochberg(p, 0.1).tolist() == (false_discovery_control(p) <= 0.1).tolist()
    # by the definition: the largest i with p_(i) <= i · level / n, and all below it
    ordered = np.sort(p)
    cut = max(i for i in range(1, 5) if ordered[i - 1] <= i * 0.1 / 4)
    assert benjamini_hochberg(p, 0.1).sum() == cut


@pytest.mark.parametrize(
    "scorer",
    [sum_of_weights, weights_of("ecdf"), weights_of("mad-z"), isolation],
    ids=["sum", "ecdf", "mad-z", "trees"],
)
def test_p_values_of_ordinary_rows_are_super_uniform(scorer):
    rng = np.random.default_rng(0)
    repeats = 40 if scorer is isolation else 150
    small = []
    for seed in range(repeats):
        table = rng.standard_t(3, size=(260, 4))
        small.append(false_share(table[:200], table[200:], scorer=scorer, seed=seed).p_values)
    p = np.array(small)
    for level in (0.05, 0.1, 0.3):
        share = (p <= level).mean(axis=1)
        assert share.mean() <= level + 3 * share.std() / np.sqrt(repeats)


def test_the_mean_false_share_of_500_pools_is_at_most_the_level():
    rng = np.random.default_rng(1)
    shares = []
    for seed in range(500):
        reference, pool = rng.standard_t(4, size=(400, 3)), rng.standard_t(4, size=(100, 3))
        pool[:10] += 12
        found = false_share(reference, pool, level=0.1, seed=seed).holds
        shares.append(found[10:].sum() / max(1, found.sum()))
    assert np.mean(shares) <= 0.1 + 2 * np.std(shares) / np.sqrt(500)
    assert np.mean(shares) > 0.01  # rows do hold: the statement is not empty


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        false_share(np.zeros((9, 1)), np.zeros((2, 1)), level=1.5)
    with pytest.raises(InputError, match="too few"):
        false_share(np.zeros((2, 1)), np.zeros((2, 1)))
