"""Plain numba code on the sector as one would write it first: index pairs for each edge, a sine for each amplitude."""

from typing import Any

import numpy as np
from numba import njit

from biselect_quantum.circuits import Ansatz
from biselect_quantum.simulate._plain import PlainSimulator
from biselect_quantum.simulate.layers import Layers


@njit(cache=True, fastmath=True)
def _phase(psi: Any, rows: Any, columns: Any, pairs: Any) -> None:
    for r in range(psi.shape[0]):
        for c in range(psi.shape[1]):
            psi[r, c] *= np.exp(1j * (rows[r] + columns[c] + pairs[r, c]))


@njit(cache=True, fastmath=True)
def _hop_rows(psi: Any, here: Any, there: Any, cosine: float, sine: float) -> None:
    for pair in range(here.size):
        for c in range(psi.shape[1]):
            a, b = psi[here[pair], c], psi[there[pair], c]
            psi[here[pair], c] = cosine * a - 1j * sine * b
            psi[there[pair], c] = cosine * b - 1j * sine * a


@njit(cache=True, fastmath=True)
def _hop_columns(psi: Any, here: Any, there: Any, cosine: float, sine: float) -> None:
    for r in range(psi.shape[0]):
        for pair in range(here.size):
            a, b = psi[r, here[pair]], psi[r, there[pair]]
            psi[r, here[pair]] = cosine * a - 1j * sine * b
            psi[r, there[pair]] = cosine * b - 1j * sine * a


@njit(cache=True, fastmath=True)
def _energy(psi: Any, energies: Any) -> float:
    total = 0.0
    for r in range(psi.shape[0]):
        for c in range(psi.shape[1]):
            total += energies[r, c] * (psi[r, c].real ** 2 + psi[r, c].imag ** 2)
    return total


class PerEdgeSimulator:
    """The peer of the benchmark; tables are made beforehand, as ours are."""

    def __init__(self, ansatz: Ansatz) -> None:
        self.plain = PlainSimulator(ansatz.problem, ansatz.samples, ansatz.features, np.complex128)

    def expectation(self, layers: Layers) -> float:
        """Expected energy from the uniform start."""
        plain = self.plain
        psi = np.full(plain.energies.shape, plain.energies.size**-0.5, dtype=np.complex128)
        for layer in range(layers.depth):
            pairs = plain.has_sample @ layers.pair[layer] @ plain.has_feature.T
            rows, columns = plain.has_sample @ layers.sample[layer], plain.has_feature @ layers.feature[layer]
            _phase(psi, rows, columns, pairs)
            cosine, sine = np.cos(layers.mixing[layer]), np.sin(layers.mixing[layer])
            for moves in plain.sample_moves:
                for here, there in moves:
                    _hop_rows(psi, here, there, cosine, sine)
            for moves in plain.feature_moves:
                for here, there in moves:
                    _hop_columns(psi, here, there, cosine, sine)
        return float(_energy(psi, plain.energies))
