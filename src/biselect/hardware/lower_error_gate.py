"""RZZ(π/2) in place of CZ wherever the device recorded less error for it.

They differ by virtual rotations, CZ = RZ(-π/2) ⊗ RZ(-π/2) · RZZ(π/2) up to a global phase, and on a Heron take equally
long. Which of them errs less was settled edge by edge when the device was calibrated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import pi
from typing import TYPE_CHECKING, Any

from biselect.hardware.rewrite import NOTHING
from biselect.hardware.targets import has_rzz
from biselect.hardware.yframe import Gate
from biselect.simulate.program import wrapped

if TYPE_CHECKING:
    from qiskit.transpiler import Target

DIAGONAL = {"cz", "rzz"}


def quietest(gates: Sequence[Gate], layout: Sequence[int], target: Target) -> list[Gate]:
    """Equal gates, up to global phase, with each CZ made of the gate that has the lower error on its edge.

    A device without RZZ keeps its CZ, and so does an edge on which one of the two has no recorded error.
    """
    if not has_rzz(target):
        return list(gates)
    found: list[Gate] = []
    for gate in gates:
        edge = tuple(layout[qubit] for qubit in gate.qubits)
        if gate.name == "cz" and _errs_less(target, edge):
            found.append(Gate(name="rzz", qubits=gate.qubits, angle=pi / 2))
            found += [Gate(name="rz", qubits=(qubit,), angle=-pi / 2) for qubit in gate.qubits]
        else:
            found.append(gate)
    return _gathered(found)


def _gathered(gates: Iterable[Gate]) -> list[Gate]:
    """The same gates with each RZ moved past what commutes with it, and neighbouring ones merged."""
    due: dict[int, float] = {}
    found: list[Gate] = []

    def settle(qubit: int) -> None:
        angle = wrapped(due.pop(qubit, 0.0))
        if abs(angle) > NOTHING:
            found.append(Gate(name="rz", qubits=(qubit,), angle=angle))

    for gate in gates:
        if gate.name == "rz":
            due[gate.qubits[0]] = due.get(gate.qubits[0], 0.0) + gate.angle
            continue
        for qubit in () if gate.name in DIAGONAL else gate.qubits:
            settle(qubit)
        found.append(gate)
    for qubit in sorted(due):
        settle(qubit)
    return found


def _errs_less(target: Target, edge: tuple[int, ...]) -> bool:
    """Whether RZZ is recorded to err less than CZ on an edge, each in its better direction."""

    def errors(name: str) -> list[float]:
        entries: Any = target[name]
        known = [entries[way].error for way in (edge, edge[::-1]) if entries.get(way) is not None]
        return [error for error in known if error is not None]

    rzz, cz = errors("rzz"), errors("cz")
    return bool(rzz and cz) and min(rzz) < min(cz)
