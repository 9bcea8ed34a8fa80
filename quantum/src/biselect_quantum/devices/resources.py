"""Resources: what a compiled circuit costs, counted on its gates."""

from __future__ import annotations

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
        pulse_depth: depth without virtual gates, which take no time; None where the target lacks a duration, and in
            records older than this figure.
    """

    depth: int
    two_qubit_depth: int
    two_qubit_gates: int
    swaps: int
    duration: float | None
    gate_duration: float | None
    pulse_depth: int | None = None


def count_resources(circuit: QuantumCircuit, target: Target, swaps: int = 0) -> Resources:
    """Costs of a circuit on physical qubits."""
    gates = circuit.copy_empty_like()
    gates.data = [step for step in circuit.data if step.operation.name != "measure"]
    return Resources(
        depth=circuit.depth(),
        two_qubit_depth=circuit.depth(lambda step: len(step.qubits) >= 2 and step.operation.name != "barrier"),
        two_qubit_gates=sum(
            len(step.qubits) == 2 and step.operation.name not in ("barrier", "swap") for step in circuit.data
        ),
        swaps=swaps,
        duration=_seconds(circuit, target),
        gate_duration=_seconds(gates, target),
        pulse_depth=_pulse_depth(circuit, target),
    )


def added_by(longer: Resources, shorter: Resources) -> Resources:
    """What a longer circuit costs more, figure by figure; None where one of the two is not known."""
    more: dict[str, Any] = {}
    for name, figure in vars(longer).items():
        other = getattr(shorter, name)
        more[name] = None if figure is None or other is None else figure - other
    return Resources(**more)


def _pulse_depth(circuit: QuantumCircuit, target: Target) -> int | None:
    """The longest chain of operations that take time."""
    lasting = {name: _lasting(target, name) for name in circuit.count_ops() if name != "barrier"}
    if None in lasting.values():
        return None
    return int(circuit.depth(lambda step: lasting.get(step.operation.name, False)))


def _lasting(target: Target, name: str) -> bool | None:
    """Whether an operation takes time; None if no place recorded how long."""
    if name not in target.operation_names:
        return None
    durations = [entry.duration for entry in target[name].values() if entry is not None and entry.duration is not None]
    return any(durations) if durations else None


def _seconds(circuit: QuantumCircuit, target: Target) -> float | None:
    """Seconds until the last qubit is done; None if some instruction's duration is unknown."""
    from qiskit.exceptions import QiskitError

    try:
        return float(circuit.estimate_duration(target))
    except QiskitError:
        return None
