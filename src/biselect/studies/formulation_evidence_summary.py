"""Table formulation_evidence_summary, its synthetic rows: sequential against joint by noise fraction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biselect.studies import synthetic_table as table
from biselect.studies.results import Findings, entry
from biselect.studies.runner import Records
from biselect.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = {  # sequential, joint, Δ in percentage points
    0.0: (0.833, 0.833, 0.0),
    0.2: (0.854, 0.885, 3.1),
    0.4: (0.821, 0.955, 13.4),
    0.5: (0.791, 1.000, 20.9),
    0.6: (0.752, 0.944, 19.2),
}
COLUMNS = ("sequential", "joint")


def summarise(records: Records, quick: bool) -> Findings:
    """Means of both and their difference."""
    cells = []
    for noise, (sequential, joint, points) in PAPER.items():
        row = f"Synthetic, ν = {table.percent(noise)}"
        first, both = table.values(records, noise, "feature-first"), table.values(records, noise, table.JOINT)
        cells.append(entry(row, COLUMNS[0], first, paper=sequential))
        cells.append(entry(row, COLUMNS[1], both, paper=joint))
        cells.append(entry(row, "Δ pp", 100 * (both - first), paper=points, decimals=1))
    return Findings(
        seeds=table.seeds(quick),
        cells=tuple(cells),
        notes=("The table's Credit Card and IBM rows need those tables and are studies of their own.",),
    )


def draw(found: Findings) -> Figure:
    """Both selectors with their intervals; the paper's figures as crosses."""
    from biselect.studies.style import COLOURS, MARKERS, panels

    figure, axes = panels(1, 1, width=4.6, height=2.8)
    rows = [f"Synthetic, ν = {table.percent(noise)}" for noise in PAPER]
    for side, column in enumerate(COLUMNS):
        points = [found.find(row, column) for row in rows]
        x = [position + 0.2 * (side - 0.5) for position in range(len(rows))]
        error = [[e.ours - e.low for e in points], [e.high - e.ours for e in points]]
        look = {"color": COLOURS[1 - side], "marker": MARKERS[1 - side], "linestyle": "none"}
        axes[0, 0].errorbar(x, [e.ours for e in points], yerr=error, label=column, **look)
        axes[0, 0].plot(x, [e.paper for e in points], "x", color="black", label="paper" if side else None, zorder=5)
    axes[0, 0].set_xticks(range(len(rows)), [table.percent(noise) for noise in PAPER])
    axes[0, 0].set(xlabel="features without signal ν", ylabel="mean combined F1")
    axes[0, 0].legend(loc="upper left")
    return figure


STUDY = Study(
    name="formulation-evidence-summary",
    title="Joint against sequential selection: the synthetic rows",
    label="tab:formulation_evidence_summary",
    tasks=table.tasks,
    summarise=summarise,
    draw=draw,
)
