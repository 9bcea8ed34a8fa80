"""Table cgxy_fixed_angle_condition_details under simulation: 32 to 64 qubits, three ways to start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biselect_studies import wide_conditions as shared
from biselect_studies.heron_tables import BY_REPEAT, NOT_HARDWARE, RANGES, TWIRLED, beside, dots, on_device
from biselect_studies.measured import Measured
from biselect_studies.results import Entry, Findings
from biselect_studies.runner import Records
from biselect_studies.study import DeviceColumns, Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RETAINED, MASS, DENSE, SPARSE = "retained %", "exact-budget %, noise model", "dense gap, ideal", "sparse gap, ideal"


DEVICE_COLUMNS = ("retained %", "exact-budget %", "dense gap", "band-1 gap")  # in the order of the paper's figures


def row_name(condition: shared.Condition) -> str:
    """The row of a condition."""
    width, depth, name = condition
    return f"{width} qubits, p = {depth}, {shared.CONDITIONS[name]}"


def device_entries(device: Measured, records: Records, quick: bool) -> list[Entry]:
    """The same figures on a device, those after repair among them."""
    made: list[Entry] = []
    for condition in shared.conditions(quick):
        paper = dict(zip(DEVICE_COLUMNS, shared.PAPER[condition], strict=True))
        figures = shared.device_figures(device, condition, quick)
        made += on_device(device, row_name(condition), figures, paper, shared.circuit(condition, quick))
    return made


def summarise(records: Records, quick: bool) -> Findings:
    """Retained mass, exact-budget mass and energy gaps of every condition."""
    cells: list[Entry] = []
    for condition in shared.conditions(quick):
        row = row_name(condition)
        retained, mass, dense, sparse = shared.PAPER[condition]
        found = shared.ideal(records, condition, quick)
        cells += [
            beside(row, RETAINED, 100 * found["retained"][:1], retained),
            beside(row, MASS, shared.noisy_mass(records, condition, quick), mass),
            beside(row, DENSE, shared.dense_gap(records, condition, quick), dense),
            beside(row, SPARSE, shared.sparse_gap(records, condition, quick), sparse),
        ]
    return Findings(
        seeds=1,
        cells=tuple(cells),
        brackets=BY_REPEAT,
        notes=(
            NOT_HARDWARE,
            RANGES,
            TWIRLED,
            shared.FEW,
            "Ideal shots all meet the budgets, so there is nothing to repair: the sparse gap is of strict shots, "
            "beside the paper's band-1 repaired one.",
        ),
    )


def draw(found: Findings) -> Figure:
    """Mass and dense gap, beside the device's."""
    return dots(found, (MASS, DENSE), "simulation, not hardware")


STUDY = Study(
    name="cgxy-fixed-angle-condition-details",
    title="Sparse circuits of 32 to 64 qubits, simulated beside the device's figures",
    label="tab:cgxy_fixed_angle_condition_details",
    tasks=shared.tasks,
    summarise=summarise,
    draw=draw,
    device=DeviceColumns(
        circuits=lambda quick: [shared.circuit(condition, quick) for condition in shared.conditions(quick)],
        entries=device_entries,
    ),
    choices=(shared.SETTING,),
)
