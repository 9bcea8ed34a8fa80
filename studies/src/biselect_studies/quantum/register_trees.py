"""Shots of wide circuits under a noise model, register by register: a tree of tensors for each.

A register's mixer lies on a tree of couplings, and a state on a tree stays small: its bonds hold what the gates of one
edge make, whatever the width. Cross gates would close loops. They are left out here, the Paulis that go wrong at them
are not, so registers err as the whole circuit does and only the correlation that cross gates bring is missing. Errors
are drawn as in `trajectories`, for both registers at once; many trajectories of errors are run side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from biselect.errors import InputError
from biselect_quantum.devices import DeviceCircuit
from biselect_quantum.devices.noise import cut_noise
from biselect_quantum.devices.noise.noisy_circuit import WAIT, NoisyCircuit, Trajectory, draw_trajectories, pauli_labels
from biselect_quantum.devices.noise.noisy_circuit import Step as NoisyStep
from biselect_quantum.devices.noise.sampling import NoisyShots, misread
from biselect_quantum.shots import Shots

WIDEST = 32  # a bond that has grown beyond is compressed
DISCARDED = 1e-6  # weight that a bond may lose when it is
TOGETHER = 64  # trajectories of errors that are run side by side
DRAWN = 256  # shots that are drawn side by side

Tensor = NDArray[np.complex64]
"""(trajectories, a bond for each neighbour, 2): one node."""

PAULIS: dict[str, Tensor] = {
    "X": np.array([[0, 1], [1, 0]], dtype=np.complex64),
    "Y": np.array([[0, -1j], [1j, 0]], dtype=np.complex64),
    "Z": np.array([[1, 0], [0, -1]], dtype=np.complex64),
}


def register_shots(circuit: DeviceCircuit, shots: int, *, errors: bool = True, seed: int = 0) -> NoisyShots:
    """As `noisy_shots`, without what cross gates do when nothing goes wrong, and a thousand times faster.

    Args:
        circuit: what would be submitted, without routing; each register's two-qubit gates must lie on a tree.
        shots: how many.
        errors: whether gates and readout err; without, what is left out shows against ideal shots.
        seed: fixes errors and outcomes.
    """
    begin = perf_counter()
    noisy = cut_noise(circuit)
    rng = np.random.default_rng(seed)
    trajectories: Mapping[Trajectory, int] = draw_trajectories(noisy, shots, rng) if errors else {(): shots}
    counts = np.fromiter(trajectories.values(), dtype=np.int64)
    table = np.zeros((shots, len(noisy.reads)), dtype=np.int64)
    for tree in register_trees(noisy, circuit.program.n_samples):
        table[:, list(tree.bits)] = tree.draw(list(trajectories), counts, rng)
    read = misread(table, noisy.confusion, rng) if errors else table
    return NoisyShots(
        shots=Shots.of_table(read, problem=circuit.problem),
        confusion=noisy.confusion,
        flawless=trajectories.get((), 0) / shots,
        seconds=perf_counter() - begin,
        label=f"{noisy.twirled_label}; cross gates left out, their errors kept",
    )


def register_trees(noisy: NoisyCircuit, n_samples: int) -> list[RegisterTree]:
    """Both registers of a circuit."""
    return [RegisterTree.of(noisy, bits) for bits in (range(n_samples), range(n_samples, len(noisy.reads)))]


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a circuit as one register sees it.

    Attributes:
        number: its place in the circuit, by which errors are drawn.
        nodes: the node of each of its qubits; None for one of the other register.
        matrix: what it does to one qubit, or the diagonal of what it does to two, (2, 2); None for nothing.
    """

    number: int
    nodes: tuple[int | None, ...]
    matrix: Tensor | None


@dataclass(frozen=True, kw_only=True)
class RegisterTree:
    """One register: nodes are its qubits, each after its parent.

    Attributes:
        bits: the variable that is read from each node.
        parents: of each node, -1 for the first.
        children: of each node.
        steps: what happens.
    """

    bits: tuple[int, ...]
    parents: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, noisy: NoisyCircuit, bits: Sequence[int]) -> RegisterTree:
        """The part of a circuit that some variables are read from."""
        own = {noisy.reads[bit]: bit for bit in bits}
        joined: dict[int, list[int]] = {qubit: [] for qubit in own}
        for step in noisy.steps:
            place = step.qubits
            if len(place) == 2 and set(place) <= set(own) and place[1] not in joined[place[0]]:
                joined[place[0]].append(place[1])
                joined[place[1]].append(place[0])
        order, parents = _walk(joined)
        node = {qubit: number for number, qubit in enumerate(order)}
        seen = []
        for number, step in enumerate(noisy.steps):
            nodes = tuple(node.get(qubit) for qubit in step.qubits)
            if any(one is not None for one in nodes):
                seen.append(Step(number=number, nodes=nodes, matrix=_matrix(step, nodes)))
        return cls(
            bits=tuple(own[qubit] for qubit in order),
            parents=parents,
            children=tuple(tuple(c for c, p in enumerate(parents) if p == v) for v in range(len(order))),
            steps=tuple(seen),
        )

    def draw(
        self, trajectories: Sequence[Trajectory], counts: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Bits of the nodes, one row a shot, as many rows for each trajectory as it has shots."""
        own = {step.number for step in self.steps}
        mine = [tuple(error for error in trajectory if error[0] in own) for trajectory in trajectories]
        different = {trajectory: place for place, trajectory in enumerate(dict.fromkeys(mine))}
        shown = np.repeat(
            [different[trajectory] for trajectory in mine], counts
        )  # the different trajectory of each shot
        found = np.empty((len(shown), len(self.parents)), dtype=np.int64)
        for first in range(0, len(different), TOGETHER):
            states = self._run(list(different)[first : first + TOGETHER])
            rows = np.flatnonzero((shown >= first) & (shown < first + TOGETHER))
            for some in np.array_split(rows, max(1, -(-len(rows) // DRAWN))):
                found[some] = self._sample(states, shown[some] - first, rng)
        return found

    def _run(self, trajectories: Sequence[Trajectory]) -> list[Tensor]:
        """The state after each trajectory, every node but the first an isometry from its parent."""
        errors: dict[int, list[tuple[int, int]]] = {}
        for row, trajectory in enumerate(trajectories):
            for number, pauli in trajectory:
                errors.setdefault(number, []).append((row, pauli))
        states = []
        for below, parent in zip(self.children, self.parents, strict=True):
            empty = np.zeros((len(trajectories), *[1] * (len(below) + (parent >= 0)), 2), dtype=np.complex64)
            empty[..., 0] = 1
            states.append(empty)
        for step in self.steps:
            node = step.nodes[0]
            if step.matrix is not None and len(step.nodes) == 2:
                self._join(states, step)
            elif step.matrix is not None and node is not None:
                states[node] = (states[node].reshape(-1, 2) @ step.matrix.T).reshape(states[node].shape)
            for row, pauli in errors.get(step.number, ()):
                for place, letter in zip(step.nodes, reversed(pauli_labels(len(step.nodes))[pauli]), strict=True):
                    if place is not None and letter != "I":
                        states[place][row] = states[place][row] @ PAULIS[letter].T
        self._lift(states)
        return states

    def _join(self, states: list[Tensor], step: Step) -> None:
        """A diagonal gate: the bit of one node passes along the bond, and turns the phase of the other."""
        upper, lower = step.nodes
        assert upper is not None and lower is not None and step.matrix is not None
        phases = step.matrix
        for node, other, factor in ((upper, lower, np.eye(2, dtype=np.complex64)), (lower, upper, phases)):
            axis, old = self._axis(node, other), states[node]
            wider = np.expand_dims(old, axis + 1)
            shape = [1] * wider.ndim
            shape[axis + 1] = shape[-1] = 2
            made = wider * factor.reshape(shape)
            states[node] = made.reshape(*old.shape[:axis], 2 * old.shape[axis], *old.shape[axis + 1 :])
        if states[upper].shape[self._axis(upper, lower)] > WIDEST:
            self._compress(states)

    def _lift(self, states: list[Tensor]) -> None:
        """Move all weight to the first node: every other becomes an isometry from its parent, and bonds get shorter."""
        for node in reversed(range(1, len(states))):
            parent, (trajectories, bond, *rest) = self.parents[node], states[node].shape
            q, r = np.linalg.qr(states[node].reshape(trajectories, bond, -1).swapaxes(1, 2))
            states[node] = q.swapaxes(1, 2).reshape(trajectories, -1, *rest)
            states[parent] = _times(states[parent], r.swapaxes(1, 2), self._axis(parent, node))

    def _compress(self, states: list[Tensor]) -> None:
        """Keep of each bond what the rest of the state has any weight on."""
        self._lift(states)
        weights: list[Tensor | None] = [None] * len(
            states
        )  # of the bond to the parent, as the rest of the state has it
        kept: list[Tensor] = []
        for node, state in enumerate(states):
            above = weights[node]
            over = state if above is None else _times(state, above, 1)
            for child in self.children[node]:
                axis = self._axis(node, child)
                flat, full = (
                    np.moveaxis(each, axis, 1).reshape(len(each), each.shape[axis], -1) for each in (over, state)
                )
                weights[child] = flat @ full.conj().swapaxes(1, 2)
        for node in range(1, len(states)):
            values, vectors = np.linalg.eigh(weights[node])  # type: ignore[arg-type]
            share = np.cumsum(np.maximum(values, 0), axis=1) / values.sum(axis=1, keepdims=True)
            rank = max(1, int((share > DISCARDED).sum(axis=1).max()))
            kept.append(vectors[:, :, -rank:])
        for node, basis in enumerate(kept, start=1):
            parent = self.parents[node]
            states[node] = _times(states[node], basis, 1)
            states[parent] = _times(states[parent], basis.conj(), self._axis(parent, node))
        norm = np.sqrt((np.abs(states[0].reshape(len(states[0]), -1)) ** 2).sum(axis=1))
        states[0] = states[0] / norm.reshape(-1, *[1] * (states[0].ndim - 1))

    def _sample(self, states: Sequence[Tensor], rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """A shot of the trajectory in each of the rows."""
        bits = np.zeros((len(rows), len(states)), dtype=np.int64)
        self._descend(states, 0, rows, np.ones((len(rows), 1, 1), dtype=np.complex64), bits, rng)
        return bits

    def _descend(
        self,
        states: Sequence[Tensor],
        node: int,
        rows: NDArray[np.int64],
        above: Tensor,
        bits: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Tensor:
        """Draw a node and all below it, given the density matrix of its bond; the amplitudes of what was drawn."""
        state = states[node][rows]
        if node == 0:
            state = state[:, None]
        bonds = [state.shape[2 + place] for place in range(len(self.children[node]))]
        flat = state.reshape(len(rows), state.shape[1], -1, 2)
        weighed = (above @ flat.reshape(*flat.shape[:2], -1)).reshape(flat.shape)
        chances = (flat.conj() * weighed).real.sum(axis=(1, 2))
        taken = (rng.random(len(rows)) * chances.sum(axis=1) >= chances[:, 0]).astype(np.int64)
        bits[:, node] = taken
        left = flat[np.arange(len(rows)), ..., taken]
        for place, child in enumerate(self.children[node]):
            shaped = left.reshape(len(rows), left.shape[1], bonds[place], prod(bonds[place + 1 :]))
            weighed = (above @ shaped.reshape(*shaped.shape[:2], -1)).reshape(shaped.shape)
            one, other = (np.moveaxis(each, 2, 1).reshape(len(rows), bonds[place], -1) for each in (shaped, weighed))
            below = one.conj() @ other.swapaxes(1, 2)
            below /= np.trace(below, axis1=1, axis2=2).reshape(-1, 1, 1)
            found = self._descend(states, child, rows, below, bits, rng)
            left = (found[:, None, None] @ shaped)[:, :, 0]
        return left.reshape(len(rows), -1)

    def _axis(self, node: int, other: int) -> int:
        """Of a node's tensor, the axis of the bond to a neighbour: first its parent, then its children."""
        if other == self.parents[node]:
            return 1
        return 1 + (self.parents[node] >= 0) + self.children[node].index(other)


def _times(state: Tensor, matrix: Tensor, axis: int) -> Tensor:
    """A bond of every trajectory multiplied by a matrix of its own: Σ_b T[.. b ..] M[b, c]."""
    moved = np.moveaxis(state, axis, -1)
    made = moved.reshape(len(state), -1, state.shape[axis]) @ matrix
    return np.ascontiguousarray(np.moveaxis(made.reshape(*moved.shape[:-1], -1), -1, axis))


def _walk(joined: dict[int, list[int]]) -> tuple[list[int], tuple[int, ...]]:
    """Qubits from the middle of the tree outward, and the place of each one's parent.

    Propagation may have dropped the gates of an edge: parts that nothing joins any more hang on one another by a bond
    that stays at one.
    """
    order: list[int] = []
    parents: list[int] = []
    root, parts = -1, 0
    while left := [qubit for qubit in joined if qubit not in order]:
        part = sorted(set[int]().union(*_rings(joined, left[0])))
        start = min(part, key=lambda qubit: len(_rings(joined, qubit)))
        order, parents, parts = [*order, start], [*parents, root], parts + 1
        root = place = len(order) - 1
        while place < len(order):
            fresh = [other for other in joined[order[place]] if other not in order]
            order, parents = [*order, *fresh], [*parents, *[place] * len(fresh)]
            place += 1
    if sum(map(len, joined.values())) != 2 * (len(joined) - parts):
        raise InputError("the two-qubit gates of a register close a loop; use noisy_shots")
    return order, tuple(parents)


def _rings(joined: dict[int, list[int]], start: int) -> list[set[int]]:
    """Qubits by how many steps they are away."""
    rings = [{start}]
    while fresh := {other for qubit in rings[-1] for other in joined[qubit]}.difference(*rings):
        rings.append(fresh)
    return rings


def _matrix(step: NoisyStep, nodes: tuple[int | None, ...]) -> Tensor | None:
    """What a native gate does; None for a cross gate and for a wait."""
    from qiskit.circuit.library import get_standard_gate_name_mapping

    if None in nodes or step.name == WAIT:
        return None
    gate = get_standard_gate_name_mapping()[step.name].base_class(*step.angles)
    full = np.asarray(gate.to_matrix(), dtype=np.complex64)
    if len(nodes) == 1:
        return full
    diagonal = np.diagonal(full)
    if np.abs(full - np.diag(diagonal)).max() > 1e-6:
        raise InputError(f"{step.name} is no diagonal gate; compile for a device with CZ or RZZ, or use noisy_shots")
    return diagonal.reshape(2, 2).T  # the first qubit is the low bit
