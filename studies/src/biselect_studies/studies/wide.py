"""Sparse circuits of 32 to 64 qubits: tables cgxy_fixed_angle_condition_details and hardware_run_summary."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biselect_quantum.devices.analysis import Range, closed_gap
from biselect_studies.figures import dots
from biselect_studies.measured import Circuit, Measured
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.studies import hardware as heron
from biselect_studies.study import DeviceColumns, Study, described
from biselect_studies.task import Task, tasks_for

if TYPE_CHECKING:
    from biselect_quantum.devices.execution.outcomes import Outcome


WIDTHS = {32: 3, 36: 3, 52: 2, 56: 2, 64: 2}  # with their depths
CONDITIONS = {"fixed": "Fixed-angle", "warm": "Warm-start", "random": "Random-feasible"}
SHOTS, NOISY_SHOTS = 8192, 4096
REPEATED = (36, 52, 64)  # three repeats each, the other widths one
MODEL_SHOTS = 64  # of the whole circuit, cross gates too, where a noise model stands in for a device
BY_PATH = heron.BY_PATH
DETAILS = ("retained %", "exact-budget %", "dense gap", "band-1 gap")
SUMMARY = ("exact-budget %", "exact/chance", "dense gap", "band-1 gap", "warm gap closed %")
IDEAL = {"dense gap": "dense gap, ideal", "band-1 gap": "sparse gap, ideal"}
NOTES = (
    heron.NOT_HARDWARE,
    heron.RANGES,
    heron.TWIRLED,
    f"{NOISY_SHOTS:,} shots under the noise model, gaps of the best of them, band-1 gaps after repair of those one off "
    "a budget. Noisy shots are drawn register by register: errors of all gates are in, what cross gates "
    "correlate is not.",
    heron.TWO_PATHS,
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


def cell(condition: Condition, quick: bool, path: str | None = None) -> dict[str, Any]:
    """Ideal shots of one condition, or noisy ones by a path."""
    width, depth, name = condition
    shots = (512 if quick else SHOTS) if path is None else (128 if quick else NOISY_SHOTS)
    return {"width": width, "p": depth, "condition": name, "path": path, "shots": shots}


def repeats_of(condition: Condition, quick: bool) -> int:
    """Repeats in the paper; one in the quick form."""
    return 3 if condition[0] in REPEATED and not quick else 1


def tasks(quick: bool) -> list[Task]:
    """Every condition, ideally and under the noise model by both paths."""
    found = []
    for condition in conditions(quick):
        repeats = repeats_of(condition, quick)
        found += tasks_for("heron_wide", cell(condition, quick), repeats, block=repeats)
        for path in BY_PATH:
            found += tasks_for("heron_wide", cell(condition, quick, path), 1, block=1)
    return found


def simulated(records: Records, condition: Condition, quick: bool) -> dict[str, Any]:
    """Figures of a condition by column; gaps are of the best shot of all."""
    ideal = records.of(cell(condition, quick))
    found = {
        "retained %": 100 * ideal["retained"][:1],
        IDEAL["dense gap"]: float(ideal["gap"].min()),
        IDEAL["band-1 gap"]: float(ideal["sparse_gap"].min()),
    }
    for path, label in BY_PATH.items():
        noisy = records.of(cell(condition, quick, path))
        found |= {
            f"exact-budget %, {label}": 100 * noisy["mass"],
            f"exact/chance, {label}": noisy["mass"] / ideal["chance"][0],
            f"dense gap, {label}": noisy["gap"],
            f"band-1 gap, {label}": noisy["band_1"],
        }
    return found


def summarise(table: tuple[str, ...], notes: tuple[str, ...], records: Records, quick: bool) -> Findings:
    """Every row of a table, beside the device's figures."""
    cells: list[Entry] = []
    for row, condition in rows(table, quick).items():
        found = simulated(records, condition, quick)
        if condition[0] in REPEATED and not quick:
            cold, warm = (simulated(records, each, quick) for each in both(condition))
            for label in ("ideal", *BY_PATH.values()):
                fixed, hot = (float(np.min(each[f"dense gap, {label}"])) for each in (cold, warm))
                share = closed_gap(fixed, hot, 0.0)
                found |= {} if share is None else {f"warm gap closed %, {label}": 100 * share}
        for name in table:
            shown = [column for column in found if column == name or column.startswith(f"{name}, ")]
            shown += [IDEAL[name]] if name == "band-1 gap" else []
            cells += [heron.beside(row, column, found[column]) for column in shown]
    if table == SUMMARY:
        cells += all_widths(cells)
    notes = (*NOTES, left_out(records, quick), *notes)
    return Findings(seeds=1, cells=tuple(cells), brackets=heron.BY_REPEAT, notes=notes)


def all_widths(cells: list[Entry]) -> list[Entry]:
    """The range of the share that warm starts close."""
    columns = dict.fromkeys(cell.column for cell in cells if cell.column.startswith("warm gap closed"))
    return [heron.beside("all widths", name, [cell.ours for cell in cells if cell.column == name]) for name in columns]


def left_out(records: Records, quick: bool) -> str:
    """What drawing registers apart changes where nothing errs: the mean energy, in random choices' spreads."""
    off = []
    for condition in conditions(quick):
        ideal = records.of(cell(condition, quick))
        alone = records.of(cell(condition, quick, "paper"))["alone_mean"]
        off.append(abs(float(alone.mean() - ideal["mean"].mean())) / float(ideal["spread"][0]))
    return (
        f"Leaving out what cross gates correlate moves the mean energy of shots without errors by {np.median(off):.2f} "
        f"spreads of random feasible choices in the median condition, {max(off):.2f} in the worst."
    )


def circuit(condition: Condition, quick: bool) -> Circuit:
    """A condition as a device runs it: the paper's shots on hardware."""
    width, depth, name = condition
    return Circuit(
        name=f"wide-{width}-p{depth}-{name}",
        experiment="heron_wide",
        cell=(("condition", name), ("p", depth), ("width", width)),
        hardware=(repeats_of(condition, quick), cell(condition, quick)["shots"]),
        model=(1, 8 if quick else MODEL_SHOTS),
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
    "retained %": lambda found: 100 * float(found.run.circuit.retained_share),
    "exact-budget %": heron.mass,
    "exact/chance": lambda found: heron.scaled(found.strict.feasible_rate, 1 / found.strict.chance),
    "dense gap": _gap,
    "band-1 gap": lambda found: found.repaired.band_1_gap,
    "warm gap closed %": _closed,
}


def _study(name: str, table: tuple[str, ...], *notes: str) -> Study:
    shown = tuple(f"{name}, {BY_PATH['paper']}" for name in ("exact-budget %", "dense gap"))
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
    "Ideal shots all meet the budgets, so there is nothing to repair: the ideal sparse gap is of strict shots.",
)
BY_WIDTH = _study(
    "hardware-run-summary",
    SUMMARY,
    "A warm start that the mixer leaves where it is in a single shot closes its whole gap by itself: what is closed "
    "says more of the start than of the circuit.",
)


STUDIES = (
    BY_CONDITION,
    BY_WIDTH,
)
