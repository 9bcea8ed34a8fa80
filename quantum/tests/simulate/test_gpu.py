"""The CUDA kernels' logic, compiled as C++ (`cuda_on_cpu`), against the plain backend. On a GPU: `tests/gpu`."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from biselect.core import Group, Rules, SelectionProblem
from biselect_quantum.circuits import Ansatz
from biselect_quantum.simulate._cube_tables import make_tables, phase_cubes
from biselect_quantum.simulate._gpu import GpuSimulator
from biselect_quantum.simulate.layers import ENERGY, Observable

from . import cuda_on_cpu


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    return tmp_path_factory.mktemp("compiled")


def small_problem(n=5, d=4, k=2, m=2, seed=0):
    rng = np.random.default_rng(seed)
    scores = {"sample_scores": rng.random(n), "feature_scores": rng.random(d)}
    return SelectionProblem(coupling=rng.exponential(size=(n, d)), **scores, k=k, m=m, coupling_weight=0.3)


def ruled_problem():
    samples = Rules(forced_in=[2], groups=[Group(members=(0, 1, 4), exactly=1)])
    features = Rules(groups=[Group(members=(0, 3), exactly=1)])
    return replace(small_problem(7, 5, 3, 2), sample_rules=samples, feature_rules=features)


def start_of(kind, problem, rng):
    if kind != "state":
        return kind
    shape = (problem.sector.sample_subsets, problem.sector.feature_subsets)
    state = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return state / np.linalg.norm(state)


def observables(ansatz, rng):
    """Dense ones of every kind, and one with two values beside zero."""
    energies = np.sort(ansatz.energies, axis=None)
    two = np.zeros(ansatz.energies.size)
    two[rng.choice(two.size, 2, replace=False)] = 1.0, -0.5
    middle = float(energies[energies.size // 2])
    return {
        "energy": ENERGY,
        "hit": Observable(kind="hit", threshold=float(energies[11])),
        "two": Observable(kind="values", values=two.reshape(ansatz.energies.shape)),
        "excess": Observable(kind="excess", threshold=middle),
        "cvar": Observable(kind="cvar", share=0.2),
        "all of it": Observable(kind="cvar", share=1.0),
        "values": Observable(kind="values", values=rng.normal(size=ansatz.energies.shape)),
    }


@pytest.mark.parametrize(("start", "rules"), [("dicke", False), ("state", False), ("dicke", True)])
def test_one_large_circuit_agrees_with_the_plain_backend(monkeypatch, folder, start, rules):
    cuda_on_cpu.use(monkeypatch, folder)
    problem, rng = ruled_problem() if rules else small_problem(), np.random.default_rng(3)
    for depth in (1, 2, 3):
        ansatz = Ansatz(problem, depth, start=start_of(start, problem, rng), backend="plain")
        simulator = GpuSimulator(problem, ansatz.samples, ansatz.features)
        angles = rng.uniform(-1.5, 1.5, size=ansatz.size)
        layers, begin = ansatz.layers(angles), ansatz._start
        np.testing.assert_allclose(simulator.state(layers, begin), ansatz.state(angles), atol=1e-6)
        for name, observable in observables(ansatz, rng).items():
            if observable.kind != "cvar":
                value, found = simulator.value_and_gradient(layers, begin, observable)
                expected, slope = ansatz.value_and_gradient(angles, observable)
                assert value == pytest.approx(expected, abs=1e-5), name
                assert simulator.expectation(layers, begin, observable) == pytest.approx(expected, abs=1e-5), name
                np.testing.assert_allclose(ansatz._by_angle(found), slope, atol=1e-5)


@pytest.mark.parametrize("mixer", ["ring", "complete", [(0, 1)], []])
def test_phase_cubes_name_the_items_of_every_state(mixer):
    ansatz = Ansatz(small_problem(7, 4, 3, 2), 1, mixer=(mixer, "ring"), backend="plain")
    register = ansatz.samples
    seen = []
    for p, (states, items) in enumerate(phase_cubes(make_tables(register, 3), register)):
        for cube, listed in zip(states, items, strict=True):
            for bits, state in enumerate(cube):
                own = [listed[register.ones + e] if bits >> e & 1 else listed[e] for e in range(p)]
                assert sorted([*own, *listed[p : register.ones]]) == register.subsets[state].tolist()
            seen.extend(cube)
    assert sorted(seen) == list(range(len(register.subsets)))
