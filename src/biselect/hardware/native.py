"""Gates of the Y-frame in a device's own."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.transpiler import PassManager, Target
from qiskit.transpiler.passes import Optimize1qGatesDecomposition

from biselect.hardware.yframe import Gate

HALF, QUARTER = pi, pi / 2


def to_native(gates: Sequence[Gate], layout: Sequence[int], target: Target) -> QuantumCircuit:
    """A measured circuit on the device's qubits; classical bit q is logical qubit q."""
    circuit = QuantumCircuit(QuantumRegister(target.num_qubits, "q"), ClassicalRegister(len(layout), "c"))
    have = set(target.operation_names)
    write = _with_rx if {"rx", "rz"} <= have else _with_prx if "r" in have else _plainly
    for gate in gates:
        qubits = [layout[qubit] for qubit in gate.qubits]
        if len(qubits) == 2:
            _two_qubit(circuit, gate, qubits, target)
        else:
            write(circuit, gate, qubits[0])
    if write is _plainly or not set(circuit.count_ops()) <= have:
        circuit = PassManager([Optimize1qGatesDecomposition(target)]).run(circuit)
    for qubit, place in enumerate(layout):
        circuit.measure(place, qubit)
    return circuit


def _two_qubit(circuit: QuantumCircuit, gate: Gate, qubits: Sequence[int], target: Target) -> None:
    """CZ and RZZ are symmetric: the direction that the device lists is taken."""
    if tuple(qubits) not in target[gate.name]:
        qubits = qubits[::-1]
    if gate.name == "cz":
        circuit.cz(*qubits)
    else:
        circuit.rzz(gate.angle, *qubits)


def _with_rx(circuit: QuantumCircuit, gate: Gate, qubit: int) -> None:
    """RX and RZ of any angle: one pulse and virtual rotations, whatever the gate."""
    if gate.name == "ry":
        circuit.rz(-QUARTER, qubit)
        circuit.rx(gate.angle, qubit)
        circuit.rz(QUARTER, qubit)
    elif gate.name == "h":
        circuit.rz(QUARTER, qubit)
        circuit.rx(QUARTER, qubit)
        circuit.rz(QUARTER, qubit)
    else:
        _plainly(circuit, gate, qubit)


def _with_prx(circuit: QuantumCircuit, gate: Gate, qubit: int) -> None:
    """PRX(θ, φ): RX at φ = 0, RY at φ = π/2; RZ is two of them."""
    axis = QUARTER
    if gate.name == "rx":
        circuit.r(gate.angle, 0.0, qubit)
    elif gate.name == "ry":
        circuit.r(gate.angle, axis, qubit)
    elif gate.name == "x":
        circuit.r(HALF, 0.0, qubit)
    elif gate.name == "h":
        circuit.r(QUARTER, axis, qubit)
        circuit.r(HALF, 0.0, qubit)
    else:
        circuit.r(HALF, 0.0, qubit)
        circuit.r(HALF, gate.angle / 2, qubit)


def _plainly(circuit: QuantumCircuit, gate: Gate, qubit: int) -> None:
    arguments: Any = (qubit,) if gate.name in ("x", "h") else (gate.angle, qubit)
    getattr(circuit, gate.name)(*arguments)
