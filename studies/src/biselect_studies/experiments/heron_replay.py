"""A fixed threshold at 20 qubits: trained angles on a placed circuit, ideally and under a noise model."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_quantum.circuits import AnsatzSpec, Program
from biselect_quantum.circuits.angle_selection import FIXED_ANGLE
from biselect_quantum.circuits.ansatz import Ansatz
from biselect_quantum.circuits.thresholds import Threshold
from biselect_quantum.circuits.training import train
from biselect_quantum.devices.device_circuit import DeviceCircuit
from biselect_quantum.devices.noise import cut_noise
from biselect_quantum.devices.noise.sampling import noisy_table
from biselect_quantum.shots import decode_bits
from biselect_studies.experiments.heron_case import PATHS, Case, Prepared, case
from biselect_studies.experiments.threshold_panel import EVIDENCE_SHOTS
from biselect_studies.quantum.registers import register_mass
from biselect_studies.task import Cell, Values


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """Angles fixed before anything is measured.

    Attributes:
        case: the placed problem.
        program: the circuit, open.
        angles: by the paper's search for the hit rate.
        threshold: E_BK of the dense problem in its own order.
        hit_rate: ideal p_BK.
        uniform: share of the sector at or below E_BK.
        bundle: the circuit with its angles, compiled for the device.
    """

    case: Case
    program: Program
    angles: NDArray[np.float64]
    threshold: Threshold
    hit_rate: float
    uniform: float
    bundle: DeviceCircuit


def heron_replay(cell: Cell, seeds: Iterable[int]) -> Values:
    """Ideal and uniform hit rates; `hits` and the exact-budget `mass` of noisy shots by a `path`, one repeat a seed.

    With `shots` nought it is the exact-budget mass without cross gates instead, by `ours` and by the `paper`'s path.
    """
    made = _trained(cell)
    target, dense = made.case.target, made.case.problem
    if not cell["shots"]:
        options: dict[str, Any] = {"layout": made.case.patch.layout, "angles": made.angles.tolist()}
        return {name: [register_mass(made.program, target, path=path, **options).mass] for name, path in PATHS.items()}
    compiled = made.case.compiled(made.program, made.angles, cell["path"])
    noisy = cut_noise(compiled, target)
    tables = [noisy_table(noisy, cell["shots"], seed, cell["courses"]) for seed in seeds]
    repeats = [decode_bits(table, dense, compiled.clbits) for table, _ in tables]
    goal = made.threshold.value + 1e-9 * abs(made.threshold.value)
    inside = [shots.samples(dense) for shots in repeats]
    return {
        "ideal": [made.hit_rate] * len(repeats),
        "uniform": [made.uniform] * len(repeats),
        "hits": [int(each.counts[each.energies <= goal].sum()) for each in inside],
        "mass": [shots.exact_budget_mass(dense) for shots in repeats],
        "flawless": [flawless for _, flawless in tables],
    }


def prepare(cell: Cell, target: Any) -> Prepared:
    """The circuit of a cell for a device, with angles trained for the patch that it gets there."""
    made = _trained(cell, target)
    return made.bundle, made.threshold


def _trained(cell: Cell, target: Any = None) -> Trained:
    return trained(cell["kind"], cell["width"], cell["instance"], cell["p"], cell["schedule"], target)


@cache
def trained(kind: str, width: int, instance: int, depth: int, schedule: str, target: Any = None) -> Trained:
    """E_BK from the tied circuit at π/4, then the paper's search for the schedule's angles."""
    found = case(kind, width, instance, target)
    options: dict[str, Any] = {"mixer": found.mixer, "start": found.canonical, "groups": found.groups}
    evidence = Ansatz(found.problem, depth, "tied", **options)
    fixed = np.full(evidence.size, FIXED_ANGLE)
    threshold = Threshold.from_shots(evidence, fixed, shots=EVIDENCE_SHOTS, seed=instance, pool="tied, all angles π/4")
    goal = threshold.value
    ansatz = Ansatz(found.problem, depth, schedule, **options)
    best = train(ansatz, strategy="threshold", objective="hit-rate", threshold=goal, seed=instance)
    program = AnsatzSpec(found.sparse, depth, schedule, found.mixer, found.canonical).program()
    return Trained(
        case=found,
        program=program,
        angles=np.asarray(best.angles),
        threshold=replace(threshold, problem_hash=found.problem.digest),
        hit_rate=ansatz.hit_rate(best.angles, goal),
        uniform=float((evidence.energies <= goal + 1e-9 * abs(goal)).mean()),
        bundle=found.bundle(program, schedule, best.angles),
    )
