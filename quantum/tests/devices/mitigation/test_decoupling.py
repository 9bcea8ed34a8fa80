"""Decoupling: the same circuit, pulses only in long waits; it undoes a detuning that stays, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit.library import RZGate
from qiskit.quantum_info import Statevector
from qiskit_ibm_runtime.utils.utils import is_isa_circuit

from biselect import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.devices import choose_patch, compile_circuit, compile_problem, load_target
from biselect_quantum.devices.mitigation.decoupling import LONG_ENOUGH, decoupled
from biselect_quantum.devices.qiskit_circuits import ideal_probabilities


@pytest.fixture(scope="module")
def boston():
    return load_target("boston")


@pytest.fixture(scope="module")
def waiting(boston, small):
    """A qubit in superposition that waits while its neighbours are busy, and is then brought back to 0."""
    case = small.case(np.random.default_rng(0), 3, split=2, budgets=(1, 1), depth=1)
    patch = choose_patch(boston, 2, 1)
    compiled = compile_circuit(case.program, boston, patch.layout, angles=case.angles)
    one, two, alone = compiled.final_layout
    circuit = QuantumCircuit(*compiled.circuit.qregs, *compiled.circuit.cregs)
    circuit.rx(np.pi / 2, alone)
    circuit.barrier(alone, one)
    for _ in range(8):
        circuit.cz(one, two)
        circuit.rx(0.3, one)
    circuit.barrier(alone, one)
    circuit.rx(-np.pi / 2, alone)
    for bit, qubit in enumerate((one, two, alone)):
        circuit.measure(qubit, bit)
    return replace(compiled, circuit=circuit)


def back_at_zero(compiled, target, detuning):
    """The chance to read 0 on the third bit, all qubits turning about Z at a rate of their own while they wait."""
    circuit = compiled.circuit
    used = list(compiled.final_layout)
    small = QuantumCircuit(3)
    for step in circuit.data:
        where = [used.index(circuit.find_bit(qubit).index) for qubit in step.qubits]
        if step.operation.name == "delay":
            small.append(RZGate(detuning * step.operation.duration * target.dt), where)
        elif step.operation.name not in ("measure", "barrier"):
            small.append(step.operation, where)
    return float(Statevector(small).probabilities([2])[0])


@pytest.mark.parametrize("sequence", ["xx", "xy4"])
def test_a_detuning_that_stays_is_undone(waiting, boston, sequence):
    with_pulses = decoupled(waiting, boston, sequence)
    without = replace(with_pulses, circuit=without_pulses(with_pulses.circuit))
    assert is_isa_circuit(with_pulses.circuit, boston) == ""
    rates = np.random.default_rng(3).normal(scale=3e6, size=60)  # radians a second, drawn once a shot
    plain = np.mean([back_at_zero(without, boston, rate) for rate in rates])
    kept = np.mean([back_at_zero(with_pulses, boston, rate) for rate in rates])
    assert plain < 0.75 and kept > 0.999


def without_pulses(circuit):
    """The same waits without anything in them."""
    plain = circuit.copy_empty_like()
    for step in circuit.data:
        if step.operation.name != "x":
            plain.append(step)
    return plain


def test_it_is_the_same_circuit_and_short_waits_stay_empty(boston, small):
    rng = np.random.default_rng(5)
    problem = SelectionProblem(coupling=rng.random((5, 3)), sample_scores=rng.random(5), k=2, m=1)
    compiled = compile_problem(problem, boston, [0.6, 0.5, 0.4, 0.3], depth=2, compare=False).compiled
    made = decoupled(compiled, boston)
    plain, padded = (ideal_probabilities(each.circuit) for each in (compiled, made))
    assert small.distance(plain, padded) < 1e-9
    longest = LONG_ENOUGH * 2 * boston["x"][(0,)].duration / boston.dt
    waits = [step.operation.duration for step in made.circuit.data if step.operation.name == "delay"]
    assert 0 < made.circuit.count_ops().get("x", 0) < 2 * len(waits) and min(waits) < longest


def test_a_device_without_durations_is_refused(small):
    case = small.case(np.random.default_rng(0), 4)
    target = small.device("prx", case.edges, 4)
    compiled = compile_circuit(case.program, target, case.layout, angles=case.angles)
    with pytest.raises(InputError, match="leave decouple out"):
        decoupled(compiled, target)
