"""Grover's mixer on the compiled backend: phase and overlap in one pass over the state, the rank-1 update in the next.

⟨s|ψ⟩ needs the whole state, so a layer is one pass that adds what the mixing before it left, turns the phase and sums
the overlap. Energies and phases are sums over items, taken row by row; no table of the sector is held.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect_quantum.simulate.first_use import tell_when_compiling
from biselect_quantum.simulate.layers import (
    KINDS,
    Layers,
    Observable,
    PairGradient,
    Register,
    energy_scale,
    rounding_slack,
    unit_axis,
)
from biselect_quantum.simulate.stopping import NEVER, Stop, parts

COMPILED = {"cache": True, "nogil": True, "error_model": "numpy", "boundscheck": False}


class CompiledGroverSimulator:
    """One problem's sector, ready to be run many times; `axis` is s, None for the uniform state."""

    def __init__(
        self,
        problem: SelectionProblem,
        samples: Register,
        features: Register,
        dtype: Any,
        axis: NDArray[Any] | None,
        stop: Stop = NEVER,
    ) -> None:
        tell_when_compiling()
        self.problem, self.stop, self.dtype = problem, stop, np.dtype(dtype)
        self.rows, self.columns = samples.subsets, features.subsets
        self.shape = (len(self.rows), len(self.columns))
        self.weights = problem.coupling_weight * problem.coupling.astype(np.float64)
        self.slack = rounding_slack(energy_scale(problem), np.float64)
        self.axis = unit_axis(axis, self.shape, self.dtype)

    def expectation(self, layers: Layers, start: NDArray[Any] | None, observable: Observable) -> float:
        """Expectation value of a function of the energy after the circuit."""
        return self._observe(self.state(layers, start), None, observable)

    def state(self, layers: Layers, start: NDArray[Any] | None) -> NDArray[Any]:
        """The final state, C(N, k) × C(D, m)."""
        psi = np.array(self.axis if start is None else start, dtype=self.dtype, order="C")
        if start is None:
            psi[:] = (self.shape[0] * self.shape[1]) ** -0.5
        for layer in range(layers.depth):
            overlap = 0j
            for part in self._parts():
                overlap += _phase(psi[part], self.axis[part], self.rows[part], self.columns, *_terms(layers, layer))
            self._add(psi, layers.mixing[layer], overlap)
        return psi

    def value_and_gradient(
        self, layers: Layers, start: NDArray[Any] | None, observable: Observable
    ) -> tuple[float, PairGradient]:
        """Expectation value and its derivatives, by undoing the circuit on the state and on observable × state."""
        psi = self.state(layers, start)
        adjoint = np.empty_like(psi)
        value = self._observe(psi, adjoint, observable)
        pair, mixing = np.zeros_like(layers.pair), np.zeros_like(layers.mixing)
        for layer in reversed(range(layers.depth)):
            own, other = np.vdot(self.axis, psi), np.vdot(self.axis, adjoint)
            mixing[layer] = 2 * (np.conj(other) * own).imag
            self._add(psi, -layers.mixing[layer], own)
            self._add(adjoint, -layers.mixing[layer], other)
            for part in self._parts():
                _unphase(psi[part], adjoint[part], self.rows[part], self.columns, *_terms(layers, layer), pair[layer])
        return value, PairGradient(pair=pair, mixing=mixing)

    def batches(self, count: int | None, *, from_basis: bool) -> None:
        """Circuits are run one by one."""

    def _parts(self) -> Any:
        return parts(self.shape[0], self.shape[1], self.stop)

    def _add(self, psi: NDArray[Any], beta: float, overlap: complex) -> None:
        """The rank-1 update exp(-iβ|s⟩⟨s|)."""
        step = self.dtype.type((np.exp(-1j * beta) - 1) * overlap)
        for part in self._parts():
            psi[part] += step * self.axis[part]

    def _observe(self, psi: NDArray[Any], adjoint: NDArray[Any] | None, observable: Observable) -> float:
        """Σ |ψ|² f(E), and f(E)·ψ where an adjoint is wanted."""
        if observable.values is not None:
            if adjoint is not None:
                adjoint[:] = observable.values * psi
            return float(np.sum(np.abs(psi) ** 2 * observable.values))
        threshold = observable.threshold + (self.slack if observable.kind == "hit" else 0.0)
        total, problem = 0.0, self.problem
        terms = (-problem.sample_scores, -problem.feature_scores, -self.weights)
        for part in self._parts():
            target = psi[part] if adjoint is None else adjoint[part]
            goal = (KINDS[observable.kind], threshold, adjoint is not None)
            total += _observe(psi[part], target, self.rows[part], self.columns, *terms, *goal)
        return total


def _terms(layers: Layers, layer: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    return layers.sample[layer], layers.feature[layer], layers.pair[layer]


@njit(**COMPILED)
def _row_terms(row: Any, sample: Any, feature: Any, pair: Any, items: Any) -> float:
    """What a row adds by itself; what it makes each item of the other side add goes to `items`."""
    items[:] = feature
    own = 0.0
    for i in row:
        own += sample[i]
        for j in range(items.size):
            items[j] += pair[i, j]
    return own


@njit(**COMPILED)
def _phase(psi: Any, axis: Any, rows: Any, columns: Any, sample: Any, feature: Any, pair: Any) -> complex:
    """Turn the phase of a layer; gives ⟨s|ψ⟩ of these rows afterwards."""
    items = np.empty(feature.size)
    total = 0j
    for r in range(rows.shape[0]):
        own = _row_terms(rows[r], sample, feature, pair, items)
        for c in range(columns.shape[0]):
            angle = own
            for j in columns[c]:
                angle += items[j]
            turned = psi[r, c] * complex(np.cos(angle), np.sin(angle))
            psi[r, c] = turned
            total += np.conj(axis[r, c]) * turned
    return total


@njit(**COMPILED)
def _unphase(
    psi: Any, adjoint: Any, rows: Any, columns: Any, sample: Any, feature: Any, pair: Any, derivative: Any
) -> None:
    """Undo the phase of both, and add the derivatives by every pair phase."""
    items, found = np.empty(feature.size), np.empty(feature.size)
    for r in range(rows.shape[0]):
        own = _row_terms(rows[r], sample, feature, pair, items)
        found[:] = 0.0
        for c in range(columns.shape[0]):
            angle = own
            for j in columns[c]:
                angle += items[j]
            current = (np.conj(adjoint[r, c]) * psi[r, c]).imag
            for j in columns[c]:
                found[j] += current
            back = complex(np.cos(angle), -np.sin(angle))
            psi[r, c] *= back
            adjoint[r, c] *= back
        for i in rows[r]:
            for j in range(found.size):
                derivative[i, j] -= 2 * found[j]


@njit(**COMPILED)
def _observe(
    psi: Any,
    adjoint: Any,
    rows: Any,
    columns: Any,
    sample: Any,
    feature: Any,
    pair: Any,
    kind: int,
    threshold: float,
    wanted: bool,
) -> float:
    """Σ |ψ|² f(E) of these rows; f(E)·ψ goes to the adjoint where it is wanted."""
    items = np.empty(feature.size)
    total = 0.0
    for r in range(rows.shape[0]):
        own = _row_terms(rows[r], sample, feature, pair, items)
        for c in range(columns.shape[0]):
            value = own
            for j in columns[c]:
                value += items[j]
            if kind == 1:
                value = 1.0 if value <= threshold else 0.0
            elif kind == 2:
                value = min(value - threshold, 0.0)
            amplitude = psi[r, c]
            total += value * (amplitude.real**2 + amplitude.imag**2)
            if wanted:
                adjoint[r, c] = value * amplitude
    return total
