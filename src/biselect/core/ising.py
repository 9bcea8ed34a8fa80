"""The Ising form of a selection problem and its three components (Eq. grouped_cost_decomposition)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biselect.core import conventions


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
        z = conventions.spins(bits)
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
    fields[first_qubit : first_qubit + scores.size] = conventions.FIELD_OF_MARGINAL * scores
    offset = conventions.OFFSET_OF_MARGINAL * float(scores.sum())
    return Ising(fields=fields, couplings=np.zeros(shape), offset=offset)


def coupling_component(weights: NDArray[np.float64]) -> Ising:
    """Ising form of -Σ weights_ij s_i f_j, λ already in the weights."""
    fields = conventions.FIELD_OF_PRODUCT * np.concatenate([weights.sum(axis=1), weights.sum(axis=0)])
    return Ising(
        fields=fields,
        couplings=conventions.COUPLING_OF_PRODUCT * weights,
        offset=conventions.OFFSET_OF_PRODUCT * float(weights.sum()),
    )
