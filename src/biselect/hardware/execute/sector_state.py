"""The final state of a program inside its sector, whatever the order of its gates.

Simulators of the sector run layers: a diagonal phase, then mixing with one β on fixed classes of disjoint edges. Any
sequence of RZ, RZZ between the registers and XY within them is a chain of such layers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.sector import Sector
from biselect.errors import InputError
from biselect.qaoa.starts import basis_state
from biselect.simulate.backends import PLAIN_AMPLITUDES, check_memory, make_simulator
from biselect.simulate.layers import Layers, Register
from biselect.simulate.program import RZZ, XY, Classes, Edge, Program

SINGLE_PRECISION_ABOVE = 20_000_000  # amplitudes; half the memory, and shots that nobody could tell apart


@dataclass(kw_only=True, eq=False)
class _Layer:
    """One phase and one mixing while it is being collected; `fields` are phases of single qubits, samples first."""

    fields: NDArray[np.float64]
    pair: NDArray[np.float64]
    beta: float | None = None
    hops: list[Edge] = field(default_factory=list)

    def classes(self, qubits: range) -> Classes:
        """The hops of one register; each joins the class before it where it shares no qubit with that."""
        found: list[list[Edge]] = []
        for i, j in self.hops:
            if i in qubits:
                edge = (i - qubits.start, j - qubits.start)
                if found and not {end for other in found[-1] for end in other} & set(edge):
                    found[-1].append(edge)
                else:
                    found.append([edge])
        return tuple(map(tuple, found))


def check_sector(program: Program) -> None:
    """Refuse a program whose state cannot be held and measured, before anything is allocated."""
    size = Sector(n_samples=program.n_samples, n_features=program.n_features, k=program.k, m=program.m).size
    check_memory(size, _dtype(size), states=2)  # the amplitudes, and their squares


def sector_state(program: Program) -> NDArray[Any]:
    """C(N, k) × C(D, m) amplitudes, up to a global phase."""
    program.check_bound()
    check_sector(program)
    n, d = program.n_samples, program.n_features
    problem = SelectionProblem(coupling=np.zeros((n, d)), k=program.k, m=program.m)
    dtype = _dtype(problem.sector.size)
    # no GPU even where there is one: one seed must give the same shots on every machine
    backend = "plain" if problem.sector.size < PLAIN_AMPLITUDES else "compiled"
    choice = program.choice
    state: NDArray[Any] | None = None if choice is None else basis_state(problem, choice).astype(dtype, copy=False)
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
        sides = (Register(n=n, chosen=program.k, classes=key[0]), Register(n=d, chosen=program.m, classes=key[1]))
        state = make_simulator(problem, *sides, backend=backend, dtype=dtype).state(layers, state)
    if state is None:
        shape = (problem.sector.sample_subsets, problem.sector.feature_subsets)
        return np.full(shape, problem.sector.size**-0.5, dtype=dtype)
    return state


def _dtype(amplitudes: int) -> Any:
    return np.complex64 if amplitudes > SINGLE_PRECISION_ABOVE else np.complex128


def _layers(program: Program) -> list[_Layer]:
    """Layers in order; phases after the last mixing are left out, since no measurement sees them.

    RZ(θ) turns x = 1 by θ against x = 0; RZZ(θ) turns (x, y) by θ(x + y - 2xy).
    """
    n, d = program.n_samples, program.n_features

    def empty() -> _Layer:
        return _Layer(fields=np.zeros(n + d), pair=np.zeros((n, d)))

    layers = [empty()]
    for op in program.ops:
        if layers[-1].beta is not None and not (op.kind == XY and layers[-1].beta == op.angle):
            layers.append(empty())
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
    return layers if layers[-1].beta is not None else layers[:-1]
