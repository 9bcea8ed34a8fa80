"""Table hardware_run_summary under simulation: fixed angles by width, and what warm starts close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biselect.hardware.analysis import closed_gap
from biselect.studies import wide_conditions as shared
from biselect.studies.heron_tables import NOT_HARDWARE, RANGES, TWIRLED, beside, dots
from biselect.studies.results import Entry, Findings
from biselect.studies.runner import Records
from biselect.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MASS, RATIO = "exact-budget %, noise model", "exact/chance, noise model"
DENSE, CLOSED, SPARSE = "dense gap, ideal", "warm gap closed %, ideal", "sparse gap, ideal"
PAPER_RATIO = {32: 161.0, 36: 218.0, 52: 876.0, 56: 5238.0, 64: 1875.0}
PAPER_CLOSED = {36: 93.3, 52: 82.7, 64: 78.1}


def summarise(records: Records, quick: bool) -> Findings:
    """One row a width."""
    cells: list[Entry] = []
    for condition in shared.conditions(quick):
        width, depth, name = condition
        if name != "fixed":
            continue
        row = f"{width} qubits, p = {depth}"
        _, mass, dense, sparse = shared.PAPER[condition]
        found = shared.ideal(records, condition, quick)
        noisy = shared.noisy_mass(records, condition, quick)
        gap = shared.dense_gap(records, condition, quick)
        cells += [
            beside(row, MASS, noisy, mass),
            beside(row, RATIO, noisy / 100 / found["chance"][0], PAPER_RATIO[width]),
            beside(row, DENSE, gap, dense),
        ]
        warm = (width, depth, "warm")
        closed = None
        if warm in shared.conditions(quick):
            closed = closed_gap(gap, shared.dense_gap(records, warm, quick), 0.0)
        if closed is not None:
            cells.append(beside(row, CLOSED, 100 * closed, PAPER_CLOSED[width]))
        cells.append(beside(row, SPARSE, shared.sparse_gap(records, condition, quick), sparse))
    return Findings(
        seeds=1,
        cells=tuple(cells),
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
    choices=(shared.SETTING,),
)
