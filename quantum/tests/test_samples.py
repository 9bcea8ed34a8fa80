import numpy as np
import pytest

from biselect_quantum.shots import Samples

SHOTS = Samples(
    samples=np.array([[0], [1], [2]]),
    features=np.array([[0], [0], [1]]),
    energies=np.array([-3.0, -1.0, 2.0]),
    counts=np.array([1, 5, 4]),
)
EACH = np.repeat(SHOTS.energies, SHOTS.counts)


def test_figures_of_shots_are_those_of_the_single_shots():
    assert SHOTS.shots == 10
    assert SHOTS.mean_energy() == pytest.approx(EACH.mean())
    assert SHOTS.cvar(0.3) == pytest.approx(np.sort(EACH)[:3].mean())
    assert SHOTS.cvar(0.001) == -3.0  # at least one shot
    assert SHOTS.hit_rate(-1.0) == pytest.approx(np.mean(EACH <= -1.0))


def test_the_best_choice_comes_first():
    samples, features, energy = SHOTS.best
    assert (samples.tolist(), features.tolist(), energy) == ([0], [0], -3.0)
