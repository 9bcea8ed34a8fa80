"""Lines: one long path of a device for a SWAP network, and which couplings of a problem it is to carry."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biselect.core import SelectionProblem
from biselect.core.checks import check_integer
from biselect.errors import InputError
from biselect.options import spell
from biselect_quantum.devices._swap_network import BACK, MEET, OUT
from biselect_quantum.devices.device_errors import Edge, device_errors
from biselect_quantum.devices.masks import Mask, hardware_mask, retained_mass, top_mask
from biselect_quantum.devices.patches import COLD, GROWTH, HOT, PATH_STEPS, PATH_WALKS, Patch, make_patch
from biselect_quantum.devices.placement import Placement, place

if TYPE_CHECKING:
    from qiskit.transpiler import Target

LINE_TRIES = 500  # starts at most: a long path may get stuck
MIXING = 2  # two-qubit gates of an edge within a register
ENOUGH = 1e-12  # of the mass that may be missing


def choose_line(
    target: Target, n_samples: int, n_features: int, *, seed: int | np.random.Generator | None = 0
) -> Patch:
    """The line of qubits on which a whole network is expected to err least, by short annealing walks.

    Args:
        target: the device.
        n_samples: N; they stand first.
        n_features: D.
        seed: fixes the walks.
    """
    from biselect_quantum.devices._patch_kernels import anneal_line, grow_path  # compiles on first use

    n, d = check_integer("n_samples", n_samples), check_integer("n_features", n_features)
    device = device_errors(target)
    arrays, rng = device.arrays(), np.random.default_rng(seed)
    uses = _uses(n, d)
    temperatures = HOT * (COLD / HOT) ** (np.arange(PATH_STEPS * (n + d)) / (PATH_STEPS * (n + d)))
    starts = [qubit for part in device.parts() if len(part) >= n + d for qubit in part]
    best, lowest, walks = None, np.inf, 0
    for _ in range(LINE_TRIES if starts else 0):
        state = rng.integers(0, 2**63, size=1).astype(np.uint64)
        labels = np.zeros(target.num_qubits, dtype=np.int64)
        line, length = grow_path(arrays, labels, 1, starts[int(rng.integers(len(starts)))], n + d, GROWTH, state)
        if length < n + d:
            continue
        path, cost = anneal_line(arrays, labels, line, uses, temperatures, state)
        if cost < lowest:
            best, lowest = path.tolist(), cost
        walks += 1
        if walks == PATH_WALKS:
            break
    if best is None:
        raise InputError(
            f"no line of {n + d} qubits was found among the {len(device.usable)} usable ones; use fewer qubits, "
            f"another device, or {spell(keep='edges')}"
        )
    return make_patch(target, best[:n], best[n:], registers="paths")


def _uses(n: int, d: int) -> NDArray[np.float64]:
    """Two-qubit gates of a layer on each edge of the line, all couplings kept."""
    uses = np.full(n + d - 1, float(MIXING))
    uses[n - 1] = 0.0  # where the registers touch
    for u in range(n):
        for v in range(d):
            uses[n - 1 - u + v] += OUT + MEET
    return uses


def keep_couplings(
    problem: SelectionProblem, line: Patch, keep: float, *, seed: int | np.random.Generator | None = 0
) -> tuple[Placement, Mask]:
    """Where items sit on a line, and which couplings stay, so that a network carries that share of Σ|W| in few gates.

    Either pairs near the border, which come back after they met, with heavy couplings placed there; or the heaviest
    couplings of all, wherever they are, while the registers change sides.
    """
    n, d = problem.n_samples, problem.n_features
    if not 0 <= keep <= 1:
        raise InputError(f"keep must be a share of the coupling mass, 0 to 1, got {keep}")
    everywhere = place(problem, line, seed=seed)
    crossing = _heaviest(problem, line, keep)
    gates = OUT * n * d + MEET * int(crossing.sum())
    if crossing.sum() >= n * d - (n + d - 1):  # all of them take fewer gates: a row and a column need none
        crossing, gates = np.ones((n, d), dtype=bool), (OUT + MEET) * n * d - MEET * (n + d - 1)
    for reach in range(n + d - 1):
        cells = [(u, v) for u in range(n) for v in range(d) if u + v <= reach]
        exchanged = sum(u + v < reach for u, v in cells)
        if (OUT + BACK) * exchanged + MEET * len(cells) >= gates:
            break
        pairs: tuple[Edge, ...] = tuple(sorted((n - 1 - u, v) for u, v in cells))
        near = replace(line, cross_edges=pairs)
        placement = place(problem, near, time_limit=0.0, seed=seed)
        mask = hardware_mask(placement.patch, problem)
        if retained_mass(problem, mask)[1] >= keep - ENOUGH:
            return replace(placement, patch=line.reordered(placement.patch.samples, placement.patch.features)), mask
    mass = retained_mass(problem, crossing)[0]
    return replace(everywhere, mass=mass, bound=mass), crossing


def _heaviest(problem: SelectionProblem, line: Patch, keep: float) -> Mask:
    """The fewest couplings that hold the share; those of settled items are fields, and stay in any case."""
    free = hardware_mask(replace(line, cross_edges=()), problem)
    fewest, most = 0, problem.coupling.size
    while fewest < most:
        middle = (fewest + most) // 2
        enough = retained_mass(problem, free | top_mask(problem, middle))[1] >= keep - ENOUGH
        fewest, most = (fewest, middle) if enough else (middle + 1, most)
    return free | top_mask(problem, most)
