"""The 32 to 64 qubit conditions that two tables share."""

from __future__ import annotations

from typing import Any

from biselect.hardware.analysis import Range
from biselect_studies.heron_tables import Figures, of_cell, scaled
from biselect_studies.measured import Circuit, Measured
from biselect_studies.runner import Records
from biselect_studies.task import Task, tasks_for

PAPER = {  # width, p, condition: retained %, exact-budget %, dense gap, band-1 gap, all of the device
    (32, 3, "fixed"): (4.6, 56.3, 6.3, 0.2),
    (36, 3, "fixed"): (3.6, 47.4, 19.9, 1.8),
    (36, 3, "warm"): (3.6, 49.1, 1.3, 0.0),
    (36, 3, "random"): (3.6, 50.9, 38.7, 8.6),
    (52, 2, "fixed"): (2.3, 31.2, 103.8, 12.7),
    (52, 2, "warm"): (2.3, 35.1, 18.0, 4.0),
    (52, 2, "random"): (2.3, 32.2, 105.4, 9.1),
    (56, 2, "fixed"): (2.6, 42.2, 113.4, 3.2),
    (64, 2, "fixed"): (2.1, 25.5, 84.9, 15.2),
    (64, 2, "warm"): (2.1, 33.5, 18.6, 13.4),
    (64, 2, "random"): (2.1, 32.3, 117.9, 11.3),
}
CONDITIONS = {"fixed": "Fixed-angle", "warm": "Warm-start", "random": "Random-feasible"}
SHOTS = 8192
NOISY_SHOTS = 64
REPEATED = (36, 52, 64)  # three repeats each, the other widths one

FEW = f"{NOISY_SHOTS} shots under the noise model in the full form, so a mass is good to about six points."

Condition = tuple[int, int, str]
SETTING = (
    "Instances are of the Credit Card excerpt, sizes (19,13,5,5), (22,14,6,5), (31,21,8,8), (34,22,8,8) and "
    "(38,26,10,10), which give the paper's chance probabilities; FakeBoston's best patches, exact placement, "
    "bilinear-CG circuits, dense rescoring. Fixed angles are all π/4 from the first k samples and m features of the "
    "placed order; warm starts and their angles follow the paper's tensor-network protocol, by exact matrix product "
    "states."
)


def conditions(quick: bool) -> list[Condition]:
    """All of them, or the smallest."""
    return [(32, 3, "fixed")] if quick else list(PAPER)


def cell(condition: Condition, quick: bool, *, noisy: bool) -> dict[str, Any]:
    """Ideal or noisy shots of one condition."""
    width, depth, name = condition
    shots = (8 if quick else NOISY_SHOTS) if noisy else (512 if quick else SHOTS)
    return {"width": width, "p": depth, "condition": name, "noisy": noisy, "shots": shots}


def circuit(condition: Condition, quick: bool) -> Circuit:
    """A condition as a device runs it: the paper's shots on hardware."""
    width, depth, name = condition
    return Circuit(
        name=f"wide-{width}-p{depth}-{name}",
        experiment="heron_wide",
        cell=(("condition", name), ("p", depth), ("width", width)),
        hardware=(repeats_of(condition, quick), cell(condition, quick, noisy=False)["shots"]),
        model=(1, cell(condition, quick, noisy=True)["shots"]),
    )


def repeats_of(condition: Condition, quick: bool) -> int:
    """Repeats in the paper; one in the quick form."""
    return 3 if condition[0] in REPEATED and not quick else 1


def device_figures(device: Measured, condition: Condition, quick: bool) -> Figures:
    """What a device found of a condition; None while it is pending."""
    found = device.outcomes[circuit(condition, quick)]
    if found is None:
        return None
    strict, bests, reference = found.strict, found.strict.best_energy_by_repeat, found.run.reference("dense")
    gap = None if bests is None else Range(bests.low - reference, bests.low - reference, bests.high - reference)
    return {
        "retained %": 100 * float(found.run.circuit.manifest["retained_share"]),
        "exact-budget %": scaled(strict.feasible_rate, 100),
        "exact/chance": scaled(strict.feasible_rate, 1 / strict.chance),
        "dense gap": gap,
        "band-1 gap": found.repaired.band_1_gap,
    }


def tasks(quick: bool) -> list[Task]:
    """Every condition, ideally and under the noise model."""
    found = []
    for condition in conditions(quick):
        repeats = repeats_of(condition, quick)
        found += tasks_for("heron_wide", cell(condition, quick, noisy=False), repeats, block=repeats)
        found += tasks_for("heron_wide", cell(condition, quick, noisy=True), 1, block=1)
    return found


def ideal(records: Records, condition: Condition, quick: bool) -> dict[str, Any]:
    """Figures of ideal shots."""
    return of_cell(records, cell(condition, quick, noisy=False))


def noisy_mass(records: Records, condition: Condition, quick: bool) -> Any:
    """Exact-budget mass under the noise model, per cent."""
    return 100 * of_cell(records, cell(condition, quick, noisy=True))["mass"]


def dense_gap(records: Records, condition: Condition, quick: bool) -> float:
    """Best dense energy of all repeats above the classical reference."""
    found = ideal(records, condition, quick)
    return float(found["best"].min() - found["classical"][0])


def sparse_gap(records: Records, condition: Condition, quick: bool) -> float:
    """Best sparse energy of all repeats above the exact sparse optimum; ideal shots need no repair."""
    found = ideal(records, condition, quick)
    return float(found["sparse_best"].min() - found["sparse_classical"][0])
