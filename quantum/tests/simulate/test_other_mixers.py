"""Grover's mixer and XY edges about a warm start, against the whole 2^n vector and matrix exponentials."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

import biselect as bs
from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.testing.strategies import blocked_problems
from biselect_quantum.circuits import Ansatz, AnsatzSpec, Observable, WarmStart


def places(ansatz):
    """Where the sector's states stand among all 2^(N+D)."""
    rows = (1 << ansatz.samples.subsets).sum(axis=1)
    return (rows[:, None] + ((1 << ansatz.features.subsets).sum(axis=1) << ansatz.samples.n)).ravel()


def dense_phase(ansatz, angles, layer):
    """exp(-i Σ γ_g H_g) of every bit string."""
    n, d = ansatz.problem.coupling.shape
    bits = (np.arange(1 << (n + d))[:, None] >> np.arange(n + d)) & 1
    s, f = bits[:, :n], bits[:, n:]
    layers = ansatz.layers(angles)
    angle = s @ layers.sample[layer] + f @ layers.feature[layer]
    return np.exp(1j * (angle + np.einsum("xi,ij,xj->x", s, layers.pair[layer], f)))


def pauli(kinds, qubits):
    """A product of Pauli matrices; qubit q is bit q of the position."""
    single = {"X": [[0, 1], [1, 0]], "Y": [[0, -1j], [1j, 0]], "Z": [[1, 0], [0, -1]]}
    matrix = np.eye(1)
    for qubit in reversed(range(qubits)):
        matrix = np.kron(matrix, np.array(single[kinds[qubit]]) if qubit in kinds else np.eye(2))
    return matrix


def warm_edge(i, j, tilts, qubits):
    """M_ij of `WarmStart`, on the whole vector."""
    theta = 2 * np.arctan2(tilts[j], tilts[i])
    hops = (pauli({i: "X", j: "X"}, qubits) + pauli({i: "Y", j: "Y"}, qubits)) / 2
    fields = (pauli({j: "Z"}, qubits) - pauli({i: "Z"}, qubits)) / 2
    return np.sin(theta) * hops + np.cos(theta) * fields - (np.eye(1 << qubits) - pauli({i: "Z", j: "Z"}, qubits)) / 2


def warm_for(problem, rng):
    n, d = problem.coupling.shape
    return WarmStart(samples=rng.uniform(0.05, 0.95, n), features=rng.uniform(0.05, 0.95, d))


def central_differences(ansatz, angles, observable):
    value, gradient = ansatz.value_and_gradient(angles, observable)
    assert value == pytest.approx(ansatz.expectation(angles, observable), abs=1e-11)
    for position in range(ansatz.size):
        step = 1e-5 * np.eye(ansatz.size)[position]
        up, down = ansatz.expectation(angles + step, observable), ansatz.expectation(angles - step, observable)
        assert gradient[position] == pytest.approx((up - down) / 2e-5, abs=1e-7)


@settings(max_examples=25)
@given(blocked_problems(4, 3), st.sampled_from(["plain", "compiled"]), st.booleans(), st.integers(0, 10**6))
def test_grovers_mixer_is_the_exponential_of_its_projector(problem, backend, warm, seed):
    rng = np.random.default_rng(seed)
    start = warm_for(problem, rng) if warm else "dicke"
    ansatz = Ansatz(problem, 2, mixer="grover", start=start, backend=backend)
    angles = rng.normal(size=ansatz.size)
    dense = np.zeros(1 << sum(problem.coupling.shape), dtype=complex)
    dense[places(ansatz)] = start.state(problem).ravel() if warm else problem.sector.size**-0.5
    axis = dense.copy()
    for layer, beta in enumerate(ansatz.layers(angles).mixing):
        dense = expm(-1j * beta * np.outer(axis, axis.conj())) @ (dense_phase(ansatz, angles, layer) * dense)
    np.testing.assert_allclose(ansatz.dense_state(angles), dense, atol=1e-12)
    threshold = float(np.median(ansatz.energies)) + 1e-3
    central_differences(ansatz, angles, Observable(kind=["energy", "hit", "excess"][seed % 3], threshold=threshold))


@settings(max_examples=15)
@given(blocked_problems(4, 3), st.sampled_from(["ring", "path", "complete"]), st.integers(0, 10**6))
def test_warm_edges_rotate_about_the_start(problem, mixer, seed):
    rng = np.random.default_rng(seed)
    warm = warm_for(problem, rng)
    ansatz = Ansatz(problem, 2, mixer=mixer, start=warm)
    angles = rng.normal(size=ansatz.size)
    n, d = problem.coupling.shape
    tilts = np.concatenate(warm.tilts)
    dense = np.zeros(1 << (n + d), dtype=complex)
    dense[places(ansatz)] = warm.state(problem).ravel()
    edges = [edge for group in ansatz.spec.mixer[0] for edge in group]
    edges += [(n + i, n + j) for group in ansatz.spec.mixer[1] for i, j in group]
    gates = [warm_edge(i, j, tilts, n + d) for i, j in edges]
    assert all(np.abs(gate @ dense).max() < 1e-12 for gate in gates)  # stationary under every edge
    for layer, beta in enumerate(ansatz.layers(angles).mixing):
        dense = dense_phase(ansatz, angles, layer) * dense
        for gate in gates:
            dense = expm(-1j * beta * gate) @ dense
    np.testing.assert_allclose(ansatz.dense_state(angles), dense, atol=1e-12)
    still = np.where([name.startswith("γ") for name in ansatz.schedule.angle_names], 0.0, angles)
    np.testing.assert_allclose(ansatz.state(still), warm.state(problem), atol=1e-12)
    central_differences(ansatz, angles, Observable())


def problem_of():
    return SelectionProblem(coupling=np.random.default_rng(0).normal(size=(6, 4)), k=2, m=2)


def test_a_warm_start_leans_towards_its_choice_and_training_goes_further():
    problem = problem_of()
    best = bs.solve(problem)
    near = ([*best.samples[:-1], next(i for i in range(6) if i not in best.samples)], best.features)
    half, warm = (WarmStart.around(near, problem, trust) for trust in (0.5, 0.7))
    np.testing.assert_allclose(half.state(problem), problem.sector.size**-0.5)
    ansatz = Ansatz(problem, 2, start=warm)
    before = ansatz.hit_rate(np.zeros(ansatz.size), best.energy)
    trained = ansatz.train(objective="hit-rate", threshold=best.energy, evaluations=80)
    assert before > 1 / problem.sector.size and ansatz.hit_rate(trained.angles, best.energy) > 2 * before


def test_what_no_circuit_does_is_refused_with_the_reason():
    problem = problem_of()
    warm = WarmStart.around(([0, 1], [0, 1]), problem)
    with pytest.raises(InputError, match="Grover's mixer has no cheap circuit"):
        AnsatzSpec(problem, 1, mixer="grover").program()
    with pytest.raises(InputError, match="no cheap preparation"):
        AnsatzSpec(problem, 1, start=warm).program()
    with pytest.raises(InputError, match="never moves"):
        Ansatz(problem, 1, mixer="grover", start="canonical")
    with pytest.raises(InputError, match="give it alone"):
        Ansatz(problem, 1, mixer=("grover", "ring"))
    for spec in ({"mixer": "grover"}, {"start": warm}):
        with pytest.raises(InputError, match="the gpu backend knows XY mixers only"):
            Ansatz(problem, 1, backend="gpu", dtype="complex64", **spec)
    with pytest.raises(InputError, match="between 0 and 1"):
        WarmStart(samples=[0.0] * 6, features=[0.5] * 4)
    with pytest.raises(InputError, match="a chance for each"):
        Ansatz(problem, 1, start=WarmStart(samples=[0.5], features=[0.5] * 4))


def test_circuits_with_other_mixers_are_told_apart_and_copied():
    problem = problem_of()
    warm = WarmStart.around(([0, 1], [0, 1]), problem)
    specs = [
        AnsatzSpec(problem, 1),
        AnsatzSpec(problem, 1, mixer="grover"),
        AnsatzSpec(problem, 1, start=warm),
        AnsatzSpec(problem, 1, mixer="grover", start=warm),
    ]
    assert len({spec.fingerprint for spec in specs}) == 4
    for spec in specs:
        angles = np.linspace(0.2, 0.9, spec.size)
        copy = Ansatz.from_spec(spec.changed())
        assert copy.spec.fingerprint == spec.fingerprint
        deeper = Ansatz.from_spec(spec).at_depth(2)
        assert deeper.spec.grover == spec.grover and deeper.size == 2 * spec.size
        assert copy.expectation(angles) == pytest.approx(Ansatz.from_spec(spec).expectation(angles))
        assert specs[0].differences(spec.describe()) == [] or spec is not specs[0]


@pytest.mark.parametrize("backend", ["plain", "compiled"])
@pytest.mark.parametrize("seed", range(3))
def test_grovers_axis_has_norm_1_in_double_precision_whatever_the_start_comes_in(backend, seed):
    rng = np.random.default_rng(seed)
    problem = SelectionProblem(coupling=rng.normal(size=(5, 3)), k=2, m=1)
    start = rng.normal(size=(10, 3)).astype(np.float32)
    start /= np.linalg.norm(start)
    ansatz = Ansatz(problem, 4, "tied", "grover", start, backend=backend)
    before = np.linalg.norm(start.astype(np.float64))
    assert np.linalg.norm(ansatz.state([0.7, np.pi])) == pytest.approx(before, abs=1e-14)  # a mixer is unitary
