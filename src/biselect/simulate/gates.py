"""Circuits as plain data: a basis start and a sequence of R_Z, R_ZZ and XY gates, whoever runs them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biselect.core.checks import positions
from biselect.core.conventions import feature_qubit, rz_angle, rzz_angle, sample_qubit
from biselect.core.ising import coupling_component, marginal_component
from biselect.errors import InputError
from biselect.simulate.circuit import Layers, Register

ARITY = {"rz": 1, "rzz": 2, "xy": 2}


class Gate(NamedTuple):
    """One gate.

    Attributes:
        kind: `rz`: R_Z(angle) = exp(-i·angle·Z/2); `rzz`: R_ZZ(angle) = exp(-i·angle·ZZ/2);
            `xy`: exp(-i·angle·(XX+YY)/2), whose angle is β.
        qubits: one for `rz`, two otherwise; sample q is qubit q, feature j is qubit N + j.
        angle: in radians.
    """

    kind: str
    qubits: tuple[int, ...]
    angle: float


def rz(q: int, angle: float) -> Gate:
    """R_Z(angle)."""
    return Gate("rz", (q,), angle)


def rzz(q: int, r: int, angle: float) -> Gate:
    """R_ZZ(angle)."""
    return Gate("rzz", (q, r), angle)


def xy(q: int, r: int, beta: float) -> Gate:
    """exp(-iβ(XX+YY)/2), which moves a 1 between two qubits of one register."""
    return Gate("xy", (q, r), beta)


@dataclass(frozen=True, kw_only=True)
class GateCircuit:
    """A circuit that keeps both budgets.

    Attributes:
        n_samples: N, how many samples there are.
        n_features: D, how many features there are.
        start: the bits of the basis state it starts from, N + D of them.
        gates: in the order in which they act.

    >>> GateCircuit(n_samples=2, n_features=1, start=(1, 0, 1), gates=(xy(0, 1, 0.3), rzz(1, 2, 0.5))).budgets
    (1, 1)
    """

    n_samples: int
    n_features: int
    start: tuple[int, ...]
    gates: tuple[Gate, ...]

    def __post_init__(self) -> None:
        if self.n_samples < 1 or self.n_features < 1:
            raise InputError(f"a circuit needs samples and features, got {self.n_samples} and {self.n_features}")
        if len(self.start) != self.qubits or not set(self.start) <= {0, 1}:
            raise InputError(f"a start must be {self.qubits} bits, each 0 or 1; got {self.start!r}")
        for place, gate in enumerate(self.gates):
            self._check(gate, f"gate {place} ({gate.kind} on {gate.qubits})")

    def _check(self, gate: Gate, where: str) -> None:
        if gate.kind not in ARITY:
            raise InputError(f"{where}: a gate must be one of {', '.join(ARITY)}")
        if len(gate.qubits) != ARITY[gate.kind] or len(set(gate.qubits)) != len(gate.qubits):
            raise InputError(f"{where}: {gate.kind} acts on {ARITY[gate.kind]} distinct qubits")
        if any(not 0 <= q < self.qubits for q in gate.qubits):
            raise InputError(f"{where}: qubits must lie within 0..{self.qubits - 1}")
        if not np.isfinite(gate.angle):
            raise InputError(f"{where}: the angle must be finite, got {gate.angle}")
        if gate.kind == "xy" and len({q < self.n_samples for q in gate.qubits}) > 1:
            raise InputError(f"{where}: an xy gate between a sample and a feature would break both budgets")

    @property
    def qubits(self) -> int:
        """N + D."""
        return self.n_samples + self.n_features

    @property
    def budgets(self) -> tuple[int, int]:
        """(k, m): how many samples and features the start holds, and so every shot."""
        return sum(self.start[: self.n_samples]), sum(self.start[self.n_samples :])


def basis_bits(n_samples: int, n_features: int, samples: Iterable[int], features: Iterable[int]) -> tuple[int, ...]:
    """The bits of a choice.

    >>> basis_bits(3, 2, [0, 2], [1])
    (1, 0, 1, 0, 1)
    """
    bits: NDArray[np.int64] = np.zeros(n_samples + n_features, dtype=np.int64)
    bits[positions("samples", samples, n_samples)] = 1
    bits[n_samples + positions("features", features, n_features)] = 1
    return tuple(bits.tolist())


def layered_circuit(layers: Layers, samples: Register, features: Register, start: tuple[int, ...]) -> GateCircuit:
    """The gates of phase and mixing layers, terms without a phase left out; equal to them up to a global phase."""
    shape = (samples.n, features.n)
    gates: list[Gate] = []
    for layer in range(layers.depth):
        # exp(i·phase) with phase = γ·score is exp(-iγH), so a phase plays the part of its score at γ = 1
        ising = (
            marginal_component(layers.sample[layer], first_qubit=0, shape=shape)
            + marginal_component(layers.feature[layer], first_qubit=samples.n, shape=shape)
            + coupling_component(layers.pair[layer])
        )
        gates += [rz(int(q), float(rz_angle(1.0, ising.fields[q]))) for q in np.flatnonzero(ising.fields)]
        gates += [
            rzz(sample_qubit(int(i)), feature_qubit(int(j), samples.n), float(rzz_angle(1.0, ising.couplings[i, j])))
            for i, j in np.argwhere(ising.couplings)
        ]
        beta = float(layers.mixing[layer])
        for edges in samples.classes:
            gates += [xy(sample_qubit(i), sample_qubit(j), beta) for i, j in edges]
        for edges in features.classes:
            gates += [xy(feature_qubit(i, samples.n), feature_qubit(j, samples.n), beta) for i, j in edges]
    return GateCircuit(n_samples=samples.n, n_features=features.n, start=start, gates=tuple(gates))
