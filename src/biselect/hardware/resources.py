"""What a submitted circuit costs: depth, two-qubit gates and time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiskit import QuantumCircuit
    from qiskit.transpiler import Target


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Costs of one circuit, counted as in Supplementary Section hardware_detail.

    Attributes:
        depth: longest chain of operations, measurement included.
        two_qubit_depth: the same, counting two-qubit operations only.
        two_qubit_gates: native two-qubit operations, explicit SWAPs not counted.
        swaps: SWAPs that routing inserted; their native gates are among the others.
        duration: seconds of the longest chain, measurement included; None where the target lacks a duration.
        gate_duration: the same without measurement.
    """

    depth: int
    two_qubit_depth: int
    two_qubit_gates: int
    swaps: int
    duration: float | None
    gate_duration: float | None


def count_resources(circuit: QuantumCircuit, target: Target, swaps: int = 0) -> Resources:
    """Costs of a circuit on physical qubits."""
    pairs = [step for step in circuit.data if len(step.qubits) == 2 and step.operation.name != "barrier"]
    known = {name: target[name] for name in circuit.count_ops() if name in target.operation_names}
    return Resources(
        depth=circuit.depth(),
        two_qubit_depth=circuit.depth(lambda step: len(step.qubits) >= 2 and step.operation.name != "barrier"),
        two_qubit_gates=sum(step.operation.name != "swap" for step in pairs),
        swaps=swaps,
        duration=_longest(circuit, known, measured=True),
        gate_duration=_longest(circuit, known, measured=False),
    )


def _longest(circuit: QuantumCircuit, known: Mapping[str, Any], *, measured: bool) -> float | None:
    """Seconds until the last qubit is done; None if some instruction's duration is unknown."""
    place = {qubit: position for position, qubit in enumerate(circuit.qubits)}
    clock = [0.0] * circuit.num_qubits
    for step in circuit.data:
        name = step.operation.name
        if name == "barrier" or (name == "measure" and not measured):
            continue
        qubits = tuple(place[qubit] for qubit in step.qubits)
        properties = known.get(name, {}).get(qubits)
        if properties is None or properties.duration is None:
            return None
        done = max(clock[qubit] for qubit in qubits) + properties.duration
        for qubit in qubits:
            clock[qubit] = done
    return max(clock, default=0.0)
