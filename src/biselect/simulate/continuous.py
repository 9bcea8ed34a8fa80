"""The ideal continuous-time mixer exp(-iβ Σ_edges (XX+YY)/2), for comparison with the product mixer of circuits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.simulate.layers import Register
from biselect.simulate.plain import PlainSimulator


class ContinuousSimulator(PlainSimulator):
    """The plain backend with both registers' mixers exponentiated exactly, through their eigenvectors."""

    def __init__(self, problem: SelectionProblem, samples: Register, features: Register, dtype: Any) -> None:
        super().__init__(problem, samples, features, dtype)
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
