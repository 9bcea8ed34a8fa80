"""Exact shots of a program, whatever the order of its gates: from its state in the sector, or a matrix product state.

Simulators of the sector run layers: a diagonal phase, then mixing with one β on fixed classes of disjoint edges. Any
sequence of RZ, RZZ between the registers and XY within them is a chain of such layers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.rules import NO_RULES
from biselect.core.sector import Sector, TooLargeError
from biselect.errors import InputError
from biselect.options import spell
from biselect_quantum.circuits.starts import basis_state
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.execution.samplers import EXACT, RawShots, Sampler
from biselect_quantum.simulate.backends import PLAIN_AMPLITUDES, make_simulator
from biselect_quantum.simulate.layers import Layers
from biselect_quantum.simulate.limits import check_memory
from biselect_quantum.simulate.program import RZZ, XY, Classes, Edge, Program
from biselect_quantum.simulate.states import sample_state

if TYPE_CHECKING:
    from biselect_quantum.simulate.wide import WideSampler

SINGLE_PRECISION_ABOVE = 20_000_000  # amplitudes; half the memory, and shots that nobody could tell apart


class SectorSampling(Sampler):
    """Shots of the program from its exact state; budgets are kept by construction."""

    name = "sector"
    kind = EXACT

    def check(self, circuit: DeviceCircuit) -> None:
        """The state must fit into memory."""
        check_sector(circuit.program)

    def sample(self, circuit: DeviceCircuit, shots: int, seed: int) -> RawShots:
        """Measure the program, not the compiled gates."""
        return RawShots.of_variables(circuit, *sector_shots(circuit.bound, shots, seed))


class WideSampling(Sampler):
    """Shots of the program from its charge-block matrix product state, for registers beyond any state vector."""

    name = "wide"
    kind = EXACT

    def check(self, circuit: DeviceCircuit) -> None:
        """The start must be a basis state."""
        from biselect_quantum.simulate.wide.order import basis_start

        basis_start(circuit.program)

    def sample(self, circuit: DeviceCircuit, shots: int, seed: int) -> RawShots:
        """Measure the program, not the compiled gates."""
        measured = wide_shots(circuit.bound, shots, seed)
        report = _wide_sampler(circuit.bound).report
        self.remark = (
            f"largest bond χ = {report.largest_bond}, discarded weight {report.discarded_weight:.1e}, "
            f"norm off by {report.norm_error:.1e}"
        )
        return RawShots.of_variables(circuit, *measured)


def wide_shots(program: Program, shots: int, seed: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Distinct bit strings over the logical qubits, and how often each was measured."""
    return _wide_sampler(program).draw(shots, seed)


def sector_shots(program: Program, shots: int, seed: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Distinct bit strings over the logical qubits, and how often each was measured."""
    rows, columns, counts = sample_state(_shared_state(program), shots, seed)
    samples, features = program.registers()
    bits = np.zeros((len(counts), program.qubits), dtype=np.uint8)
    np.put_along_axis(bits, samples.subsets[rows], 1, axis=1)
    np.put_along_axis(bits, samples.n + features.subsets[columns], 1, axis=1)
    return bits, counts


@lru_cache(maxsize=1)
def _wide_sampler(program: Program) -> WideSampler:
    from biselect_quantum.simulate.wide import BondLimitError, WideSampler

    try:
        return WideSampler(_sizes(program), program)
    except BondLimitError as error:
        raise TooLargeError(error.figures, "compile it with fewer layers") from None


def _sizes(program: Program) -> SelectionProblem:
    """A problem of the program's sizes and rules; energies come later, from the dense one."""
    sector = sector_of(program)
    return SelectionProblem(
        coupling=np.zeros((program.n_samples, program.n_features)),
        k=program.k,
        m=program.m,
        sample_rules=sector.sample_rules,
        feature_rules=sector.feature_rules,
    )


def sector_of(program: Program) -> Sector:
    """The choices that a program's budgets and rules leave."""
    n, d = program.n_samples, program.n_features
    rules = [NO_RULES if side is None else side.rules(size) for side, size in zip(program.sides, (n, d), strict=True)]
    return Sector(n_samples=n, n_features=d, k=program.k, m=program.m, sample_rules=rules[0], feature_rules=rules[1])


def check_sector(program: Program) -> None:
    """Refuse a program whose state cannot be held and measured, before anything is allocated."""
    sector = sector_of(program)
    try:
        check_memory(sector, _dtype(sector.size), states=2)  # the amplitudes, and their squares
    except TooLargeError as error:
        wide = f"measure it with {spell(on='wide')}"
        way = wide if program.bits is not None else f"compile it from a random start and {wide}"
        raise TooLargeError(error.figures, way) from None


def sector_state(program: Program) -> NDArray[Any]:
    """C(N, k) × C(D, m) amplitudes, or those that the rules leave, up to a global phase."""
    program.check_bound()
    check_sector(program)
    n, d = program.n_samples, program.n_features
    problem = _sizes(program)
    dtype = _dtype(problem.sector.size)
    # no GPU even where there is one: one seed must give the same shots on every machine
    backend = "plain" if problem.sector.size < PLAIN_AMPLITUDES else "compiled"
    state: NDArray[Any] | None = None
    if program.choice is not None:
        state = basis_state(problem, program.choice).astype(dtype, copy=False)
    registers = range(n), range(n, n + d)
    for key, group in groupby(_layers(program), key=lambda layer: tuple(map(layer.classes, registers))):
        parts = list(group)
        fields = np.array([part.fields for part in parts])
        layers = Layers(
            sample=fields[:, :n],
            feature=fields[:, n:],
            pair=np.array([part.pair for part in parts]),
            mixing=np.array([part.beta for part in parts], dtype=np.float64),
        )
        state = make_simulator(problem, *program.registers(key), backend=backend, dtype=dtype).state(layers, state)
    if state is None:
        shape = (problem.sector.sample_subsets, problem.sector.feature_subsets)
        return np.full(shape, problem.sector.size**-0.5, dtype=dtype)
    return state


_shared_state = lru_cache(maxsize=1)(sector_state)  # all repeats of a circuit share one evolution


@dataclass(kw_only=True, eq=False)
class _Layer:
    """One phase and one mixing while it is being collected; `fields` are phases of single qubits, samples first."""

    fields: NDArray[np.float64]
    pair: NDArray[np.float64]
    beta: float | None = None
    hops: list[Edge] = field(default_factory=list)

    def classes(self, qubits: range) -> Classes:
        """The hops of one register; each joins the class before it where it shares no qubit with that."""
        classes: list[list[Edge]] = []
        for i, j in self.hops:
            if i in qubits:
                edge = (i - qubits.start, j - qubits.start)
                if classes and not {end for other in classes[-1] for end in other} & set(edge):
                    classes[-1].append(edge)
                else:
                    classes.append([edge])
        return tuple(map(tuple, classes))


def _layers(program: Program) -> list[_Layer]:
    """Layers in order; phases after the last mixing are left out, since no measurement sees them.

    RZ(θ) turns x = 1 by θ against x = 0; RZZ(θ) turns (x, y) by θ(x + y - 2xy).
    """
    n = program.n_samples
    layers: list[_Layer] = []
    for op in program.ops:
        if not layers or (layers[-1].beta is not None and not (op.kind == XY and layers[-1].beta == op.angle)):
            layers.append(_Layer(fields=np.zeros(program.qubits), pair=np.zeros((n, program.n_features))))
        last = layers[-1]
        if op.kind == XY:
            last.beta = op.angle
            last.hops.append((op.qubits[0], op.qubits[1]))
            continue
        last.fields[list(op.qubits)] += op.angle
        if op.kind == RZZ:
            i, j = sorted(op.qubits)
            if not i < n <= j:
                raise InputError(f"an RZZ gate on qubits {i} and {j} lies within one register; phases join the two")
            last.pair[i, j - n] -= 2 * op.angle
    return [layer for layer in layers if layer.beta is not None]


def _dtype(amplitudes: int) -> Any:
    return np.complex64 if amplitudes > SINGLE_PRECISION_ABOVE else np.complex128
