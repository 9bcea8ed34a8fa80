"""Gate twirling: random Pauli frames around CZ and RZZ, which turn coherent errors into random ones.

Between two pulses of a qubit all its gates are diagonal: a stretch. Each stretch gets a random Pauli frame, X^x Z^z
when it begins and what the gates make of it when it ends, so a frame meets a pulse on either side and is merged into
it: no pulse is added on a device with RX and RZ. What gates make of a frame:

    CZ           takes X on one qubit to X, and Z on the other
    RZZ(π/2)     the same, and a Z on the qubit itself
    RZZ(other)   keeps XX, and would flip its angle under a single X: both stretches then have the same x

Every gate meets each of its frames equally often.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi
from typing import TYPE_CHECKING

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import Gate
from qiskit.transpiler import PassManager
from qiskit.transpiler.passes import Optimize1qGatesDecomposition

from biselect.errors import InputError
from biselect_quantum.devices.compiled_circuit import Compiled, count_resources

if TYPE_CHECKING:
    from qiskit.transpiler import Target

DIAGONAL = {"rz", "z", "s", "sdg", "t", "tdg", "p", "u1", "id"}
FRAMED = {"cz", "rzz"}
SAME = 1e-12  # an angle this close to π/2 is π/2
Stretch = tuple[int, int]
"""A qubit, and how many pulses it has had."""


@dataclass(frozen=True, kw_only=True)
class Frames:
    """The Pauli frame X^x Z^z in which each stretch begins; stretches without a two-qubit gate have none."""

    x: dict[Stretch, int]
    z: dict[Stretch, int]


def twirled(compiled: Compiled, target: Target, seed: int) -> Compiled:
    """The same circuit in random Pauli frames: what is measured has the same probabilities.

    Args:
        compiled: in CZ, RZZ and gates of one qubit.
        target: the device, whose own gates the frames are merged into.
        seed: draws the frames.
    """
    stretches = _stretches(compiled.circuit)
    frames = _draw(compiled.circuit, stretches, np.random.default_rng(seed))
    framed = _framed(compiled.circuit, stretches, frames)
    circuit = PassManager([Optimize1qGatesDecomposition(target)]).run(framed)
    return replace(compiled, circuit=circuit, resources=count_resources(circuit, target, compiled.resources.swaps))


def _stretches(circuit: QuantumCircuit) -> list[tuple[Stretch, ...]]:
    """The stretch of each qubit of each step; a pulse is still in the stretch that it ends."""
    pulses = [0] * circuit.num_qubits
    found = []
    for step in circuit.data:
        name, qubits = step.operation.name, [circuit.find_bit(qubit).index for qubit in step.qubits]
        if len(qubits) > 1 and name not in (*FRAMED, "barrier"):
            raise InputError(f"twirling knows frames of CZ and RZZ alone, and the circuit has {name}; leave twirl out")
        found.append(tuple((qubit, pulses[qubit]) for qubit in qubits))
        if _is_pulse(name):
            pulses[qubits[0]] += 1
    return found


def _is_pulse(name: str) -> bool:
    return name not in DIAGONAL | FRAMED | {"measure", "barrier"}


def _draw(circuit: QuantumCircuit, stretches: list[tuple[Stretch, ...]], rng: np.random.Generator) -> Frames:
    """Random frames: one x for all stretches that an RZZ of any angle joins, and 0 where no pulse would absorb it."""
    last = {qubit: pulses for step in stretches for qubit, pulses in step}
    group: dict[Stretch, Stretch] = {}

    def root(end: Stretch) -> Stretch:
        while group.setdefault(end, end) != end:
            end = group[end]
        return end

    for step, ends in zip(circuit.data, stretches, strict=True):
        if step.operation.name in FRAMED:
            a, b = map(root, ends)
            if not _is_clifford(step.operation):
                group[b] = a
    still = {root(end) for end in group if end[1] in (0, last[end[0]])}
    drawn = {end: int(rng.integers(2)) for end in group if group[end] == end}
    return Frames(
        x={end: 0 if root(end) in still else drawn[root(end)] for end in group},
        z={end: int(rng.integers(2)) if end[1] else 0 for end in group},
    )


def _is_clifford(gate: Gate) -> bool:
    """CZ, or the RZZ that differs from it by rotations alone."""
    return gate.name == "cz" or abs(float(gate.params[0]) - pi / 2) < SAME


def _framed(circuit: QuantumCircuit, stretches: list[tuple[Stretch, ...]], frames: Frames) -> QuantumCircuit:
    """The circuit with its frames written out."""
    framed = circuit.copy_empty_like()
    now = dict(frames.z)  # Z of each frame, as the gates change it
    begun: set[Stretch] = set()
    for step, ends in zip(circuit.data, stretches, strict=True):
        name = step.operation.name
        if name in FRAMED:
            for end in ends:
                if end not in begun:
                    _write(framed, end[0], frames.x[end], frames.z[end])
            begun.update(ends)
            if _is_clifford(step.operation):
                for end, other in (ends, ends[::-1]):
                    now[end] ^= frames.x[other] ^ (frames.x[end] if name == "rzz" else 0)
        elif ends[0] in begun and name in DIAGONAL and frames.x[ends[0]]:
            framed.append(step.operation.inverse(), step.qubits)  # X turns a rotation about Z round
            continue
        elif ends[0] in begun and _is_pulse(name):
            _write(framed, ends[0][0], frames.x[ends[0]], now[ends[0]])
        framed.append(step)
    return framed


def _write(circuit: QuantumCircuit, qubit: int, x: int, z: int) -> None:
    if z:
        circuit.z(qubit)
    if x:
        circuit.x(qubit)
