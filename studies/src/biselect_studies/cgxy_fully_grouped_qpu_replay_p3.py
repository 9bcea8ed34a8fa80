"""Table cgxy_fully_grouped_qpu_replay_p3: hit rates instance by instance, noiseless and under a noise model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import gmean

from biselect_studies import panel_on_chip as chip
from biselect_studies import threshold_tables as panel
from biselect_studies.heron_tables import BY_REPEAT, POOLED
from biselect_studies.results import BOOTSTRAP, Entry, Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import DeviceColumns, Study
from biselect_studies.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = {  # 10⁴ p_BK of the paper's eight instances
    "tied": (13.06, 0.89, 0.76, 7.71, 1.31, 30.69, 1.22, 8.24),
    "bilinear": (13.06, 0.95, 1.52, 7.71, 3.22, 30.69, 1.74, 9.91),
    "fixed-transport": (132.99, 3.02, 2.65, 33.31, 6.18, 30.69, 2.47, 18.72),
    "fully-grouped": (131.40, 12.07, 8.14, 13.36, 12.35, 45.00, 53.96, 40.38),
}
SHOWN = 8
OURS, GEOMETRIC = "Fully grouped, our search", "geometric mean of all"


def tasks(quick: bool) -> list[Task]:
    """The panel, and the same blocks on a chip."""
    return panel.tasks(quick) + chip.tasks(quick)


def summarise(records: Records, quick: bool) -> Findings:
    """The first eight of our instances beside the paper's, both from the highest to the lowest tied hit rate."""
    cells: list[Entry] = []
    columns = {row: 1e4 * panel.rates(records, f"paper {schedule}") for schedule, row in panel.VARIANTS.items()}
    columns |= {row: 1e4 * panel.rates(records, f"paper {schedule}") for schedule, row in panel.FAIR.items()}
    columns |= {
        OURS: 1e4 * panel.rates(records, "ours fully-grouped"),
        panel.UNIFORM: 1e4 * panel.rates(records, "uniform"),
    }
    printed = {panel.VARIANTS[schedule]: np.array(values) for schedule, values in PAPER.items()}
    shown = min(SHOWN, len(columns[panel.UNIFORM]))
    order = np.argsort(-columns["XY-QAOA"][:shown], kind="stable")
    theirs = np.argsort(-printed["XY-QAOA"], kind="stable")
    for place in range(shown):
        for column, values in columns.items():
            ours = float(values[order[place]])
            paper = float(printed[column][theirs[place]]) if column in printed else None
            verdict = "-" if paper is None else "not compared"
            cells.append(
                Entry(row=f"{place + 1}.", column=column, ours=ours, low=ours, high=ours, paper=paper, verdict=verdict)
            )
    for column, values in columns.items():
        paper = float(np.exp(np.log(printed[column]).mean())) if column in printed else None
        cells.append(entry(GEOMETRIC, column, values, paper=paper, decimals=2, statistic=gmean))
    return Findings(
        seeds=panel.seeds(quick),
        cells=(*cells, *chip.entries(records, quick)),
        brackets=f"{BOOTSTRAP}, of placed circuits {BY_REPEAT}",
        notes=(
            "The instances are not the paper's, so rows are ordered by XY-QAOA's hit rate on either side and not "
            f"compared; the last row, geometric means over all {len(columns[panel.UNIFORM])} of ours and the paper's "
            "eight, is.",
            panel.left_out(records),
            "All columns but two are by the paper's search.",
            "Layerwise XY-QAOA, our search and uniform feasible sampling are ours to add; classical search is in "
            "cgxy-best-known-threshold-summary-p3.",
            *chip.NOTES,
        ),
    )


def draw(found: Findings) -> Figure:
    """A dot for each instance and schedule, ours and the paper's."""
    from biselect.report.style import COLOURS, panels

    figure, axes = panels(1, 1, width=5.6, height=3.0)
    columns = list(dict.fromkeys(e.column for e in found.cells if e.row == GEOMETRIC))
    rows = [row for row in dict.fromkeys(e.row for e in found.cells if e.column in columns) if row != GEOMETRIC]
    for place, column in enumerate(columns):
        cells = [found.find(row, column) for row in rows]
        dots = [e.ours for e in cells]
        axes[0, 0].plot(
            dots, [place - 0.1] * len(dots), "o", color=COLOURS[0], alpha=0.6, label=None if place else "ours"
        )
        crosses = [e.paper for e in cells if e.paper is not None]
        label = None if place else "paper"
        axes[0, 0].plot(crosses, [place + 0.15] * len(crosses), "x", color="black", label=label)
        middle = found.find(GEOMETRIC, column).ours
        axes[0, 0].plot(
            [middle] * 2, [place - 0.3, place + 0.1], color=COLOURS[1], label=None if place else "our geometric mean"
        )
    axes[0, 0].set_yticks(range(len(columns)), columns)
    axes[0, 0].invert_yaxis()
    axes[0, 0].set(xlabel="10⁴ p_BK", xscale="log")
    axes[0, 0].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


STUDY = Study(
    name="cgxy-fully-grouped-qpu-replay-p3",
    title="Hit rates of a fixed threshold, instance by instance",
    label="tab:cgxy_fully_grouped_qpu_replay_p3",
    tasks=tasks,
    summarise=summarise,
    draw=draw,
    device=DeviceColumns(circuits=chip.circuits, entries=chip.device_entries, brackets=POOLED),
    choices=(
        panel.FAMILY,
        panel.PROTOCOL,
        panel.BUDGET,
    ),
    readings=(panel.EIGHT, panel.FROM_TIED),
)
