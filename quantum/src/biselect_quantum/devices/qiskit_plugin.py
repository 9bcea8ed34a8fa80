"""A door from Qiskit: the Y-frame as a pass manager, and as plugins of `transpile`.

It takes circuits of X gates first, then RZ, RZZ and XX+YY in any order, then measurements; RXX next to RYY of the same
angle is an XX+YY. Whatever else there is, and whatever does not lie on the edges of the device, is left to Qiskit's
level 3, and so is a circuit that level 3 compiles to fewer two-qubit gates or a shorter time.

    transpile(circuit, backend, init_method="y-frame", translation_method="y-frame", optimization_method="y-frame")
"""

from __future__ import annotations

import logging
from math import isclose, isfinite, pi, remainder
from typing import Any

from biselect.errors import InputError, MissingDependencyError
from biselect_quantum import conventions
from biselect_quantum.devices._native_gates import lengths, to_native
from biselect_quantum.devices._y_frame import drop_unmeasured_phases, in_range, propagate, split_sides, to_frames
from biselect_quantum.devices.resources import count_resources
from biselect_quantum.devices.targets import has_rzz
from biselect_quantum.simulate.program import RZ, RZZ, XY, Op, wrapped

try:
    from qiskit import QuantumCircuit, generate_preset_pass_manager
    from qiskit.circuit import ParameterExpression
    from qiskit.circuit.equivalence_library import SessionEquivalenceLibrary
    from qiskit.circuit.library import get_standard_gate_name_mapping
    from qiskit.converters import circuit_to_dag, dag_to_circuit
    from qiskit.transpiler import PassManager, StagedPassManager, Target
    from qiskit.transpiler.basepasses import TransformationPass
    from qiskit.transpiler.passes import HighLevelSynthesis, Unroll3qOrMore, UnrollCustomDefinitions
    from qiskit.transpiler.preset_passmanagers.plugin import PassManagerStagePlugin
except ImportError as error:
    raise MissingDependencyError("compiling needs Qiskit: pip install ./quantum") from error

PLUGIN = "y-frame"
HALVES = ("rxx", "ryy")
KNOWN = ("x", "rz", "rzz", "xx_plus_yy", *HALVES, "measure")
STANDARD = [*get_standard_gate_name_mapping()]
CLOSE = 1e-12  # between angles of one and the same gate
log = logging.getLogger("biselect.quantum")


class NotForTheFrameError(InputError):
    """A circuit that the Y-frame does not take; says why."""


def y_frame_pass_manager(backend: Any, *, seed: int | None = None) -> StagedPassManager:
    """A pass manager that compiles for a device by the Y-frame where that applies, else by Qiskit's level 3.

    Args:
        backend: a backend or a Target.
        seed: of layout and routing.

    Returns:
        A pass manager whose circuits are equal to those it was given up to a global phase; where all used qubits are
        measured at the end, equal in what is measured. `property_set["y_frame"]` says what was done.

    Raises:
        InputError: something that is no device.
    """
    target = backend if isinstance(backend, Target) else getattr(backend, "target", None)
    if not isinstance(target, Target):
        raise InputError(f"a pass manager needs a backend or a Target, got {type(backend).__name__}")
    stages = {f"{stage}_method": PLUGIN for stage in ("init", "translation", "optimization")}
    return generate_preset_pass_manager(optimization_level=3, target=target, seed_transpiler=seed, **stages)


class KeepGates(PassManagerStagePlugin):
    """Leaves the gates as they are: the Y-frame wants to see them."""

    passes: tuple[Any, ...] = ()

    def pass_manager(self, pass_manager_config: Any, optimization_level: int | None = None) -> PassManager:
        """At the beginning what wraps gates is opened; at the end nothing is done."""
        return PassManager(self.passes)


class OpenGates(KeepGates):
    """Opens what wraps gates, such as evolutions and circuits within circuits, down to Qiskit's standard gates."""

    passes = (
        HighLevelSynthesis(basis_gates=STANDARD),
        UnrollCustomDefinitions(SessionEquivalenceLibrary, basis_gates=STANDARD),
        Unroll3qOrMore(basis_gates=STANDARD),
    )


class YFrameTranslation(PassManagerStagePlugin):
    """Writes a circuit on the device's qubits in the device's gates."""

    def pass_manager(self, pass_manager_config: Any, optimization_level: int | None = None) -> PassManager:
        """One pass, which needs to know the device."""
        if pass_manager_config.target is None:
            raise InputError("the Y-frame needs a backend or a target")
        return PassManager([YFrame(pass_manager_config.target, pass_manager_config.seed_transpiler)])


class YFrame(TransformationPass):
    """A circuit on the device's qubits, by the Y-frame or by level 3, whichever is better."""

    def __init__(self, target: Target, seed: int | None = None) -> None:
        super().__init__()
        self.target, self.seed = target, seed

    def run(self, dag: Any) -> Any:
        """Write the circuit in the device's gates."""
        circuit = dag_to_circuit(dag)
        theirs = self._by_level_3(circuit)
        try:
            ours = to_y_frame(circuit, self.target)
        except NotForTheFrameError as error:
            return self._told(f"Qiskit's level 3: {error}", theirs)
        if _cost(ours, self.target) > _cost(theirs, self.target):
            return self._told("Qiskit's level 3: it is better here", theirs)
        return self._told("the Y-frame", ours)

    def _told(self, what: str, circuit: QuantumCircuit) -> Any:
        log.info("compiled by %s", what)
        self.property_set["y_frame"] = what
        return circuit_to_dag(circuit)

    def _by_level_3(self, circuit: QuantumCircuit) -> QuantumCircuit:
        if self.target.has_angle_bounds():
            import qiskit_ibm_runtime.utils.backend_converter  # noqa: F401  # says how RZZ is kept within its bounds
        manager = generate_preset_pass_manager(
            optimization_level=3,
            target=self.target,
            initial_layout=list(range(circuit.num_qubits)),
            seed_transpiler=self.seed,
        )
        return manager.run(circuit)


def _cost(circuit: QuantumCircuit, target: Target) -> tuple[int, float]:
    resources = count_resources(circuit, target)
    return resources.two_qubit_gates, round(resources.duration or 0.0, 12)


def to_y_frame(circuit: QuantumCircuit, target: Target) -> QuantumCircuit:
    """Write a circuit on the device's qubits in the device's gates by the Y-frame.

    Raises:
        NotForTheFrameError: gates that it does not know, pairs that the device does not join, or a device without CZ.
    """
    if "cz" not in target.operation_names:
        raise NotForTheFrameError("it is made of CZ, which the device lacks")
    ops, flipped, reads = _read(circuit)
    used = sorted({qubit for op in ops for qubit in op.qubits} | flipped | {*reads})
    place = {qubit: number for number, qubit in enumerate(used)}
    _refuse_far_pairs(ops, target)
    ops = in_range([Op(kind=op.kind, qubits=tuple(place[q] for q in op.qubits), angle=op.angle) for op in ops])
    bits, measured = [int(qubit in flipped) for qubit in used], {*reads} == {*used}
    if measured:
        ops = drop_unmeasured_phases(in_range(propagate(ops, bits)))
    sides = split_sides(
        [(op.qubits[0], op.qubits[1]) for op in ops if len(op.qubits) == 2 and op.kind != RZZ], len(used)
    )
    gates = to_frames(ops, bits, sides, rzz=has_rzz(target), unitary=not measured, length=lengths(target, used))
    native = circuit.copy_empty_like()
    made = to_native(gates, used, target)
    for step in made.data:
        if step.operation.name != "measure":
            native.append(step.operation, [made.find_bit(qubit).index for qubit in step.qubits])
    for qubit, bit in reads.items():
        native.measure(qubit, bit)
    return native


def _read(circuit: QuantumCircuit) -> tuple[list[Op], set[int], dict[int, int]]:
    """Operations on physical qubits, the qubits flipped before them, and the classical bit of each measured qubit."""
    ops: list[Op] = []
    flipped, touched, reads = set[int](), set[int](), dict[int, int]()
    half: dict[tuple[int, int], tuple[str, float]] = {}  # RXX or RYY that waits for the other
    for step in circuit.data:
        name, qubits = step.operation.name, tuple(circuit.find_bit(qubit).index for qubit in step.qubits)
        if name == "barrier":
            continue
        if name not in KNOWN:
            raise NotForTheFrameError(f"it does not know {name}")
        if any(isinstance(angle, ParameterExpression) for angle in step.operation.params):
            raise NotForTheFrameError("it takes bound angles, and some are free")
        angles, pair = [float(angle) for angle in step.operation.params], (min(qubits), max(qubits))
        if any({*qubits} & {*other} and (other != pair or name not in HALVES) for other in half):
            raise NotForTheFrameError("an RXX without its RYY is no mixer that it knows")
        if {*qubits} & {*reads} or not all(map(isfinite, angles)):
            raise NotForTheFrameError(f"it does not know {name} there")
        if name == "measure":
            reads[qubits[0]] = circuit.find_bit(step.clbits[0]).index
        elif name == "x" and qubits[0] not in touched:
            flipped ^= {qubits[0]}
        elif name in ("rz", "rzz"):
            ops.append(Op(kind=RZ if name == "rz" else RZZ, qubits=qubits, angle=angles[0]))
        elif name == "xx_plus_yy" and isclose(remainder(angles[1], 2 * pi), 0.0, abs_tol=CLOSE):
            angle = wrapped(angles[0] / float(conventions.xx_plus_yy_angle(1.0)))
            ops.append(Op(kind=XY, qubits=qubits, angle=angle))
        elif name in HALVES:
            before = half.pop(pair, None)
            if before is None:
                half[pair] = name, angles[0]
            elif before[0] == name or not isclose(before[1], angles[0], abs_tol=CLOSE):
                raise NotForTheFrameError("RXX and RYY of different angles are no mixer that it knows")
            else:  # both halves commute: exp(-iθ(XX + YY)/2)
                ops.append(Op(kind=XY, qubits=qubits, angle=wrapped(angles[0])))
        else:
            raise NotForTheFrameError(f"it does not know {name} there")
        touched |= {*qubits} if name != "x" else set()
    if half:
        raise NotForTheFrameError("an RXX without its RYY is no mixer that it knows")
    if len(set(reads.values())) < len(reads):
        raise NotForTheFrameError("two qubits are measured into one classical bit")
    return ops, flipped, reads


def _refuse_far_pairs(ops: list[Op], target: Target) -> None:
    gates = {XY: "cz", RZZ: "rzz" if has_rzz(target) else "cz"}
    for op in ops:
        if op.kind != RZ and op.qubits not in target[gates[op.kind]] and op.qubits[::-1] not in target[gates[op.kind]]:
            raise NotForTheFrameError(f"qubits {op.qubits[0]} and {op.qubits[1]} have no {gates[op.kind]}")
