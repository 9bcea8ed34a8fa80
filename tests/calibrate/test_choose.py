import numpy as np
import pytest

from biselect.calibrate import (
    Calibrator,
    map_names,
)
from biselect.calibrate.choose import choose_map
from biselect.errors import InputError


def heavy_with_wandering_scale(seed):
    """Tails too heavy for moments, a spread that doubles: ranks forget the spread, distances do not."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(2, size=(2500, 5))
    X[:, 0] *= np.linspace(1, 4, 2500)
    return X


def test_auto_chooses_the_map_that_drifts_least_and_says_why():
    reference = heavy_with_wandering_scale(0)
    choice = choose_map(reference)
    assert choice.relative_drift[choice.map] == min(choice.relative_drift.values())
    assert set(choice.relative_drift) == set(map_names(supervised=False))
    calibrator = Calibrator(map="auto").fit(reference)
    assert calibrator.facts.map == choice.map and calibrator.facts.why == choice.why
    assert f"{choice.relative_drift[choice.map]:.2f} of the spread" in choice.why
    plain = Calibrator(map=choice.map).fit(reference)
    np.testing.assert_array_equal(calibrator.weights(reference[:50]), plain.weights(reference[:50]))
    assert plain.facts.why == ""
    assert choose_map(reference, seed=0) == choice


def test_auto_scores_are_the_mean_relative_drift_of_the_older_fifths():
    reference = heavy_with_wandering_scale(1)[:1000]
    fifths = np.split(reference, 5)
    pool = fifths[4]
    newest = Calibrator(map="gaussian").fit(fifths[3]).weights(pool)
    expected = []
    for older in fifths[:3]:
        delta = Calibrator(map="gaussian").fit(older).weights(pool) - newest
        expected.append(np.abs(delta.mean(axis=0) - delta.mean()).max() / newest.std())
    assert choose_map(reference).relative_drift["gaussian"] == pytest.approx(np.mean(expected))


def test_auto_needs_rows_and_a_table():
    with pytest.raises(InputError, match="needs 200 rows, not 100"):
        Calibrator(map="auto").fit(np.random.default_rng(0).normal(size=(100, 2)))
    with pytest.raises(InputError, match="'auto' needs the whole reference"):
        Calibrator(map="auto").fit_blocks([np.ones((500, 2))])
