"""Credit Card problems placed on a device, a recorded Heron unless said otherwise: the circuits of hardware tables."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from biselect.core import SelectionProblem
from biselect.tables.demo import demo_pool
from biselect.weights import Weigher
from biselect.weights.paper import paper_marginals
from biselect_quantum.circuits import Program
from biselect_quantum.circuits.cost_groups import CostGroup, components
from biselect_quantum.circuits.starts import Choice
from biselect_quantum.circuits.thresholds import Threshold
from biselect_quantum.devices import Patch, choose_patch, compile_circuit, hardware_mask, masked, place
from biselect_quantum.devices.compiled_circuit import CompiledCircuit
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.paths import COMPLETE_FRACTIONAL, IN_ORDER, CompilationPath
from biselect_quantum.devices.placement import Placement
from biselect_studies.data.synthetic import planted_problem
from biselect_studies.experiments.compile_case import device

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
CAP = 3.0  # w_max of Credit Card instances: open in the paper, chosen by the retained mass that it prints
PATHS: dict[str, CompilationPath] = {"ours": IN_ORDER, "paper": replace(COMPLETE_FRACTIONAL, coloured=False)}
"""A patch's classes are coloured already, so the order of the program is the paper's coloured one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """A problem on a patch.

    Attributes:
        problem: the dense problem.
        target: the device, a Qiskit Target.
        spot: the qubits as they were chosen, before anything was placed.
        placement: where the items sit on them.
    """

    problem: SelectionProblem
    target: Any
    spot: Patch
    placement: Placement

    @property
    def patch(self) -> Patch:
        """The qubits; position i is the problem's item i."""
        return self.placement.patch

    @cached_property
    def sparse(self) -> SelectionProblem:
        """The problem with the couplings of cross edges only: what the phases run."""
        return masked(self.problem, hardware_mask(self.patch))

    @cached_property
    def _items(self) -> Choice:
        """The sample and the feature at each position of the spot."""
        sides = ((self.patch.samples, self.spot.samples), (self.patch.features, self.spot.features))
        samples, features = ([qubits.index(qubit) for qubit in spot] for qubits, spot in sides)
        return samples, features

    def items(self, positions: Choice) -> Choice:
        """The samples and features that sit at positions of the spot, where starts are drawn."""
        samples, features = (sorted(at[p] for p in side) for at, side in zip(self._items, positions, strict=True))
        return samples, features

    @property
    def canonical(self) -> Choice:
        """The start from what sits first on the spot."""
        return self.items((list(range(self.problem.k)), list(range(self.problem.m))))

    @property
    def groups(self) -> tuple[CostGroup, ...]:
        """Cost groups of the sparse problem."""
        return components(self.sparse)

    @property
    def mixer(self) -> Any:
        """Mixer classes of both registers, in the order in which circuits run them."""
        sides = zip(self._items, (self.spot.sample_classes, self.spot.feature_classes), strict=True)
        return tuple([[(at[u], at[v]) for u, v in edges] for edges in classes] for at, classes in sides)

    def bundle(self, program: Program, schedule: str, angles: Any) -> DeviceCircuit:
        """An open program of the sparse problem, bound and compiled by our path, with all that a run needs."""
        values = program.in_order(angles)
        return DeviceCircuit(
            problem=self.problem,
            target=self.target,
            placement=self.placement,
            mask=hardware_mask(self.patch),
            surrogate=self.sparse,
            schedule=schedule,
            angles=dict(zip(program.angle_names, values.tolist(), strict=True)),
            compiled=self.compiled(program, values, "ours"),
            references={},
        )

    def compiled(self, program: Program, angles: Any, path: str) -> CompiledCircuit:
        """An open program of the sparse problem, bound and compiled by one of `PATHS`."""
        values = program.in_order(angles)
        return compile_circuit(program, self.target, self.patch.layout, PATHS[path], angles=values)


Prepared = tuple[DeviceCircuit, Threshold | None]
"""A circuit that is ready to be measured, and its E_BK, fixed before any shot; None for the classical reference."""


@cache
def case(kind: str, width: int, instance: int, target: Any = None) -> Case:
    """A `creditcard` or `planted` instance, placed on the best patch of its width."""
    target = target or device(DEVICE)
    dense, patch = problem(kind, width, instance), _patch(width, target)
    return Case(problem=dense, target=target, spot=patch, placement=place(dense, patch))


@cache
def _patch(width: int, target: Any) -> Patch:
    n, d, _, _ = SIZES[width]
    return choose_patch(target, n, d)


def problem(kind: str, width: int, instance: int) -> SelectionProblem:
    """Frauds (k of them) and others of the excerpt with the first D of V1..V28, calibrated; or a planted block."""
    n, d, k, m = SIZES[width]
    if kind == "planted":
        return planted_problem(SIZES[width], SIGNAL, seed=instance, absolute=True)
    pool = demo_pool()
    rng = np.random.default_rng([instance, width])
    names = [f"V{j}" for j in range(1, d + 1)]
    labels = np.asarray(pool.labels)
    kinds = ((labels, k), (~labels, n - k))
    rows = [rng.choice(np.flatnonzero(kind), count, replace=False) for kind, count in kinds]
    candidates = pool.candidates.select(names).take(rng.permutation(np.concatenate(rows)))
    calibrator = Weigher(map="ecdf", cap=CAP).fit(pool.reference.select(names))
    return calibrator.problem(candidates, k, m, marginals=paper_marginals)
