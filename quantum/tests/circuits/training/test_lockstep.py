import numpy as np
import pytest

from biselect_quantum.circuits.training._descent import Lockstep


def descend(evaluate, starts, rounds, reach=np.pi):
    size = starts.shape[1]
    lockstep = Lockstep(evaluate, starts, units=np.ones(size), reach=np.full(size, reach), tolerance=1e-12)
    for _ in range(rounds):
        lockstep.step()
    return lockstep.descents()


def test_every_start_goes_down_to_a_stationary_point(ansatz):
    starts = np.random.default_rng(0).uniform(-1, 1, size=(5, 8))
    for start, descent in zip(starts, descend(ansatz.many_with_gradients, starts, 150), strict=True):
        slope = ansatz.value_and_gradient(descent.angles)[1]
        inside = np.abs(descent.angles) < np.pi - 1e-9
        assert np.abs(slope[inside]).max() < 1e-3 * np.abs(ansatz.value_and_gradient(start)[1]).max()
        assert descent.value == pytest.approx(ansatz.expectation(descent.angles))
        assert descent.value < ansatz.expectation(start)
        assert [value for _, value in descent.trace] == sorted((value for _, value in descent.trace), reverse=True)


def test_a_start_ends_at_the_same_angles_in_any_company(ansatz):
    starts = np.random.default_rng(1).uniform(-1, 1, size=(4, 8))
    together = descend(ansatz.many_with_gradients, starts, 20)
    for start, beside in zip(starts, together, strict=True):
        (alone,) = descend(ansatz.many_with_gradients, start[None], 20)
        assert alone.angles.tobytes() == beside.angles.tobytes() and alone.trace == beside.trace


def test_the_lowest_point_of_a_box_is_found_on_its_edge():
    middle = np.array([0.3, 5.0, -5.0])
    (found,) = descend(lambda x: (((x - middle) ** 2).sum(axis=1), 2 * (x - middle)), np.zeros((1, 3)), 30, reach=1.0)
    np.testing.assert_allclose(found.angles, [0.3, 1.0, -1.0], atol=1e-6)


def test_starts_that_give_no_number_end_alone():
    def broken(vectors):
        values = (vectors**2).sum(axis=1)
        return np.where(vectors[:, 0] > 1, np.nan, values), 2 * vectors

    good, bad = descend(broken, np.array([[0.5, 0.5], [2.0, 0.5]]), 20)
    assert good.value < 1e-6 and not good.failed
    assert bad.failed and bad.value == np.inf and bad.evaluations == 1


def test_only_the_best_go_on_and_those_that_time_left_out_stay_where_they_are():
    calls = []

    def bowl(vectors):
        calls.append(len(vectors))
        rows = vectors[:3]
        return (rows**2).sum(axis=1), 2 * rows

    starts = np.array([[1.0], [0.6], [2.0], [3.0]])
    lockstep = Lockstep(bowl, starts, units=np.ones(1), reach=np.full(1, 9.0), tolerance=1e-12)
    assert lockstep.live.tolist() == [0, 1, 2] and len(lockstep.descents()) == 3  # the fourth was never evaluated
    lockstep.keep(1)
    lockstep.step()
    assert calls == [4, 1]
    assert [descent.evaluations for descent in lockstep.descents()] == [1, 2, 1]
    assert lockstep.best == min(descent.value for descent in lockstep.descents()) < 0.36
