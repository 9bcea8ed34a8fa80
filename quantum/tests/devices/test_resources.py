"""Durations against a clock for every qubit, and what a layer more costs against two compilations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit

from biselect import SelectionProblem
from biselect_quantum.circuits import AnsatzSpec
from biselect_quantum.devices import choose_patch, compile_circuit, hardware_mask, load_target, masked, place
from biselect_quantum.devices.paths import PATHS, NetworkPath, YFramePath, factorial
from biselect_quantum.devices.resources import count_resources

EDGES = [(0, 1), (1, 2), (2, 3)]


def slow_duration(circuit, target, measured=True):
    """Seconds until the last qubit is done, step by step."""
    clock = [0.0] * circuit.num_qubits
    for step in circuit.data:
        qubits = tuple(circuit.find_bit(qubit).index for qubit in step.qubits)
        name = step.operation.name
        if name == "barrier" or (name == "measure" and not measured):
            continue
        done = max(clock[q] for q in qubits) + target[name][qubits].duration
        for q in qubits:
            clock[q] = done
    return max(clock)


@given(st.integers(0, 1 << 30), st.integers(0, 25))
@settings(max_examples=40)
def test_the_longest_chain_decides(small, seed, length):
    rng = np.random.default_rng(seed)
    target = small.device("fractional", EDGES, 4)
    circuit = QuantumCircuit(4, 4)
    for _ in range(length):
        if rng.random() < 0.5:
            circuit.rx(0.3, int(rng.integers(4)))
        else:
            circuit.cz(*EDGES[int(rng.integers(3))])
    if rng.random() < 0.7:
        circuit.measure(range(4), range(4))
    found = count_resources(circuit, target)
    assert found.duration == pytest.approx(slow_duration(circuit, target))
    assert found.gate_duration == pytest.approx(slow_duration(circuit, target, measured=False))
    assert found.two_qubit_gates == circuit.count_ops().get("cz", 0)


def test_an_unknown_duration_is_none(small):
    target = small.device("fractional", EDGES, 4)
    circuit = QuantumCircuit(4)
    circuit.swap(0, 1)
    found = count_resources(circuit, target, swaps=1)
    assert (found.duration, found.two_qubit_gates, found.swaps) == (None, 0, 1)


def test_virtual_gates_are_left_out_of_the_depth_of_pulses(small):
    circuit = QuantumCircuit(4, 4)
    circuit.rz(0.3, 0)
    circuit.rx(0.3, 0)
    circuit.rz(0.3, 0)
    circuit.cz(0, 1)
    circuit.measure(0, 0)
    found = count_resources(circuit, small.device("fractional", EDGES, 4))
    assert (found.depth, found.pulse_depth) == (5, 3)


LAYERED = [*PATHS.values(), *factorial(), YFramePath(propagate=False), NetworkPath()]


def with_a_layer_more(spec, angles):
    """The circuit one layer deeper, its last layer once again, and the angles that make it so."""
    longer = spec.changed(depth=spec.depth + 1)
    table = spec.schedule.expand(angles)
    rows = longer.schedule.matrix.reshape(-1, longer.size)
    more, *_ = np.linalg.lstsq(rows, np.concatenate([table, table[-1:]]).ravel(), rcond=None)
    more = more.round(9)  # of angles with three digits: Qiskit's choice among equal gates hangs on the last bit
    assert np.array_equal(longer.schedule.expand(more), [*table, table[-1]])
    return longer, more


def check_a_layer_more(spec, target, layout, path, angles):
    """The figures are those of two compilations, angles bound at the same time in both."""
    made = compile_circuit(spec.program(), target, layout, path, angles=angles)
    longer, more = with_a_layer_more(spec, angles)
    known = compile_circuit(longer.program(), target, layout, path, angles=more)
    found = made.added_layer()
    for name, figure in vars(found).items():
        expected = getattr(known.resources, name) - getattr(made.resources, name)
        assert figure == pytest.approx(expected, abs=1e-15), name


@pytest.mark.parametrize("schedule", ["tied", "layerwise", "fully-grouped"])
@pytest.mark.parametrize("path", LAYERED, ids=lambda path: path.name)
def test_a_layer_more_costs_what_the_longer_circuit_costs_more(small, path, schedule):
    rng = np.random.default_rng(len(path.name))
    line = [(q, q + 1) for q in range(6)]
    problem = SelectionProblem(
        coupling=rng.normal(size=(4, 3)) * (1 if isinstance(path, NetworkPath) else np.eye(4, 3)[::-1]),
        sample_scores=rng.normal(size=4),
        k=2,
        m=1,
    )
    edges = line + [(i, 4 + j) for i, j in np.argwhere(problem.coupling).tolist()]
    target = small.device("fractional", edges, 7)
    spec = AnsatzSpec(problem, 2, schedule, "path", "random", seed=3)
    check_a_layer_more(spec, target, range(7), path, rng.normal(size=spec.size).round(3))


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS.values(), ids=lambda path: path.name)
def test_a_layer_more_of_64_qubits_costs_what_the_longer_circuit_costs_more(path):
    rng = np.random.default_rng(6)
    problem = SelectionProblem(coupling=rng.exponential(size=(38, 26)), sample_scores=rng.normal(size=38), k=10, m=10)
    target = load_target("boston")
    patch = place(problem, choose_patch(target, 38, 26)).patch
    sparse = masked(problem, hardware_mask(patch))
    spec = AnsatzSpec(sparse, 2, "bilinear", (patch.sample_edges, patch.feature_edges), "random")
    check_a_layer_more(spec, target, patch.layout, path, rng.normal(size=spec.size).round(3))
