"""Durations against a clock for every qubit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit

from biselect.hardware.compile import added_layer, compile_circuit
from biselect.hardware.compiled_circuit import count_resources
from biselect.hardware.paths import STRONGEST_QISKIT, YFramePath

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


@pytest.mark.parametrize("path", [YFramePath(coloured=False), STRONGEST_QISKIT])
def test_a_layer_more_costs_what_the_longer_circuit_costs_more(small, path):
    drawn = small.case(np.random.default_rng(4), 6, depth=2, schedule="tied")
    target = small.device("fractional", drawn.edges, drawn.qubits)
    made = compile_circuit(drawn.program, target, drawn.layout, path, angles=drawn.angles)
    more = added_layer(made, target)
    program = made.program
    longer = replace(program, layers=(*program.layers, program.layers[-1]))
    known = compile_circuit(longer, target, drawn.layout, replace(path, coloured=False)).resources
    assert more.two_qubit_gates == known.two_qubit_gates - made.resources.two_qubit_gates > 0
    assert more.duration == pytest.approx(known.duration - made.resources.duration)
    assert more.pulse_depth < more.depth
