"""A fixed threshold at 20 qubits: trained angles on a placed circuit, ideally and under a noise model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.hardware.noise import noisy_shots, register_mass
from biselect.hardware.paths import COMPLETE_FRACTIONAL, IN_ORDER, CompilationPath
from biselect.qaoa import AnsatzSpec, Program
from biselect.qaoa.ansatz import Ansatz
from biselect.qaoa.protocols import FIXED_ANGLE
from biselect.qaoa.thresholds import Threshold
from biselect.qaoa.training import train
from biselect_studies.experiments.heron_case import Case, Prepared, case
from biselect_studies.task import Cell, Values

EVIDENCE_SHOTS = round(0.67 * 40_960)  # the paper's shots of a device that keeps 67 % of them inside the budgets
PATHS: dict[str, CompilationPath] = {"ours": IN_ORDER, "paper": replace(COMPLETE_FRACTIONAL, coloured=False)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """Angles fixed before anything is measured.

    Attributes:
        case: the placed problem.
        program: the circuit, open.
        schedule: of its angles.
        angles: by the paper's search for the hit rate.
        threshold: E_BK of the dense problem in its own order.
        hit_rate: ideal p_BK.
        uniform: share of the sector at or below E_BK.
    """

    case: Case
    program: Program
    schedule: str
    angles: NDArray[np.float64]
    threshold: Threshold
    hit_rate: float
    uniform: float


def work(cell: Cell, seeds: Iterable[int]) -> Values:
    """Ideal and uniform hit rates; `hits` and the exact-budget `mass` of noisy shots, one repeat a seed.

    With `shots` nought it is the exact-budget mass without cross gates instead, by `ours` and by the `paper`'s path.
    """
    made = _trained(cell)
    if not cell["shots"]:
        return {name: [_exact_mass(made, path)] for name, path in PATHS.items()}
    compiled = made.case.compiled(made.program, made.schedule, made.angles).compiled
    goal = made.threshold.value + 1e-9 * abs(made.threshold.value)
    values: Values = {}
    for seed in seeds:
        noisy = noisy_shots(compiled, made.case.target, made.case.placed, cell["shots"], seed=seed)
        inside = noisy.shots.samples(made.case.placed)
        found: dict[str, Any] = {
            "ideal": made.hit_rate,
            "uniform": made.uniform,
            "hits": int(inside.counts[inside.energies <= goal].sum()),
            "mass": noisy.shots.exact_budget_mass(made.case.placed),
            "flawless": noisy.flawless,
        }
        for name, value in found.items():
            values.setdefault(name, []).append(value)
    return values


def prepare(cell: Cell, target: Any) -> Prepared:
    """The circuit of a cell for a device, with angles trained for the patch that it gets there."""
    made = _trained(cell, target)
    return Prepared(bundle=made.case.compiled(made.program, made.schedule, made.angles), threshold=made.threshold)


def _trained(cell: Cell, target: Any = None) -> Trained:
    return trained(cell["kind"], cell["width"], cell["instance"], cell["p"], cell["schedule"], target)


@cache
def trained(kind: str, width: int, instance: int, depth: int, schedule: str, target: Any = None) -> Trained:
    """E_BK from the tied circuit at π/4, then the paper's search for the schedule's angles."""
    found = case(kind, width, instance, target)
    options: dict[str, Any] = {"mixer": found.mixer, "start": "canonical", "groups": found.groups}
    evidence = Ansatz(found.placed, depth, "tied", **options)
    fixed = np.full(evidence.size, FIXED_ANGLE)
    threshold = Threshold.from_shots(evidence, fixed, shots=EVIDENCE_SHOTS, seed=instance, pool="tied, all angles π/4")
    ansatz = Ansatz(found.placed, depth, schedule, **options)
    best = train(ansatz, strategy="threshold", objective="hit-rate", threshold=threshold.value, seed=instance)
    slack = 1e-9 * abs(threshold.value)
    return Trained(
        case=found,
        program=AnsatzSpec(found.sparse, depth, schedule, found.mixer, "canonical").program(),
        schedule=schedule,
        angles=np.asarray(best.angles),
        threshold=replace(threshold, problem_hash=found.problem.digest),
        hit_rate=ansatz.hit_rate(best.angles, threshold.value),
        uniform=float((evidence.energies <= threshold.value + slack).mean()),
    )


def _exact_mass(made: Trained, path: CompilationPath) -> float:
    place = made.case
    return register_mass(made.program, place.target, place.patch.layout, path, angles=made.angles.tolist()).mass
