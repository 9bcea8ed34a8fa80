"""The plain backend: NumPy, nothing to compile. Answers at once on small sectors, and reads like the definition.

`ContinuousSimulator` has the ideal mixer exp(-iβ Σ_edges (XX+YY)/2), for comparison with the product mixer of circuits,
`GroverSimulator` Grover's mixer exp(-iβ|s⟩⟨s|).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect_quantum.simulate.layers import (
    Edges,
    Layers,
    Observable,
    PairGradient,
    Register,
    energy_scale,
    energy_table,
)
from biselect_quantum.simulate.limits import NEVER, Stop, check_stop


class PlainSimulator:
    """One problem's sector; the same methods as the compiled backend."""

    def __init__(
        self, problem: SelectionProblem, samples: Register, features: Register, dtype: Any, stop: Stop = NEVER
    ) -> None:
        self.dtype, self.stop = np.dtype(dtype), stop
        self.energies = energy_table(problem, stop)
        self.scale = energy_scale(problem)
        self.has_sample = _incidence(samples)
        self.has_feature = _incidence(features)
        self.sample_moves = [_moves_of(samples, edges) for edges in samples.classes]
        self.feature_moves = [_moves_of(features, edges) for edges in features.classes]

    def expectation(self, layers: Layers, start: NDArray[Any] | None, observable: Observable) -> float:
        """Expectation value of a function of the energy after the circuit."""
        return float(np.sum(np.abs(self.state(layers, start)) ** 2 * observable.of(self.energies, self.scale)))

    def state(self, layers: Layers, start: NDArray[Any] | None) -> NDArray[Any]:
        """The final state, C(N, k) × C(D, m)."""
        shape = self.energies.shape
        psi = np.full(shape, self.energies.size**-0.5, self.dtype) if start is None else start.astype(self.dtype)
        for layer in range(layers.depth):
            check_stop(self.stop)
            psi *= self._phase(layers, layer)
            self._mix(psi, layers.mixing[layer])
        return psi

    def value_and_gradient(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[float, PairGradient]:
        """Expectation value and its derivatives, by undoing the circuit on the state and on observable × state."""
        psi = self.state(layers, start)
        adjoint = observable.of(self.energies, self.scale) * psi
        value = float(np.vdot(psi, adjoint).real)
        pair, mixing = np.zeros_like(layers.pair), np.zeros_like(layers.mixing)
        for layer in reversed(range(layers.depth)):
            check_stop(self.stop)
            mixing[layer] = self._unmix(psi, adjoint, layers.mixing[layer])
            current = (adjoint.conj() * psi).imag
            pair[layer] = -2 * self.has_sample.T @ current @ self.has_feature
            back = self._phase(layers, layer).conj()
            psi *= back
            adjoint *= back
        return value, PairGradient(pair=pair, mixing=mixing)

    def _phase(self, layers: Layers, layer: int) -> NDArray[Any]:
        angle = self.has_sample @ layers.pair[layer] @ self.has_feature.T
        angle += (self.has_sample @ layers.sample[layer])[:, None]
        angle += self.has_feature @ layers.feature[layer]
        return np.exp(1j * angle).astype(self.dtype)

    def _mix(self, psi: NDArray[Any], beta: float) -> None:
        for moves in self.sample_moves:
            _rotate(psi, moves, beta)
        for moves in self.feature_moves:
            _rotate(psi.T, moves, beta)

    def _unmix(self, psi: NDArray[Any], adjoint: NDArray[Any], beta: float) -> float:
        """Undo a mixing on both, and give the derivative by β."""
        total = 0.0
        for turned, classes in ((True, self.feature_moves), (False, self.sample_moves)):
            x, y = (psi.T, adjoint.T) if turned else (psi, adjoint)
            for moves in reversed(classes):
                for here, there in moves:
                    total += 2 * float(np.vdot(y[here], x[there]).imag + np.vdot(y[there], x[here]).imag)
                _rotate(x, moves, -beta)
                _rotate(y, moves, -beta)
        return total


class ContinuousSimulator(PlainSimulator):
    """The plain backend with both registers' mixers exponentiated exactly, through their eigenvectors."""

    def __init__(
        self, problem: SelectionProblem, samples: Register, features: Register, dtype: Any, stop: Stop = NEVER
    ) -> None:
        super().__init__(problem, samples, features, dtype, stop)
        self.sample_hops = _hops(self.sample_moves, len(self.has_sample))
        self.feature_hops = _hops(self.feature_moves, len(self.has_feature))
        self.sample_modes = np.linalg.eigh(self.sample_hops)
        self.feature_modes = np.linalg.eigh(self.feature_hops)

    def _mix(self, psi: NDArray[Any], beta: float) -> None:
        psi[:] = _evolved(psi, self.sample_modes, beta)
        psi[:] = _evolved(psi.T, self.feature_modes, beta).T

    def _unmix(self, psi: NDArray[Any], adjoint: NDArray[Any], beta: float) -> float:
        current = np.vdot(adjoint, self.sample_hops @ psi) + np.vdot(adjoint, psi @ self.feature_hops)
        self._mix(psi, -beta)
        self._mix(adjoint, -beta)
        return 2 * float(current.imag)


class GroverSimulator(PlainSimulator):
    """The plain backend with the mixing exp(-iβ|s⟩⟨s|) = 1 + (e^(-iβ) - 1)|s⟩⟨s| of all choices that are allowed.

    `axis` is s, C(N, k) × C(D, m), of any norm.
    """

    def __init__(
        self,
        problem: SelectionProblem,
        samples: Register,
        features: Register,
        dtype: Any,
        axis: NDArray[Any],
        stop: Stop = NEVER,
    ) -> None:
        super().__init__(problem, samples, features, dtype, stop)
        own = axis.astype(self.dtype)
        self.axis = own / np.linalg.norm(own)  # of norm 1 in this precision, also where it comes in a lower one

    def _mix(self, psi: NDArray[Any], beta: float) -> None:
        psi += (np.exp(-1j * beta) - 1) * np.vdot(self.axis, psi) * self.axis

    def _unmix(self, psi: NDArray[Any], adjoint: NDArray[Any], beta: float) -> float:
        slope = 2 * (np.conj(np.vdot(self.axis, adjoint)) * np.vdot(self.axis, psi)).imag
        self._mix(psi, -beta)
        self._mix(adjoint, -beta)
        return float(slope)


def _incidence(register: Register) -> NDArray[np.float64]:
    """1 where a basis state holds an item."""
    basis = register.subsets
    table = np.zeros((len(basis), register.n))
    np.put_along_axis(table, basis, 1.0, axis=1)
    return table


def _moves_of(register: Register, edges: Edges) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For each edge the basis states with a 1 at its first end only, and their partners."""
    holds = _incidence(register).astype(bool)
    moves = []
    for i, j in edges:
        here = np.flatnonzero(holds[:, i] & ~holds[:, j])
        holding = holds[here]
        holding[:, i], holding[:, j] = False, True
        there = register.position(np.nonzero(holding)[1].reshape(len(here), register.ones))
        moves.append((here, there))
    return moves


def _rotate(x: NDArray[Any], moves: list[tuple[NDArray[np.int64], NDArray[np.int64]]], beta: float) -> None:
    """exp(-iβ(XX+YY)/2) along the first axis."""
    cosine, hop = np.cos(beta), -1j * np.sin(beta)
    for here, there in moves:
        a, b = x[here], x[there]
        x[here] = cosine * a + hop * b
        x[there] = cosine * b + hop * a


def _hops(classes: Any, size: int) -> NDArray[np.float64]:
    """Σ_edges (XX+YY)/2 on the register's basis."""
    hops = np.zeros((size, size))
    for moves in classes:
        for here, there in moves:
            hops[here, there] += 1
            hops[there, here] += 1
    return hops


def _evolved(x: NDArray[Any], modes: Any, beta: float) -> NDArray[Any]:
    values, vectors = modes
    return vectors @ (np.exp(-1j * beta * values)[:, None] * (vectors.T @ x))
