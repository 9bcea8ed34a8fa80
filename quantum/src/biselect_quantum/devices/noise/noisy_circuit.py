"""NoisyCircuit: a circuit with its errors, and what goes wrong in a shot of it, drawn before any state is run.

Each gate's channel is twirled to Paulis, so what goes wrong does not depend on the state. Twirling keeps the fidelity
of every gate. It forgets that relaxation prefers 0, which hardly matters to budgets. The circuit and its errors are
plain data here: no Qiskit is needed to draw trajectories, or to run them as state vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError

if TYPE_CHECKING:
    from qiskit import QuantumCircuit

LABEL = "noise model, not hardware"
Trajectory = tuple[tuple[int, int], ...]
"""(step, Pauli) pairs of one trajectory, in the order of the steps; the Pauli by its place in `pauli_labels`."""

ROUNDING = 1e-9
WAIT = "id"  # the name of a step in which a qubit only waits


class Step(NamedTuple):
    """A gate, and what may go wrong right after it."""

    name: str
    qubits: tuple[int, ...]
    angles: tuple[float, ...] = ()
    chances: tuple[float, ...] = ()  # of each Pauli, in the order of `pauli_labels`; none where nothing goes wrong
    channel: Any = None  # the same error before it was twirled, for whoever simulates channels


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyCircuit:
    """A circuit with its errors, as plain data.

    Attributes:
        steps: gates by the names that Qiskit has for them, in their order; its qubits are numbered from 0.
        reads: the qubit that each variable is read from.
        confusion: of each variable, (variables, is, read): the probability to read what from what is.
        physical: the device's qubit behind each number.
        label: what results of it say of themselves.
    """

    steps: tuple[Step, ...]
    reads: tuple[int, ...]
    confusion: NDArray[np.float64]
    physical: tuple[int, ...] = ()
    label: str = LABEL

    def __post_init__(self) -> None:
        for number, step in enumerate(self.steps):
            if step.chances and (min(step.chances) < 0 or abs(sum(step.chances) - 1) > ROUNDING):
                raise InputError(f"the chances of what goes wrong after step {number}, {step.name}, do not add up to 1")

    @cached_property
    def sites(self) -> tuple[int, ...]:
        """The steps after which something may go wrong."""
        return tuple(number for number, step in enumerate(self.steps) if step.chances)

    @property
    def width(self) -> int:
        """How many qubits there are."""
        return len({qubit for step in self.steps for qubit in step.qubits} | set(self.reads))

    @property
    def flawless(self) -> float:
        """The probability that nothing goes wrong."""
        return float(np.prod([self.steps[site].chances[0] for site in self.sites]))

    @property
    def twirled_label(self) -> str:
        """What results say of themselves when errors are twirled to Paulis."""
        return self.label.replace(LABEL, f"{LABEL}; errors twirled to Paulis")

    def along(self, order: Sequence[int]) -> NoisyCircuit:
        """The same circuit with its qubits numbered anew, in the order in which they are to stand in a line."""
        place = {qubit: number for number, qubit in enumerate(order)}
        steps = tuple(step._replace(qubits=tuple(place[qubit] for qubit in step.qubits)) for step in self.steps)
        physical = tuple(self.physical[qubit] for qubit in order) if self.physical else ()
        return replace(self, steps=steps, reads=tuple(place[qubit] for qubit in self.reads), physical=physical)

    @cached_property
    def _flawless_gates(self) -> tuple[QuantumCircuit, list[int]]:
        """The circuit in Qiskit's gates, and how many of them stand up to the end of each step."""
        from qiskit import QuantumCircuit

        circuit, passed = QuantumCircuit(self.width, len(self.reads)), []
        for step in self.steps:
            if step.name != WAIT:
                getattr(circuit, step.name)(*step.angles, *step.qubits)
            passed.append(len(circuit.data))
        circuit.measure(self.reads, range(len(self.reads)))
        return circuit, passed

    def gates(self, trajectory: Trajectory = ()) -> QuantumCircuit:
        """The circuit in Qiskit's gates, with the Paulis of a trajectory; classical bit b reads variable b."""
        from qiskit.circuit import CircuitInstruction
        from qiskit.circuit.library import XGate, YGate, ZGate

        flawless, passed = self._flawless_gates
        circuit, paulis = flawless.copy(), {"X": XGate(), "Y": YGate(), "Z": ZGate()}
        for number, pauli in reversed(trajectory):
            qubits = self.steps[number].qubits
            for qubit, letter in zip(qubits, reversed(pauli_labels(len(qubits))[pauli]), strict=True):
                if letter != "I":
                    circuit.data.insert(passed[number], CircuitInstruction(paulis[letter], (circuit.qubits[qubit],)))
        return circuit


def draw_trajectories(circuit: NoisyCircuit, count: int, rng: np.random.Generator) -> Mapping[Trajectory, int]:
    """How many of so many shots take each trajectory."""
    return Counter(sorted(_draw(circuit, np.full(count, -1), rng)))


def draw_faulty_trajectories(circuit: NoisyCircuit, count: int, rng: np.random.Generator) -> Mapping[Trajectory, int]:
    """The same, of shots in which something does go wrong."""
    right = np.array([circuit.steps[site].chances[0] for site in circuit.sites])
    passed = np.cumprod(right)  # the probability that nothing has gone wrong up to a site
    first = np.searchsorted(1 - passed, rng.random(count) * (1 - passed[-1]), side="right")
    return Counter(sorted(_draw(circuit, np.minimum(first, len(right) - 1), rng)))


def _draw(circuit: NoisyCircuit, first: NDArray[np.int64], rng: np.random.Generator) -> Iterable[Trajectory]:
    """A trajectory for each entry: without errors before that site, with one there; -1 for errors anywhere."""
    paths: list[list[tuple[int, int]]] = [[] for _ in first]
    for site, number in enumerate(circuit.sites):
        none, *rest = circuit.steps[number].chances
        wrong = np.flatnonzero((first == site) | ((rng.random(len(first)) >= none) & (first < site)))
        if wrong.size:
            paulis = 1 + rng.choice(len(rest), wrong.size, p=rest / np.sum(rest))
            for shot, pauli in zip(wrong.tolist(), paulis.tolist(), strict=True):
                paths[shot].append((number, pauli))
    return map(tuple, paths)


def pauli_labels(qubits: int) -> list[str]:
    """Paulis in Qiskit's order: the last letter acts on the first qubit."""
    return ["".join(letters) for letters in product("IXYZ", repeat=qubits)]


def pauli_probabilities(channel: Any) -> NDArray[np.float64]:
    """The probability of each Pauli, in the order of `pauli_labels`.

    A twirled channel multiplies Pauli Q by λ_Q, the diagonal of its transfer matrix; λ_Q = Σ_P p_P (±1), with a minus
    where P and Q anticommute, and so back: p_P = Σ_Q λ_Q (±1) / 4^n.
    """
    from qiskit.quantum_info import PTM, SuperOp

    transfer = np.real(np.diagonal(PTM(SuperOp(channel)).data))
    one = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
    signs = np.ones((1, 1))
    while len(signs) < len(transfer):
        signs = np.kron(signs, one)
    shares = np.maximum(signs @ transfer / len(transfer), 0.0)
    return shares / shares.sum()


def read_out(probabilities: NDArray[np.float64], confusion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of what is read, bit 0 the lowest; `confusion` is (bits, is, read)."""
    table = probabilities.reshape((2,) * len(confusion))
    for bit, matrix in enumerate(confusion):
        axis = table.ndim - 1 - bit
        table = np.moveaxis(np.tensordot(matrix.T, table, axes=(1, axis)), 0, axis)
    return table.ravel()
