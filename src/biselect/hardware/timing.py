"""How long a circuit takes on a device that runs few gates at a time.

Gates start in the order of the circuit, each as soon as its qubits are free and so is one of the places where the
device can run a gate. A virtual RZ takes no time and needs no place; all qubits are read out together at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapreplace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qiskit import QuantumCircuit
    from qiskit.transpiler import Target

READOUT = "measure"


def in_turn(
    names: Sequence[str], places: Sequence[tuple[int, ...]], lengths: Sequence[float], at_once: int
) -> list[float]:
    """Seconds at which each step starts, where so many gates can run at once.

    >>> in_turn(["sx", "sx", "rz", "cz"], [(0,), (1,), (0,), (0, 1)], [1.0, 1.0, 0.0, 3.0], at_once=1)
    [0.0, 1.0, 1.0, 2.0]
    """
    free = [0.0] * at_once  # a heap
    ready: dict[int, float] = {}
    starts: list[float] = []
    end = 0.0
    for name, place, length in zip(names, places, lengths, strict=True):
        begin = max(ready.get(qubit, 0.0) for qubit in place)
        if name == READOUT:
            begin = end
        elif length:
            begin = max(begin, free[0])
            heapreplace(free, begin + length)
            end = max(end, begin + length)
        starts.append(begin)
        ready |= dict.fromkeys(place, begin + length)
    return starts


def seconds_in_turn(circuit: QuantumCircuit, target: Target, at_once: int) -> float | None:
    """Seconds until the last qubit is done; None where a duration is unknown."""
    steps = [step for step in circuit.data if step.operation.name != "barrier"]
    places = [tuple(circuit.find_bit(qubit).index for qubit in step.qubits) for step in steps]
    known: dict[str, Any] = {name: target[name] for name in {step.operation.name for step in steps}}
    entries = [known[step.operation.name].get(place) for step, place in zip(steps, places, strict=True)]
    lengths = [entry.duration for entry in entries if entry is not None and entry.duration is not None]
    if len(lengths) < len(steps):
        return None
    starts = in_turn([step.operation.name for step in steps], places, lengths, at_once)
    return max((begin + length for begin, length in zip(starts, lengths, strict=True)), default=0.0)
