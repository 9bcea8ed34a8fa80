"""Mixers that are no products of exp(-iβ(XX+YY)/2), on the plain backend: Grover's, and XY edges about a warm start."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.errors import InputError
from biselect_quantum.simulate.layers import Edges, Register, unit_axis
from biselect_quantum.simulate.plain import PlainSimulator, moves_of
from biselect_quantum.simulate.stopping import NEVER, Stop

Moves = tuple[NDArray[np.int64], NDArray[np.int64]]
Tilted = tuple[Moves, NDArray[np.float64]]
"""Basis states with the one at the first end of an edge, their partners, and u of the edge, (2,)."""


@dataclass(frozen=True, eq=False)
class Grover:
    """Grover's mixer, exp(-iβ|s⟩⟨s|); `axis` is s, C(N, k) × C(D, m), None for the uniform state."""

    axis: NDArray[Any] | None
    backends: ClassVar[tuple[str, ...]] = ("plain", "compiled")


@dataclass(frozen=True, eq=False)
class Warm:
    """XY edges about a warm start; `tilts` are t of every sample and of every feature."""

    tilts: tuple[NDArray[np.float64], NDArray[np.float64]]
    backends: ClassVar[tuple[str, ...]] = ("plain",)


def make_other(
    mixing: Grover | Warm,
    problem: SelectionProblem,
    samples: Register,
    features: Register,
    *,
    backend: str,
    dtype: Any,
    stop: Stop = NEVER,
) -> Any:
    """A simulator with this mixing, or a refusal of a backend that has no kernel for it."""
    if backend not in mixing.backends:
        ways = " or ".join(f"backend={name!r}" for name in mixing.backends)
        name = "Grover's mixer" if isinstance(mixing, Grover) else "a mixer about a warm start"
        raise InputError(f"the {backend} backend knows XY mixers only; for {name} take {ways}")
    if isinstance(mixing, Warm):
        return WarmSimulator(problem, samples, features, dtype, mixing.tilts, stop)
    if backend == "plain":
        return GroverSimulator(problem, samples, features, dtype, mixing.axis, stop)
    from biselect_quantum.simulate.compiled_grover import CompiledGroverSimulator  # loads numba

    return CompiledGroverSimulator(problem, samples, features, dtype, mixing.axis, stop)


class GroverSimulator(PlainSimulator):
    """Mixing exp(-iβ|s⟩⟨s|) of the whole sector; s is uniform over it, or any state that is given."""

    def __init__(
        self,
        problem: SelectionProblem,
        samples: Register,
        features: Register,
        dtype: Any,
        axis: NDArray[Any] | None,
        stop: Stop = NEVER,
    ) -> None:
        super().__init__(problem, samples, features, dtype, stop)
        self.axis = unit_axis(axis, self.energies.shape, self.dtype)

    def _mix(self, psi: NDArray[Any], beta: float) -> None:
        psi += (np.exp(-1j * beta) - 1) * np.vdot(self.axis, psi) * self.axis

    def _unmix(self, psi: NDArray[Any], adjoint: NDArray[Any], beta: float) -> float:
        slope = 2 * (np.conj(np.vdot(self.axis, adjoint)) * np.vdot(self.axis, psi)).imag
        self._mix(psi, -beta)
        self._mix(adjoint, -beta)
        return float(slope)


class WarmSimulator(PlainSimulator):
    """Mixing exp(2iβ|u⟩⟨u|) on every edge (i, j), with u = (t_j|i⟩ - t_i|j⟩)/√(t_i² + t_j²); see `WarmStart`.

    Args:
        problem: whose sector.
        samples: the sample register.
        features: the feature register.
        dtype: complex64 or complex128.
        tilts: t of every sample and of every feature.
        stop: the byte that ends all work.
    """

    def __init__(
        self,
        problem: SelectionProblem,
        samples: Register,
        features: Register,
        dtype: Any,
        tilts: tuple[NDArray[np.float64], NDArray[np.float64]],
        stop: Stop = NEVER,
    ) -> None:
        super().__init__(problem, samples, features, dtype, stop)
        self.sample_edges = [_tilted(samples, edges, tilts[0]) for edges in samples.classes]
        self.feature_edges = [_tilted(features, edges, tilts[1]) for edges in features.classes]

    def _mix(self, psi: NDArray[Any], beta: float) -> None:
        for x, classes in ((psi, self.sample_edges), (psi.T, self.feature_edges)):
            for edges in classes:
                for edge in edges:
                    _turn(x, edge, beta)

    def _unmix(self, psi: NDArray[Any], adjoint: NDArray[Any], beta: float) -> float:
        total = 0.0
        for x, y, classes in ((psi.T, adjoint.T, self.feature_edges), (psi, adjoint, self.sample_edges)):
            for edges in reversed(classes):
                for edge in edges:  # they commute
                    total -= 4 * float(np.vdot(_along(y, edge), _along(x, edge)).imag)
                    _turn(x, edge, -beta)
                    _turn(y, edge, -beta)
        return total


def _tilted(register: Register, edges: Edges, tilts: NDArray[np.float64]) -> list[Tilted]:
    ends = np.array([(tilts[j], -tilts[i]) for i, j in edges], dtype=np.float64).reshape(-1, 2)
    units = ends / np.linalg.norm(ends, axis=1, keepdims=True)
    return list(zip(moves_of(register, edges), units, strict=True))


def _along(x: NDArray[Any], edge: Tilted) -> NDArray[Any]:
    """⟨u|x⟩ of every pair of states that the edge joins."""
    (here, there), (first, second) = edge
    return first * x[here] + second * x[there]


def _turn(x: NDArray[Any], edge: Tilted, beta: float) -> None:
    """exp(2iβ|u⟩⟨u|) along the first axis."""
    (here, there), (first, second) = edge
    step = (np.exp(2j * beta) - 1) * _along(x, edge)
    x[here] += (first * step).astype(x.dtype, copy=False)
    x[there] += (second * step).astype(x.dtype, copy=False)
