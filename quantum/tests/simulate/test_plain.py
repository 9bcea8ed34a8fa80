"""Grover's mixer against the whole 2^n vector and matrix exponentials."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.testing.strategies import blocked_problems
from biselect_quantum.circuits import Ansatz, AnsatzSpec, Observable


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


def a_state(problem, rng):
    """Any superposition of a problem's choices."""
    shape = (problem.sector.sample_subsets, problem.sector.feature_subsets)
    state = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return state / np.linalg.norm(state)


def central_differences(ansatz, angles, observable):
    value, gradient = ansatz.value_and_gradient(angles, observable)
    assert value == pytest.approx(ansatz.expectation(angles, observable), abs=1e-11)
    for position in range(ansatz.size):
        step = 1e-5 * np.eye(ansatz.size)[position]
        up, down = ansatz.expectation(angles + step, observable), ansatz.expectation(angles - step, observable)
        assert gradient[position] == pytest.approx((up - down) / 2e-5, abs=1e-7)


@settings(max_examples=25)
@given(blocked_problems(4, 3), st.sampled_from(["plain", "compiled"]), st.booleans(), st.integers(0, 10**6))
def test_grovers_mixer_is_the_exponential_of_its_projector(problem, backend, uniform, seed):
    rng = np.random.default_rng(seed)
    start = "dicke" if uniform else a_state(problem, rng)
    ansatz = Ansatz(problem, 2, mixer="grover", start=start, backend=backend)
    angles = rng.normal(size=ansatz.size)
    dense = np.zeros(1 << sum(problem.coupling.shape), dtype=complex)
    dense[places(ansatz)] = problem.sector.size**-0.5 if uniform else start.ravel()
    axis = dense.copy()
    for layer, beta in enumerate(ansatz.layers(angles).mixing):
        dense = expm(-1j * beta * np.outer(axis, axis.conj())) @ (dense_phase(ansatz, angles, layer) * dense)
    np.testing.assert_allclose(ansatz.dense_state(angles), dense, atol=1e-12)
    threshold = float(np.median(ansatz.energies)) + 1e-3
    central_differences(ansatz, angles, Observable(kind=["energy", "hit", "excess"][seed % 3], threshold=threshold))


def problem_of():
    return SelectionProblem(coupling=np.random.default_rng(0).normal(size=(6, 4)), k=2, m=2)


def test_what_no_circuit_does_is_refused_with_the_reason():
    problem = problem_of()
    state = a_state(problem, np.random.default_rng(0))
    with pytest.raises(InputError, match="Grover's mixer has no cheap circuit"):
        AnsatzSpec(problem, 1, mixer="grover").program()
    with pytest.raises(InputError, match="no cheap preparation"):
        AnsatzSpec(problem, 1, start=state).program()
    with pytest.raises(InputError, match="never moves"):
        Ansatz(problem, 1, mixer="grover", start="canonical")
    with pytest.raises(InputError, match="give it alone"):
        Ansatz(problem, 1, mixer=("grover", "ring"))
    for backend in ("gpu", "continuous"):
        with pytest.raises(InputError, match=f"the {backend} backend knows XY mixers only"):
            Ansatz(problem, 1, mixer="grover", backend=backend, dtype="complex64")


def test_circuits_with_grovers_mixer_are_told_apart_and_copied():
    problem = problem_of()
    state = a_state(problem, np.random.default_rng(0))
    specs = [
        AnsatzSpec(problem, 1),
        AnsatzSpec(problem, 1, mixer="grover"),
        AnsatzSpec(problem, 1, start=state),
        AnsatzSpec(problem, 1, mixer="grover", start=state),
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
