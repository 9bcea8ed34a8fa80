"""Angles of other libraries: their circuits, written down as they define them, give our state."""

import numpy as np
import pytest
from scipy.linalg import expm

from biselect.core import SelectionProblem
from biselect.core.ising import spins
from biselect.errors import InputError
from biselect_quantum.circuits import Ansatz, AnsatzSpec
from biselect_quantum.circuits.schedule import CONVENTIONS

X, Y = np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]])
PHASE = {"pennylane": 1.0, "openqaoa": 1.0, "qokit": 0.5}  # what multiplies γ·C in the exponent of their phase
HOP = {"pennylane": 0.5, "openqaoa": 0.5, "qokit": 0.5}  # and β·(XX+YY) in that of their mixer


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return SelectionProblem(
        coupling=rng.normal(size=(3, 3)), sample_scores=rng.normal(size=3), feature_scores=rng.normal(size=3), k=2, m=1
    )


def on(pauli, qubits, count):
    """A product of one Pauli operator on some qubits; qubit 0 is the lowest bit."""
    found = np.eye(1)
    for qubit in range(count):
        found = np.kron(pauli if qubit in qubits else np.eye(2), found)
    return found


def their_state(ansatz, gammas, betas, phase, hop):
    """exp(-i·phase·γ·cost), then exp(-i·hop·β·(XX+YY)) on every edge, from the uniform state of the sector."""
    problem = ansatz.problem
    n, d = problem.coupling.shape
    bits = (np.arange(1 << (n + d))[:, None] >> np.arange(n + d)) & 1
    assert (spins(bits[0]) == 1).all()
    s, f = bits[:, :n], bits[:, n:]
    parts = np.stack([-s @ problem.sample_scores, -f @ problem.feature_scores, -((s @ problem.coupling) * f).sum(1)], 1)
    state = ansatz.dense_state(np.zeros(ansatz.size))
    for gamma, beta in zip(gammas, betas, strict=True):
        state = np.exp(-1j * phase * (parts @ np.broadcast_to(gamma, 3) + 0.7 * np.sum(gamma))) * state  # and an offset
        for first, classes in zip((0, n), ansatz.spec.mixer, strict=True):
            for i, j in (edge for edges in classes for edge in edges):
                both = on(X, (first + i, first + j), n + d) + on(Y, (first + i, first + j), n + d)
                state = expm(-1j * hop * beta * both) @ state
    return state


def overlap(one, other):
    return abs(np.vdot(one, other))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("schedule", ["tied", "layerwise", "fully-grouped"])
def test_the_circuit_of_the_exported_angles_is_ours(problem, convention, schedule):
    ansatz = Ansatz(problem, 2, schedule)
    angles = np.random.default_rng(1).normal(size=ansatz.size)
    grouped = schedule == "fully-grouped"
    gammas, betas = ansatz.spec.export_angles(angles, convention, grouped=grouped)
    assert gammas.shape == ((2, 3) if grouped else (2,)) and betas.shape == (2,)
    theirs = their_state(ansatz, gammas, betas, PHASE[convention], HOP[convention])
    assert overlap(ansatz.dense_state(angles), theirs) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(ansatz.spec.import_angles(gammas, betas, convention), angles, atol=1e-12)
    turned = ansatz.spec.export_angles(angles, convention, maximised=True, grouped=grouped)
    np.testing.assert_allclose(turned[0], -gammas)
    np.testing.assert_allclose(ansatz.spec.import_angles(*turned, convention, maximised=True), angles, atol=1e-12)


def test_what_another_library_cannot_hold_is_refused(problem):
    spec = AnsatzSpec(problem, 2, "fully-grouped")
    with pytest.raises(InputError, match="one a layer; give grouped=True"):
        spec.export_angles(np.arange(8.0), "qokit")
    with pytest.raises(InputError, match="pennylane, openqaoa, qokit"):
        spec.export_angles(np.zeros(8), "cirq")
    with pytest.raises(InputError, match="2 layers need as many β"):
        spec.import_angles([0.1, 0.2, 0.3], [0.1, 0.2], "qokit")
    with pytest.raises(InputError, match="not contained"):
        AnsatzSpec(problem, 2, "tied").import_angles([0.1, 0.2], [0.1, 0.2], "qokit")
    with pytest.raises(InputError, match="no edges with an XY mixer"):
        AnsatzSpec(problem, 1, "tied", ([], [])).export_angles([0.1, 0.2], "pennylane")
    one_for_all = spec.import_angles([0.1, 0.2], [0.3, 0.4], "pennylane")
    np.testing.assert_allclose(spec.schedule.expand(one_for_all), [[0.1, 0.1, 0.1, 0.3], [0.2, 0.2, 0.2, 0.4]])


def test_pennylane_runs_our_circuit(problem):
    qml = pytest.importorskip("pennylane", reason="a peer: see benchmarks/needs.py")
    networkx = pytest.importorskip("networkx")
    ansatz = Ansatz(problem, 2, "layerwise")
    angles = np.random.default_rng(2).normal(size=ansatz.size)
    gammas, betas = ansatz.spec.export_angles(angles, "pennylane")
    ising = problem.ising()
    wires = range(6)
    fields = zip(wires, ising.fields, strict=True)
    terms = [(value, qml.Z(wire)) for wire, value in fields]
    terms += [(ising.couplings[i, j], qml.Z(i) @ qml.Z(3 + j)) for i in range(3) for j in range(3)]
    cost = qml.Hamiltonian(*zip(*terms, strict=True))
    classes = [
        networkx.Graph([(first + i, first + j) for i, j in edges])
        for first, register in zip((0, 3), ansatz.spec.mixer, strict=True)
        for edges in register
    ]
    start = ansatz.dense_state(np.zeros(4)).reshape((2,) * 6).transpose(range(5, -1, -1)).ravel()  # wire 0 comes first

    @qml.qnode(qml.device("default.qubit", wires=6))
    def circuit():
        qml.StatePrep(start, wires=wires)
        for gamma, beta in zip(gammas, betas, strict=True):
            qml.qaoa.cost_layer(gamma, cost)
            for edges in classes:  # one by one: the order of the classes is part of the circuit
                qml.qaoa.mixer_layer(beta, qml.qaoa.xy_mixer(edges))
        return qml.state()

    theirs = np.asarray(circuit()).reshape((2,) * 6).transpose(range(5, -1, -1)).ravel()
    assert overlap(ansatz.dense_state(angles), theirs) == pytest.approx(1, abs=1e-9)
