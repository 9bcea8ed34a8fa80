"""How long a circuit takes on a device that runs few gates at a time.

Gates start in the order of the circuit, each as soon as its qubits are free and so is one of the places where the
device can run a gate. A virtual RZ takes no time and needs no place; all qubits are read out together at the end.
"""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiskit import QuantumCircuit
    from qiskit.transpiler import Target


def start_times(circuit: QuantumCircuit, target: Target, at_once: int) -> tuple[list[float], float] | None:
    """Seconds at which each step starts, and at which the last one ends; None where a duration is unknown."""
    places = [0.0] * at_once
    heapify(places)
    ready: dict[Any, float] = {}
    starts: list[float] = []
    end = 0.0
    for step in circuit.data:
        length = _length(circuit, step, target)
        if length is None:
            return None
        begin = max(ready.get(qubit, 0.0) for qubit in step.qubits)
        if step.operation.name == "measure":
            begin = end
        elif length:
            begin = max(begin, places[0])
            heapreplace(places, begin + length)
            end = max(end, begin + length)
        starts.append(begin)
        ready |= dict.fromkeys(step.qubits, begin + length)
    return starts, max(ready.values(), default=0.0)


def _length(circuit: QuantumCircuit, step: Any, target: Target) -> float | None:
    if step.operation.name == "barrier":
        return 0.0
    entry = target[step.operation.name].get(tuple(circuit.find_bit(qubit).index for qubit in step.qubits))
    return None if entry is None else entry.duration
