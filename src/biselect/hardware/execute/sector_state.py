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
from biselect.simulate.backends import PLAIN_AMPLITUDES, make_simulator
from biselect.simulate.layers import Layers, Register
from biselect.simulate.memory import check_memory
from biselect.simulate.program import RZ, XY, Classes, Op, Program

SINGLE_PRECISION_ABOVE = 20_000_000  # amplitudes; half the memory, and shots that nobody could tell apart


@dataclass(kw_only=True, eq=False)
class _Layer:
    """One phase and one mixing while it is being collected."""

    sample: NDArray[np.float64]
    feature: NDArray[np.float64]
    pair: NDArray[np.float64]
    beta: float | None = None
    classes: tuple[list[list[tuple[int, int]]], list[list[tuple[int, int]]]] = field(default_factory=lambda: ([], []))

    @property
    def key(self) -> tuple[Classes, Classes]:
        """What one simulator can share."""
        first, second = (tuple(tuple(edges) for edges in side) for side in self.classes)
        return first, second


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
    state = _start(program, problem, dtype)
    for key, group in groupby(_layers(program), key=lambda layer: layer.key):
        parts = list(group)
        layers = Layers(
            sample=np.array([part.sample for part in parts]),
            feature=np.array([part.feature for part in parts]),
            pair=np.array([part.pair for part in parts]),
            mixing=np.array([part.beta for part in parts], dtype=np.float64),
        )
        registers = (
            Register(n=n, chosen=program.k, classes=key[0]),
            Register(n=d, chosen=program.m, classes=key[1]),
        )
        state = make_simulator(problem, *registers, backend=backend, dtype=dtype).state(layers, state)
    return _uniform(problem, dtype) if state is None else state


def _dtype(amplitudes: int) -> Any:
    return np.complex64 if amplitudes > SINGLE_PRECISION_ABOVE else np.complex128


def _start(program: Program, problem: SelectionProblem, dtype: Any) -> NDArray[Any] | None:
    return None if program.choice is None else basis_state(problem, program.choice).astype(dtype, copy=False)


def _uniform(problem: SelectionProblem, dtype: Any) -> NDArray[Any]:
    shape = (problem.sector.sample_subsets, problem.sector.feature_subsets)
    return np.full(shape, problem.sector.size**-0.5, dtype=dtype)


def _layers(program: Program) -> list[_Layer]:
    """Layers in order; phases after the last mixing are left out, since no measurement sees them."""
    n, d = program.n_samples, program.n_features

    def empty() -> _Layer:
        return _Layer(sample=np.zeros(n), feature=np.zeros(d), pair=np.zeros((n, d)))

    layers = [empty()]
    for op in program.ops:
        if op.kind == XY:
            if layers[-1].beta not in (None, op.angle):
                layers.append(empty())
            layers[-1].beta = op.angle
            _add_edge(layers[-1], op, n)
        else:
            if layers[-1].beta is not None:
                layers.append(empty())
            _add_phase(layers[-1], op, n)
    return layers if layers[-1].beta is not None else layers[:-1]


def _add_edge(layer: _Layer, op: Op, n: int) -> None:
    i, j = op.qubits
    side = 0 if i < n else 1
    edge = (i - side * n, j - side * n)
    classes = layer.classes[side]
    if classes and not {end for other in classes[-1] for end in other} & set(edge):
        classes[-1].append(edge)
    else:
        classes.append([edge])


def _add_phase(layer: _Layer, op: Op, n: int) -> None:
    """RZ(θ) turns x = 1 by θ against x = 0; RZZ(θ) turns (x, y) by θ(x + y - 2xy)."""
    ends = op.qubits
    if op.kind == RZ:
        _field(layer, ends[0], op.angle, n)
        return
    i, j = sorted(ends)
    if not i < n <= j:
        raise InputError(f"an RZZ gate on qubits {i} and {j} lies within one register; phases join the two registers")
    _field(layer, i, op.angle, n)
    _field(layer, j, op.angle, n)
    layer.pair[i, j - n] -= 2 * op.angle


def _field(layer: _Layer, qubit: int, angle: float, n: int) -> None:
    if qubit < n:
        layer.sample[qubit] += angle
    else:
        layer.feature[qubit - n] += angle
