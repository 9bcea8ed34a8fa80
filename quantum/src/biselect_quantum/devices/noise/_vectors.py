"""Trajectories of errors as state vectors: what a circuit that joins all its qubits needs.

Gates are gathered into stages, each some turned qubits and then one diagonal, so a layer of a hundred RZZ gates costs
as much as one. A Pauli that goes wrong inside a diagonal moves to its end: X turns the sign of all later terms of its
qubit. Trajectories are run in the order of their first error, all from one state that goes on without any: what one
shares with the flawless one is run once. Which bit of the state a qubit has is settled backwards from the readout, so
that a SWAP costs nothing and bits come out in the order in which they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_quantum.devices.noise.noisy_circuit import WAIT, NoisyCircuit, Step, Trajectory, pauli_labels

WIDEST = 24  # a state of 24 qubits takes 128 MiB in single precision, and two are held

Matrix = NDArray[np.complex128]
Site = tuple[int, int]
"""(step, place among its qubits): where a Pauli may go wrong."""

X = np.array([[0, 1], [1, 0]], dtype=complex)
PAULIS: dict[str, Matrix] = {"X": X, "Y": np.array([[0, -1j], [1j, 0]]), "Z": np.diag([1, -1]).astype(complex)}
ONE: Matrix = np.eye(2, dtype=np.complex128)
HADAMARD: Matrix = np.array([[1, 1], [1, -1]], dtype=np.complex128) / np.complex128(sqrt(2))
SX = np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]]) / 2


def _rotation(theta: float, phi: float) -> Matrix:
    """By θ about the axis at φ in the plane of X and Y."""
    cos, sin = np.cos(theta / 2), np.sin(theta / 2)
    return np.array([[cos, -1j * np.exp(-1j * phi) * sin], [-1j * np.exp(1j * phi) * sin, cos]])


def _phase(angle: float) -> Matrix:
    return np.diag([1, np.exp(1j * angle)])


ONE_QUBIT: dict[str, Any] = {
    WAIT: lambda: ONE,
    **{letter.lower(): (lambda matrix=matrix: matrix) for letter, matrix in PAULIS.items()},
    "h": lambda: HADAMARD,
    "s": lambda: _phase(pi / 2),
    "sdg": lambda: _phase(-pi / 2),
    "t": lambda: _phase(pi / 4),
    "tdg": lambda: _phase(-pi / 4),
    "sx": lambda: SX,
    "sxdg": lambda: SX.conj(),
    "p": _phase,
    "rz": lambda angle: np.exp(-0.5j * angle) * _phase(angle),
    "r": _rotation,
    "rx": lambda angle: _rotation(angle, 0.0),
    "ry": lambda angle: _rotation(angle, pi / 2),
    "u": lambda theta, phi, lam: _phase(phi + pi / 2) @ _rotation(theta, 0.0) @ _phase(lam - pi / 2),
}
FRAMES: dict[str, tuple[Matrix, Matrix]] = {  # turns about Z ⊗ Z to what else a two-qubit rotation is about
    "rzz": (ONE, ONE),
    "rxx": (HADAMARD, HADAMARD),
    "ryy": (_rotation(-pi / 2, 0.0), _rotation(-pi / 2, 0.0)),
    "rzx": (ONE, HADAMARD),
}
PASSED_OVER = ("barrier", "measure", "delay")


class Rotation(NamedTuple):
    """One qubit, by its bit."""

    bit: int
    matrix: Matrix


class PhaseTerm(NamedTuple):
    """exp(iφ s), or exp(iφ s s') of two bits."""

    bits: tuple[int, ...]
    angle: float


class ErrorSite(NamedTuple):
    """Where a Pauli may go wrong."""

    bit: int
    site: Site


@dataclass
class Stage:
    """Some qubits turned, then one diagonal; in the order of the circuit."""

    turns: list[Rotation | ErrorSite] = field(default_factory=list)
    terms: list[PhaseTerm | ErrorSite] = field(default_factory=list)


class StageArrays(NamedTuple):
    """A stage as the kernel takes it."""

    qubits: NDArray[np.int64]
    turns: NDArray[Any]
    fields: NDArray[np.float64]
    pairs: NDArray[np.float64]
    diagonal: bool


class StagedCircuit:
    """A circuit in stages, ready for any trajectory of errors.

    Args:
        circuit: with all of its qubits read.
        real: np.float32 for single precision, np.float64 for double.
    """

    def __init__(self, circuit: NoisyCircuit, real: Any = np.float32) -> None:
        self.circuit, self.real = circuit, real
        bits = _first_bits(circuit)
        self.width = len(bits)
        if self.width > WIDEST:
            raise InputError(f"{self.width} qubits are too many for a state vector, {WIDEST} are the most")
        self.stages: list[Stage] = [Stage()]
        self.stage_of: dict[Site, int] = {}
        self._gather(bits)
        self._flawless = [self._arrays(stage, {}, set())[0] for stage in self.stages]

    @property
    def turns(self) -> int:
        """Qubits that are turned, over all stages."""
        return sum(len(arrays.qubits) for arrays in self._flawless)

    @property
    def diagonals(self) -> int:
        """Stages with a diagonal."""
        return sum(arrays.diagonal for arrays in self._flawless)

    def _gather(self, bits: dict[int, int]) -> None:
        """Put every gate into the first stage that can take it."""
        at = dict.fromkeys(bits.values(), (0, False))  # of each bit: its stage, and whether its diagonal has begun
        for number, step in enumerate(self.circuit.steps):
            if step.name in PASSED_OVER:
                continue
            if step.name == "swap":
                one, other = step.qubits
                bits[one], bits[other] = bits[other], bits[one]
            for piece in _pieces(step, [bits[qubit] for qubit in step.qubits]):
                self._add(piece, at)
            for place, qubit in enumerate(step.qubits if step.chances else ()):
                bit = bits[qubit]
                stage, late = at[bit]
                mark = ErrorSite(bit, (number, place))
                (self.stages[stage].terms if late else self.stages[stage].turns).append(mark)
                self.stage_of[number, place] = stage

    def _add(self, piece: Rotation | PhaseTerm, at: dict[int, tuple[int, bool]]) -> None:
        if isinstance(piece, Rotation):
            stage, late = at[piece.bit]
            diagonal = not piece.matrix[0, 1] and not piece.matrix[1, 0]
            if late and diagonal:
                angles = np.angle(np.diagonal(piece.matrix))
                self.stages[stage].terms.append(PhaseTerm((piece.bit,), float(angles[0] - angles[1]) / 2))
                return
            stage += late
            if stage == len(self.stages):
                self.stages.append(Stage())
            self.stages[stage].turns.append(piece)
            at[piece.bit] = stage, False
        else:
            stage = max(at[bit][0] for bit in piece.bits)
            self.stages[stage].terms.append(piece)
            at |= dict.fromkeys(piece.bits, (stage, True))

    def probabilities(self, trajectories: Iterable[Trajectory]) -> Iterator[tuple[Trajectory, NDArray[Any]]]:
        """Each trajectory with the probabilities of all bitstrings, bit 0 the lowest; the flawless one comes last."""
        from biselect_quantum.devices.noise._vector_kernels import run_stage  # loads numba, and compiles on first use

        letters = {trajectory: self._letters(trajectory) for trajectory in trajectories}
        begins = {
            trajectory: min((self.stage_of[site] for site in sites), default=len(self.stages))
            for trajectory, sites in letters.items()
        }
        shared = np.zeros((2, 1 << self.width), dtype=self.real)
        shared[0, 0] = 1
        own = np.empty_like(shared)
        passed = 0
        for trajectory in sorted(letters, key=lambda trajectory: begins[trajectory]):
            while passed < begins[trajectory]:
                run_stage(shared, *self._flawless[passed])
                passed += 1
            own[:] = shared
            wrong = {self.stage_of[site] for site in letters[trajectory]}
            flipped: set[int] = set()
            for number in range(passed, len(self.stages)):
                arrays = self._flawless[number]
                if number in wrong or flipped:
                    arrays, flipped = self._arrays(self.stages[number], letters[trajectory], flipped)
                run_stage(own, *arrays)
            if flipped:
                run_stage(own, *self._arrays(Stage(), {}, flipped)[0])
            yield trajectory, self._read(own)

    def _letters(self, trajectory: Trajectory) -> dict[Site, str]:
        """The Pauli at each site of a trajectory, where it is one."""
        letters = {}
        for number, pauli in trajectory:
            qubits = len(self.circuit.steps[number].qubits)
            for place, letter in enumerate(reversed(pauli_labels(qubits)[pauli])):
                if letter != "I":
                    letters[number, place] = letter
        return letters

    def _read(self, state: NDArray[Any]) -> NDArray[Any]:
        squares = state[0] ** 2 + state[1] ** 2
        bits = len(self.circuit.reads)
        return squares if bits == self.width else squares.reshape(-1, 1 << bits).sum(axis=0)

    def _arrays(
        self, stage: Stage, letters: Mapping[Site, str], flipped: Iterable[int]
    ) -> tuple[StageArrays, set[int]]:
        """A stage with the Paulis that go wrong in it; bits that come flipped into it, and those that leave it so."""
        matrices: dict[int, Matrix] = dict.fromkeys(flipped, X)
        for turn in stage.turns:
            letter = letters.get(turn.site) if isinstance(turn, ErrorSite) else None
            if isinstance(turn, Rotation) or letter is not None:
                matrix = turn.matrix if isinstance(turn, Rotation) else PAULIS[letter or ""]
                matrices[turn.bit] = matrix @ matrices.get(turn.bit, ONE)
        fields, pairs = np.zeros(self.width), np.zeros((self.width, self.width))
        signs = np.ones(self.width)
        for term in stage.terms:
            if isinstance(term, ErrorSite):
                letter = letters.get(term.site, "I")
                if letter in "XY":
                    signs[term.bit] *= -1
                if letter in "YZ":
                    fields[term.bit] += pi / 2  # Z, but for a global phase
            elif len(term.bits) == 1:
                fields[term.bits[0]] += signs[term.bits[0]] * term.angle
            else:
                a, b = term.bits
                pairs[a, b] += signs[a] * signs[b] * term.angle
                pairs[b, a] = pairs[a, b]
        entries = np.array(list(matrices.values()), dtype=complex).reshape(-1, 4)
        arrays = StageArrays(
            qubits=np.array(list(matrices), dtype=np.int64),
            turns=np.stack([entries.real, entries.imag], axis=-1).reshape(-1, 8).astype(self.real),
            fields=fields,
            pairs=pairs,
            diagonal=bool(fields.any() or pairs.any()),
        )
        return arrays, set(np.flatnonzero(signs < 0).tolist())


def _first_bits(circuit: NoisyCircuit) -> dict[int, int]:
    """The bit that each qubit begins with, so that it ends, SWAPs included, with the one that it is read into."""
    reads = list(circuit.reads)
    qubits = {qubit for step in circuit.steps for qubit in step.qubits} | set(reads)
    bits = {qubit: bit for bit, qubit in enumerate([*reads, *sorted(qubits - set(reads))])}
    for step in reversed(circuit.steps):
        if step.name == "swap":
            one, other = step.qubits
            bits[one], bits[other] = bits[other], bits[one]
    return bits


def _pieces(step: Step, bits: list[int]) -> list[Rotation | PhaseTerm]:
    """A gate as turns and terms, but for a global phase."""
    name, angles = step.name, step.angles
    if name == "swap":
        return []
    if name in ONE_QUBIT:
        return [Rotation(bits[0], np.asarray(ONE_QUBIT[name](*angles), dtype=complex))]
    if name in ("cz", "cp", "cx"):
        angle = (angles[0] if name == "cp" else pi) / 4
        diagonal = [PhaseTerm((bits[0],), -angle), PhaseTerm((bits[1],), -angle), PhaseTerm((bits[0], bits[1]), angle)]
        about = [Rotation(bits[1], HADAMARD)] if name == "cx" else []
        return [*about, *diagonal, *about]
    if name in FRAMES:
        frames = [Rotation(bit, frame) for bit, frame in zip(bits, FRAMES[name], strict=True)]
        back = [Rotation(turn.bit, turn.matrix.conj().T) for turn in frames]
        return [*back, PhaseTerm((bits[0], bits[1]), -angles[0] / 2), *frames]
    names = ", ".join(sorted([*ONE_QUBIT, *FRAMES, "cz", "cp", "cx", "swap"]))
    raise InputError(f"state vectors do not know the gate {name}; they know {names}")
