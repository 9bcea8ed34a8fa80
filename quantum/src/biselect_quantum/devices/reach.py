"""Reach: how many choices a few layers of mixing can get to from a basis state.

A mixer on the edges of a device moves a one by few qubits a layer. From a start whose ones stand close together most
choices, and the best one among them, have no amplitude at all. Phases change nothing about that, and neither do angles.
"""

import numpy as np
from numpy.typing import NDArray

from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.starts import Choice
from biselect_quantum.simulate.layers import Register

DRAWS = 64  # starts that are compared
MOST_CHOICES = 20_000  # of one register


def far_reaching(spec: AnsatzSpec, seed: int | np.random.Generator | None = 0) -> Choice:
    """Of some random starts the one that reaches the most choices; of a register with too many choices, the first."""
    rng = np.random.default_rng(seed)
    samples, features = (_start(register, spec.depth, rng) for register in spec.registers)
    return samples, features


def _start(register: Register, depth: int, rng: np.random.Generator) -> list[int]:
    subsets = register.subsets
    drawn = rng.permutation(len(subsets))[:DRAWS]
    if len(subsets) > MOST_CHOICES:
        return subsets[drawn[0]].tolist()
    return subsets[drawn[reached(register, depth, drawn).sum(axis=1).argmax()]].tolist()


def reached(register: Register, depth: int, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(start, choice): whether layers of mixing lead from one to the other."""
    chosen = np.zeros((len(register.subsets), register.n), dtype=bool)
    np.put_along_axis(chosen, register.subsets, True, axis=1)
    found = starts[:, None] == np.arange(len(chosen))
    for i, j in [edge for edges in register.classes for edge in edges] * depth:
        moved = chosen.copy()
        moved[:, [i, j]] = moved[:, [j, i]]
        there = register.position(np.nonzero(moved)[1].reshape(register.subsets.shape))
        found |= found[:, there]
    return found
