"""Sparse circuits of 32 to 64 qubits: ideal shots, or shots under a noise model."""

from collections.abc import Iterable
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biselect_quantum.circuits import Program
from biselect_quantum.circuits.angle_selection import (
    AngleSelection,
    WideShots,
    fixed_angles,
    select_by_paper,
    warm_starts,
)
from biselect_quantum.circuits.spec import AnsatzSpec
from biselect_quantum.circuits.starts import Choice, start_choice
from biselect_quantum.devices import hardware_mask, retained_mass
from biselect_quantum.devices.analysis import analyse, analyse_repaired
from biselect_quantum.uniform import uniform_energy
from biselect_studies.experiments.heron_case import Case, Prepared, case
from biselect_studies.quantum.mean_field import sparse_optimum
from biselect_studies.quantum.register_trees import register_shots
from biselect_studies.task import Cell, Values

SCHEDULE = "bilinear"
CONTROL_SEED = 1  # of the random feasible start


def heron_wide(cell: Cell, seeds: Iterable[int]) -> Values:
    """One repeat a seed, of ideal shots or, with a `path`, under the noise model by that path; gaps of dense energies.

    Noisy shots are drawn register by register: what cross gates correlate is left out. How much that matters is what
    the mean energy of shots drawn so without any error (`alone_mean`) says beside the ideal ones. Without errors both
    paths are one circuit, so only the paper's has it.
    """
    found = case("creditcard", cell["width"], 0)
    start, angles = _protocol(found, cell)
    dense, sparse = (
        found.problem.energy(*warm_starts(found.problem, 1)[0]),
        found.sparse.energy(*sparse_optimum(found.sparse)),
    )
    if cell["path"] is None:
        draw = _draw(found, cell["p"])
        repeats = [draw(start, angles, cell["shots"], seed) for seed in seeds]
        facts = {
            "retained": retained_mass(found.problem, hardware_mask(found.patch))[1],
            "chance": found.problem.sector.chance,
            "spread": uniform_energy(found.problem)[1],
        }
        return {
            **{name: [value] * len(repeats) for name, value in facts.items()},
            "gap": [float(shots.energies[0]) - dense for shots in repeats],
            "sparse_gap": [
                float(found.sparse.energies(shots.samples, shots.features).min()) - sparse for shots in repeats
            ],
            "mean": [shots.mean_energy() for shots in repeats],
        }
    compiled = found.compiled(_program(found, cell, start), angles, cell["path"])
    values: Values = {}
    for seed in seeds:
        drawn = partial(register_shots, compiled, found.target, found.problem, cell["shots"], seed=seed)
        noisy = drawn(errors=True)
        strict = analyse(found.problem, [noisy.shots], threshold=dense, reference=dense)
        repaired = analyse_repaired(found.sparse, [noisy.shots], reference=sparse)
        figures = {
            "mass": strict.feasible_rate.value,
            "gap": strict.dense_gap,
            "band_1": repaired.band_1_gap,
            "flawless": noisy.flawless,
        }
        if cell["path"] == "paper":
            alone = drawn(errors=False).shots.samples(found.problem)
            figures["alone_mean"] = alone.mean_energy()
        for name, value in figures.items():
            values.setdefault(name, []).append(value)
    return values


def prepare(cell: Cell, target: Any) -> Prepared:
    """The circuit of a condition for a device, with angles selected for the patch that it gets there."""
    found = case("creditcard", cell["width"], 0, target)
    start, angles = _protocol(found, cell)
    return found.bundle(_program(found, cell, start), SCHEDULE, angles), None


@cache
def selection(found: Case, depth: int) -> AngleSelection:
    """The paper's angle selection from two warm starts, inherited angles π/4."""
    draw = _draw(found, depth)
    return select_by_paper(found.problem, draw, warm_starts(found.problem), fixed_angles(draw.spec.schedule))


def _protocol(found: Case, cell: Cell) -> tuple[Choice, NDArray[np.float64]]:
    """Start and angles of a condition."""
    if cell["condition"] == "fixed":
        return found.canonical, fixed_angles(_draw(found, cell["p"]).spec.schedule)
    chosen = selection(found, cell["p"])
    warm = cell["condition"] == "warm"
    return chosen.start if warm else found.items(start_choice(found.problem, "random", CONTROL_SEED)), chosen.angles


def _draw(found: Case, depth: int) -> WideShots:
    return WideShots(AnsatzSpec(found.problem, depth, SCHEDULE, found.mixer, groups=found.groups))


def _program(found: Case, cell: Cell, start: Choice) -> Program:
    return AnsatzSpec(found.sparse, cell["p"], SCHEDULE, found.mixer, start).program()
