"""Angles of RZZ brought into a device's interval, after everything else is done and numbers stand for all angles."""

from __future__ import annotations

from math import pi

from qiskit import QuantumCircuit
from qiskit.circuit import ParameterExpression

from biselect.errors import InputError
from biselect.hardware.rewrite import NOTHING
from biselect.simulate.program import wrapped


def fold_rzz(circuit: QuantumCircuit) -> QuantumCircuit:
    """An equal circuit, global phase included, with every RZZ angle within [0, π/2].

    RZZ(θ + π) is RZZ(θ) with RZ(π) on both qubits, RZZ(-θ) is RZZ(θ) between two X on one of them.
    """
    folded = circuit.copy_empty_like()
    for step in circuit.data:
        if step.operation.name != "rzz":
            folded.append(step)
            continue
        angle = step.operation.params[0]
        if isinstance(angle, ParameterExpression):
            raise InputError(f"an RZZ angle is still open ({angle}); bind all angles before folding")
        _fold(folded, float(angle), *step.qubits)
    return folded


def _fold(circuit: QuantumCircuit, angle: float, a: object, b: object) -> None:
    if 0 <= angle <= pi / 2:
        circuit.rzz(angle, a, b)
        return
    within = wrapped(angle)
    if round((angle - within) / (2 * pi)) % 2:
        circuit.global_phase += pi  # RZZ(θ + 2π) = -RZZ(θ)
    half_turns = round(within / pi)
    within -= half_turns * pi
    if half_turns:
        circuit.global_phase += half_turns * pi / 2  # RZZ(±π) = ±i·RZ(π) ⊗ RZ(π)
        circuit.rz(pi, a)
        circuit.rz(pi, b)
    if abs(within) < NOTHING:
        return
    if within < 0:
        circuit.x(a)
    circuit.rzz(min(abs(within), pi / 2), a, b)
    if within < 0:
        circuit.x(a)
