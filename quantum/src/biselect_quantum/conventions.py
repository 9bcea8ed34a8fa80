"""Conventions of angles, signs and orders, once; the energy's own signs and factors stand in `biselect.core.ising`.

- Energies are minimised: H is minus the score. Pauli Z measures x = (1 - Z)/2, so a chosen item is |1⟩.
- A layer is exp(-i Σ_g γ_g H_g), then exp(-iβ(XX + YY)/2) on every mixer edge, in the order of the circuit; radians.
- Qubit i is sample i, qubit N + j is feature j. Arrays of bits have qubit 0 first; Qiskit's strings have it last.
- A state of the sector is C(N, k) × C(D, m), subsets in colexicographic order: in ascending order of their bitmasks.

Circuits are equal up to a global phase, here and everywhere below.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def feature_qubit(feature: int, n_samples: int) -> int:
    """Qubit (and QUBO variable) of a feature: features follow the N samples, whose qubits are their positions."""
    return n_samples + feature


def rz_angle(gamma: ArrayLike, field: ArrayLike) -> NDArray[np.float64]:
    """Angle of the R_Z that implements exp(-iγhZ): 2γh."""
    return 2.0 * np.asarray(gamma, dtype=np.float64) * np.asarray(field, dtype=np.float64)


def rzz_angle(gamma: ArrayLike, coupling: ArrayLike) -> NDArray[np.float64]:
    """Angle of the R_ZZ that implements exp(-iγJZZ): 2γJ."""
    return 2.0 * np.asarray(gamma, dtype=np.float64) * np.asarray(coupling, dtype=np.float64)


def xx_plus_yy_angle(beta: ArrayLike) -> NDArray[np.float64]:
    """First angle of Qiskit's XXPlusYY(θ, 0) that implements exp(-iβ(XX+YY)/2): 2β."""
    return 2.0 * np.asarray(beta, dtype=np.float64)


def little_endian(bits: ArrayLike) -> str:
    """Qiskit's string of one register: qubit 0 is the rightmost character. The only place that reverses.

    >>> little_endian([1, 0, 0])
    '001'
    """
    return "".join("1" if bit else "0" for bit in reversed(np.asarray(bits).tolist()))
