"""Durations against a clock for every qubit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit

from biselect.hardware.compiled_circuit import count_resources

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
