"""Random frames: the same circuit, in the device's gates, without a pulse more; coherent errors become random ones."""

from dataclasses import replace

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit.library import UnitaryGate
from qiskit.quantum_info import DensityMatrix, Operator, Pauli, Statevector
from qiskit_ibm_runtime.utils.utils import is_isa_circuit

from biselect.errors import InputError
from biselect_quantum.devices import compile_circuit
from biselect_quantum.devices.mitigation.twirling import twirled
from biselect_quantum.devices.paths import QUIET, Y_FRAME
from biselect_quantum.devices.targets import from_snapshot, snapshot


def quieter(target):
    """The device with a smaller error for every second RZZ, so that some CZ become RZZ(π/2)."""
    content = {name: value for name, value in snapshot(target).items() if name != "hash"}
    for name, errors in (("cz", [2e-3]), ("rzz", [1e-3, 3e-3])):
        gate = content["gates"][name]
        gate["error"] = [errors[min(place) % len(errors)] for place in gate["qubits"]]
    return from_snapshot(content)


@pytest.mark.parametrize("kind", ["fractional", "quiet", "cz", "prx"])
@pytest.mark.parametrize("seed", range(4))
def test_frames_change_nothing_that_is_measured(small, kind, seed):
    rng = np.random.default_rng(seed)
    case = small.case(rng, 6, special=seed % 2 == 1)
    target = small.device("fractional" if kind == "quiet" else kind, case.edges, 6)
    target = quieter(target) if kind == "quiet" else target
    path = QUIET if kind == "quiet" else Y_FRAME
    compiled = compile_circuit(case.program, target, case.layout, path, angles=case.angles)
    framed = [twirled(compiled, target, frame) for frame in range(4)]
    for each in framed:
        assert small.distance(small.measured(each), small.measured(compiled)) < 1e-9
        assert is_isa_circuit(each.circuit, target) == ""
        if kind in ("fractional", "quiet"):
            assert pulses(each.circuit) <= pulses(compiled.circuit)
    assert twirled(compiled, target, 0).circuit == framed[0].circuit
    if pulses(compiled.circuit) > compiled.program.qubits:
        assert any(each.circuit != framed[0].circuit for each in framed)


def pulses(circuit):
    return sum(step.operation.name in ("rx", "x", "sx") for step in circuit.data)


def test_a_coherent_error_becomes_a_random_one(small):
    """The mean over frames is what the twirled channel gives; without frames the error adds up."""
    target = small.device("fractional", [(0, 1)], 2)
    circuit = QuantumCircuit(2, 2)
    for _ in range(4):
        circuit.rx(0.6, 0)
        circuit.rx(-0.4, 1)
        circuit.cz(0, 1)
    circuit.rx(0.3, [0, 1])
    circuit.measure([0, 1], [0, 1])
    wrong = UnitaryGate(Operator(Pauli("ZX")).power(0.05))  # of X on qubit 0 and Z on qubit 1
    case = small.case(np.random.default_rng(0), 2, split=1, budgets=(1, 1), depth=1)
    plain = compile_circuit(case.program, target, case.layout, angles=case.angles)
    plain = replace(plain, circuit=circuit)

    def erring(made):
        copy = QuantumCircuit(2)
        for step in made.circuit.data:
            if step.operation.name != "measure":
                copy.append(step.operation, [made.circuit.find_bit(qubit).index for qubit in step.qubits])
            if step.operation.name == "cz":
                copy.append(wrong, [0, 1])
        return Statevector(copy).probabilities()

    kept = abs(np.trace(wrong.to_matrix()) / 4) ** 2
    state = DensityMatrix.from_label("00")
    for step in circuit.data:
        if step.operation.name != "measure":
            where = [circuit.find_bit(qubit).index for qubit in step.qubits]
            state = state.evolve(step.operation, where)
        if step.operation.name == "cz":
            state = kept * state + (1 - kept) * state.evolve(Pauli("ZX"))
    mean = np.mean([erring(twirled(plain, target, frame)) for frame in range(100)], axis=0)
    assert small.distance(mean, state.probabilities()) < 0.015
    assert small.distance(erring(plain), state.probabilities()) > 0.04


def test_a_gate_without_known_frames_is_refused(small):
    case = small.case(np.random.default_rng(0), 4)
    target = small.device("fractional", case.edges, 4)
    compiled = compile_circuit(case.program, target, case.layout, angles=case.angles)
    compiled.circuit.swap(0, 1)
    with pytest.raises(InputError, match="swap; leave twirl out"):
        twirled(compiled, target, 0)
