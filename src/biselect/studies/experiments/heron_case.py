"""Credit Card problems placed on a recorded Heron: the circuits that the hardware tables run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from biselect.calibrate import Calibrator
from biselect.core import SelectionProblem
from biselect.data.demo import demo_pool
from biselect.data.planted import planted_problem
from biselect.hardware import Patch, choose_patch, hardware_mask, masked, place
from biselect.qaoa.groups import CostGroup, components
from biselect.studies.experiments.compile_case import device

DEVICE = "boston"
SIZES = {  # N, D, k, m of each width: those that give the paper's exact/chance ratios
    13: (8, 5, 2, 3),
    20: (12, 8, 3, 5),
    32: (19, 13, 5, 5),
    36: (22, 14, 6, 5),
    52: (31, 21, 8, 8),
    56: (34, 22, 8, 8),
    64: (38, 26, 10, 10),
}
SIGNAL = 3.0  # μ of planted instances


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A problem on a patch.

    Attributes:
        placed: the dense problem in placed order, the order of all shots here.
        patch: the qubits.
        sparse: the placed problem with the couplings of cross edges only: what the phases run.
    """

    placed: SelectionProblem
    patch: Patch
    sparse: SelectionProblem

    @property
    def groups(self) -> tuple[CostGroup, ...]:
        """Cost groups of the sparse problem."""
        return components(self.sparse)

    @property
    def mixer(self) -> Any:
        """Mixer classes of both registers, in the order in which circuits run them."""
        return self.patch.sample_classes, self.patch.feature_classes


@cache
def case(kind: str, width: int, instance: int) -> Case:
    """A `creditcard` or `planted` instance, placed on the best patch of its width."""
    dense = problem(kind, width, instance)
    patch = best_patch(width)
    placed = place(dense, patch).placed(dense)
    return Case(placed=placed, patch=patch, sparse=masked(placed, hardware_mask(patch)))


@cache
def best_patch(width: int) -> Patch:
    """The patch that calibration chooses."""
    n, d, _, _ = SIZES[width]
    return choose_patch(device(DEVICE), n, d)


def problem(kind: str, width: int, instance: int) -> SelectionProblem:
    """Frauds (k of them) and others of the excerpt with the first D of V1..V28, calibrated; or a planted block."""
    n, d, k, m = SIZES[width]
    if kind == "planted":
        return planted_problem(SIZES[width], SIGNAL, seed=instance, absolute=True)
    pool = demo_pool()
    rng = np.random.default_rng([instance, width])
    names = [f"V{j}" for j in range(1, d + 1)]
    labels = np.asarray(pool.labels)
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(labels), k, replace=False),
            rng.choice(np.flatnonzero(~labels), n - k, replace=False),
        ]
    )
    candidates = pool.candidates.select(names).take(rng.permutation(rows))
    return Calibrator(map="ecdf").fit(pool.reference.select(names)).problem(candidates, k, m)
