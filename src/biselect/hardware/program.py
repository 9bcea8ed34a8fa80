"""A circuit as plain data, before any vendor's gates: a start, then RZ, RZZ and XY on logical qubits.

Qubit q is sample q for q < N and feature q - N after that. Every rotation is linear in the schedule's free angles, so a
program may keep them open (`slopes`) or hold numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import atan2, cos, isfinite, sin
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import Selection, SelectionProblem, conventions
from biselect.core.checks import positions
from biselect.errors import InputError
from biselect.qaoa.groups import CostGroup, components
from biselect.qaoa.mixers import Classes, both_mixers, mixer_classes
from biselect.qaoa.schedule import Schedule

RZ, RZZ, XY = "rz", "rzz", "xy"


@dataclass(frozen=True, kw_only=True)
class Op:
    """One rotation of a program.

    Attributes:
        kind: `rz`: exp(-iθZ/2); `rzz`: exp(-iθZZ/2); `xy`: exp(-iθ(XX+YY)/2), θ = β.
        qubits: logical qubits.
        angle: θ, or its constant part while angles are free.
        slopes: (number of the free angle, factor) pairs to be added; empty once bound.
    """

    kind: str
    qubits: tuple[int, ...]
    angle: float = 0.0
    slopes: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Program:
    """A constraint-preserving circuit.

    Attributes:
        n_samples: N, how many samples there are.
        n_features: D, how many features there are.
        k: ones among the samples.
        m: ones among the features.
        bits: the basis state it starts from, samples first; None for the tensor-Dicke state.
        layers: the operations of each QAOA layer, in the order in which they act: phases, then mixing.
        angle_names: the free angles; empty once bound.
    """

    n_samples: int
    n_features: int
    k: int
    m: int
    bits: tuple[int, ...] | None
    layers: tuple[tuple[Op, ...], ...]
    angle_names: tuple[str, ...] = ()

    @property
    def qubits(self) -> int:
        """N + D."""
        return self.n_samples + self.n_features

    @property
    def ops(self) -> tuple[Op, ...]:
        """All operations in order."""
        return tuple(op for layer in self.layers for op in layer)

    def edges(self, kind: str) -> tuple[tuple[int, int], ...]:
        """The pairs that two-qubit operations of a kind act on, in the order in which they first stand."""
        return tuple(dict.fromkeys((op.qubits[0], op.qubits[1]) for op in self.ops if op.kind == kind))

    @property
    def mixer(self) -> tuple[Classes, Classes]:
        """The mixer of the first layer as `Ansatz` takes it: each edge a class of its own, in order."""
        n = self.n_samples
        hops = [op.qubits for op in self.layers[0] if op.kind == XY]
        return (
            tuple(((i, j),) for i, j in hops if max(i, j) < n),
            tuple(((i - n, j - n),) for i, j in hops if min(i, j) >= n),
        )

    def in_order(self, angles: ArrayLike | Mapping[str, float]) -> NDArray[np.float64]:
        """Numbers for the free angles, given in their order or by name, as an array."""
        if isinstance(angles, Mapping):
            unknown = set(angles) ^ set(self.angle_names)
            if unknown:
                raise InputError(
                    f"the free angles are {', '.join(self.angle_names)}; check {', '.join(sorted(unknown))}"
                )
            angles = [angles[name] for name in self.angle_names]
        values = np.asarray(angles, dtype=np.float64)
        if values.shape != (len(self.angle_names),):
            raise InputError(f"the circuit has {len(self.angle_names)} free angles, got shape {values.shape}")
        if not np.isfinite(values).all():
            raise InputError(f"angles must be finite, got {values}")
        return values

    def bind(self, angles: ArrayLike | Mapping[str, float]) -> Program:
        """The same circuit, up to global phase, with numbers for its free angles; rotations are then within [-π, π]."""
        values = self.in_order(angles)

        def bound(op: Op) -> Op:
            total = op.angle + sum(factor * float(values[number]) for number, factor in op.slopes)
            if not isfinite(total):
                raise InputError(f"the angles make a rotation of {op.qubits} beyond all numbers; scale them down")
            return replace(op, angle=wrapped(total), slopes=())

        return replace(self, layers=tuple(tuple(map(bound, layer)) for layer in self.layers), angle_names=())


def wrapped(angle: float) -> float:
    """The angle modulo 2π, in [-π, π]; exact also for huge angles, which libm reduces without loss."""
    return atan2(sin(angle), cos(angle))


def build_program(
    problem: SelectionProblem,
    depth: int,
    schedule: str | Schedule = "fully-grouped",
    mixer: Any = "ring",
    start: str | Selection | tuple[Sequence[int], Sequence[int]] = "dicke",
    *,
    angles: ArrayLike | None = None,
    groups: Sequence[CostGroup] | None = None,
    seed: int | np.random.Generator | None = 0,
) -> Program:
    """The circuit of an `Ansatz` with the same arguments.

    Args:
        problem: the problem, or the masked surrogate whose phases are run.
        depth: p, how many layers.
        schedule: a name or a Schedule.
        mixer: `ring`, `path`, `complete`, or a pair of names, edge lists (coloured here) or class lists. A list of
            classes is kept in its order, so classes of one edge each record any order.
        start: `dicke`, `canonical`, `random`, a Selection or a choice (samples, features).
        angles: numbers for the free angles; left open by default.
        groups: cost groups, one γ each; S, F and SF by default.
        seed: for start `random`.

    >>> problem = SelectionProblem(coupling=[[1.0, 0.0], [0.0, 2.0], [0.5, 0.0]], k=1, m=1)
    >>> program = build_program(problem, 1, "tied", "path", "canonical")
    >>> program.angle_names, program.bits, program.edges("rzz"), program.edges("xy")
    (('γ', 'β'), (1, 0, 0, 1, 0), ((0, 3), (1, 4), (2, 3)), ((0, 1), (1, 2), (3, 4)))
    """
    if problem.sample_rules or problem.feature_rules:
        raise InputError("the mixer keeps budgets, not rules beside them; give a problem without rules")
    parts = tuple(groups) if groups is not None else components(problem)
    if any(part.pair.shape != problem.coupling.shape for part in parts):
        raise InputError("every cost group must have the shape of the problem")
    names = tuple(part.name for part in parts)
    plan = Schedule.named(schedule, depth, names) if isinstance(schedule, str) else schedule
    if plan.depth != depth or plan.groups != len(parts):
        raise InputError(
            f"the schedule is for depth {plan.depth} and {plan.groups} groups, "
            f"the circuit has depth {depth} and {len(parts)} groups"
        )
    n, d = problem.n_samples, problem.n_features
    sample_mixer, feature_mixer = both_mixers(mixer)
    hops = [edge for edges in mixer_classes(sample_mixer, n) for edge in edges]
    hops += [(n + i, n + j) for edges in mixer_classes(feature_mixer, d) for i, j in edges]
    program = Program(
        n_samples=n,
        n_features=d,
        k=problem.k,
        m=problem.m,
        bits=start_bits(problem, start, seed),
        layers=tuple(_layer(parts, plan.matrix[layer], hops, n) for layer in range(depth)),
        angle_names=plan.angle_names,
    )
    return program if angles is None else program.bind(angles)


def start_bits(problem: SelectionProblem, start: Any, seed: int | np.random.Generator | None) -> tuple[int, ...] | None:
    """The basis state of a named or given start, or None for the tensor-Dicke state; see `qaoa.starts`."""
    if isinstance(start, Selection):
        start = (start.samples, start.features)
    if isinstance(start, str):
        if start == "dicke":
            return None
        if start == "canonical":
            start = (range(problem.k), range(problem.m))
        elif start == "random":
            rng = np.random.default_rng(seed)
            samples = rng.choice(problem.n_samples, problem.k, replace=False)
            start = (samples, rng.choice(problem.n_features, problem.m, replace=False))
    if not isinstance(start, tuple) or len(start) != 2:
        raise InputError("a circuit starts from dicke, canonical, random, a Selection or a choice (samples, features)")
    samples = positions("samples", start[0], problem.n_samples)
    features = positions("features", start[1], problem.n_features)
    if len(samples) != problem.k or len(features) != problem.m:
        raise InputError(f"a start must have k = {problem.k} samples and m = {problem.m} features")
    bits = np.zeros(problem.n_samples + problem.n_features, dtype=np.int64)
    bits[samples] = 1
    bits[problem.n_samples + features] = 1
    return tuple(bits.tolist())


def _layer(parts: Sequence[CostGroup], matrix: Any, hops: Sequence[tuple[int, int]], n: int) -> tuple[Op, ...]:
    """exp(-i Σ γ_g H_g), then the mixer; `matrix` is (groups + 1, free), its last row β."""
    gammas, beta = matrix[:-1], matrix[-1]
    fields = np.array([_fields(part) for part in parts])
    pairs = np.array([part.pair for part in parts])
    turns = conventions.rz_angle(1.0, fields.T @ gammas)  # (qubit, free)
    ops = [Op(kind=RZ, qubits=(q,), slopes=_slopes(turns[q])) for q in np.flatnonzero(fields.any(axis=0)).tolist()]
    for i, j in np.argwhere(pairs.any(axis=0)).tolist():
        turn = conventions.rzz_angle(1.0, conventions.COUPLING_OF_PRODUCT * pairs[:, i, j] @ gammas)
        ops.append(Op(kind=RZZ, qubits=(i, conventions.feature_qubit(j, n)), slopes=_slopes(turn)))
    return (*ops, *(Op(kind=XY, qubits=edge, slopes=_slopes(beta)) for edge in hops))


def _fields(part: CostGroup) -> Any:
    """Fields h of one group: its marginals and the one-local shifts of its products."""
    marginal = conventions.FIELD_OF_MARGINAL * np.concatenate([part.sample, part.feature])
    shift = conventions.FIELD_OF_PRODUCT * np.concatenate([part.pair.sum(axis=1), part.pair.sum(axis=0)])
    return marginal + shift


def _slopes(row: Any) -> tuple[tuple[int, float], ...]:
    return tuple((int(number), float(row[number])) for number in np.flatnonzero(row))
