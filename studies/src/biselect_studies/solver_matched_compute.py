"""Table solver_matched_compute: solvers under equal wall-clock caps at 50 % noise."""

from typing import Any

import numpy as np

from biselect_studies.figures import Figure, look, panels, whiskers
from biselect_studies.results import Entry, Findings, entry
from biselect_studies.runner import Records
from biselect_studies.study import described
from biselect_studies.synthetic_table import METHODS, SIZE
from biselect_studies.task import Grid

CAPS = (10, 100)  # milliseconds
PAPER = {  # combined F1, exact-optimum hits, mean gap, median milliseconds
    (10, "feature-first"): (0.763, 0.26, 7.41, 0.07),
    (10, "greedy"): (0.485, 0.46, 8.45, 0.09),
    (10, "coordinate-ascent"): (1.000, 1.00, 0.00, 10.02),
    (10, "tabu"): (0.837, 0.82, 2.73, 10.17),
    (10, "kawasaki"): (0.830, 0.02, 6.45, 10.04),
    (10, "swap-sa"): (1.000, 1.00, 0.00, 10.27),
    (100, "feature-first"): (0.763, 0.26, 7.41, 0.07),
    (100, "greedy"): (0.485, 0.46, 8.45, 0.09),
    (100, "coordinate-ascent"): (1.000, 1.00, 0.00, 100.02),
    (100, "tabu"): (0.837, 0.82, 2.73, 100.15),
    (100, "kawasaki"): (0.900, 0.12, 3.61, 100.03),
    (100, "swap-sa"): (1.000, 1.00, 0.00, 100.28),
}
COLUMNS = {"f1": "combined F1", "hit": "optimum hit", "gap": "mean gap"}
DECIMALS = {"f1": 3, "hit": 2, "gap": 2}
TIME = "median ms"

GRID = Grid(  # all instances in one task, so that warm code is measured
    experiment="matched_compute",
    cells=lambda quick: [_cell(cap, method) for cap, method in PAPER],
    quick=10,
    full=50,
    block=50,
)


def summarise(records: Records, quick: bool) -> Findings:
    """F1, hits, gap and time of every method at both caps."""
    found: list[Entry] = []
    for (cap, method), printed in PAPER.items():
        values = records.of(_cell(cap, method))
        row = _row(cap, method)
        for (name, column), paper in zip(COLUMNS.items(), printed, strict=False):
            found.append(entry(row, column, values[name], paper=paper, decimals=DECIMALS[name]))
        low, middle, high = np.quantile(values["ms"], [0.25, 0.5, 0.75])
        found.append(
            Entry(row=row, column=TIME, ours=middle, low=low, high=high, paper=printed[-1], verdict="not compared")
        )
    return Findings(
        seeds=GRID.seeds(quick),
        cells=tuple(found),
        brackets="95 % bootstrap interval, of times quartiles",
        notes=(
            "Times are of this machine, with quartiles instead of an interval, and not compared. What a walk finds "
            "before the clock strikes depends on the machine: unlike all other studies this one is not the same "
            "twice.",
            "Sequential keeps the best of three aggregates by the objective, as the paper says, not by planted F1.",
            "Coordinate ascent ends when its starts are used up, greedy when no swap helps: neither needs the cap.",
        ),
    )


def draw(found: Findings) -> Figure:
    """Combined F1 of each method, both caps, and the paper's."""
    figure, axes = panels(1, 2, width=3.4, height=2.6, sharey=True)
    methods = list(dict.fromkeys(method for _, method in PAPER))
    for panel, cap in zip(axes[0], CAPS, strict=True):
        points = [found.find(_row(cap, method), COLUMNS["f1"]) for method in methods]
        y = range(len(methods))
        whiskers(panel, y, points, upright=False, label="ours", **look(0))
        panel.plot([e.paper for e in points], y, "x", color="black", label="paper", zorder=5)
        panel.set_yticks(y, [METHODS[method] for method in methods])
        panel.set(title=f"cap {cap} ms", xlabel="mean combined F1")
    axes[0, 0].invert_yaxis()
    axes[0, 0].legend(loc="lower left")
    return figure


def _cell(cap: int, method: str) -> dict[str, Any]:
    return {**SIZE, "noise": 0.5, "method": method, "cap_ms": cap}


def _row(cap: int, method: str) -> str:
    return f"{cap} ms, {METHODS[method]}"


STUDY = described("solver-matched-compute", tasks=GRID.tasks, summarise=summarise, draw=draw, timed=True)
