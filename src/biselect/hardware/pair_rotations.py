"""Qubits in turned frames, for devices whose only two-qubit gate is RZZ or RXX of any angle: ion traps.

A mixer edge exp(-iβ(XX + YY)/2) is RXX(β) · RYY(β), and each of them is one native gate by the same angle on turned
qubits. CZ · RX ⊗ RX · CZ would take two gates as well, but by π/2 each, the angle at which they err most. A pair of
different known bits needs RXX(2β) alone. The Dicke start is written in the same way: a qubit of the circuit of Bärtschi
and Eidenbenz hands its one on by exp(iφ(XY - YX)/2), two gates by φ, or six under a control.

Every qubit has a turn V: the logical state is V times the physical one, so a logical rotation about A is a physical
one about V†AV, a point of the Bloch sphere. RZZ wants that point at a pole, RXX on the equator, whence a virtual RZ
brings it to X. One pulse for each qubit does it, or none; whatever it leaves behind goes into V.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from math import acos, atan2, cos, hypot, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.transpiler import PassManager, Target
from qiskit.transpiler.passes import Optimize1qGatesDecomposition

from biselect.hardware.targets import takes_rzz
from biselect.hardware.yframe import PAIR, QUARTER
from biselect.qaoa.mixers import colour_edges
from biselect.simulate.program import RZ, RZZ, Block, Op, wrapped

Matrix = NDArray[np.complex128]

SMALL = 1e-12  # pulses smaller than this are rounding
AXES = {
    "x": np.array([[0, 1], [1, 0]], dtype=np.complex128),
    "y": np.array([[0, -1j], [1j, 0]]),
    "z": np.array([[1, 0], [0, -1]], dtype=np.complex128),
}


def pair_rotation(target: Target) -> str | None:
    """`rzz` or `rxx`, where it is the only two-qubit gate and takes any angle; None elsewhere."""
    have = set(target.operation_names)
    if "cz" in have:
        return None
    if "rzz" in have and takes_rzz(target, -QUARTER) and takes_rzz(target, QUARTER):
        return "rzz"
    return "rxx" if "rxx" in have and not target.gate_has_angle_bounds("rxx") else None


def to_rotations(
    ops: Sequence[Op], start: Sequence[int] | Sequence[Block], layout: Sequence[int], target: Target, unitary: bool
) -> QuantumCircuit:
    """A measured circuit of single pulses and the device's two-qubit rotation; classical bit q is logical qubit q.

    The start is a bit a qubit, or blocks of qubits, each in the Dicke state of so many ones. The circuit keeps the
    program's unitary, or else only what the start and the measurement see.
    """
    frames = _Frames(layout, target, unitary)
    for qubit, given in enumerate(start):
        if isinstance(given, tuple):
            frames.spread(*given)
        elif given:
            frames.flip(qubit)
    for op in in_classes(ops):
        frames.act(op)
    return frames.finished()


def in_classes(ops: Iterable[Op]) -> list[Op]:
    """The same operations with the phases between two mixings in few parallel steps: all RZ, then RZZ by colour.

    Phases commute, so this is the same circuit. N · D couplings take max(N, D) steps.
    """
    found: list[Op] = []
    for diagonal, group in groupby(ops, key=lambda op: op.kind in (RZ, RZZ)):
        run = list(group)
        if diagonal:
            pairs = [tuple(sorted(op.qubits)) for op in run if op.kind == RZZ]
            classes = colour_edges(pairs, 1 + max((pair[1] for pair in pairs), default=0))  # type: ignore[arg-type]
            colour = {edge: number for number, edges in enumerate(classes) for edge in edges}
            run.sort(key=lambda op: -1 if op.kind == RZ else colour[tuple(sorted(op.qubits))])  # type: ignore[index]
        found += run
    return found


class _Frames:
    """The circuit so far, and the turn of each qubit."""

    def __init__(self, layout: Sequence[int], target: Target, unitary: bool) -> None:
        self.circuit = QuantumCircuit(QuantumRegister(target.num_qubits, "q"), ClassicalRegister(len(layout), "c"))
        self.layout = layout
        self.target = target
        self.unitary = unitary
        self.native = pair_rotation(target)
        self.phased = "r" in target.operation_names  # a pulse of any angle and phase; else RX between virtual RZ
        self.turn = [np.eye(2, dtype=np.complex128) for _ in layout]

    def flip(self, qubit: int) -> None:
        """X; on the device itself only where its unitary is asked for."""
        self.turn[qubit] = AXES["x"] @ self.turn[qubit]
        if self.unitary:
            self._pulse(qubit, pi, 0.0)

    def spread(self, qubits: Sequence[int], ones: int) -> None:
        """|0…0⟩ to the Dicke state, by `prepare_dicke`'s blocks; what the known bits settle is left out."""
        n = len(qubits)
        few = min(ones, n - ones)  # more than half ones: the zeros are spread, then all flipped
        known = {qubit: int(place >= n - few) for place, qubit in enumerate(qubits)}
        for place in range(n - few, n):
            self.flip(qubits[place])
        for size in range(n, 1, -1):
            last = qubits[size - 1]
            for run in range(1, min(few, size - 1) + 1):
                angle = acos(sqrt(run / size))
                self._hand_on(qubits[size - 1 - run], last, angle, None if run == 1 else qubits[size - run], known)
        if few < ones:
            for qubit in qubits:
                self.flip(qubit)

    def _hand_on(self, here: int, last: int, angle: float, control: int | None, known: dict[int, int]) -> None:
        """|01⟩ → cos φ |01⟩ + sin φ |10⟩ on two qubits, where the control is 1."""
        bits = known.get(here), known.get(last)
        allowed = 1 if control is None else known.get(control)
        if allowed == 0 or (None not in bits and bits[0] == bits[1]):
            return
        if allowed is None:
            self._exchange(here, last, angle / 2)
            self._cz(control, here)  # type: ignore[arg-type]
            self._exchange(here, last, -angle / 2)
            self._cz(control, here)  # type: ignore[arg-type]
        elif None in bits:
            self._exchange(here, last, angle)
        else:
            self._rotate((here, last), "xy", -2 * angle)
        known.pop(here, None)
        known.pop(last, None)

    def _exchange(self, a: int, b: int, angle: float) -> None:
        """exp(iφ(XY - YX)/2)."""
        first = self._nearer((a, b), ("xy", "yx"))
        for axes in (first, first[::-1]):
            self._rotate((a, b), axes, -angle if axes == "xy" else angle)

    def _cz(self, a: int, b: int) -> None:
        for qubit in (a, b):
            self.turn[qubit] = _turned("z", -QUARTER) @ self.turn[qubit]
        self._rotate((a, b), "zz", QUARTER)

    def act(self, op: Op) -> None:
        """One logical operation."""
        if op.kind == RZ:
            (qubit,) = op.qubits
            self.turn[qubit] = _turned("z", op.angle) @ self.turn[qubit]
        elif op.kind == RZZ:
            self._rotate(op.qubits, "zz", op.angle)
        elif op.kind == PAIR:
            self._rotate(op.qubits, self._nearer(op.qubits, ("xx", "yy")), 2 * op.angle)
        else:
            first = self._nearer(op.qubits, ("xx", "yy"))
            for axes in (first, "yy" if first == "xx" else "xx"):
                self._rotate(op.qubits, axes, op.angle)

    def finished(self) -> QuantumCircuit:
        """The circuit with every qubit back where its logical Z is the physical one, and measured."""
        for qubit in range(len(self.layout)):
            x, y, z = self._point(qubit, "z")
            self._pulse(qubit, atan2(hypot(x, y), z), atan2(-x, y))
            if self.unitary:
                left = self.turn[qubit]
                self._virtual(qubit, float(np.angle(left[1, 1] * left[0, 0].conj())))
        made = self.circuit
        if not set(made.count_ops()) <= set(self.target.operation_names):
            made = PassManager([Optimize1qGatesDecomposition(self.target)]).run(made)
        for qubit, place in enumerate(self.layout):
            made.measure(place, qubit)
        return made

    def _rotate(self, qubits: tuple[int, ...], axes: str, angle: float) -> None:
        """exp(-iθ/2 A ⊗ B); half turns are Paulis, which go into the turns."""
        within = wrapped(angle)
        half_turns = round(within / pi)
        if half_turns:
            within -= half_turns * pi
            for qubit, axis in zip(qubits, axes, strict=True):
                self.turn[qubit] = AXES[axis] @ self.turn[qubit]
        if abs(within) < SMALL:
            return
        sign = 1
        for qubit, axis in zip(qubits, axes, strict=True):
            sign *= self._bring(qubit, axis)
        a, b = (self.layout[qubit] for qubit in qubits)
        getattr(self.circuit, str(self.native))(sign * within, a, b)

    def _nearer(self, qubits: tuple[int, ...], either: tuple[str, str]) -> str:
        """Which of two rotations that commute takes fewer pulses now."""
        return min(either, key=lambda axes: sum(map(self._misses, qubits, axes)))

    def _misses(self, qubit: int, axis: str) -> bool:
        """Whether the axis is not where the native gate acts: at a pole for RZZ, on the equator for RXX."""
        x, y, z = self._point(qubit, axis)
        return (hypot(x, y) if self.native == "rzz" else abs(z)) > SMALL

    def _bring(self, qubit: int, axis: str) -> int:
        """Turn the qubit so that the axis is the native gate's own, or opposite to it; gives the sign."""
        x, y, z = self._point(qubit, axis)
        if self.native == "rzz":
            sign = 1 if z >= -SMALL else -1
            self._pulse(qubit, atan2(hypot(x, y), abs(z)), atan2(-sign * x, sign * y))
            return sign
        if hypot(x, y) < SMALL:  # at a pole: turn about an axis that the mixing edges want on the equator
            about = self._point(qubit, "y" if axis == "x" else "x")
            self._pulse(qubit, QUARTER, atan2(about[1], about[0]))
        else:
            sign = 1 if z > 0 else -1  # about v × t, t below v on the equator
            self._pulse(qubit, atan2(abs(z), hypot(x, y)), atan2(sign * x, -sign * y))
        x, y, _ = self._point(qubit, axis)
        sign = 1 if x > SMALL or (abs(x) <= SMALL and y > 0) else -1
        self._virtual(qubit, -atan2(sign * y, sign * x))
        return sign

    def _point(self, qubit: int, axis: str) -> tuple[float, float, float]:
        """V†AV on the Bloch sphere."""
        seen = self.turn[qubit].conj().T @ AXES[axis] @ self.turn[qubit]
        return float(seen[1, 0].real), float(seen[1, 0].imag), float(seen[0, 0].real)

    def _pulse(self, qubit: int, angle: float, phase: float) -> None:
        """Turn by an angle about cos φ X + sin φ Y, up to a virtual RZ after it."""
        if abs(angle) < SMALL:
            return
        place = self.layout[qubit]
        if self.phased:
            self.circuit.r(angle, phase, place)
            done = _turned("z", phase) @ _turned("x", angle) @ _turned("z", -phase)
        else:
            if abs(phase) > SMALL:
                self.circuit.rz(-phase, place)
            self.circuit.rx(angle, place)
            done = _turned("x", angle) @ _turned("z", -phase)
        self.turn[qubit] = self.turn[qubit] @ done.conj().T

    def _virtual(self, qubit: int, angle: float) -> None:
        if abs(wrapped(angle)) > SMALL:
            self.circuit.rz(wrapped(angle), self.layout[qubit])
            self.turn[qubit] = self.turn[qubit] @ _turned("z", -angle)


def _turned(axis: str, angle: float) -> Matrix:
    """exp(-iθA/2)."""
    return cos(angle / 2) * np.eye(2) - 1j * sin(angle / 2) * AXES[axis]
