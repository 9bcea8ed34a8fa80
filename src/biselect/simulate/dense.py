"""The whole 2^(N+D) vector, gate by gate: slow and obvious, for tests and for other tools on small cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.core.conventions import feature_qubit, sample_qubit
from biselect.simulate.layers import Layers, Register


def embed(state: NDArray[Any], samples: Register, features: Register) -> NDArray[np.complex128]:
    """A sector state as a vector of 2^(N+D) amplitudes; qubit q is bit q of the position (Qiskit's order)."""
    n = samples.n
    rows = (1 << samples.subsets).sum(axis=1)
    columns = (1 << features.subsets).sum(axis=1) << n
    dense = np.zeros(1 << (n + features.n), dtype=np.complex128)
    dense[(rows[:, None] + columns).ravel()] = state.ravel()
    return dense


def run_dense(
    layers: Layers, samples: Register, features: Register, start: NDArray[np.complex128]
) -> NDArray[np.complex128]:
    """The circuit on the full register, from any vector."""
    n, d = samples.n, features.n
    psi = start.astype(np.complex128).copy()
    bits = (np.arange(psi.size)[:, None] >> np.arange(n + d)) & 1
    s, f = bits[:, :n], bits[:, n:]
    for layer in range(layers.depth):
        angle = s @ layers.sample[layer] + f @ layers.feature[layer]
        angle = angle + np.einsum("xi,ij,xj->x", s, layers.pair[layer], f)
        psi *= np.exp(1j * angle)
        for edges in samples.classes:
            for i, j in edges:
                psi = _hop(psi, sample_qubit(i), sample_qubit(j), layers.mixing[layer])
        for edges in features.classes:
            for i, j in edges:
                psi = _hop(psi, feature_qubit(i, n), feature_qubit(j, n), layers.mixing[layer])
    return psi


def _hop(psi: NDArray[np.complex128], a: int, b: int, beta: float) -> NDArray[np.complex128]:
    """exp(-iβ(XX+YY)/2) on qubits a and b."""
    positions = np.arange(psi.size)
    one_of_two = ((positions >> a) & 1) != ((positions >> b) & 1)
    partner = positions ^ (1 << a) ^ (1 << b)
    rotated = np.cos(beta) * psi - 1j * np.sin(beta) * psi[partner]
    return np.where(one_of_two, rotated, psi)
