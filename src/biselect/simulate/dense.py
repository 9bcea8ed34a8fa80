"""A state of the sector as the whole 2^(N+D) vector, for other tools on small cases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.simulate.layers import Register


def embed(state: NDArray[Any], samples: Register, features: Register) -> NDArray[np.complex128]:
    """A sector state as a vector of 2^(N+D) amplitudes; qubit q is bit q of the position (Qiskit's order)."""
    n = samples.n
    rows = (1 << samples.subsets).sum(axis=1)
    columns = (1 << features.subsets).sum(axis=1) << n
    dense = np.zeros(1 << (n + features.n), dtype=np.complex128)
    dense[(rows[:, None] + columns).ravel()] = state.ravel()
    return dense
