"""Errors as Paulis: each gate's channel twirled, so that what goes wrong can be drawn before anything is simulated.

Twirling keeps the fidelity of every gate. It forgets that relaxation prefers 0, which hardly matters to budgets.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.errors import MissingDependencyError

try:
    from qiskit.quantum_info import PTM, SuperOp
except ImportError as error:
    raise MissingDependencyError("noise models need Qiskit Aer: pip install 'biselect[quantum]'") from error

PAULIS = "IXYZ"


def pauli_labels(qubits: int) -> list[str]:
    """Paulis in Qiskit's order: the last letter acts on the first qubit."""
    return ["".join(letters) for letters in product(PAULIS, repeat=qubits)]


def twirled(channel: Any) -> NDArray[np.float64]:
    """The probability of each Pauli, in the order of `pauli_labels`.

    A twirled channel multiplies Pauli Q by λ_Q, the diagonal of its transfer matrix; λ_Q = Σ_P p_P (±1), with a minus
    where P and Q anticommute, and so back: p_P = Σ_Q λ_Q (±1) / 4^n.
    """
    transfer = np.real(np.diagonal(PTM(SuperOp(channel)).data))
    one = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
    signs = np.ones((1, 1))
    while len(signs) < len(transfer):
        signs = np.kron(signs, one)
    found = np.maximum(signs @ transfer / len(transfer), 0.0)
    return found / found.sum()
