"""Shots of the whole circuit under a noise model: what goes wrong is drawn first, then matrix product states are run.

Errors are twirled to Paulis, so a shot's course of errors does not depend on its state. All shots in which nothing goes
wrong share one state, and so do shots with the same errors; only the rest are run one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect.hardware.compiled_circuit import Compiled
from biselect.hardware.decode import Shots, bit_table, decode_bits
from biselect.hardware.noise.model import LABEL, NoisyCircuit, cut_noise
from biselect.hardware.noise.twirl import pauli_labels, twirled
from biselect.hardware.placement import Placement

if TYPE_CHECKING:
    from qiskit.transpiler import Target

DISCARDED = 1e-8  # weight that a bond may lose at a gate

Errors = tuple[tuple[int, int], ...]
"""(step, Pauli) pairs of one shot."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyShots:
    """What was read.

    Attributes:
        shots: under the original variables, in or out of the budgets.
        confusion: of each original variable, (variables, is, read): how often it is misread.
        flawless: share of the shots in which no gate erred.
        seconds: what it took.
        label: what this is.
    """

    shots: Shots
    confusion: NDArray[np.float64]
    flawless: float
    seconds: float
    label: str = f"{LABEL}; errors twirled to Paulis"


def noisy_shots(
    compiled: Compiled,
    target: Target,
    problem: SelectionProblem,
    shots: int,
    *,
    placement: Placement | None = None,
    seed: int = 0,
) -> NoisyShots:
    """Measure a compiled circuit under the recorded errors of its qubits, and decode what was read.

    Args:
        compiled: what would be submitted.
        target: the device with its recorded errors.
        problem: the original problem.
        shots: how many; each in which something goes wrong takes a simulation of its own.
        placement: how variables were placed; None if they were not.
        seed: fixes errors and outcomes.
    """
    begin = perf_counter()
    noisy = cut_noise(compiled, target)
    table, flawless = noisy_table(noisy, shots, seed)
    confusion = noisy.confusion[list(compiled.clbits)]
    return NoisyShots(
        shots=decode_bits(table, problem, compiled.clbits, placement),
        confusion=confusion if placement is None else placement.restore(confusion.T).T,
        flawless=flawless,
        seconds=perf_counter() - begin,
    )


def noisy_table(noisy: NoisyCircuit, shots: int, seed: int) -> tuple[NDArray[np.uint8], float]:
    """Classical bits, one row a shot, and the share of the shots in which no gate erred."""
    if shots < 1:
        raise InputError(f"shots must be at least 1, got {shots}")
    rng = np.random.default_rng(seed)
    courses = _draw_errors(noisy, shots, rng)
    table = _run(noisy, courses, int(rng.integers(1 << 31)))
    flips = noisy.confusion[np.arange(table.shape[1]), table, 1 - table]
    misread = rng.random(table.shape) < flips
    return np.where(misread, 1 - table, table).astype(np.uint8), courses.get((), 0) / shots


def _draw_errors(noisy: NoisyCircuit, shots: int, rng: np.random.Generator) -> dict[Errors, int]:
    """How many shots take each course of errors."""
    channels = {place: twirled(error) for place, error in noisy.errors.items()}
    found: list[list[tuple[int, int]]] = [[] for _ in range(shots)]
    for number, step in enumerate(noisy.circuit.data):
        place = step.operation.name, tuple(noisy.circuit.find_bit(qubit).index for qubit in step.qubits)
        if place in channels:
            wrong = np.flatnonzero(rng.random(shots) >= channels[place][0])
            rest = channels[place][1:]
            for shot, pauli in zip(wrong, 1 + rng.choice(rest.size, wrong.size, p=rest / rest.sum()), strict=True):
                found[shot].append((number, int(pauli)))
    courses: dict[Errors, int] = {}
    for course in sorted(map(tuple, found)):
        courses[course] = courses.get(course, 0) + 1
    return courses


def _run(noisy: NoisyCircuit, courses: dict[Errors, int], seed: int) -> NDArray[np.int64]:
    """One row of classical bits for every shot."""
    from qiskit_aer import AerSimulator

    simulator = AerSimulator(
        method="matrix_product_state",
        matrix_product_state_truncation_threshold=DISCARDED,
        max_parallel_threads=1,
        max_memory_mb=1 << 20,  # Aer guesses by the number of qubits, which is not what a chain takes
    )
    rows: list[NDArray[np.int64]] = []
    for position, (course, shots) in enumerate(courses.items()):
        run = simulator.run(_with_errors(noisy, course), shots=shots, seed_simulator=(seed + position) % (1 << 31))
        bits, counts = bit_table(run.result().get_counts())
        rows.append(np.repeat(bits.astype(np.int64), counts, axis=0))
    return np.concatenate(rows)


def _with_errors(noisy: NoisyCircuit, course: Errors) -> Any:
    """The circuit with Paulis after the gates that went wrong."""
    circuit = noisy.circuit.copy_empty_like()
    wrong = dict(course)
    for number, step in enumerate(noisy.circuit.data):
        circuit.append(step)
        if number in wrong:
            letters = pauli_labels(len(step.qubits))[wrong[number]]
            for qubit, letter in zip(step.qubits, reversed(letters), strict=True):
                if letter != "I":
                    getattr(circuit, letter.lower())(qubit)
    return circuit
