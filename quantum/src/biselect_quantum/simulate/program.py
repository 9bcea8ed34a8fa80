"""A circuit as plain data, whoever runs it: a start, then RZ, RZZ and XY on logical qubits.

Qubit q is sample q for q < N and feature q - N after that. Every rotation is linear in the circuit's free angles, so a
program may keep them open (`slopes`) or hold numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import atan2, cos, isfinite, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core.rules import Blocks
from biselect.errors import InputError
from biselect_quantum.simulate.layers import Register

__all__ = ["Program"]

RZ, RZZ, XY = "rz", "rzz", "xy"
ARITY = {RZ: 1, RZZ: 2, XY: 2}
Edge = tuple[int, int]
Classes = tuple[tuple[Edge, ...], ...]
"""Edges of one register's mixer; class 0 acts first, and the edges of a class are disjoint."""
Block = tuple[tuple[int, ...], int]
"""Qubits of one register, and how many of them are 1."""


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
    """A circuit that keeps both budgets.

    Attributes:
        n_samples: N, how many samples there are.
        n_features: D, how many features there are.
        k: ones among the samples.
        m: ones among the features.
        bits: the basis state it starts from, samples first; None for the tensor-Dicke state, the uniform superposition
            of all that budgets and blocks allow.
        layers: the operations of each QAOA layer, in the order in which they act: phases, then mixing.
        angle_names: the free angles; empty once bound.
        blocks: what rules leave: how many of each block of qubits are 1. A qubit in no block is 0. None without rules.

    >>> hop, phase = Op(kind="xy", qubits=(0, 1), angle=0.3), Op(kind="rzz", qubits=(1, 2), angle=0.5)
    >>> Program(n_samples=2, n_features=1, k=1, m=1, bits=(1, 0, 1), layers=((hop, phase),)).edges("xy")
    ((0, 1),)
    """

    n_samples: int
    n_features: int
    k: int
    m: int
    bits: tuple[int, ...] | None
    layers: tuple[tuple[Op, ...], ...]
    angle_names: tuple[str, ...] = ()
    blocks: tuple[Block, ...] | None = None

    def __post_init__(self) -> None:
        if self.n_samples < 1 or self.n_features < 1:
            raise InputError(f"a circuit needs samples and features, got {self.n_samples} and {self.n_features}")
        if self.bits is not None:
            if len(self.bits) != self.qubits or not set(self.bits) <= {0, 1}:
                raise InputError(f"a start must be {self.qubits} bits, each 0 or 1; got {self.bits!r}")
            budgets = sum(self.bits[: self.n_samples]), sum(self.bits[self.n_samples :])
            if budgets != (self.k, self.m):
                raise InputError(f"the budgets are {(self.k, self.m)}, the start has {budgets}")
            for qubits, ones in self.blocks or ():
                if sum(self.bits[qubit] for qubit in qubits) != ones:
                    raise InputError(f"the rules want {ones} of the qubits {qubits}; the start has others")
        block_of = {qubit: number for number, (qubits, _) in enumerate(self.blocks or ()) for qubit in qubits}
        for place, op in enumerate(self.ops):
            if op.kind == XY and self.blocks is not None and len({block_of.get(qubit, -1) for qubit in op.qubits}) > 1:
                raise InputError(
                    f"gate {place} (xy on {op.qubits}) would break the rules: its ends stand in two blocks"
                )
            self._check(op, f"gate {place} ({op.kind} on {op.qubits})")

    def _check(self, op: Op, where: str) -> None:
        if op.kind not in ARITY:
            raise InputError(f"{where}: a gate must be one of {', '.join(ARITY)}")
        if len(op.qubits) != ARITY[op.kind] or len(set(op.qubits)) != len(op.qubits):
            raise InputError(f"{where}: {op.kind} acts on {ARITY[op.kind]} distinct qubits")
        if any(not 0 <= qubit < self.qubits for qubit in op.qubits):
            raise InputError(f"{where}: qubits must lie within 0..{self.qubits - 1}")
        if not isfinite(op.angle):
            raise InputError(f"{where}: the angle must be finite, got {op.angle}")
        if op.kind == XY and len({qubit < self.n_samples for qubit in op.qubits}) > 1:
            raise InputError(f"{where}: an xy gate between a sample and a feature would break both budgets")

    @property
    def qubits(self) -> int:
        """N + D, the number of qubits."""
        return self.n_samples + self.n_features

    @property
    def ops(self) -> tuple[Op, ...]:
        """All operations in order."""
        return tuple(op for layer in self.layers for op in layer)

    def edges(self, kind: str) -> tuple[Edge, ...]:
        """The pairs that two-qubit operations of a kind act on, in the order in which they first stand."""
        return tuple(dict.fromkeys((op.qubits[0], op.qubits[1]) for op in self.ops if op.kind == kind))

    @property
    def mixer(self) -> tuple[Classes, Classes]:
        """The mixer of the first layer as an ansatz takes it: each edge a class of its own, in order."""
        n = self.n_samples
        hops = [op.qubits for op in self.layers[0] if op.kind == XY]
        return (
            tuple(((i, j),) for i, j in hops if i < n),
            tuple(((i - n, j - n),) for i, j in hops if i >= n),
        )

    @property
    def factors(self) -> tuple[Block, ...]:
        """What its Dicke state is a product of: the blocks, or both registers without rules."""
        if self.blocks is not None:
            return self.blocks
        return (tuple(range(self.n_samples)), self.k), (tuple(range(self.n_samples, self.qubits)), self.m)

    @property
    def sides(self) -> tuple[Blocks | None, Blocks | None]:
        """The blocks of both registers as simulators take them, each numbered from 0; None without rules."""
        if self.blocks is None:
            return None, None
        sides = []
        for first, last in ((0, self.n_samples), (self.n_samples, self.qubits)):
            own = [
                (tuple(qubit - first for qubit in qubits), ones)
                for qubits, ones in self.blocks
                if qubits and first <= qubits[0] < last
            ]
            always = sorted(qubit for qubits, ones in own if ones == len(qubits) for qubit in qubits)
            parts = tuple((qubits, ones) for qubits, ones in own if 0 < ones < len(qubits))
            sides.append(Blocks(always=tuple(always), parts=parts))
        return sides[0], sides[1]

    def registers(self, classes: tuple[Classes, Classes] = ((), ())) -> tuple[Register, Register]:
        """Both registers as simulators take them, with these mixers."""
        of_samples, of_features = self.sides
        return (
            Register(n=self.n_samples, ones=self.k, classes=classes[0], blocks=of_samples),
            Register(n=self.n_features, ones=self.m, classes=classes[1], blocks=of_features),
        )

    @property
    def choice(self) -> tuple[list[int], list[int]] | None:
        """Samples and features of the basis state that the circuit starts from; None for the tensor-Dicke state."""
        if self.bits is None:
            return None
        n = self.n_samples
        ones = [qubit for qubit, bit in enumerate(self.bits) if bit]
        return [qubit for qubit in ones if qubit < n], [qubit - n for qubit in ones if qubit >= n]

    def in_order(self, angles: ArrayLike | Mapping[str, float]) -> NDArray[np.float64]:
        """Put numbers for the free angles, given in their order or by name, into an array.

        Raises:
            InputError: a name is missing or unknown, a number is missing or not finite.
        """
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
        """Fix the free angles, given in their order or by name, in radians.

        Returns:
            The same circuit, up to global phase; rotations by free angles lie within [-π, π] then.
        """
        values = self.in_order(angles)
        if not self.angle_names:
            return self

        def bound(op: Op) -> Op:
            total = op.angle + sum(factor * float(values[number]) for number, factor in op.slopes)
            if not isfinite(total):
                raise InputError(f"the angles make a rotation of {op.qubits} beyond all numbers; scale them down")
            return replace(op, angle=wrapped(total), slopes=())

        return replace(self, layers=tuple(tuple(map(bound, layer)) for layer in self.layers), angle_names=())

    def check_bound(self) -> None:
        """Refuse a program whose angles are still open, before it is run."""
        if self.angle_names:
            raise InputError(f"angles are needed for {', '.join(self.angle_names)}")


def steps(edges: Iterable[Edge]) -> list[int]:
    """The step at which each edge acts if all act as early as they can: edges that must wait for one another differ.

    >>> steps([(0, 1), (1, 2), (3, 4)])
    [0, 1, 0]
    """
    ready: dict[int, int] = {}
    classes = []
    for i, j in edges:
        classes.append(max(ready.get(i, 0), ready.get(j, 0)))
        ready[i] = ready[j] = classes[-1] + 1
    return classes


def wrapped(angle: float) -> float:
    """The angle modulo 2π, in [-π, π]; exact also for huge angles, which libm reduces without loss."""
    return atan2(sin(angle), cos(angle))
