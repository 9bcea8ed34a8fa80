"""A device's own gates: the Y-frame written in them, the quieter of CZ and RZZ(π/2), and RZZ within its interval."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import pi
from typing import Any

from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.circuit import ParameterExpression
from qiskit.transpiler import PassManager, Target
from qiskit.transpiler.passes import Optimize1qGatesDecomposition

from biselect.errors import InputError
from biselect_quantum.devices._y_frame import NOTHING, QUARTER, Gate
from biselect_quantum.devices.targets import has_rzz
from biselect_quantum.simulate.program import wrapped

DIAGONAL = {"cz", "rzz"}


def to_native(
    gates: Sequence[Gate], layout: Sequence[int], target: Target, ends: Sequence[int] | None = None
) -> QuantumCircuit:
    """A measured circuit on the device's qubits; classical bit q reads qubit q of the gates, or qubit `ends[q]`."""
    circuit = QuantumCircuit(QuantumRegister(target.num_qubits, "q"), ClassicalRegister(len(layout), "c"))
    have = set(target.operation_names)
    for gate in gates:
        qubits = [layout[qubit] for qubit in gate.qubits]
        if len(qubits) == 2 and tuple(qubits) not in target[gate.name]:
            qubits.reverse()  # CZ and RZZ are symmetric: the direction that the device lists is taken
        for name, *angles in _pulses(gate, have):
            getattr(circuit, name)(*angles, *qubits)
    translatable = {"rx", "rz"} <= have or "r" in have
    crowded = any(gate.name == "h" for gate in gates)  # frames were left and entered again
    if crowded or not translatable or not set(circuit.count_ops()) <= have:
        circuit = PassManager([Optimize1qGatesDecomposition(target)]).run(circuit)
    for bit, qubit in enumerate(range(len(layout)) if ends is None else ends):
        circuit.measure(layout[qubit], bit)
    return circuit


def _pulses(gate: Gate, have: set[str]) -> list[tuple[Any, ...]]:
    """A gate as names and angles of gates that the device has; as it is where we know no better."""
    angle = gate.angle
    own: dict[str, list[tuple[Any, ...]]] = {}
    if {"rx", "rz"} <= have:  # one pulse and virtual rotations, whatever the gate
        own = {
            "ry": [("rz", -QUARTER), ("rx", angle), ("rz", QUARTER)],
            "h": [("rz", QUARTER), ("rx", QUARTER), ("rz", QUARTER)],
        }
    elif "r" in have:  # PRX(θ, φ): RX at φ = 0, RY at φ = π/2; RZ is two of them
        own = {
            "rx": [("r", angle, 0.0)],
            "ry": [("r", angle, QUARTER)],
            "rz": [("r", pi, 0.0), ("r", pi, angle / 2)],
            "x": [("r", pi, 0.0)],
            "h": [("r", QUARTER, QUARTER), ("r", pi, 0.0)],
        }
    return own.get(gate.name, [(gate.name,) if gate.name in ("x", "h", "cz") else (gate.name, angle)])


PULSE, ENTANGLER = 32e-9, 68e-9  # seconds of a gate on a Heron, for devices that record none


def lengths(target: Target, layout: Sequence[int]) -> Callable[[Gate], float]:
    """How long a gate of the Y-frame takes, in seconds, by what the device recorded."""
    have = set(target.operation_names)

    @cache
    def known(name: str, places: tuple[int, ...]) -> float:
        entries = [target[name].get(way) for way in (places, places[::-1])] if name in have else []
        durations = [entry.duration for entry in entries if entry is not None and entry.duration is not None]
        return min(durations, default=PULSE if len(places) == 1 else ENTANGLER)

    pulse = next((name for name in ("rx", "r", "sx") if name in have), "")

    def length(gate: Gate) -> float:
        if gate.name == "rz":
            return 0.0 if "rz" in have else 2 * PULSE
        places = tuple(layout[qubit] for qubit in gate.qubits)
        return known(gate.name if len(places) == 2 else pulse, places)

    return length


def quietest(gates: Sequence[Gate], layout: Sequence[int], target: Target) -> list[Gate]:
    """Equal gates, up to global phase, with RZZ(π/2) for CZ on every edge where the device recorded less error for it.

    They differ by virtual rotations, CZ = RZ(-π/2) ⊗ RZ(-π/2) · RZZ(π/2) up to a global phase, and on a Heron take
    equally long. Which of them errs less was settled edge by edge when the device was calibrated. A device without RZZ
    keeps its CZ, and so does an edge on which one of the two has no recorded error.
    """
    if not has_rzz(target):
        return list(gates)
    quiet: list[Gate] = []
    for gate in gates:
        edge = tuple(layout[qubit] for qubit in gate.qubits)
        if gate.name == "cz" and _errs_less(target, edge):
            quiet.append(Gate(name="rzz", qubits=gate.qubits, angle=QUARTER))
            quiet += [Gate(name="rz", qubits=(qubit,), angle=-QUARTER) for qubit in gate.qubits]
        else:
            quiet.append(gate)
    return _merge_virtual_rotations(quiet)


def _merge_virtual_rotations(gates: Iterable[Gate]) -> list[Gate]:
    """The same gates with each RZ moved past what commutes with it, and neighbouring ones merged."""
    due: dict[int, float] = {}
    simplified: list[Gate] = []

    def settle(qubit: int) -> None:
        angle = wrapped(due.pop(qubit, 0.0))
        if abs(angle) > NOTHING:
            simplified.append(Gate(name="rz", qubits=(qubit,), angle=angle))

    for gate in gates:
        if gate.name == "rz":
            due[gate.qubits[0]] = due.get(gate.qubits[0], 0.0) + gate.angle
            continue
        for qubit in () if gate.name in DIAGONAL else gate.qubits:
            settle(qubit)
        simplified.append(gate)
    for qubit in sorted(due):
        settle(qubit)
    return simplified


def _errs_less(target: Target, edge: tuple[int, ...]) -> bool:
    """Whether RZZ is recorded to err less than CZ on an edge, each in its better direction."""
    entries: list[list[Any]] = [[target[name].get(way) for way in (edge, edge[::-1])] for name in ("rzz", "cz")]
    rzz, cz = ([each.error for each in places if each is not None and each.error is not None] for places in entries)
    return bool(rzz and cz) and min(rzz) < min(cz)


def fold_rzz(circuit: QuantumCircuit) -> QuantumCircuit:
    """An equal circuit, global phase included, with every RZZ angle within [0, π/2]; the last step, all angles bound.

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
    if 0 <= angle <= QUARTER:
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
    circuit.rzz(min(abs(within), QUARTER), a, b)
    if within < 0:
        circuit.x(a)
