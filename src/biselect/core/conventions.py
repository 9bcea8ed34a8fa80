"""Every sign, factor and bit order of the package, once.

The binary objective (Eq. hamiltonian) is minimised:

    E(s, f) = -Σ a_i s_i - Σ b_j f_j - λ Σ W_ij s_i f_j

With x = (I - Z)/2 a chosen item (x = 1) has Z = -1, so that

    -a s    = -a/2 + (a/2) Z
    -λW s f = -λW/4 + (λW/4)(Z_s + Z_f) - (λW/4) Z_s Z_f

which are the coefficients of Eq. ising_coefficients and Eq. grouped_cost_decomposition. The constants are
kept as `offset`, so an Ising energy equals the binary energy and not merely its shape.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

# A marginal term -a x gives FIELD_OF_MARGINAL·a to the field and OFFSET_OF_MARGINAL·a to the constant.
FIELD_OF_MARGINAL = 0.5
OFFSET_OF_MARGINAL = -0.5

# A product term -λW s f gives these multiples of λW to the two fields, the ZZ coupling and the constant.
FIELD_OF_PRODUCT = 0.25
COUPLING_OF_PRODUCT = -0.25
OFFSET_OF_PRODUCT = -0.25

# In the symmetric Q with E(x) = x·Qx a product is shared between its two off-diagonal entries.
QUBO_OF_MARGINAL = -1.0
QUBO_OF_PRODUCT = -0.5


def spins(bits: ArrayLike) -> NDArray[np.float64]:
    """Pauli-Z eigenvalues of bits: 0 → +1, 1 → -1."""
    return 1.0 - 2.0 * np.asarray(bits, dtype=np.float64)


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
