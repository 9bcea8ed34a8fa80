"""Exact-budget mass under a noise model, exactly: one density matrix a register, cross gates left out.

Without its cross gates a circuit is two, and a density matrix of the larger register is all that is needed. What is
left out costs something on a device: one two-qubit gate for each cross edge and layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.errors import InputError
from biselect_quantum.devices import compile_circuit
from biselect_quantum.devices.mixer_order import recoloured
from biselect_quantum.devices.noise import cut_noise
from biselect_quantum.devices.noise.noisy_circuit import LABEL, WAIT, NoisyCircuit, read_out
from biselect_quantum.devices.paths import Y_FRAME, CompilationPath
from biselect_quantum.devices.readout import pulse_errors
from biselect_quantum.simulate.program import RZZ, Program

if TYPE_CHECKING:
    from qiskit.transpiler import Target

MOST_QUBITS = 13  # a density matrix of 13 qubits takes 0.5 GiB in single precision


@dataclass(frozen=True, kw_only=True)
class RegisterMass:
    """How much of the output keeps the budgets, and the rules where there are any.

    Attributes:
        samples: probability that k samples are read, as the rules allow.
        features: probability that m features are read, likewise.
        readout: whether errors of the readout are in it.
        label: what this is.
    """

    samples: float
    features: float
    readout: bool
    label: str

    @property
    def mass(self) -> float:
        """Exact-budget mass: the registers err independently."""
        return self.samples * self.features


def register_mass(
    program: Program,
    target: Target,
    layout: Sequence[int],
    path: CompilationPath = Y_FRAME,
    *,
    angles: ArrayLike | None = None,
    seed: int = 0,
    readout: bool = True,
    idle: bool = False,
) -> RegisterMass:
    """Exact-budget mass of a program without its cross gates, each register a density matrix.

    Args:
        program: bound, or with free angles given in `angles`.
        target: a device with recorded errors.
        layout: the physical qubit of each logical one.
        path: how to compile.
        angles: for the free angles.
        seed: of Qiskit's transpiler.
        readout: whether the readout errs too.
        idle: whether waiting qubits relax, see `cut_noise`.
    """
    masses, label = [], LABEL
    for found in register_outputs(program, target, layout, path, angles=angles, seed=seed, idle=idle):
        label = found.label
        chances = read_out(found.chances, found.confusion) if readout else found.chances
        masses.append(float(chances[found.inside].sum()))
    return RegisterMass(samples=masses[0], features=masses[1], readout=readout, label=f"{label}; cross gates left out")


class RegisterOutput(NamedTuple):
    """One register's output.

    Attributes:
        chances: of each string before readout errs, bit 0 the lowest.
        confusion: of each bit, (bits, is, read).
        inside: the strings that keep its budget, and the rules where there are any.
        pulse_errors: of each bit: the recorded error of X.
        label: what this is.
    """

    chances: NDArray[np.float64]
    confusion: NDArray[np.float64]
    inside: NDArray[np.int64]
    pulse_errors: NDArray[np.float64]
    label: str


def register_outputs(
    program: Program,
    target: Target,
    layout: Sequence[int],
    path: CompilationPath = Y_FRAME,
    *,
    angles: ArrayLike | None = None,
    seed: int = 0,
    idle: bool = False,
) -> tuple[RegisterOutput, RegisterOutput]:
    """Compile a program without its cross gates, and run each register as a density matrix; see `register_mass`."""
    widest = max(program.n_samples, program.n_features)
    if widest > MOST_QUBITS:
        many = f"a register of {widest} qubits is too wide for a density matrix"
        raise InputError(f"{many}, {MOST_QUBITS} is the most; use noisy_shots")
    # the colouring looks at cross gates, so it comes before they go
    ordered = recoloured(program) if path.coloured else program
    alone = replace(ordered, layers=tuple(tuple(op for op in layer if op.kind != RZZ) for layer in ordered.layers))
    compiled = compile_circuit(alone, target, layout, replace(path, coloured=False), angles=angles, seed=seed)
    errors, layout = pulse_errors(compiled), compiled.layout.read_into
    found = []
    registers = (range(program.n_samples), range(program.n_samples, program.qubits))
    for bits, side in zip(registers, program.registers(), strict=True):
        noisy = cut_noise(compiled, target, idle=idle, variables=bits)
        inside = (1 << side.subsets).sum(axis=1)
        facts = noisy.confusion, inside, errors[[layout[bit] for bit in bits]], noisy.label
        found.append(RegisterOutput(distribution(noisy), *facts))
    return found[0], found[1]


def distribution(noisy: NoisyCircuit) -> NDArray[np.float64]:
    """Probabilities of the variables before readout errs, the first of them the lowest bit: by a density matrix."""
    from qiskit import QuantumCircuit
    from qiskit_aer import AerSimulator

    circuit = QuantumCircuit(noisy.width)
    for step in noisy.steps:
        if step.name != WAIT:
            getattr(circuit, step.name)(*step.angles, *step.qubits)
        if step.channel is not None:
            circuit.append(step.channel.to_instruction(), step.qubits)
    circuit.save_probabilities(list(noisy.reads))
    simulator = AerSimulator(method="density_matrix", precision="single", max_parallel_threads=1)
    return np.asarray(simulator.run(circuit).result().data()["probabilities"], dtype=np.float64)
