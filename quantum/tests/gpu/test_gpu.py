"""The GPU backend against the plain one. Skips where there is no GPU; needs CuPy, NumPy and pytest only."""

from dataclasses import replace

import numpy as np
import pytest

from biselect.core import Group, Rules, SelectionProblem
from biselect_quantum.circuits import Ansatz
from biselect_quantum.circuits.cost_groups import split_terms
from biselect_quantum.circuits.mixers import mixer_classes
from biselect_quantum.simulate._gpu import GpuSimulator
from biselect_quantum.simulate._plain import PlainSimulator
from biselect_quantum.simulate.layers import ENERGY, Layers, Observable, Register

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
    registers = [Register(n=s, ones=c, classes=mixer_classes(mixer, s)) for s, c in ((n, k), (d, m))]
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


def observables(ansatz, rng):
    """One of every kind; hits from one to many."""
    energies = np.sort(ansatz.energies, axis=None)
    hits = {f"{count} hits": Observable(kind="hit", threshold=float(energies[count - 1])) for count in (1, 3, 12)}
    return hits | {
        "no hit": Observable(kind="hit", threshold=float(energies[0]) - 1),
        "energy": ENERGY,
        "excess": Observable(kind="excess", threshold=float(energies[energies.size // 2])),
        "cvar": Observable(kind="cvar", share=0.1),
        "values": Observable(kind="values", values=rng.normal(size=ansatz.energies.shape)),
    }


CIRCUITS = [
    ((5, 4, 2, 2), {"start": "dicke", "depth": 1}),
    ((5, 4, 2, 2), {"start": "canonical", "depth": 1}),
    ((7, 6, 3, 3), {"start": "random", "depth": 2, "mixer": ("complete", "path"), "schedule": "layerwise"}),
    ((12, 8, 3, 5), {"start": "canonical", "depth": 5}),
    ((12, 8, 3, 5), {"start": "dicke", "depth": 4, "schedule": "bilinear"}),
    ((14, 10, 3, 3), {"start": "canonical", "depth": 3, "schedule": "tied"}),
    ((10, 9, 5, 4), {"start": "state", "depth": 3}),
    ((8, 6, 4, 2), {"start": "canonical", "depth": 3, "groups": 12}),
    ((9, 6, 4, 3), {"start": "canonical", "depth": 3, "rules": True}),
]


@pytest.mark.parametrize(("size", "how"), CIRCUITS)
def test_single_runs_agree_with_the_plain_backend(size, how):
    problem, _, _, rng = case(*size)
    how = dict(how)
    if how["start"] == "state":
        shape = (problem.sector.sample_subsets, problem.sector.feature_subsets)
        state = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        how["start"] = state / np.linalg.norm(state)
    if "groups" in how:
        terms = sum(size[:2]) + size[0] * size[1]
        how["groups"] = split_terms(problem, np.arange(terms) % how["groups"])
    if how.pop("rules", False):
        rules = Rules(forced_in=[2], groups=[Group(members=(0, 1, 4, 7), exactly=2)])
        problem = replace(problem, sample_rules=rules, feature_rules=Rules(forced_out=[1]))
    plain = Ansatz(problem, **how, backend="plain")
    gpu = Ansatz(problem, **how, backend="gpu", dtype=np.complex64)
    angles = rng.uniform(-1, 1, size=(5, plain.size))
    for name, observable in observables(plain, rng).items():
        scale = 1.0 if "hit" in name else np.abs(plain.energies).max()
        for vector in angles:
            expected, slope = plain.value_and_gradient(vector, observable)
            value, found = gpu.value_and_gradient(vector, observable)
            assert value == pytest.approx(expected, abs=1e-5 * scale), name
            assert gpu.expectation(vector, observable) == pytest.approx(value, abs=1e-5 * scale), name
            np.testing.assert_allclose(found, slope, atol=1e-4 * scale, err_msg=name)


def test_the_ansatz_takes_the_gpu_backend():
    problem, *_ = case(7, 6, 3, 3)
    angles = np.random.default_rng(1).normal(size=(5, 8))
    plain, gpu = Ansatz(problem, 2), Ansatz(problem, 2, backend="gpu", dtype=np.complex64)
    for vector in angles:
        value, gradient = gpu.value_and_gradient(vector)
        expected, slope = plain.value_and_gradient(vector)
        assert value == pytest.approx(expected, rel=1e-5) == pytest.approx(gpu.expectation(vector), rel=1e-5)
        np.testing.assert_allclose(gradient, slope, atol=1e-3)
