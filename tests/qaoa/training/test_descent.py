import numpy as np
import pytest

from biselect.qaoa.training.descent import batched_lbfgs


def test_lockstep_goes_down_as_far_as_one_by_one(ansatz):
    starts = np.random.default_rng(0).uniform(-1, 1, size=(5, 8))
    together = batched_lbfgs(
        ansatz.many_with_gradients,
        starts,
        units=np.ones(8),
        reach=np.full(8, np.pi),
        evaluations=150,
        expired=lambda: False,
    )
    for start, descent in zip(starts, together, strict=True):
        slope = ansatz.value_and_gradient(descent.angles)[1]
        inside = np.abs(descent.angles) < np.pi - 1e-9
        assert np.abs(slope[inside]).max() < 0.02 * np.abs(ansatz.value_and_gradient(start)[1]).max()
        assert descent.value == pytest.approx(ansatz.expectation(descent.angles))
        assert descent.value < ansatz.expectation(start)
        assert [value for _, value in descent.trace] == sorted((value for _, value in descent.trace), reverse=True)
    trained = ansatz.train(lockstep=True, evaluations=300)
    assert trained.evaluations <= 300
    assert trained.value == pytest.approx(ansatz.train(evaluations=300).value, rel=0.1)


def test_lockstep_bears_starts_that_give_no_number():
    def broken(vectors):
        values = (vectors**2).sum(axis=1)
        return np.where(vectors[:, 0] > 1, np.nan, values), 2 * vectors

    good, bad = batched_lbfgs(
        broken,
        np.array([[0.5, 0.5], [2.0, 0.5]]),
        units=np.ones(2),
        reach=np.full(2, 3.0),
        evaluations=20,
        expired=lambda: False,
    )
    assert good.value < 1e-6 and not good.failed
    assert bad.failed and bad.value == np.inf
