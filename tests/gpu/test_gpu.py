"""The GPU backend against the plain one. Skips where there is no GPU; needs CuPy, NumPy and pytest only."""

import numpy as np
import pytest

from biselect.core import SelectionProblem
from biselect.qaoa import Ansatz
from biselect.qaoa.mixers import mixer_classes
from biselect.simulate.gpu import GpuBatch, GpuSimulator
from biselect.simulate.layers import ENERGY, Layers, Observable, Register, energy_table
from biselect.simulate.plain import PlainSimulator

CASES = [(5, 4, 2, 2), (7, 6, 3, 3), (6, 5, 1, 4), (4, 3, 4, 3), (12, 8, 3, 5), (12, 9, 6, 4), (1, 1, 1, 1)]


def case(n, d, k, m, p=3, mixer="ring", seed=0):
    rng = np.random.default_rng(seed)
    problem = SelectionProblem(
        coupling=rng.exponential(size=(n, d)),
        sample_scores=rng.random(n),
        feature_scores=rng.random(d),
        k=k,
        m=m,
        coupling_weight=0.3,
    )
    registers = [Register(n=s, chosen=c, classes=mixer_classes(mixer, s)) for s, c in ((n, k), (d, m))]
    layers = Layers(
        sample=rng.normal(size=(p, n)),
        feature=rng.normal(size=(p, d)),
        pair=rng.normal(size=(p, n, d)),
        mixing=rng.uniform(-2, 2, size=p),
    )
    return problem, registers, layers, rng


@pytest.mark.parametrize("size", CASES)
@pytest.mark.parametrize("mixer", ["ring", "complete"])
@pytest.mark.parametrize("start", ["uniform", "random"])
def test_states_values_and_gradients_agree_with_the_plain_backend(size, mixer, start):
    problem, registers, layers, rng = case(*size, mixer=mixer)
    plain, gpu = PlainSimulator(problem, *registers, np.complex128), GpuSimulator(problem, *registers)
    begin = None
    if start == "random":
        begin = rng.normal(size=plain.energies.shape) + 1j * rng.normal(size=plain.energies.shape)
        begin /= np.linalg.norm(begin)
    np.testing.assert_allclose(gpu.state(layers, begin), plain.state(layers, begin), atol=2e-5)
    scale = np.abs(plain.energies).max()
    middle = float(np.quantile(plain.energies, 0.4, method="lower"))
    for observable in (
        ENERGY,
        Observable(kind="hit", threshold=middle),
        Observable(kind="excess", threshold=middle),
        Observable(kind="values", values=np.cos(np.arange(plain.energies.size)).reshape(plain.energies.shape)),
    ):
        value, expected = (
            gpu.value_and_gradient(layers, begin, observable),
            plain.value_and_gradient(layers, begin, observable),
        )
        assert value[0] == pytest.approx(expected[0], abs=5e-6 * scale)
        assert gpu.expectation(layers, begin, observable) == pytest.approx(expected[0], abs=5e-6 * scale)
        np.testing.assert_allclose(value[1].pair, expected[1].pair, atol=3e-5 * scale)
        np.testing.assert_allclose(value[1].mixing, expected[1].mixing, atol=1e-4 * scale)


@pytest.mark.parametrize("size", [(5, 4, 2, 2), (12, 8, 3, 5), (14, 10, 3, 3), (10, 9, 5, 4)])
def test_batches_agree_with_single_runs(size):
    problem, registers, _, rng = case(*size)
    batch = GpuBatch(problem, *registers)
    ansatz = Ansatz(problem, 4)
    angles = rng.uniform(-1, 1, size=(7, 4, 4))
    values, gradients = batch.values_and_gradients(angles)
    scale = np.abs(energy_table(problem)).max()
    np.testing.assert_allclose(batch.values(angles), values, atol=2e-6 * scale)
    for b in range(7):
        value, gradient = ansatz.value_and_gradient(angles[b].ravel())
        assert values[b] == pytest.approx(value, abs=5e-6 * scale)
        np.testing.assert_allclose(gradients[b].ravel(), gradient, atol=2e-4 * scale)


def test_the_ansatz_takes_the_gpu_backend():
    problem, *_ = case(7, 6, 3, 3)
    angles = np.random.default_rng(1).normal(size=(5, 8))
    plain, gpu = Ansatz(problem, 2), Ansatz(problem, 2, backend="gpu", dtype=np.complex64)
    np.testing.assert_allclose(gpu.many(angles), plain.many(angles), rtol=1e-5)
    values, gradients = gpu.many_with_gradients(angles)
    expected = [plain.value_and_gradient(vector) for vector in angles]
    np.testing.assert_allclose(values, [value for value, _ in expected], rtol=1e-5)
    np.testing.assert_allclose(gradients, [gradient for _, gradient in expected], atol=1e-3)


def test_training_runs_its_starts_in_batches():
    problem, *_ = case(7, 6, 3, 3)
    on_gpu = Ansatz(problem, 2, backend="gpu", dtype="complex64")
    assert on_gpu.runs_batches
    trained = on_gpu.train(evaluations=600)
    plain = Ansatz(problem, 2, backend="plain")
    same = plain.train(evaluations=600, lockstep=True)
    assert trained.evaluations == same.evaluations
    assert trained.energy == pytest.approx(plain.expectation(trained.angles), abs=1e-3)
    assert trained.energy == pytest.approx(same.energy, abs=0.05 * abs(same.energy))
