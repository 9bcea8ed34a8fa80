"""Sparse circuits of 32 to 64 qubits: tables cgxy_fixed_angle_condition_details and hardware_run_summary."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from biselect.hardware.analysis import Range, closed_gap
from biselect_studies import heron_tables as heron
from biselect_studies.figures import dots
from biselect_studies.measured import Circuit, Measured
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.study import DeviceColumns, Study, described
from biselect_studies.task import Task, tasks_for

if TYPE_CHECKING:
    from biselect.hardware.execute.outcomes import Outcome

WIDTHS = {32: 3, 36: 3, 52: 2, 56: 2, 64: 2}  # with their depths
CONDITIONS = {"fixed": "Fixed-angle", "warm": "Warm-start", "random": "Random-feasible"}
SHOTS, NOISY_SHOTS = 8192, 64
REPEATED = (36, 52, 64)  # three repeats each, the other widths one
COLUMNS = {  # under simulation
    "retained %": "retained %",
    "exact-budget %": "exact-budget %, noise model",
    "exact/chance": "exact/chance, noise model",
    "dense gap": "dense gap, ideal",
    "warm gap closed %": "warm gap closed %, ideal",
    "band-1 gap": "sparse gap, ideal",
}
DETAILS = ("retained %", "exact-budget %", "dense gap", "band-1 gap")
SUMMARY = ("exact-budget %", "exact/chance", "dense gap", "band-1 gap", "warm gap closed %")
NOTES = (
    heron.NOT_HARDWARE,
    heron.RANGES,
    heron.TWIRLED,
    f"{NOISY_SHOTS} shots under the noise model in the full form, so a mass is good to about six points.",
)
Condition = tuple[int, int, str]


def conditions(quick: bool) -> list[Condition]:
    """All of them, or the smallest."""
    started = {width: CONDITIONS if width in REPEATED else ("fixed",) for width in WIDTHS}
    return (
        [(32, 3, "fixed")] if quick else [(width, WIDTHS[width], name) for width in WIDTHS for name in started[width]]
    )


def rows(table: tuple[str, ...], quick: bool) -> dict[str, Condition]:
    """Conditions by the name of their row; the summary has one row a width, of fixed angles."""
    return {
        f"{width} qubits, p = {p}" + (f", {CONDITIONS[name]}" if table == DETAILS else ""): (width, p, name)
        for width, p, name in conditions(quick)
        if table == DETAILS or name == "fixed"
    }


def both(condition: Condition) -> list[Condition]:
    """The condition, and the same width from a warm start."""
    return [condition, (*condition[:2], "warm")]


def cell(condition: Condition, quick: bool, *, noisy: bool) -> dict[str, Any]:
    """Ideal or noisy shots of one condition."""
    width, depth, name = condition
    shots = (8 if quick else NOISY_SHOTS) if noisy else (512 if quick else SHOTS)
    return {"width": width, "p": depth, "condition": name, "noisy": noisy, "shots": shots}


def repeats_of(condition: Condition, quick: bool) -> int:
    """Repeats in the paper; one in the quick form."""
    return 3 if condition[0] in REPEATED and not quick else 1


def tasks(quick: bool) -> list[Task]:
    """Every condition, ideally and under the noise model."""
    found = []
    for condition in conditions(quick):
        repeats = repeats_of(condition, quick)
        found += tasks_for("heron_wide", cell(condition, quick, noisy=False), repeats, block=repeats)
        found += tasks_for("heron_wide", cell(condition, quick, noisy=True), 1, block=1)
    return found


def simulated(records: Records, condition: Condition, quick: bool) -> dict[str, Any]:
    """Figures of a condition; gaps are of the best repeat, and ideal shots need no repair."""
    ideal = records.of(cell(condition, quick, noisy=False))
    noisy = 100 * records.of(cell(condition, quick, noisy=True))["mass"]
    return {
        "retained %": 100 * ideal["retained"][:1],
        "exact-budget %": noisy,
        "exact/chance": noisy / 100 / ideal["chance"][0],
        "dense gap": float(ideal["best"].min() - ideal["classical"][0]),
        "band-1 gap": float(ideal["sparse_best"].min() - ideal["sparse_classical"][0]),
    }


def summarise(table: tuple[str, ...], notes: tuple[str, ...], records: Records, quick: bool) -> Findings:
    """Every row of a table, beside the device's figures."""
    cells: list[Entry] = []
    for row, condition in rows(table, quick).items():
        found = simulated(records, condition, quick)
        if condition[0] in REPEATED and not quick:
            cold, warm = (simulated(records, each, quick)["dense gap"] for each in both(condition))
            share = closed_gap(cold, warm, 0.0)
            found |= {} if share is None else {"warm gap closed %": 100 * share}
        shown = [name for name in COLUMNS if name in table and name in found]
        cells += [heron.beside(row, COLUMNS[name], found[name]) for name in shown]
    return Findings(seeds=1, cells=tuple(cells), brackets=heron.BY_REPEAT, notes=(*NOTES, *notes))


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


def circuits(table: tuple[str, ...], quick: bool) -> list[Circuit]:
    """What a device runs for a table: its rows, and the warm starts that the summary holds against fixed angles."""
    wanted = [each for row in rows(table, quick).values() for each in ([row] if table == DETAILS else both(row))]
    return [circuit(condition, quick) for condition in wanted if condition in conditions(quick)]


def device_entries(table: tuple[str, ...], device: Measured, records: Records, quick: bool) -> list[Entry]:
    """The same rows on a device, figures after repair among them."""
    made: list[Entry] = []
    for row, condition in rows(table, quick).items():
        for name in (name for name in table if name != "warm gap closed %" or condition[0] in REPEATED):
            runs = [circuit(each, quick) for each in (both(condition) if name == "warm gap closed %" else [condition])]
            made.append(heron.on_device(device, row, name, MEASURES[name], *runs))
    return made


def _gap(found: Outcome) -> Range | None:
    bests, reference = found.strict.best_energy_by_repeat, found.run.reference("dense")
    return None if bests is None else Range(bests.low - reference, bests.low - reference, bests.high - reference)


def _closed(fixed: Outcome, warm: Outcome) -> float | None:
    cold, hot = fixed.strict.dense_gap, warm.strict.dense_gap
    share = None if cold is None or hot is None else closed_gap(cold, hot, 0.0)
    return None if share is None else 100 * share


MEASURES: dict[str, Callable[..., Range | float | None]] = {
    "retained %": lambda found: 100 * float(found.run.circuit.manifest["retained_share"]),
    "exact-budget %": heron.mass,
    "exact/chance": lambda found: heron.scaled(found.strict.feasible_rate, 1 / found.strict.chance),
    "dense gap": _gap,
    "band-1 gap": lambda found: found.repaired.band_1_gap,
    "warm gap closed %": _closed,
}


def _study(name: str, table: tuple[str, ...], *notes: str) -> Study:
    shown = (COLUMNS["exact-budget %"], COLUMNS["dense gap"])
    return described(
        name,
        tasks=tasks,
        summarise=partial(summarise, table, notes),
        draw=lambda found: dots(found, shown, "simulation, not hardware", paper="paper, hardware"),
        device=DeviceColumns(circuits=partial(circuits, table), entries=partial(device_entries, table)),
    )


BY_CONDITION = _study(
    "cgxy-fixed-angle-condition-details",
    DETAILS,
    "Ideal shots all meet the budgets, so there is nothing to repair: the sparse gap is of strict shots, beside the "
    "paper's band-1 repaired one.",
)
BY_WIDTH = _study(
    "hardware-run-summary",
    SUMMARY,
    "A warm start that the mixer leaves where it is in a single shot closes its whole gap by itself: what is closed "
    "says more of the start than of the circuit.",
    "The sparse gap is of strict shots, beside the paper's band-1 repaired one.",
)
STUDIES = (BY_CONDITION, BY_WIDTH)
