"""Programs as Qiskit circuits, and Qiskit circuits as files."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from biselect.core import conventions
from biselect.errors import MissingDependencyError
from biselect.hardware.dicke import prepare_dicke
from biselect.qaoa.spec import AnsatzSpec
from biselect.simulate.program import RZ, RZZ, Op, Program

try:
    from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister, qasm3, qpy
    from qiskit.circuit import Parameter
    from qiskit.circuit.library import XXPlusYYGate
except ImportError as error:
    raise MissingDependencyError("circuits need Qiskit: pip install 'biselect[quantum]'") from error

if TYPE_CHECKING:
    from qiskit.circuit import ParameterExpression

_XX_PLUS_YY = float(conventions.xx_plus_yy_angle(1.0))


def build_circuit(
    spec: AnsatzSpec, angles: ArrayLike | Mapping[str, float] | None = None, *, measure: bool = True
) -> QuantumCircuit:
    """The logical circuit of an ansatz; see `to_qiskit` for its gates. Angles that are not given stay parameters.

    >>> from biselect import SelectionProblem
    >>> problem = SelectionProblem(coupling=[[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]], k=1, m=1)
    >>> circuit = build_circuit(AnsatzSpec(problem, 1, "tied", "path", "canonical"))
    >>> sorted(circuit.count_ops().items())
    [('measure', 5), ('rz', 5), ('rzz', 3), ('x', 2), ('xx_plus_yy', 3)]
    """
    return to_qiskit(spec.program(angles), measure=measure)


def to_qiskit(program: Program, *, fused: bool = True, measure: bool = True) -> QuantumCircuit:
    """A program in Qiskit's gates; classical bit q is logical qubit q.

    Args:
        program: bound or with free angles, which become parameters of the same names.
        fused: each mixer edge as one XXPlusYY, else as RXX and RYY.
        measure: whether all qubits are measured.
    """
    circuit = QuantumCircuit(
        QuantumRegister(program.n_samples, "samples"), QuantumRegister(program.n_features, "features")
    )
    _prepare(circuit, program)
    parameters = [Parameter(name) for name in program.angle_names]
    for op in program.ops:
        angle = _angle(op, parameters)
        if op.kind == RZ:
            circuit.rz(angle, *op.qubits)
        elif op.kind == RZZ:
            circuit.rzz(angle, *op.qubits)
        elif fused:
            circuit.append(XXPlusYYGate(_XX_PLUS_YY * angle, 0.0), op.qubits)
        else:
            circuit.rxx(angle, *op.qubits)
            circuit.ryy(angle, *op.qubits)
    if measure:
        circuit.add_register(ClassicalRegister(program.qubits, "c"))
        circuit.measure(range(program.qubits), range(program.qubits))
    return circuit


def qpy_bytes(circuit: QuantumCircuit) -> bytes:
    """A circuit as QPY, Qiskit's own exact format."""
    buffer = io.BytesIO()
    qpy.dump(circuit, buffer, version=qpy.QPY_COMPATIBILITY_VERSION)  # IQM's client holds Qiskit at older releases
    return buffer.getvalue()


def qasm3_text(circuit: QuantumCircuit) -> str:
    """A circuit as OpenQASM 3."""
    return qasm3.dumps(circuit)


def _prepare(circuit: QuantumCircuit, program: Program) -> None:
    if program.bits is None:
        prepare_dicke(circuit, range(program.n_samples), program.k)
        prepare_dicke(circuit, range(program.n_samples, program.qubits), program.m)
    else:
        for qubit, bit in enumerate(program.bits):
            if bit:
                circuit.x(qubit)


def _angle(op: Op, parameters: Sequence[Parameter]) -> float | ParameterExpression:
    total: Any = op.angle
    for number, factor in op.slopes:
        total = total + factor * parameters[number]
    return total
