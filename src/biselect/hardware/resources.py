"""What a submitted circuit costs: depth, two-qubit gates and time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    gates = circuit.copy_empty_like()
    for step in circuit.data:
        if step.operation.name != "measure":
            gates.append(step, copy=False)
    return Resources(
        depth=circuit.depth(),
        two_qubit_depth=circuit.depth(lambda step: len(step.qubits) >= 2 and step.operation.name != "barrier"),
        two_qubit_gates=sum(step.operation.name != "swap" for step in pairs),
        swaps=swaps,
        duration=_seconds(circuit, target),
        gate_duration=_seconds(gates, target),
    )


def _seconds(circuit: QuantumCircuit, target: Target) -> float | None:
    """Seconds until the last qubit is done; None if some instruction's duration is unknown."""
    from qiskit.exceptions import QiskitError

    try:
        return float(circuit.estimate_duration(target))
    except QiskitError:
        return None
