"""Programs and their operators in Qiskit's terms, circuits as files, and what a perfect device would return."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import acos, isfinite, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import ising
from biselect.errors import InputError, MissingDependencyError
from biselect_quantum import conventions
from biselect_quantum.circuits.cost_groups import CostGroup, components
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.simulate.program import RZ, RZZ, Program

try:
    from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister, qasm3, qpy
    from qiskit.circuit import Parameter
    from qiskit.circuit.library import XXPlusYYGate
    from qiskit.quantum_info import Statevector
except ImportError as error:
    raise MissingDependencyError("circuits need Qiskit: pip install ./quantum") from error
try:
    from qiskit.quantum_info import SparsePauliOp
except ImportError as error:
    raise MissingDependencyError("operators need Qiskit: pip install ./quantum") from error


MOST_QUBITS = 24  # of a state vector
SYMMETRIC = {"cz", "rzz", "swap", "iswap", "rxx", "ryy", "cp"}  # either qubit may come first
_XX_PLUS_YY = float(conventions.xx_plus_yy_angle(1.0))


def build_circuit(
    spec: AnsatzSpec, angles: ArrayLike | Mapping[str, float] | None = None, *, measure: bool = True
) -> QuantumCircuit:
    """Build the logical circuit of an ansatz; see `to_qiskit` for its gates. Angles that are not given stay parameters.

    >>> from biselect import SelectionProblem
    >>> problem = SelectionProblem(coupling=[[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]], k=1, m=1)
    >>> circuit = build_circuit(AnsatzSpec(problem, 1, "tied", "path", "canonical"))
    >>> sorted(circuit.count_ops().items())
    [('measure', 5), ('rz', 5), ('rzz', 3), ('x', 2), ('xx_plus_yy', 3)]
    """
    return to_qiskit(spec.program(angles), measure=measure)


def to_qiskit(program: Program, *, fused: bool = True, measure: bool = True) -> QuantumCircuit:
    """Write a program in Qiskit's gates.

    Gates are RZ(2γh), RZZ(2γJ) and XXPlusYY(2β, 0), Qiskit's sign and factor of each. Qubit q is sample q for q < N and
    feature q - N after that; classical bit q reads qubit q.

    Args:
        program: bound or with free angles, which become parameters of the same names.
        fused: each mixer edge as one XXPlusYY, else as RXX and RYY.
        measure: whether all qubits are measured.

    Returns:
        The circuit. Its Dicke starts are prepared without ancillas.
    """
    circuit = QuantumCircuit(
        QuantumRegister(program.n_samples, "samples"), QuantumRegister(program.n_features, "features")
    )
    if program.bits is None:
        for qubits, ones in program.factors:
            prepare_dicke(circuit, qubits, ones)
    else:
        for qubit in np.flatnonzero(program.bits).tolist():
            circuit.x(qubit)
    parameters = [Parameter(name) for name in program.angle_names]
    for op in program.ops:
        angle: Any = sum((factor * parameters[number] for number, factor in op.slopes), start=op.angle)
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
    """Write a circuit as QPY, Qiskit's own exact format."""
    buffer = io.BytesIO()
    qpy.dump(circuit, buffer, version=qpy.QPY_COMPATIBILITY_VERSION)  # older releases of Qiskit read it too
    return buffer.getvalue()


def qasm3_text(circuit: QuantumCircuit) -> str:
    """Write a circuit as OpenQASM 3."""
    return qasm3.dumps(circuit)


def prepare_dicke(circuit: QuantumCircuit, qubits: Sequence[int], ones: int) -> None:
    """Append the uniform superposition of all states with so many ones, from |0…0⟩.

    The deterministic circuit of Bärtschi and Eidenbenz: O(nk) gates, no ancilla, no measurement. |0…01…1⟩ with k ones
    is spread by blocks of split-and-cyclic-shift from the last qubit to the first: block l moves the one on qubit l - 1
    down among qubits 0..l-1 with the amplitudes that make all subsets equal.
    """
    n = len(qubits)
    few = min(ones, n - ones)  # more than half ones: prepare the zeros, then flip all
    for qubit in qubits[n - few :]:
        circuit.x(qubit)
    for size in range(n, 1, -1):
        _split_and_shift(circuit, qubits[:size], min(few, size - 1))
    if few < ones:
        for qubit in qubits:
            circuit.x(qubit)


def _split_and_shift(circuit: QuantumCircuit, qubits: Sequence[int], ones: int) -> None:
    """|0 1^l⟩ → √(l/n)|0 1^l⟩ + √((n-l)/n)|1^l 0⟩ on the last l + 1 of n qubits, for every l up to `ones`."""
    size, last = len(qubits), qubits[-1]
    for run in range(1, ones + 1):
        shifted = qubits[size - 1 - run]
        circuit.cx(shifted, last)
        controls = [last] if run == 1 else [last, qubits[size - run]]
        _controlled_ry(circuit, 2 * acos(sqrt(run / size)), controls, shifted)
        circuit.cx(shifted, last)


def _controlled_ry(circuit: QuantumCircuit, angle: float, controls: Sequence[int], target: int) -> None:
    """RY under one or two controls: parts of the angle, whose signs CX flips, add up only where all controls are 1."""
    steps = [*controls, *controls]
    for number, control in enumerate(steps):
        circuit.ry((-1) ** number * angle / len(steps), target)
        circuit.cx(control, target)


def ideal_probabilities(circuit: QuantumCircuit) -> NDArray[np.float64]:
    """The chance of every classical bitstring; entry number Σ_c 2^c bit_c.

    Only qubits that are acted on count, so a patch of a large device can be done.
    """
    small = cut(circuit)
    if small.num_qubits > MOST_QUBITS:
        raise InputError(
            f"the circuit acts on {small.num_qubits} qubits; a state vector is for {MOST_QUBITS} at most. Draw shots "
            "of it instead, with execute.sampler_for('wide')"
        )
    measured: dict[int, int] = {}
    gates = QuantumCircuit(small.num_qubits, global_phase=small.global_phase)
    for step in small.data:
        qubits = [small.find_bit(qubit).index for qubit in step.qubits]
        if step.operation.name == "measure":
            measured[small.find_bit(step.clbits[0]).index] = qubits[0]
        else:
            gates.append(step.operation, qubits)
    chances: NDArray[np.float64] = Statevector(gates).probabilities([measured[bit] for bit in sorted(measured)])
    return chances


def cut(circuit: QuantumCircuit) -> QuantumCircuit:
    """The same circuit on its own qubits alone, without barriers; classical bits as they were."""
    steps = [step for step in circuit.data if step.operation.name != "barrier"]
    active = sorted({circuit.find_bit(qubit).index for step in steps for qubit in step.qubits})
    small = QuantumCircuit(len(active), circuit.num_clbits)
    for step in steps:
        qubits = [active.index(circuit.find_bit(qubit).index) for qubit in step.qubits]
        small.append(step.operation, qubits, [circuit.find_bit(bit).index for bit in step.clbits])
    return small


def check_gates(gates: QuantumCircuit, compiled_for: str, target: Any, where: str) -> None:
    """Refuse a circuit with a gate, or an angle of one, that a device does not have on those qubits."""
    if foreign := foreign_gate(gates, target):
        raise InputError(
            f"{where} has no {foreign}, which the circuit uses: it was compiled for {compiled_for!r}; compile it for "
            "this device"
        )


def foreign_gate(circuit: QuantumCircuit, target: Any) -> str | None:
    """The first gate that a device lacks on those qubits or with that angle, in words; None if it has them all."""
    bounded = getattr(target, "gate_has_angle_bounds", lambda name: False)  # Qiskit 2.1 knows no bounds
    for step in circuit.data:
        name, angles = step.operation.name, step.operation.params
        qubits = tuple(circuit.find_bit(qubit).index for qubit in step.qubits)
        places = (qubits, qubits[::-1]) if name in SYMMETRIC else (qubits,)
        if name == "barrier":
            continue
        if max(qubits) >= target.num_qubits or not any(target.instruction_supported(name, place) for place in places):
            return f"{name} on qubits {', '.join(map(str, qubits))}"
        if angles and not all(isfinite(float(angle)) for angle in angles):
            return f"{name} of an angle that is not finite"
        if angles and bounded(name) and not target.supported_angle_bound(name, [float(angle) for angle in angles]):
            return f"{name} of angle {', '.join(f'{float(angle):.6g}' for angle in angles)}"
    return None


def ideal_shots(circuit: QuantumCircuit, shots: int, seed: int | np.random.Generator | None = 0) -> NDArray[np.uint8]:
    """Shots × classical bits, column c classical bit c."""
    chances = ideal_probabilities(circuit)
    strings = np.random.default_rng(seed).choice(chances.size, shots, p=chances / chances.sum())
    return (strings[:, None] >> np.arange(circuit.num_clbits) & 1).astype(np.uint8)


Term = tuple[str, list[int], float]


@dataclass(frozen=True, kw_only=True, eq=False)
class PauliOperators:
    """Energy, cost groups and mixers of a circuit as operators on its N + D qubits; qubit 0 is the last letter.

    Attributes:
        energy: of the measured problem, constant included: ⟨x|energy|x⟩ is the energy of the choice x.
        groups: H_g of each cost group by name; a layer turns by exp(-i Σ γ_g H_g). With the problem's own groups they
            add up to `energy`.
        mixers: Σ (XX + YY)/2 over the edges of `samples` and of `features`. A layer takes its edges one by one, each as
            exp(-iβ(XX + YY)/2), in the order of the circuit: edges that share a qubit do not commute.
    """

    energy: SparsePauliOp
    groups: dict[str, SparsePauliOp]
    mixers: dict[str, SparsePauliOp]


def pauli_operators(spec: AnsatzSpec) -> PauliOperators:
    """Give the cost groups and mixers of an ansatz, and the energy that it is measured by, as operators.

    >>> from biselect import SelectionProblem
    >>> problem = SelectionProblem(coupling=[[1.0], [3.0]], k=1, m=1)
    >>> found = pauli_operators(AnsatzSpec(problem, 1, mixer="path"))
    >>> sorted(found.energy.to_list())[-2:]  # qubit 0 is the last letter
    [('ZIZ', (-0.25+0j)), ('ZZI', (-0.75+0j))]
    """
    n, d = spec.problem.coupling.shape
    terms = [_terms(group) for group in components(spec.problem)]
    edges = {
        name: [(first + i, first + j) for group in classes for i, j in group]
        for name, first, classes in zip(("samples", "features"), (0, n), spec.mixer, strict=True)
    }
    return PauliOperators(
        energy=_operator([term for part in terms for term in part], n + d),
        groups={group.name: _operator(_terms(group), n + d) for group in spec.groups},
        mixers={
            name: _operator([(pauli, list(edge), 0.5) for edge in pairs for pauli in ("XX", "YY")], n + d)
            for name, pairs in edges.items()
        },
    )


def _terms(group: CostGroup) -> list[Term]:
    """-Σ a s - Σ b f - Σ w s f in Pauli matrices, as `core/conventions.py` has it."""
    n = len(group.sample)
    terms: list[Term] = []
    for qubit, score in enumerate([*group.sample.tolist(), *group.feature.tolist()]):
        terms += [
            ("Z", [qubit], ising.FIELD_OF_MARGINAL * score),
            ("", [], ising.OFFSET_OF_MARGINAL * score),
        ]
    for i, row in enumerate(group.pair.tolist()):
        for feature, weight in enumerate(row):
            j = conventions.feature_qubit(feature, n)
            terms.append(("ZZ", [i, j], ising.COUPLING_OF_PRODUCT * weight))
            terms += [("Z", [end], ising.FIELD_OF_PRODUCT * weight) for end in (i, j)]
            terms.append(("", [], ising.OFFSET_OF_PRODUCT * weight))
    return [term for term in terms if term[2]]


def _operator(terms: list[Term], qubits: int) -> SparsePauliOp:
    return SparsePauliOp.from_sparse_list(terms or [("", [], 0.0)], num_qubits=qubits).simplify()
