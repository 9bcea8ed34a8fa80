"""The Ising form of a selection problem and its three components, with every sign and factor of its energy, once.

The binary objective (Eq. hamiltonian) is minimised:

    E(s, f) = -Σ a_i s_i - Σ b_j f_j - λ Σ W_ij s_i f_j

With x = (I - Z)/2 a chosen item (x = 1) has Z = -1, so that

    -a s    = -a/2 + (a/2) Z
    -λW s f = -λW/4 + (λW/4)(Z_s + Z_f) - (λW/4) Z_s Z_f

which are the coefficients of Eq. ising_coefficients and Eq. grouped_cost_decomposition. The constants are
kept as `offset`, so an Ising energy equals the binary energy and not merely its shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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


@dataclass(frozen=True, kw_only=True, eq=False)
class Ising:
    """A diagonal Hamiltonian Σ h_q Z_q + Σ J_ij Z_i Z_{N+j} + offset.

    Attributes:
        fields: h, one per qubit; samples first, then features.
        couplings: J, N × D; only sample-feature pairs couple.
        offset: the constant that the paper leaves out.
    """

    fields: NDArray[np.float64]
    couplings: NDArray[np.float64]
    offset: float

    def energies(self, bits: ArrayLike) -> NDArray[np.float64]:
        """Energies of bitstrings over all N + D qubits, last axis the qubit."""
        z = spins(bits)
        n_samples = self.couplings.shape[0]
        z_samples, z_features = z[..., :n_samples], z[..., n_samples:]
        pair = np.einsum("...i,ij,...j->...", z_samples, self.couplings, z_features, optimize=True)
        return z @ self.fields + pair + self.offset

    def __add__(self, other: Ising) -> Ising:
        return Ising(
            fields=self.fields + other.fields,
            couplings=self.couplings + other.couplings,
            offset=self.offset + other.offset,
        )


class Components(NamedTuple):
    """H_S, H_F and H_SF; H_SF carries the one-local shifts of its products."""

    samples: Ising
    features: Ising
    coupling: Ising


def marginal_component(scores: NDArray[np.float64], *, first_qubit: int, shape: tuple[int, int]) -> Ising:
    """Ising form of -Σ score·x over the consecutive qubits that start at `first_qubit`."""
    fields = np.zeros(sum(shape))
    fields[first_qubit : first_qubit + scores.size] = FIELD_OF_MARGINAL * scores
    offset = OFFSET_OF_MARGINAL * float(scores.sum())
    return Ising(fields=fields, couplings=np.zeros(shape), offset=offset)


def coupling_component(weights: NDArray[np.float64]) -> Ising:
    """Ising form of -Σ weights_ij s_i f_j, λ already in the weights."""
    fields = FIELD_OF_PRODUCT * np.concatenate([weights.sum(axis=1), weights.sum(axis=0)])
    return Ising(
        fields=fields,
        couplings=COUPLING_OF_PRODUCT * weights,
        offset=OFFSET_OF_PRODUCT * float(weights.sum()),
    )
