"""The search for patches: annealing walks over pairs of connected registers, or of paths."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from biselect.hardware.calibration import Calibration

CROSS_WORTH = 0.1  # expected errors of a shot that one more cross edge may cost
WALKS, STEPS = 8, 24_000  # walks, and steps of each for every qubit of the patch
PATH_WALKS, PATH_STEPS = 16, 1_000
HOT, COLD = 0.3, 0.003  # temperatures, in expected errors
TRIES = 5_000  # starts at most: long paths often block one another
GROWTH = 4_000  # steps of a growing path before it counts as stuck

Registers = tuple[list[int], list[int]]
Found = tuple[float, Registers]


def search_trees(device: Calibration, n: int, d: int, rng: np.random.Generator) -> Registers | None:
    """Connected registers of n and d qubits with many cross edges and few errors; None where none were found."""
    from biselect.hardware.patch_kernel import anneal_registers  # loads numba, and compiles on first use

    arrays = device.arrays()
    graph = arrays.neighbours
    large = [part for part in device.parts() if len(part) >= n + d]
    temperatures = _cooling(STEPS * (n + d))

    def walk() -> Found | None:
        part = large[int(rng.integers(len(large)))]
        labels = np.zeros(len(graph), dtype=np.int64)
        if not (_grow(graph, labels, 1, part, n, rng) and _grow(graph, labels, 2, _border(graph, labels, 1), d, rng)):
            return None
        state = rng.integers(0, 2**63, size=1).astype(np.uint64)
        found, score = anneal_registers(arrays, labels, CROSS_WORTH, temperatures, state)
        return score, (np.flatnonzero(found == 1).tolist(), np.flatnonzero(found == 2).tolist())

    return _best(walk, WALKS)


def search_paths(device: Calibration, n: int, d: int, rng: np.random.Generator) -> Registers | None:
    """The same for paths; the qubits come in the order of the path."""
    from biselect.hardware.patch_kernel import anneal_paths, grow_path

    arrays = device.arrays()
    graph = arrays.neighbours
    temperatures = _cooling(PATH_STEPS * (n + d))
    starts = [qubit for part in device.parts() if len(part) >= n + d for qubit in part]

    def walk() -> Found | None:
        labels = np.zeros(len(graph), dtype=np.int64)
        state = rng.integers(0, 2**63, size=1).astype(np.uint64)
        paths = []
        for label, size in ((1, n), (2, d)):
            options = starts if label == 1 else _border(graph, labels, 1)
            if not options:
                return None
            path, length = grow_path(arrays, labels, label, _one_of(options, rng), size, GROWTH, state)
            if length < size:
                return None
            paths.append(path)
        *found, score = anneal_paths(arrays, labels, *paths, CROSS_WORTH, temperatures, state)
        return score, (found[0].tolist(), found[1].tolist())

    return _best(walk, PATH_WALKS)


def _best(walk: Callable[[], Found | None], walks: int) -> Registers | None:
    """The best end of so many walks; a walk whose start got stuck is tried again."""
    ends = islice((found for found in (walk() for _ in range(TRIES)) if found is not None), walks)
    return max(ends, key=lambda found: found[0], default=(0.0, None))[1]


def _grow(
    graph: NDArray[np.int64],
    labels: NDArray[np.int64],
    label: int,
    starts: list[int],
    size: int,
    rng: np.random.Generator,
) -> bool:
    """Give a random connected register of free qubits to `label`; whether there was room."""
    options = starts
    for _ in range(size):
        if not options:
            return False
        labels[_one_of(options, rng)] = label
        options = _border(graph, labels, label)
    return True


def _border(graph: NDArray[np.int64], labels: NDArray[np.int64], label: int) -> list[int]:
    """Free neighbours of a register, in ascending order."""
    near = np.unique(graph[labels == label])
    return [qubit for qubit in near.tolist() if qubit >= 0 and not labels[qubit]]


def _one_of(options: list[int], rng: np.random.Generator) -> int:
    return options[int(rng.integers(len(options)))]


def _cooling(steps: int) -> NDArray[np.float64]:
    return HOT * (COLD / HOT) ** (np.arange(steps) / steps)
