"""Sparse circuits of 32 to 64 qubits: ideal shots, or shots under a noise model."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect.hardware import hardware_mask, retained_mass
from biselect.hardware.bundle import Bundle
from biselect.hardware.noise import noisy_shots
from biselect.hardware.surrogates import sparse_optimum
from biselect.qaoa.angle_selection import AngleSelection, WideShots, fixed_angles, select_by_paper, warm_starts
from biselect.qaoa.spec import AnsatzSpec
from biselect.qaoa.starts import Choice, start_choice
from biselect_studies.experiments.heron_case import Case, Prepared, case
from biselect_studies.task import Cell, Values

SCHEDULE = "bilinear"
CONTROL_SEED = 1  # of the random feasible start


def heron_wide(cell: Cell, seeds: Iterable[int]) -> Values:
    """One repeat a seed: energies of ideal shots, or with `noisy` the exact-budget mass under the noise model."""
    found = case("creditcard", cell["width"], 0)
    if cell["noisy"]:
        compiled = _compiled(found, cell).compiled
        noisy = (noisy_shots(compiled, found.target, found.placed, cell["shots"], seed=seed) for seed in seeds)
        return {"mass": [each.shots.exact_budget_mass(found.placed) for each in noisy]}
    start, angles = _protocol(found, cell)
    draw = _draw(found, cell["p"])
    repeats = [draw(start, angles, cell["shots"], seed) for seed in seeds]
    references = {
        "retained": retained_mass(found.placed, hardware_mask(found.patch))[1],
        "classical": found.placed.energy(*warm_starts(found.placed, 1)[0]),
        "sparse_classical": found.sparse.energy(*sparse_optimum(found.sparse)),
        "chance": found.placed.sector.chance,
    }
    return {
        **{name: [value] * len(repeats) for name, value in references.items()},
        "best": [float(shots.energies[0]) for shots in repeats],
        "sparse_best": [float(found.sparse.energies(shots.samples, shots.features).min()) for shots in repeats],
        "mean": [shots.mean_energy() for shots in repeats],
    }


def prepare(cell: Cell, target: Any) -> Prepared:
    """The circuit of a condition for a device, with angles selected for the patch that it gets there."""
    return _compiled(case("creditcard", cell["width"], 0, target), cell), None


@cache
def selection(found: Case, depth: int) -> AngleSelection:
    """The paper's angle selection from two warm starts, inherited angles π/4."""
    draw = _draw(found, depth)
    return select_by_paper(found.placed, draw, warm_starts(found.placed), fixed_angles(draw.spec.schedule))


def _protocol(found: Case, cell: Cell) -> tuple[Choice, NDArray[np.float64]]:
    """Start and angles of a condition."""
    if cell["condition"] == "fixed":
        return start_choice(found.placed, "canonical"), fixed_angles(_draw(found, cell["p"]).spec.schedule)
    chosen = selection(found, cell["p"])
    warm = cell["condition"] == "warm"
    return chosen.start if warm else start_choice(found.placed, "random", CONTROL_SEED), chosen.angles


def _draw(found: Case, depth: int) -> WideShots:
    return WideShots(AnsatzSpec(found.placed, depth, SCHEDULE, found.mixer, groups=found.groups))


def _compiled(found: Case, cell: Cell) -> Bundle:
    start, angles = _protocol(found, cell)
    program = AnsatzSpec(found.sparse, cell["p"], SCHEDULE, found.mixer, start).program()
    return found.compiled(program, SCHEDULE, angles)
