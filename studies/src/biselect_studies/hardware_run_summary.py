"""Table hardware_run_summary under simulation: fixed angles by width, and what warm starts close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biselect.hardware.analysis import closed_gap
from biselect_studies import wide_conditions as shared
from biselect_studies.heron_tables import BY_REPEAT, NOT_HARDWARE, RANGES, TWIRLED, Figures, beside, dots, on_device
from biselect_studies.measured import Circuit, Measured
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.study import DeviceColumns, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MASS, RATIO = "exact-budget %, noise model", "exact/chance, noise model"
DENSE, CLOSED, SPARSE = "dense gap, ideal", "warm gap closed %, ideal", "sparse gap, ideal"
PAPER_RATIO = {32: 161.0, 36: 218.0, 52: 876.0, 56: 5238.0, 64: 1875.0}
PAPER_CLOSED = {36: 93.3, 52: 82.7, 64: 78.1}


def fixed(quick: bool) -> list[shared.Condition]:
    """The conditions that have a row of their own."""
    return [condition for condition in shared.conditions(quick) if condition[2] == "fixed"]


def warm(condition: shared.Condition) -> shared.Condition:
    """The same width from a warm start."""
    return (*condition[:2], "warm")


def circuits(quick: bool) -> list[Circuit]:
    """What a device runs: fixed angles, and warm starts where there are any."""
    wanted = [each for condition in fixed(quick) for each in (condition, warm(condition))]
    return [shared.circuit(condition, quick) for condition in wanted if condition in shared.conditions(quick)]


def device_entries(device: Measured, records: Records, quick: bool) -> list[Entry]:
    """The same rows on a device."""
    made: list[Entry] = []
    for condition in fixed(quick):
        width = condition[0]
        row = row_name(condition)
        _, mass, dense, repaired = shared.PAPER[condition]
        figures = shared.device_figures(device, condition, quick)
        paper = {"exact-budget %": mass, "exact/chance": PAPER_RATIO[width], "dense gap": dense, "band-1 gap": repaired}
        made += on_device(device, row, figures, paper, shared.circuit(condition, quick))
        if warm(condition) in shared.conditions(quick):
            closed = _closed(device, condition, quick)
            both = [shared.circuit(each, quick) for each in (condition, warm(condition))]
            made += on_device(device, row, closed, {"warm gap closed %": PAPER_CLOSED[width]}, *both)
    return made


def _closed(device: Measured, condition: shared.Condition, quick: bool) -> Figures:
    found = [device.outcomes[shared.circuit(each, quick)] for each in (condition, warm(condition))]
    gaps = [outcome.strict.dense_gap for outcome in found if outcome is not None]
    if len(gaps) < len(found):
        return None
    cold, hot = gaps
    share = None if cold is None or hot is None else closed_gap(cold, hot, 0.0)
    return {"warm gap closed %": None if share is None else 100 * share}


def row_name(condition: shared.Condition) -> str:
    """The row of a width."""
    width, depth, _ = condition
    return f"{width} qubits, p = {depth}"


def summarise(records: Records, quick: bool) -> Findings:
    """One row a width."""
    cells: list[Entry] = []
    for condition in fixed(quick):
        width, row = condition[0], row_name(condition)
        _, mass, dense, sparse = shared.PAPER[condition]
        found = shared.ideal(records, condition, quick)
        noisy = shared.noisy_mass(records, condition, quick)
        gap = shared.dense_gap(records, condition, quick)
        cells += [
            beside(row, MASS, noisy, mass),
            beside(row, RATIO, noisy / 100 / found["chance"][0], PAPER_RATIO[width]),
            beside(row, DENSE, gap, dense),
        ]
        closed = None
        if warm(condition) in shared.conditions(quick):
            closed = closed_gap(gap, shared.dense_gap(records, warm(condition), quick), 0.0)
        if closed is not None:
            cells.append(beside(row, CLOSED, 100 * closed, PAPER_CLOSED[width]))
        cells.append(beside(row, SPARSE, shared.sparse_gap(records, condition, quick), sparse))
    return Findings(
        seeds=1,
        cells=tuple(cells),
        brackets=BY_REPEAT,
        notes=(
            NOT_HARDWARE,
            RANGES,
            TWIRLED,
            shared.FEW,
            "A warm start that the mixer leaves where it is in a single shot closes its whole gap by itself: what is "
            "closed says more of the start than of the circuit.",
            "The sparse gap is of strict shots, beside the paper's band-1 repaired one.",
        ),
    )


def draw(found: Findings) -> Figure:
    """Mass and dense gap by width, beside the device's."""
    return dots(found, (MASS, DENSE), "simulation, not hardware")


STUDY = Study(
    name="hardware-run-summary",
    title="Sparse circuits by width, simulated beside the device's figures",
    label="tab:hardware_run_summary",
    tasks=shared.tasks,
    summarise=summarise,
    draw=draw,
    device=DeviceColumns(circuits=circuits, entries=device_entries),
    choices=(shared.SETTING,),
)
